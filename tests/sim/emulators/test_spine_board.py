"""Bytes of an emulated SPIne board, read with procs.wire: the true joints, and each rule and quirk on and off."""

from __future__ import annotations

import numpy as np
import pytest

from procs.wire import spine
from procs.wire.decode import DecodeError
from procs.wire.mit_motors import MOTORS
from sim.emulators.can_motor import MitQuirks
from sim.emulators.spine_board import SpineQuirks

PLAIN = {"quirks": SpineQuirks(garbage=0)}


def frames(hw, q, kp=0.0, kd=0.0, tau=0.0, flags=1, qd=0.0):
    """Command frames of both boards for joint-side values, by hand from the wiring."""
    turn, offset = hw.robot.turn, hw.robot.offset
    ones = np.ones(12)
    return spine.pack_commands(
        turn * q + offset, turn * qd * ones, kp / turn**2, kd / turn**2, tau * ones / turn, flags * np.ones(4)
    )


def joints(hw, replies):
    """Joint angles and velocities of both boards' replies."""
    data = spine.unpack_boards(replies)
    assert data.reasons == (None, None)
    return (data.q - hw.robot.offset) / hw.robot.turn, data.qd / hw.robot.turn


def drive(hw, ticks, command, first=0, run=1):
    """Ticks with the same frames; replies and true (q, qd) of every tick."""
    replies, truth = [], []
    for seq in range(first, first + ticks):
        hw.tick(run, seq)
        truth.append((hw.robot.plant.q.copy(), hw.robot.plant.qd.copy()))
        replies.append([hw.exchange(board, command[board]) for board in range(2)])
        hw.done()
    return replies, truth


@pytest.mark.parametrize("age", [0, 1, 2])
def test_positions_and_velocities_are_the_true_ones_within_a_quantum_of_some_transfers_ago(hardware, spine_robot, age):
    hw = hardware(spine_robot, quirks=SpineQuirks(garbage=0, age=age))
    q_des = spine_robot.pose("stand")
    replies, truth = drive(hw, 60, frames(hw, q_des, kp=40.0, kd=1.0))
    quantum_q, quantum_qd, _ = MOTORS["mini_cheetah"].quanta
    for k in range(10, 60):
        q, qd = joints(hw, replies[k])
        np.testing.assert_allclose(q, truth[k - age][0], atol=1.01 * quantum_q)
        np.testing.assert_allclose(qd, truth[k - age][1], atol=1.01 * quantum_qd)
    assert np.abs(truth[-1][0] - truth[0][0]).max() > 0.3  # it moved


def test_the_enable_bit_of_the_first_leg_rules_both_and_its_fall_makes_the_motors_limp(hardware, spine_robot):
    hw = hardware(spine_robot, **PLAIN)
    q0 = spine_robot.pose("down")
    on, off = frames(hw, q0, kp=60.0, kd=1.0), frames(hw, q0, kp=60.0, kd=1.0, flags=0)
    only_second = spine.pack_commands(*[np.zeros(12)] * 5, [0, 1, 0, 1])
    drive(hw, 3, only_second)
    assert not hw.robot.on.any()
    drive(hw, 50, on, first=3)
    assert hw.robot.on.all()
    held = np.abs(hw.robot.plant.q - q0).max()
    replies, _ = drive(hw, 200, off, first=53)
    assert not hw.robot.on.any()
    assert np.abs(hw.robot.plant.q - q0).max() > held + 0.3
    q, _qd = joints(hw, replies[-1])  # drives out of motor mode answer all the same
    np.testing.assert_allclose(q, hw.robot.plant.q, atol=0.1)


def test_an_enable_edge_costs_a_cycle_and_leaves_the_reply_stale(hardware, spine_robot):
    def around_the_edge(edges):
        hw = hardware(spine_robot, quirks=SpineQuirks(garbage=0, edges=edges))
        q = spine_robot.pose("down")
        before = drive(hw, 20, frames(hw, q, flags=0))[0]
        after = drive(hw, 3, frames(hw, q + 0.3, kp=50.0), first=20)[0]
        kp = []
        hw2 = hardware(spine_robot, quirks=SpineQuirks(garbage=0, edges=edges))
        for command, first, ticks in ((frames(hw2, q, flags=0), 0, 5), (frames(hw2, q, kp=50.0), 5, 2)):
            for seq in range(first, first + ticks):
                drive(hw2, 1, command, first=seq)
                kp.append(hw2.robot.wanted[2].max())
        return before, after, kp

    before, after, kp = around_the_edge(edges=True)
    assert after[0] != before[-1]  # legs fall, replies move on
    assert after[1] == after[0]  # the reply that the edge cycle did not fill
    assert after[2] != after[1]
    assert kp[5] == 0.0 and kp[6] > 0.0  # old commands again at the edge
    _before, after, kp = around_the_edge(edges=False)
    assert after[1] != after[0]
    assert kp[5] > 0.0


def test_a_command_with_a_bad_checksum_runs_and_its_mark_is_cleared_as_in_the_firmware(hardware, spine_robot):
    bad = [bytes(60) + b"\x01" + frame[61:] for frame in frames_of(hardware, spine_robot)]
    hw = hardware(spine_robot, **PLAIN)
    replies, _ = drive(hw, 5, bad)
    assert hw.robot.on.all() and hw.boards[0].bad_checksums == 5
    assert all((spine.unpack_boards(r).flags == 0).all() for r in replies[1:])
    hw = hardware(spine_robot, quirks=SpineQuirks(garbage=0, runs_bad_checksum=False, clears_mark=False))
    replies, _ = drive(hw, 5, bad)
    assert not hw.robot.on.any()
    assert spine.unpack_boards(replies[-1]).flags.tolist() == [0, spine.ESTOP_MARK] * 2


