"""Falls, bad inputs and the buttons: what leads to damping, and what leads out of it."""

import numpy as np
import pytest

from lcmtypes.generated import Estop, Reset
from procs.controller.modes import TARGETS
from procs.model.rotations import rpy_to_quat


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


@pytest.mark.parametrize(("mode", "asked"), [("walk", "stand"), ("stand", "down")])
def test_one_bad_sample_at_the_moment_of_a_request_does_not_refuse_it(bench, mode, asked):
    bench.ask(mode)
    bench.until(mode)
    bench.ask(asked)
    bench.invalid = "imu invalid for 2 ms"
    bench.tick()
    bench.invalid = ""
    bench.until(asked)


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


def test_a_result_that_is_not_finite_is_replaced_by_damping_in_the_same_tick(bench, monkeypatch):
    bench.ask("stand")
    bench.until("stand")
    monkeypatch.setattr(bench.core.postures._stand, "weight", lambda *_: np.full((4, 3), np.nan))
    out = bench.tick()
    assert (out.state.mode, out.state.reason) == ("damping", "the result was not finite")
    assert not out.command.kp_joint.any()


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
    while out.debug is None:  # the MPC is not solved in every tick
        out = bench.tick(bench.robot.dt)
    assert out.debug.status == "infeasible"
    assert out.debug.failures >= 0.05 / (bench.robot.description.control.mpc.every * bench.robot.dt) - 1
    assert np.abs(out.command.f_ff).max() <= np.abs(good.command.f_ff).max() + 200.0
    out = bench.tick(0.1)
    assert out.state.mode == "damping"
    assert out.state.reason.startswith("MPC without a solution")
