"""The controller's modes, without physics."""

import numpy as np
import pytest

from config.problems import ConfigError
from lcmtypes.generated import Estop, JointTest, Reset
from procs.controller.controller import Controller
from procs.controller.modes import TARGETS
from procs.model.robot import Robot
from procs.model.rotations import rpy_to_quat


def test_idle_becomes_ready_by_itself_once_the_sensors_are_valid(bench):
    bench.invalid = "no imu sample yet"
    out = bench.tick(0.5)
    assert out.state.mode == "idle"
    assert not out.command.enable
    bench.invalid = ""
    assert bench.tick(0.01).state.mode == "ready"


def test_ready_damps_and_does_nothing_else(bench):
    out = bench.tick(0.5)
    assert out.state.mode == "ready"
    assert out.command.enable
    assert not out.command.kp_joint.any()
    assert not out.command.f_ff.any()
    assert (out.command.kd_joint == bench.robot.per_joint(bench.robot.description.control.damping)).all()


def test_a_held_target_is_walked_to_over_the_chain(bench):
    bench.ask("walk")
    bench.until("walk")
    assert bench.trail == ["ready", "stand", "walk"]
    bench.ask("down")
    bench.until("down")
    assert bench.trail == ["ready", "stand", "walk", "stand", "down"]


def test_the_stiffness_rises_from_zero_on_standing_up(bench):
    bench.ask("stand")
    bench.tick(0.1)
    gains = []
    while bench.tick().state.mode != "stand":
        pass
    for _ in range(200):
        gains.append(bench.tick().command.kp_joint[0])
    full = bench.robot.description.control.stand.kp[0]
    assert gains[0] < 0.01 * full
    assert gains[-1] == full
    assert max(np.diff(gains)) < 0.02 * full


def test_no_joint_target_jumps_between_standing_lying_and_standing(bench):
    bench.ask("stand")
    bench.until("stand")
    before = bench.tick().command
    for mode in ("down", "stand"):
        bench.ask(mode, height=0.25)
        for _ in range(800):
            command = bench.tick().command
            assert np.abs(command.q_des - before.q_des).max() < 0.02
            assert np.abs(command.f_ff - before.f_ff).max() < 1.0
            assert (command.kp_joint > 0).all()
            before = command


def test_an_unknown_mode_is_named_once_and_changes_nothing(bench):
    bench.ask("stand")
    bench.until("stand")
    bench.ask("moonwalk")
    out = bench.tick(0.1)
    assert "'moonwalk'" in out.state.reason
    assert (out.state.mode, out.state.target) == ("stand", "stand")
    bench.ask("stand")
    assert bench.tick().state.reason == ""


def test_an_unknown_gait_is_named_while_it_is_asked_for(bench):
    bench.ask("stand", gait="gallop")
    assert "'gallop'" in bench.until("stand").state.reason
    bench.ask("stand", gait="trot")
    assert bench.tick().state.reason == ""


def test_a_busy_controller_goes_on_with_its_transition_and_then_to_the_new_target(bench):
    bench.ask("stand")
    bench.tick(0.4)
    bench.ask("down")
    out = bench.tick()
    assert (out.state.mode, out.state.busy, out.state.target) == ("stand", 1, "down")
    bench.until("down")
    assert bench.trail == ["ready", "stand", "down"]


def test_shutdown_is_obeyed_while_busy_and_ends_disabled(bench):
    bench.ask("stand")
    bench.tick(0.4)
    bench.ask("shutdown")
    assert bench.tick().state.mode == "shutdown"
    bench.ask("stand")
    assert bench.tick().state.reason == "busy shutting down"
    assert not bench.until("shutdown").command.enable