def frames_of(hardware, robot):
    """Frames that enable and hold."""
    return frames(hardware(robot, **PLAIN), robot.pose("down"), kp=20.0)


def test_a_frame_of_zeros_is_taken_as_disable_by_the_board_and_refused_by_the_decoder(hardware, spine_robot):
    hw = hardware(spine_robot, **PLAIN)
    drive(hw, 5, frames(hw, spine_robot.pose("down"), kp=20.0))
    assert hw.robot.on.all()
    drive(hw, 2, [bytes(132)] * 2, first=5)
    assert not hw.robot.on.any()
    with pytest.raises(DecodeError):
        spine.unpack_data(bytes(132))


def test_not_a_number_becomes_the_low_end_of_the_range_or_is_refused(hardware, spine_robot):
    hw = hardware(spine_robot, **PLAIN)
    good = frames(hw, spine_robot.pose("down"), kp=20.0)
    words = np.frombuffer(good[0], ">u2").astype("<u2").view("<u4").copy()
    words[0] = 0x7FC00000  # q_des of the first abad
    words[32] = np.bitwise_xor.reduce(words[:32])
    nan = words[:33].view("<u2").astype(">u2").tobytes()
    drive(hw, 4, [nan, good[1]])
    assert hw.robot.wanted[0, 0] == pytest.approx(-12.5)
    hw = hardware(spine_robot, quirks=SpineQuirks(garbage=0, nan="reject"))
    drive(hw, 4, [nan, good[1]])
    assert hw.robot.on[6:].all() and not hw.robot.on[:6].any()


def test_soft_stops_act_in_motor_coordinates(hardware, spine_robot):
    def pushed(soft_stops):
        hw = hardware(spine_robot, quirks=SpineQuirks(garbage=0, soft_stops=soft_stops))
        q = spine_robot.pose("stand").copy()
        q[0] = 1.58  # abad FR, limit 1.5 at the motor
        replies, _ = drive(hw, 300, frames(hw, q, kp=60.0, kd=1.0))
        return hw.robot.plant.q[0], spine.unpack_boards(replies[-1]).flags[0]

    q, flags = pushed(True)
    assert flags == 1 and q < 1.55
    q, flags = pushed(False)
    assert flags == 0 and q > 1.55


def test_the_estop_pin_marks_both_legs_and_drops_all_commands(hardware, spine_robot):
    hw = hardware(spine_robot, **PLAIN)
    command = frames(hw, spine_robot.pose("down"), kp=20.0)
    drive(hw, 3, command)
    hw.boards[0].estop_pin = True
    replies, _ = drive(hw, 3, command, first=3)
    assert spine.unpack_boards(replies[-1]).flags.tolist() == [0xDEAD, 0xDEAD, 0, 0]
    assert hw.robot.wanted[2, :6].max() == 0.0 and hw.robot.wanted[2, 6:].min() > 0.0


def test_the_first_replies_after_power_on_are_garbage_and_seeded(hardware, spine_robot):
    def first(seed, garbage):
        hw = hardware(spine_robot, seed=seed, quirks=SpineQuirks(garbage=garbage))
        return drive(hw, 5, [bytes(132)] * 2)[0]

    one = first(1, 2)
    assert one == first(1, 2)
    assert one[0] != first(2, 2)[0]
    assert all(reason is not None for reason in spine.unpack_boards(one[0]).reasons)
    assert spine.unpack_boards(one[4]).reasons == (None, None)
    assert first(1, 0)[0] == [bytes(132)] * 2  # nothing was filled yet: a valid checksum, no valid frame


def test_a_gain_at_the_motor_is_the_gain_over_the_ratio_squared_at_the_joint(hardware, spine_robot):
    hw = hardware(spine_robot, **PLAIN)
    drive(hw, 3, frames(hw, spine_robot.pose("down"), kp=20.0, kd=0.5, tau=1.0))
    command = hw.robot.plant.command
    np.testing.assert_allclose(command.kp, 20.0, atol=0.3)  # 500 / 4095, times ratio^2 at the knee
    np.testing.assert_allclose(command.kd, 0.5, atol=0.01)
    np.testing.assert_allclose(command.tau_ff, 1.0, atol=0.02)
    np.testing.assert_allclose(command.q_des, spine_robot.pose("down"), atol=4e-4)


def test_a_new_run_is_a_power_cycle_and_gives_the_same_bytes_again(hardware, spine_robot):
    hw = hardware(spine_robot, options=None, motors=MitQuirks())
    command = frames(hw, spine_robot.pose("stand"), kp=40.0, kd=1.0)
    one = drive(hw, 40, command, run=1)[0]
    two = drive(hw, 40, command, run=2)[0]
    assert one == two


def test_a_frame_of_another_length_is_not_executed(hardware, spine_robot):
    hw = hardware(spine_robot, **PLAIN)
    drive(hw, 3, [frame[:-1] for frame in frames(hw, spine_robot.pose("down"), kp=20.0)])
    assert not hw.robot.on.any()
