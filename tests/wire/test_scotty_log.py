"""The real robot's log: 2 964 cycles of four legs (FR, FL, RR, RL), commands and replies with their checksums."""

from pathlib import Path

import numpy as np
import pytest

from procs.wire.fixed_point import FixedPoint
from procs.wire.mit_motors import MOTORS
from procs.wire.spine import BoardCommand, BoardData, pack_command, pack_data, unpack_boards, unpack_command
from procs.wire.spine_scotty import unpack_torques
from tools.convert_scotty import Log

SIGNS = np.array([[-1, 1, 1], [1, 1, 1], [1, -1, -1], [-1, 1, 1]])  # rows FR FL RR RL; abad, hip, knee
KNEE = np.array([1, 1, 1.5])


@pytest.fixture(scope="module")
def log(recordings: Path) -> Log:
    return Log(recordings / "scotty" / "mit_suspended_20250228_1110_merged_log.csv.gz")


def unsigned(column: np.ndarray) -> np.ndarray:
    return (column.astype(np.int64) & 0xFFFFFFFF).astype(np.uint32)


def replies(log: Log) -> list[bytes]:
    q, qd, flags = log.joints("data_q_{}"), log.joints("data_qd_{}"), unsigned(log.column("data_Flag_dataraw"))
    return [
        pack_data(BoardData(q[c, b : b + 2], qd[c, b : b + 2], flags[c, b : b + 2], None))
        for c in range(len(q))
        for b in (0, 2)
    ]


def stored_checksum(frame: bytes, word: int) -> int:
    return int.from_bytes(np.frombuffer(frame, "<u2").byteswap().tobytes()[4 * word : 4 * word + 4], "little")


def test_all_5928_reply_checksums_verify(log: Log) -> None:
    frames = replies(log)
    calculated = unsigned(log.column("data_CalcChecksum"))[:, ::2].ravel()
    assert np.array_equal(calculated, unsigned(log.column("data_RcvdChecksum"))[:, ::2].ravel())
    dead = ~np.concatenate([log.joints("data_q_{}"), log.joints("data_qd_{}")], axis=-1).reshape(-1, 12).any(axis=1)
    dead &= ~log.column("data_Flag_dataraw").reshape(-1, 2).any(axis=1)
    mine = np.array([stored_checksum(frame, 14) for frame in frames], dtype=np.uint32)
    assert np.array_equal(mine[~dead], calculated[~dead])
    assert not calculated[dead].any()  # the reference took these frames of zeros for data; ours carry a mark
    assert (mine[dead] == 0x80000000).all()
    assert (len(frames), dead.sum()) == (5928, 2)


def test_all_command_checksums_verify_once_the_lost_signs_are_restored(log: Log) -> None:
    """The log's tool made integers of qd_des and lost -0.0: without the robot's sign table nothing fits."""
    fields = [log.joints(f"cmd_{name}") for name in ("q_des_{}", "qd_des_{}", "kp_{}", "kd_{}", "tau_{}_ff")]
    assert not fields[1].any()
    modes, low = log.column("cmd_Control Mode"), log.column("cmd_Flags")
    flags = unsigned(log.column("cmd_Flags_raw"))
    wanted = unsigned(log.column("cmd_Checksum"))[:, ::2]
    assert np.array_equal(flags, unsigned(modes * 65536 + low))
    matches = {}
    for restored in (False, True):
        fields[1] = np.zeros_like(fields[0]) * SIGNS if restored else np.zeros_like(fields[0])
        same = 0
        for cycle, board in np.ndindex(wanted.shape):
            legs = slice(2 * board, 2 * board + 2)
            frame = pack_command(BoardCommand(*(field[cycle, legs] for field in fields), flags[cycle, legs]))
            same += stored_checksum(frame, 32) == wanted[cycle, board]
            if restored and cycle % 50 == 0:
                assert np.array_equal(unpack_command(frame).kp, fields[2][cycle, legs])
        matches[restored] = same
    assert matches == {False: 0, True: 5928}


def test_35568_positions_and_velocities_decode_to_the_logged_values(log: Log) -> None:
    robot = unpack_boards(replies(log))
    q, qd = log.joints("data_q_{}"), log.joints("data_qd_{}")
    assert np.array_equal(robot.q, q.astype(np.float32).ravel())
    assert np.array_equal(robot.qd, qd.astype(np.float32).ravel())
    assert robot.q.size == 35568
    assert robot.valid.all()


def test_35568_torques_decode_to_the_logged_values(log: Log) -> None:
    tau, _, valid = unpack_torques(unsigned(log.column("data_Flag_dataraw")))
    assert tau.size == 35568
    assert np.abs(tau - log.joints("data_tau_m_{}")).max() < 1e-6
    assert np.array_equal(valid, np.abs(tau) < 70)


def test_positions_and_velocities_are_raw_integers_of_the_ak10_9_table(log: Log) -> None:
    """The shipped firmware multiplies the knee's velocity by its ratio where physics divides; hence / KNEE."""
    motor = MOTORS["AK10-9_V2.0"]
    q, qd = log.joints("data_q_{}") * KNEE, log.joints("data_qd_{}") / KNEE
    for values, half, bits, tolerance in ((q, motor.position, 16, 1.5e-3), (qd, motor.velocity, 12, 8e-5)):
        some = values[values != 0]
        raw = (some + half) * (2**bits - 1) / (2 * half)
        assert np.abs(raw - np.round(raw)).max() < tolerance
        grid = FixedPoint(-half, half, bits)
        assert np.abs(grid.decode(np.round(raw)) - some).max() < 1e-6 * half


def test_first_cycles_are_garbage(log: Log) -> None:
    q, tau = log.joints("data_q_{}"), log.joints("data_tau_m_{}")
    assert not q[0].any()
    assert (tau[0] == -70).all()
    assert not unpack_torques(unsigned(log.column("data_Flag_dataraw"))[0])[2].any()
    later = unpack_torques(unsigned(log.column("data_Flag_dataraw"))[2:])
    assert later[2].all()
    kp = log.column("cmd_kp_abad")[:, 0]
    assert (kp[21:268] == 5).all()
    assert set(kp[14:22]) == {0, 5}


def test_most_samples_repeat_so_a_repeat_is_not_new_data(log: Log) -> None:
    q = log.joints("data_q_{}").reshape(-1, 12)
    assert 0.65 < np.mean(np.diff(q, axis=0) == 0) < 0.95


def test_xor_on_real_replies_sees_two_boards_ored_but_not_every_reply_a_byte_late(log: Log) -> None:
    """Of 5 924 replies one byte late 9 pass, two or more bytes late none: what moves must be checked by physics."""
    frames = np.array([np.frombuffer(frame, np.uint8) for frame in replies(log)[4:]])

    def passed(damaged: np.ndarray) -> int:
        return sum(reason is None for reason in unpack_boards([row.tobytes() for row in damaged]).reasons)

    assert passed(frames[0::2] | frames[1::2]) == 0
    late = [np.roll(frames, shift, axis=1) for shift in (1, 2, 3, 4)]  # the tail is zero
    assert [passed(damaged) for damaged in late] == [9, 0, 0, 0]