def test_walk_is_refused_once_with_the_reason_when_the_feet_carry_nothing(bench):
    bench.contact = 0.0
    bench.invalid = "suspended: no foot carries load"
    bench.ask("walk")
    out = bench.tick(3.0)
    assert (out.state.mode, out.state.target) == ("stand", "stand")
    assert out.state.reason == "walk refused: body state not valid: suspended: no foot carries load"
    bench.invalid = ""
    assert bench.tick(1.0).state.mode == "stand", "a refused request is not tried again"
    bench.ask("stand")
    bench.tick()
    bench.ask("walk")
    assert bench.tick(0.5).state.reason == "walk refused: the feet do not carry the robot"
    bench.contact = 1.0
    bench.tick(0.5)
    bench.ask("stand")
    bench.tick()
    bench.ask("walk")
    bench.until("walk", 1.0)


def test_leaving_walk_slows_down_first_and_is_not_called_off(bench):
    bench.ask("walk", vx=1.0)
    bench.until("walk")
    bench.tick(1.0)
    bench.ask("stand")
    assert bench.tick().state.busy
    bench.ask("walk", vx=1.0)
    speeds = []
    while bench.tick().state.mode == "walk":
        speeds.append(bench.core.filter.wanted.velocity[0])
    assert speeds[0] > 0.9
    assert abs(speeds[-1]) < 0.02
    assert (np.diff(speeds) <= 0).all()
    bench.until("walk")
    assert bench.trail == ["ready", "stand", "walk", "stand", "walk"]


def test_even_from_full_speed_walk_is_left_only_at_rest(bench):
    control = bench.robot.description.control
    bench.ask("walk", vx=control.limits.vx[1])
    bench.until("walk")
    bench.tick(control.limits.vx[1] / control.limits.accel + 0.1)
    bench.ask("shutdown")
    while bench.tick().state.mode == "walk":
        speed = bench.core.filter.wanted.velocity[0]
    assert abs(speed) < 0.02
    bench.until("shutdown")


def test_a_stale_command_ends_walking_and_a_fresh_one_with_the_old_target_does_not_start_it_again(bench):
    bench.ask("walk", vx=0.5)
    bench.until("walk")
    bench.tick(1.0)
    bench.live = False
    bench.tick(0.25)
    assert bench.core.filter.wanted.velocity[0] == pytest.approx(0.5)
    bench.tick(0.1)
    assert bench.core.filter.wanted.velocity[0] < 0.5
    assert bench.tick(1.5).state.mode == "walk"
    out = bench.tick(1.5)
    assert (out.state.mode, out.state.reason) == ("stand", "motion_command lost")
    bench.live = True
    assert bench.tick(1.0).state.mode == "stand"


@pytest.fixture
def fallen(bench):
    bench.ask("walk")
    bench.until("walk")
    bench.quat = rpy_to_quat(np.array([1.5, 0, 0]))
    bench.tick()
    return bench


def test_a_fall_is_damped_at_once(fallen):
    out = fallen.tick()
    assert out.state.mode == "damping"
    assert out.state.reason.startswith("fall: roll 86 deg")
    assert out.command.reason == out.state.reason
    assert not out.command.kp_joint.any()
    assert not out.command.kp_cartesian.any()
    assert not out.command.f_ff.any()
    assert not out.command.tau_ff.any()


def test_after_damping_the_held_target_restarts_nothing_a_new_one_does(fallen):
    fallen.quat[:] = (1, 0, 0, 0)
    assert fallen.tick(3.0).state.mode == "damping"
    fallen.live = False
    assert fallen.tick(3.0).state.mode == "damping", "nor does losing the command"
    fallen.live = True
    assert fallen.tick(1.0).state.mode == "damping", "nor its coming back"
    del fallen.trail[:]
    fallen.ask("stand")
    fallen.until("stand")
    assert fallen.trail == ["ready", "stand"]


def test_after_damping_a_new_run_counts_as_new(fallen):
    fallen.quat[:] = (1, 0, 0, 0)
    fallen.new_run()
    fallen.ask("walk")
    fallen.until("walk")


def test_a_command_left_over_from_the_last_run_starts_nothing(bench):
    bench.ask("stand")
    bench.until("stand")
    bench.new_run()
    bench.live = False
    assert bench.tick(1.0).state.mode == "ready"


