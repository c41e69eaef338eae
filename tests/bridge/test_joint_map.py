"""Joint map: inverse, power, stiffness; the reference's golden frames."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from config.load import load_robot
from procs.bridge.build import wires_of
from procs.bridge.joint_map import DriveCommand, JointMap
from procs.bridge.spi import CallableBoard
from procs.bridge.spine_drives import SpineDrives
from procs.wire import spine

N = 4
numbers = arrays(float, N, elements=st.floats(-40, 40))
signs = arrays(int, N, elements=st.sampled_from([-1, 1]))
ratios = arrays(float, N, elements=st.floats(0.1, 20))
GOLDEN = (  # by MIT's rt_spi.cpp: q (0, -0.8, 1.6), qd (.1, .2, .3), kp 80, kd 1, tau (1, 2, 3), unscaled gains
    "0000000000000000bb214017bb21c0173e523fee3e52bfeecccdbdcccccdbdcccccdbe4ccccd3e4ceadcbeeeeadc3eee"
    "000042a0000042a0000042a0000042a0000042a0000042a000003f8000003f8000003f8000003f8000003f8000003f80"
    "0000bf800000bf800000c00000004000dfa4bff6dfa43ff6000100000001000000000000"
)


def command(q, qd, kp, kd, tau):
    return DriveCommand(q, qd, kp, kd, tau, np.ones(len(q), bool))


@given(signs, ratios, numbers, numbers, numbers, numbers)
def test_back_and_forth_gives_the_same(sign, ratio, offset, q, qd, tau):
    joints = JointMap(sign, ratio, offset)
    there = joints.to_motors(command(q, qd, q, q, tau))
    for got, want in zip(joints.to_joints(there.position, there.velocity, there.torque), (q, qd, tau), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-11)


@given(signs, ratios, numbers, numbers, numbers)
def test_power_is_the_same_on_both_sides(sign, ratio, offset, qd, tau):
    there = JointMap(sign, ratio, offset).to_motors(command(qd, qd, qd, qd, tau))
    np.testing.assert_allclose(there.velocity * there.torque, qd * tau, rtol=1e-12, atol=1e-12)


@given(signs, ratios, numbers, numbers, numbers, st.floats(0, 500), st.floats(0, 5))
def test_the_motors_law_is_the_joints_law(sign, ratio, offset, q_des, q, kp, kd):
    joints = JointMap(sign, ratio, offset)
    want = kp * (q_des - q) + kd * (q - q_des)
    there = joints.to_motors(command(q_des, q, np.full(N, kp), np.full(N, kd), np.zeros(N)))
    is_at = joints.to_motors(command(q, q_des, q, q, q))
    law = there.kp * (there.position - is_at.position) + there.kd * (there.velocity - is_at.velocity)
    np.testing.assert_allclose(joints.to_joints(q, q, law)[2], want, rtol=1e-9, atol=1e-8)


def test_boards_that_want_joint_gains_get_them():
    scaled, plain = (JointMap([1], [1.5], [0], scaled_gains=x) for x in (True, False))
    one = command(*(np.ones(1),) * 5)
    assert scaled.to_motors(one).kp == pytest.approx(1 / 2.25)
    assert plain.to_motors(one).kp == plain.to_motors(one).kd == 1.0
    assert plain.to_motors(one).torque == pytest.approx(1 / 1.5)


def test_ratio_of_zero_is_refused():
    with pytest.raises(ValueError, match="no ratio of 0"):
        JointMap([1], [0.0], [0.0])


def test_mini_cheetahs_wiring_gives_the_references_frames(robot):
    joints = JointMap.of(wires_of(robot), scaled_gains=False)
    leg = np.array([[0, -0.8, 1.6], [0.1, 0.2, 0.3], [80] * 3, [1] * 3, [1, 2, 3]])
    motors = joints.to_motors(command(*np.tile(leg, 4)))
    frames = spine.pack_commands(
        motors.position, motors.velocity, motors.kp, motors.kd, motors.torque, np.ones(4, dtype=int)
    )
    got, want = spine.unpack_command(frames[0]), spine.unpack_command(bytes.fromhex(GOLDEN))
    for field in (*spine.COMMAND_FIELDS, "flags"):
        np.testing.assert_allclose(getattr(got, field), getattr(want, field), atol=2e-6)
    rear = spine.unpack_command(frames[1])
    np.testing.assert_allclose(rear.q_des, [[0, -0.770796, -6.838723], [0, 0.770796, 6.838723]], atol=2e-6)
    np.testing.assert_allclose(rear.tau_ff, [[1, -2, -1.9287], [1, 2, 1.9287]], atol=2e-6)


def test_slots_put_a_joint_at_another_of_its_legs_motors():
    wires = list(load_robot("mini_cheetah").bus.wiring.values())
    swapped = [w.model_copy(update={"slot": {1: 2, 2: 1}.get(j)}) for j, w in enumerate(wires)]  # FR.hip and FR.knee
    boards = [CallableBoard(lambda tx: None, f"spi{k}") for k in range(2)]
    command = DriveCommand.zero(12)
    command.position[:] = np.arange(12)
    command.enable[:] = True
    frames = [SpineDrives(boards, w).frames(command)[0] for w in (wires, swapped)]
    plain, changed = (np.array(spine.unpack_command(frame).q_des).ravel() for frame in frames)
    assert plain.tolist() == [0, 1, 2, 3, 4, 5] and changed.tolist() == [0, 2, 1, 3, 4, 5]
