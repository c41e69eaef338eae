"""Leg law, limits, soft stop and latch of the packer."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.load import load_robot
from lcmtypes.channels import ESTOP, LEG_COMMAND, LEG_STATE, RESET
from lcmtypes.generated import Estop, LegCommand, LegState, Reset
from procs.model.robot import Robot
from procs.packer.packer import Packer

SEED = st.integers(0, 2**32 - 1)


@pytest.fixture(scope="module")
def robot():
    return Robot(load_robot("mini_cheetah"))


@pytest.fixture
def packer(robot):
    return Packer(robot)


def inputs(command, legs, estop=None, reset=None):
    return {LEG_COMMAND: command, LEG_STATE: legs, ESTOP: estop, RESET: reset}


def state(robot, rng, spread=0.0):
    """Joints within their limits, or up to `spread` rad beyond; foot positions and velocities by the chain rule."""
    legs = LegState(robot.num_legs, robot.num_joints)
    legs.q[:] = rng.uniform(robot.q_lower - spread, robot.q_upper + spread)
    legs.qd[:] = rng.uniform(-5, 5, robot.num_joints)
    legs.v[:] = rng.uniform(-1, 1, (robot.num_legs, 3))
    return legs


def order(robot, rng, size=1.0):
    """A command with all its parts; the torques it makes grow with `size`."""
    command = LegCommand(robot.num_legs, robot.num_joints)
    command.enable = 1
    command.block[:] = size * rng.uniform(-1, 1, len(command.block))
    command.q_des[:] = rng.uniform(robot.q_lower, robot.q_upper)
    command.kp_joint[:], command.kd_joint[:] = size * rng.uniform(0, 80, 12), size * rng.uniform(0, 3, 12)
    command.kp_cartesian[:], command.kd_cartesian[:] = (
        size * rng.uniform(0, 500, (4, 3)),
        size * rng.uniform(0, 9, (4, 3)),
    )
    return command


def rotation(axis, angle):
    """Rodrigues, independent of the model's."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K


def foot(robot, leg, q):
    """Foot relative to the first joint by multiplying transforms of the description."""
    legs = robot.description.legs
    mirror = np.array([1, -1 if legs.placed[leg].mirror else 1, 1])
    R, at = np.eye(3), np.zeros(3)
    for j, joint in enumerate(legs.chain):
        at = at + (R @ (mirror * joint.origin) if j else 0)
        R = R @ rotation(joint.axis, q[j])
    return at + R @ (mirror * legs.foot)


def law(robot, command, legs):
    """tau = tau_ff + J^T [f_ff + Kp (p_des - p) + Kd (v_des - v)], J by central differences of `foot`."""
    tau = command.tau_ff.copy()
    for leg in range(robot.num_legs):
        q = legs.q[3 * leg : 3 * leg + 3]
        h = 1e-6
        J = np.stack([(foot(robot, leg, q + h * e) - foot(robot, leg, q - h * e)) / (2 * h) for e in np.eye(3)], axis=1)
        force = command.f_ff[leg] + command.kp_cartesian[leg] * (command.p_des[leg] - foot(robot, leg, q))
        force = force + command.kd_cartesian[leg] * (command.v_des[leg] - legs.v[leg])
        tau[3 * leg : 3 * leg + 3] += J.T @ force
    return tau


def pd(out, legs):
    return out.kp * (out.q_des - legs.q) + out.kd * (out.qd_des - legs.qd)


@settings(max_examples=60, deadline=None)
@given(SEED)
def test_within_all_limits_the_leg_law_goes_out_unchanged(robot, seed):
    rng = np.random.default_rng(seed)
    legs, command = state(robot, rng), order(robot, rng, 0.02)
    (out,) = Packer(robot).step(inputs(command, legs))
    assert out.enable.all()
    np.testing.assert_allclose(out.tau_ff, law(robot, command, legs), atol=1e-6)
    np.testing.assert_array_equal(out.q_des, command.q_des)
    np.testing.assert_array_equal(out.qd_des, command.qd_des)
    np.testing.assert_array_equal(out.kp, command.kp_joint)
    np.testing.assert_array_equal(out.kd, command.kd_joint)
    assert out.reason == ""


@settings(max_examples=200, deadline=None)
@given(SEED, st.sampled_from([0.1, 1.0, 10.0, 1000.0]), st.sampled_from([0.0, 0.0, 0.3]))
def test_feed_forward_and_pd_together_never_exceed_the_torque_limit(robot, seed, size, spread):
    rng = np.random.default_rng(seed)
    legs, command = state(robot, rng, spread), order(robot, rng, size)
    (out,) = Packer(robot).step(inputs(command, legs))
    total = out.tau_ff + pd(out, legs)
    assert (np.abs(total) <= robot.tau_max * (1 + 1e-9)).all()
    assert (np.abs(pd(out, legs)) <= robot.tau_max * (1 + 1e-9)).all()
    if not spread:
        wanted = law(robot, command, legs) + pd(out, legs)
        np.testing.assert_allclose(total, np.clip(wanted, -robot.tau_max, robot.tau_max), atol=1e-4 * max(1.0, size))


@settings(max_examples=50, deadline=None)
@given(SEED)
def test_position_and_speed_are_clamped_and_gains_never_negative(robot, seed):
    rng = np.random.default_rng(seed)
    legs, command = state(robot, rng), order(robot, rng)
    command.q_des[:] = rng.uniform(-10, 10, 12)
    command.qd_des[:] = rng.uniform(-100, 100, 12)
    command.kp_joint[:3], command.kd_joint[3:6] = -5.0, -1.0
    (out,) = Packer(robot).step(inputs(command, legs))
    assert ((out.q_des >= robot.q_lower) & (out.q_des <= robot.q_upper)).all()
    assert (np.abs(out.qd_des) <= robot.qd_max).all()
    assert (out.kp >= 0).all()
    assert (out.kd >= 0).all()