def test_a_robot_on_its_back_is_not_stood_up(fallen):
    fallen.ask("stand")
    out = fallen.tick(1.0)
    assert out.state.mode == "ready"
    assert out.state.reason == "stand refused: not upright, recover first"


@pytest.mark.parametrize(("mode", "after"), [("stand", 0.15), ("walk", 0.15), ("down", 0.15)])
def test_an_invalid_body_state_is_borne_for_a_moment_and_then_damped(bench, mode, after):
    bench.ask(mode)
    bench.until(mode)
    bench.invalid = "imu invalid for 60 ms"
    assert bench.tick(0.08).state.mode == mode
    out = bench.tick(after)
    assert out.state.mode == "damping"
    assert out.state.reason == "body state not valid: imu invalid for 60 ms"


def test_a_robot_that_hangs_may_stand_but_not_go_on_walking(bench):
    bench.ask("walk")
    bench.until("walk")
    bench.invalid = "suspended: no foot carries load"
    assert bench.tick(0.2).state.mode == "damping"
    bench.ask("stand")
    bench.until("stand")
    assert bench.tick(2.0).state.mode == "stand"


def test_walking_without_a_body_state_is_damped_at_once(bench):
    bench.ask("walk")
    bench.until("walk")
    bench.body = False
    assert bench.tick().state.mode == "damping"


def test_a_body_state_that_is_too_old_is_none(bench):
    bench.ask("walk")
    bench.until("walk")
    inputs = bench.inputs()
    next(m for c, m in inputs.items() if c.name == "body_state").seq -= 20
    assert bench.step(inputs).state.mode == "damping"


@pytest.mark.parametrize("ticks", [5, 15])
def test_a_gap_in_the_input_longer_than_the_plants_watchdog_is_damped(bench, ticks):
    bench.ask("stand")
    bench.until("stand")
    bench.seq += ticks
    assert bench.tick().state.mode == ("stand" if ticks == 5 else "damping")


def test_a_joint_beyond_its_limit_is_borne_up_to_the_margin_and_damped_beyond(bench):
    robot = bench.robot
    bench.ask("stand")
    bench.until("stand")
    bench.follow = False
    margin = robot.description.safety.joint_margin
    bench.q = bench.q.copy()
    bench.q[2] = robot.q_upper[2] + 0.9 * margin
    assert bench.tick().state.mode == "stand"
    bench.q[2] = robot.q_upper[2] + 1.1 * margin
    out = bench.tick()
    assert out.state.mode == "damping"
    assert robot.joint_names[2] in out.state.reason


@pytest.mark.parametrize("mode", [*TARGETS])
def test_estop_leads_from_anywhere_to_latched_damping(bench, mode):
    if mode != "idle":
        bench.ask(mode)
        for _ in range(2000):
            if bench.tick().state.mode == mode:
                break
        else:
            pytest.fail(f"{mode} not reached")
    bench.press(Estop)
    out = bench.tick()
    assert (out.state.mode, out.state.reason) == ("estop", "estop by button: test")
    assert not out.command.kp_joint.any()
    assert out.command.kd_joint.all()
    assert out.command.enable
    bench.ask("stand")
    assert bench.tick(1.0).state.mode == "estop"


def test_only_reset_releases_estop_and_a_new_request_is_needed_after_it(bench):
    bench.ask("stand")
    bench.until("stand")
    bench.press(Estop)
    bench.tick(0.1)
    bench.press(Reset)
    assert bench.tick(1.0).state.mode == "damping"
    bench.ask("ready")
    bench.tick(0.1)
    bench.ask("stand")
    bench.until("stand")


def test_reset_while_motion_is_asked_for_releases_nothing(bench):
    bench.ask("walk", vx=0.3)
    bench.until("walk")
    bench.press(Estop)
    bench.tick()
    bench.press(Reset)
    assert bench.tick(1.0).state.mode == "estop"
    bench.ask("stand")
    assert bench.tick(1.0).state.mode == "estop", "the refused reset does not count later"
    bench.press(Reset, seq=1)
    assert bench.tick().state.mode == "damping"


