"""The controller's modes, without physics."""

import numpy as np
import pytest

from config.problems import ConfigError
from lcmtypes.generated import JointTest
from procs.controller.controller import Controller
from procs.controller.postures import ATTEMPTS
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
            assert (command.kp_joint == before.kp_joint).all()
            before = command


def test_a_transition_begins_where_the_joints_were_told_to_be_so_that_none_sags(bench):
    bench.ask("stand")
    before = bench.until("stand").command
    bench.follow = False
    bench.q = bench.q - 0.1
    bench.ask("down")
    out = bench.tick()
    assert out.state.mode == "down"
    assert np.abs(out.command.q_des - before.q_des).max() < 0.02


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


def test_recover_of_an_upright_robot_ends_standing(bench):
    bench.ask("recover")
    bench.until("stand")
    assert bench.trail == ["ready", "recover", "stand"]


def test_recover_gives_up_after_some_attempts_when_the_robot_stays_on_its_back(bench):
    plan = bench.robot.description.control.recover
    once = 2 * plan.fold_time + plan.roll_time + 3 * plan.settle
    bench.quat = rpy_to_quat(np.array([3.0, 0, 0]))
    bench.ask("recover")
    assert bench.tick((ATTEMPTS - 0.1) * once).state.busy
    out = bench.tick(1.0)
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


def test_a_robot_without_poses_to_right_itself_refuses_recover(bench_of, hexapod):
    bench = bench_of(hexapod)
    bench.ask("recover")
    out = bench.tick(0.5)
    assert (out.state.mode, out.state.reason) == ("ready", "recover refused: this robot has no poses to right itself")