@pytest.mark.parametrize("side", [-1, 1])
def test_beyond_a_limit_the_joint_is_pushed_back_whatever_the_command_asks(packer, robot, side):
    rng = np.random.default_rng(3)
    for joint in range(robot.num_joints):
        legs, command = state(robot, rng), order(robot, rng)
        legs.qd[joint] = 0.0
        limit = robot.q_upper[joint] if side > 0 else robot.q_lower[joint]
        legs.q[joint] = limit + 0.05 * side
        command.tau_ff[joint] = 50.0 * side
        command.kp_joint[joint] = 0.0  # as walking has it
        (out,) = packer.step(inputs(command, legs))
        assert side * (out.tau_ff + pd(out, legs))[joint] < -0.5
        assert out.reason == f"soft stop of {robot.joint_names[joint]}"


def test_damping_stays_damping_beyond_a_limit(packer, robot):
    legs = state(robot, np.random.default_rng(1))
    legs.q[2] = robot.q_upper[2] + 0.2
    command = LegCommand(robot.num_legs, robot.num_joints)
    command.enable = 1
    command.q_des[:], command.kd_joint[:] = legs.q, 2.0
    (out,) = packer.step(inputs(command, legs))
    assert not out.kp.any()
    assert (out.kd == 2.0).all()


def damped(robot, out):
    """Enabled damping and nothing else."""
    expected = robot.per_joint(robot.description.control.damping)
    idle = not (out.kp.any() or out.tau_ff.any() or out.qd_des.any())
    return bool(out.enable.all()) and idle and (out.kd == expected).all()


def test_a_disabled_command_stays_disabled_with_its_reason(packer, robot):
    legs, command = state(robot, np.random.default_rng(1)), order(robot, np.random.default_rng(1))
    command.enable, command.reason = 0, "shut down"
    for there in (legs, None):
        (out,) = packer.step(inputs(command, there))
        assert not out.enable.any()
        assert not out.kp.any()
        assert out.reason == "shut down"


def test_missing_foreign_or_broken_inputs_are_damped_with_the_reason(packer, robot):
    rng = np.random.default_rng(1)
    good, command = state(robot, rng), order(robot, rng)
    other = LegCommand(6, 18)
    other.enable = 1
    broken, endless, old = good.copy(), command.copy(), good.copy()
    old.seq = -10
    broken.q[4], endless.f_ff[1, 2] = math.nan, math.inf
    for bad, reason in [
        (inputs(command, None), "no leg_state of this tick"),
        (inputs(other, good), "leg_command for 6 legs and 18 joints"),
        (inputs(command, LegState(3, 9)), "leg_state for 3 legs and 9 joints"),
        (inputs(command, broken), "leg_state is not finite"),
        (inputs(endless, good), "leg_command is not finite"),
        (inputs(command, old), "leg_state is 10 ticks old"),
    ]:
        (out,) = packer.step(bad)
        assert damped(robot, out)
        assert out.reason == reason


@settings(max_examples=100, deadline=None)
@given(SEED, st.sampled_from([1e5, 1e150, 1e300]))
def test_numbers_that_overflow_give_damping_and_no_exception(robot, seed, size):
    rng = np.random.default_rng(seed)
    legs, command = state(robot, rng), order(robot, rng)
    command.block[rng.integers(0, len(command.block), 5)] *= size
    legs.block[rng.integers(0, len(legs.block), 2)] *= size
    (out,) = Packer(robot).step(inputs(command, legs))
    assert out.finite()
    total = out.tau_ff + pd(out, legs) if not damped(robot, out) else np.zeros(1)
    assert (np.abs(total) <= robot.tau_max.max() * 1.001).all()


def button(kind, source="left", seq=0, run=1):
    message = kind()
    message.source, message.seq, message.run, message.reason = source, seq, run, "test"
    return message


@pytest.fixture
def latched(packer, robot):
    """Steps with these buttons; True if the packer damps."""
    rng = np.random.default_rng(1)
    legs, command = state(robot, rng), order(robot, rng)

    def step(estop=None, reset=None, enable=1):
        command.enable = enable
        (out,) = packer.step(inputs(command, legs, estop, reset))
        return damped(robot, out)

    return step


def test_estop_latches_damping_until_reset_even_of_a_disabled_command(latched):
    assert not latched()
    assert latched(button(Estop))
    assert latched(button(Estop), enable=0)
    assert latched(None)
    assert not latched(button(Estop), button(Reset))
    assert not latched(button(Estop), button(Reset)), "both are held by the inbox and do not count again"


def test_after_a_reset_any_operator_can_stop_again(latched):
    latched(button(Estop))
    assert not latched(button(Estop), button(Reset))
    assert latched(button(Estop, source="right"), button(Reset))
    assert not latched(button(Estop, source="right"), button(Reset, seq=1))


def test_of_a_new_estop_and_a_new_reset_in_one_tick_the_estop_counts(latched):
    assert latched(button(Estop), button(Reset))


def test_a_new_run_releases_only_what_reset_released(packer, latched):
    assert latched(button(Estop))
    packer.reset()
    assert latched(button(Estop)), "a plant that was restarted has not been reset"
    packer.reset()
    assert not latched(button(Estop), button(Reset))
    packer.reset()
    assert not latched(button(Estop), button(Reset)), "the old estop does not count in the new run"