def test_a_new_run_after_a_reset_is_released_even_if_the_reset_was_refused_here(bench):
    bench.ask("walk", vx=0.3)
    bench.until("walk")
    bench.press(Estop)
    bench.tick()
    bench.press(Reset)
    assert bench.tick().state.mode == "estop"
    bench.new_run()
    assert bench.tick().state.mode == "ready", "the plant has obeyed it"


def test_reset_of_a_standing_robot_ends_in_damping_because_the_plant_may_have_been_latched(bench):
    bench.ask("stand")
    bench.until("stand")
    bench.press(Reset)
    assert bench.tick().state.mode == "damping"


def test_estop_outlives_a_new_run_of_the_plant_unless_reset_began_it(bench):
    bench.press(Estop)
    bench.tick()
    bench.new_run()
    assert bench.tick(0.5).state.mode == "estop"
    bench.press(Reset)
    bench.new_run()
    bench.ask("stand")
    bench.until("stand")
    bench.new_run()
    assert bench.tick(0.5).state.mode != "estop", "the old estop is held by the inbox for ever"


def test_a_second_operator_with_the_same_counter_can_stop_the_robot_again(bench):
    bench.press(Estop, source="left")
    bench.tick()
    bench.press(Reset)
    bench.tick()
    bench.press(Estop, source="right")
    assert bench.tick().state.mode == "estop"


def test_recover_of_an_upright_robot_ends_standing(bench):
    bench.ask("recover")
    bench.until("stand")
    assert bench.trail == ["ready", "recover", "stand"]


def test_recover_gives_up_after_some_attempts_when_the_robot_stays_on_its_back(bench):
    bench.quat = rpy_to_quat(np.array([3.0, 0, 0]))
    bench.ask("recover")
    out = bench.tick(15.0)
    assert (out.state.mode, out.state.busy) == ("recover", 0)
    assert out.state.reason == "stand refused: not upright, recover first"


def test_a_target_given_during_recover_is_not_replaced_by_stand(bench):
    bench.ask("recover")
    bench.tick(0.5)
    bench.ask("down")
    bench.until("down")


def test_joint_test_starts_with_a_new_message_only(bench):
    bench.test = JointTest()
    bench.test.hold, bench.test.joint, bench.test.kp, bench.test.tau_limit = 1, 0, 20.0, 5.0
    bench.ask("joint_test")
    out = bench.until("joint_test")
    assert not bench.tick(0.2).command.kp_joint.any()
    bench.test = bench.test.copy()
    bench.test.seq += 1
    out = bench.tick(0.1)
    assert out.command.kp_joint[0] > 0


def test_a_robot_without_the_gait_stand_is_refused_at_the_start(robot):
    control = robot.description.control
    for gaits in (
        {name: gait for name, gait in control.gaits.items() if name != "stand"},
        {**control.gaits, "stand": control.gaits["trot"]},
    ):
        changed = robot.description.model_copy(update={"control": control.model_copy(update={"gaits": gaits})})
        with pytest.raises(ConfigError, match=r"control\.gaits\.stand"):
            Controller(Robot(changed))


def test_an_mpc_that_fails_keeps_the_last_forces_is_counted_and_ends_in_damping(bench, monkeypatch):
    bench.ask("walk")
    bench.until("walk")
    good = bench.tick(0.2)
    solve = bench.core.walk.mpc.solve

    def fail(*args):
        solution = solve(*args)
        status = type(solution.status).INFEASIBLE
        return solution._replace(status=status, forces=np.full_like(solution.forces, np.nan))

    monkeypatch.setattr(bench.core.walk.mpc, "solve", fail)
    out = bench.tick(0.05)
    assert out.state.mode == "walk"
    assert out.debug.status == "infeasible"
    assert out.debug.failures >= 20
    assert np.abs(out.command.f_ff).max() <= np.abs(good.command.f_ff).max() + 200.0
    out = bench.tick(0.1)
    assert out.state.mode == "damping"
    assert out.state.reason.startswith("MPC without a solution")
