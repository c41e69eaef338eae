"""A session on a bus: what it publishes, when it asks twice, and that the controller stops when it dies."""

import pytest

from lcmtypes.channels import ESTOP, MOTION_COMMAND, RESET, ROBOT_CONFIG
from procs.controller.command import CommandFilter
from procs.model.robot import Robot
from tools.record import robot_config
from tools.teleop.keymap import DRIVING, GUIDE, PRESSED, Action


def test_it_publishes_from_the_start_as_a_named_source_and_without_speed(stage):
    sent = stage.run(1.0)
    assert len(sent) == 50
    assert {m.source for m in sent} == {stage.session.operator.source}
    assert sent[0].source.startswith("keyboard:")
    assert len({m.seq for m in sent}) == 50
    assert not any(
        (m.mode, m.gait, m.vx, m.vy, m.yaw_rate, m.height, m.roll, m.pitch) != ("", "", *[0.0] * 6) for m in sent
    )


def test_a_driving_key_moves_only_while_it_is_held(stage):
    for _ in range(50):  # a key repeating at 25 Hz for 2 s
        stage.session.key("w", None, stage.t)
        held = stage.run(0.04)
    assert held[-1].vx == pytest.approx(0.25 * 3.0)
    after = stage.run(0.5)
    assert [m.vx > 0 for m in after].index(False) <= 8  # 0.15 s
    assert not after[-1].vx


def test_the_controller_stops_when_the_session_dies(stage, description):
    robot = Robot(description)
    controller, commands = CommandFilter(robot), []
    for _ in range(40):
        stage.session.key("w", None, stage.t)
        commands += stage.run(0.06)
    for command in commands:
        for _ in range(10):
            wanted = controller.update(command, 1, moving=True)
    assert wanted.velocity[0] > 0.5
    for _ in range(round(0.3 / robot.dt) + 1):  # killed: its last command stays the newest
        wanted = controller.update(command, 1, moving=True)
    assert not wanted.goal.any()
    for _ in range(round(1.0 / robot.dt)):
        wanted = controller.update(command, 1, moving=True)
    assert not wanted.velocity.any()


def test_the_same_mode_again_is_a_new_request_to_the_controller(stage, description):
    controller = CommandFilter(Robot(description))
    stage.robot_says = {"mode": "stand"}
    requests = []
    for _ in range(2):  # walk is refused, and asked for again
        stage.session.do(Action("request", "walk"), stage.t)
        requests += [controller.update(m, 1, moving=False).request for m in stage.run(1.0)]
    assert [r for r in requests if r] == ["walk", "walk"]


def test_estop_lets_go_of_everything_at_once(stage):
    stage.robot_says = {"mode": "walk"}
    stage.run(0.1)
    stage.session.do(Action("request", "walk"), stage.t)
    stage.session.key("w", None, stage.t)
    assert stage.run(0.2)[-1].mode == "walk"
    stage.session.do(PRESSED["space"], stage.t)
    assert len(stage.of(ESTOP)) == 3
    after = stage.run(0.1)
    assert all((m.mode, m.vx) == ("", 0.0) for m in after)


def test_reset_in_damping_goes_out_after_commands_without_motion(stage):
    stage.robot_says = {"mode": "estop"}
    stage.run(0.1)
    stage.session.key("w", None, stage.t)
    stage.session.do(PRESSED["u"], stage.t)
    before = len(stage.sent)
    stage.run(0.2)
    new = stage.sent[before:]
    at = [channel for channel, _ in new].index(RESET)
    assert [channel for channel, _ in new].count(RESET) == 1
    assert at >= 3 and not any(m.vx for _, m in new[:at])


def test_reset_of_a_robot_on_its_feet_must_be_asked_for_twice(stage):
    stage.robot_says = {"mode": "walk"}
    stage.run(0.1)
    stage.session.do(PRESSED["u"], stage.t)
    stage.run(3.0)  # too late for the second
    stage.session.do(PRESSED["u"], stage.t)
    stage.run(1.0)
    assert not stage.of(RESET)
    assert any("again" in line for line in stage.session.warnings())
    stage.session.do(PRESSED["u"], stage.t)
    stage.run(0.2)
    assert len(stage.of(RESET)) == 1


def test_limits_come_from_the_bus_when_no_robot_is_given(make_stage, description):
    stage = make_stage(known=False)
    for _ in range(20):
        stage.session.key("w", None, stage.t)
        sent = stage.run(0.04)
    assert not sent[-1].vx
    assert any("--robot" in line for line in stage.session.warnings())
    stage.bus.publish(ROBOT_CONFIG, robot_config(description))
    for _ in range(40):
        stage.session.key("w", None, stage.t)
        sent = stage.run(0.04)
    assert sent[-1].vx == pytest.approx(0.75)


def test_a_robot_other_than_the_one_given_is_told(stage, description):
    other = robot_config(description.model_copy(update={"name": "somebody"}))
    stage.bus.publish(ROBOT_CONFIG, other)
    stage.run(0.1)
    assert any("somebody, not mini_cheetah" in line for line in stage.session.warnings())


def test_who_is_in_control_is_told(stage):
    stage.robot_says = {"mode": "walk"}
    stage.run(0.1)
    assert stage.session.in_control()
    stage.robot_says = {"mode": "walk", "source": "gamepad:host:1"}
    stage.run(0.1)
    assert not stage.session.in_control()
    assert any("gamepad:host:1 is obeyed" in line for line in stage.session.warnings())


def test_handing_over_is_silence_and_taking_back_begins_without_motion(stage):
    stage.robot_says = {"mode": "walk"}
    stage.run(0.1)
    stage.session.do(Action("request", "walk"), stage.t)
    stage.session.key("w", None, stage.t)
    stage.session.do(PRESSED["p"], stage.t)
    assert stage.run(1.0) == []
    assert any("handed over" in line for line in stage.session.warnings())
    stage.session.do(PRESSED["space"], stage.t)
    assert stage.of(ESTOP), "the E-STOP works all the same"
    stage.session.do(PRESSED["p"], stage.t)
    back = stage.run(0.5)
    assert len(back) == 25
    assert not any((m.mode, m.vx) != ("", 0.0) for m in back)


def test_close_says_no_motion_last(stage):
    stage.session.key("w", None, stage.t)
    assert stage.run(0.2)[-1].vx > 0
    stage.session.close()
    last = stage.of(MOTION_COMMAND)[-1]
    assert (last.mode, last.vx) == ("", 0.0)


@pytest.mark.parametrize("action", sorted(set(PRESSED.values())), ids=lambda a: f"{a.do} {a.what}")
def test_every_action_of_the_map_is_known(stage, action):
    stage.session.do(action, stage.t)
    stage.run(0.1)


def test_an_unknown_action_is_an_error(stage):
    with pytest.raises(ValueError, match="no action"):
        stage.session.do(Action("dance"), stage.t)


def test_no_key_does_two_things_and_the_guide_names_them():
    assert not set(PRESSED) & set(DRIVING)
    words = set(" ".join(keys for keys, _ in GUIDE).lower().split())
    for key in {*DRIVING, *PRESSED}:
        if len(key) == 1 and key.isalpha():
            assert key in words or any(f"{key}:" in does.lower() for _, does in GUIDE), key
