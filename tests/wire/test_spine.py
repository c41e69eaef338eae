"""SPIne frame: layout, byte order, checksum, what is rejected and what XOR cannot see."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from procs.wire.decode import DecodeError, Reason
from procs.wire.spine import (
    FRAME_BYTES,
    BoardData,
    checksum,
    from_boards,
    pack_command,
    pack_commands,
    pack_data,
    to_boards,
    unpack_boards,
    unpack_command,
    unpack_data,
)

SINGLE = st.floats(width=32, allow_nan=False, allow_infinity=False)
WORD = st.integers(0, 2**32 - 1)
MIT_BOARD_0 = bytes.fromhex(
    "0000000000000000bb214017bb21c0173e523fee3e52bfeecccdbdcccccdbdcccccdbe4ccccd3e4ceadcbeeeeadc3eee000042a0000042a0"
    "000042a0000042a0000042a0000042a000003f8000003f8000003f8000003f8000003f8000003f800000bf800000bf800000c00000004000"
    "dfa4bff6dfa43ff6000100000001000000000000"
)


def swap(data: bytes) -> bytes:
    return np.frombuffer(data, "<u2").byteswap().tobytes()


def good_data(seed: int = 1) -> bytes:
    rng = np.random.default_rng(seed)
    return pack_data(BoardData(rng.normal(size=(2, 3)), rng.normal(size=(2, 3)), np.array([1, 2], np.uint32), None))


def mit_motor_axes(board: int) -> dict[str, np.ndarray]:
    """q (0,-.8,1.6), qd (.1,.2,.3), tau (1,2,3) of each leg through the reference's signs and offsets, in float32."""
    f = np.float32
    legs = slice(2 * board, 2 * board + 2)
    sign = np.array([[-1, -1, 1, 1], [-1, 1, -1, 1]], f).T
    k = f(0.6429) * np.array([-1, 1, -1, 1], f)
    mirror = np.array([1, -1, -1, 1], f)
    q, qd, tau = (np.zeros((4, 3), f) for _ in range(3))
    q[:, 1], q[:, 2] = f(-0.8) * sign[:, 1] + f(np.pi / 2) * mirror, f(1.6) / k + f(4.35) * mirror
    qd[:, :2], qd[:, 2] = np.array([0.1, 0.2], f) * sign, f(0.3) / k
    tau[:, :2], tau[:, 2] = np.array([1, 2], f) * sign, f(3) * k
    ones = np.ones((2, 3))
    return {"q_des": q[legs], "qd_des": qd[legs], "kp": 80 * ones, "kd": ones, "tau_ff": tau[legs], "flags": [1, 1]}


def test_golden_frame_of_the_mit_stack() -> None:
    assert pack_commands(**mit_motor_axes(0))[0] == MIT_BOARD_0
    command = unpack_command(MIT_BOARD_0)
    assert command.q_des.T.ravel() == pytest.approx([0, 0, 2.370796, -2.370796, 1.861277, -1.861277], abs=1e-6)
    assert command.qd_des.T.ravel() == pytest.approx([-0.1, -0.1, -0.2, 0.2, -0.466636, 0.466636], abs=1e-6)
    assert command.tau_ff.T.ravel() == pytest.approx([-1, -1, -2, 2, -1.9287, 1.9287], abs=1e-6)
    assert (command.kp.tolist(), command.kd.tolist()) == ([[80] * 3] * 2, [[1] * 3] * 2)
    assert command.flags.tolist() == [1, 1]
    assert pack_command(command) == MIT_BOARD_0


def test_golden_numbers_of_the_other_board_and_checksum_zero_of_mirrored_legs() -> None:
    values = mit_motor_axes(1)
    frame = pack_commands(**values)[0]
    command = unpack_command(frame)
    assert frame[-4:] == bytes(4)
    assert command.q_des.T.ravel() == pytest.approx([0, 0, -0.770796, 0.770796, -6.838723, 6.838723], abs=1e-6)
    assert command.qd_des.T.ravel() == pytest.approx([0.1, 0.1, -0.2, 0.2, -0.466636, 0.466636], abs=1e-6)
    assert command.tau_ff.T.ravel() == pytest.approx([1, 1, -2, 2, -1.9287, 1.9287], abs=1e-6)


@given(arrays(np.float32, (5, 12), elements=SINGLE), arrays(np.int64, 4, elements=st.integers(0, 2**32 - 1)))
def test_commands_of_twelve_joints_come_back(values: np.ndarray, flags: np.ndarray) -> None:
    frames = pack_commands(*values, flags)
    assert [len(frame) for frame in frames] == [FRAME_BYTES] * 2
    back = [unpack_command(frame) for frame in frames]
    for i, name in enumerate(("q_des", "qd_des", "kp", "kd", "tau_ff")):
        assert np.array_equal(from_boards(getattr(c, name) for c in back), values[i]), name
    assert np.concatenate([c.flags for c in back]).tolist() == flags.tolist()
    assert [pack_command(c) for c in back] == frames


@given(arrays(np.float32, (2, 12), elements=SINGLE), arrays(np.uint32, 4, elements=WORD))
def test_replies_of_twelve_joints_come_back(values: np.ndarray, flags: np.ndarray) -> None:
    q, qd = to_boards(values[0]), to_boards(values[1])
    frames = [pack_data(BoardData(q[b], qd[b], flags[2 * b : 2 * b + 2], None)) for b in (0, 1)]
    robot = unpack_boards(frames)
    assert robot.reasons == (None, None)
    assert robot.valid.all()
    assert np.array_equal(robot.q, values[0])
    assert np.array_equal(robot.qd, values[1])
    assert robot.flags.tolist() == flags.tolist()


def test_float_bytes_travel_as_b1_b0_b3_b2_and_legs_alternate() -> None:
    q = np.arange(6, dtype=float).reshape(2, 3) + 1
    wire = pack_data(BoardData(q, q + 10, np.array([7, 9], np.uint32), None))
    b = struct.pack("<f", 1.0)
    assert wire[:4] == bytes((b[1], b[0], b[3], b[2]))
    assert struct.unpack("<12f2I", swap(wire)[:56]) == (1, 4, 2, 5, 3, 6, 11, 14, 12, 15, 13, 16, 7, 9)
    assert wire[60:] == bytes(72)


def test_a_command_of_zeros_is_told_from_a_dead_bus() -> None:
    frame = pack_commands(*np.zeros((5, 6)), [0, 0])[0]
    assert frame != bytes(FRAME_BYTES)
    assert not unpack_command(frame).q_des.any()
    with pytest.raises(DecodeError) as info:
        unpack_command(bytes(FRAME_BYTES))
    assert info.value.reason is Reason.ALL_ZERO
    assert unpack_command(bytes(FRAME_BYTES), allow_zero=True).flags.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (bytes(FRAME_BYTES), Reason.ALL_ZERO),
        (b"\xff" * FRAME_BYTES, Reason.CHECKSUM),
        (b"\x00\x01" * 66, Reason.CHECKSUM),
        (good_data()[:-1], Reason.LENGTH),
        (b"", Reason.LENGTH),
        (good_data()[:56] + bytes(76), Reason.CHECKSUM),
    ],
)
def test_a_bad_reply_is_rejected_with_its_reason_and_spoils_only_its_board(frame: bytes, reason: Reason) -> None:
    with pytest.raises(DecodeError) as info:
        unpack_data(frame)
    assert info.value.reason is reason
    robot = unpack_boards((good_data(), frame))
    assert robot.reasons == (None, reason)
    assert robot.valid.tolist() == [True] * 6 + [False] * 6
    assert np.isfinite(robot.q[:6]).all()
    assert np.isnan(robot.q[6:]).all()


def test_zeros_with_something_in_the_ignored_rest_are_still_a_dead_bus() -> None:
    assert unpack_boards((bytes(60) + b"\x01" * 72,)).reasons == (Reason.ALL_ZERO,)


@pytest.mark.parametrize("bits", [0x7FC00000, 0x7F800000, 0x7FA00001, 0xFF800000])
def test_one_nan_in_a_reply_spoils_only_its_joint(bits: int) -> None:
    words = np.frombuffer(swap(good_data())[:60], "<u4").copy()
    words[3] = bits  # q hip of the second leg
    words[14] = checksum(words[:14])
    robot = unpack_boards((swap(words.tobytes()).ljust(FRAME_BYTES, b"\0"),))
    assert robot.reasons == (None,)
    assert robot.valid.tolist() == [True, True, True, True, False, True]


def test_a_nan_in_a_command_rejects_it_whole() -> None:
    words = np.frombuffer(swap(MIT_BOARD_0), "<u4").copy()
    words[5] = 0x7FC00000
    words[-1] = checksum(words[:-1])
    with pytest.raises(DecodeError) as info:
        unpack_command(swap(words.tobytes()))
    assert info.value.reason is Reason.NOT_FINITE


@pytest.mark.parametrize(("value", "words"), [(np.nan, "kd.* = nan"), (np.inf, "kd.* = inf"), (1e39, "too large")])
def test_what_a_float32_cannot_hold_is_not_sent(value: float, words: str) -> None:
    values = np.zeros((5, 12))
    values[3, 7] = value
    with pytest.raises(ValueError, match=words):
        pack_commands(*values, [1, 1, 1, 1])


def test_wrong_sizes_are_named() -> None:
    with pytest.raises(ValueError, match=r"kp: values\.shape"):
        pack_commands(np.zeros(12), np.zeros(12), np.zeros(11), np.zeros(12), np.zeros(12), np.ones(4))
    with pytest.raises(DecodeError, match="131 bytes"):
        unpack_command(bytes(131))


def rejected(frames: np.ndarray) -> np.ndarray:
    return np.array([reason is not None for reason in unpack_boards([row.tobytes() for row in frames]).reasons])


def test_xor_sees_every_single_flip_and_misses_pairs_in_one_column() -> None:
    """Of all 114 960 pairs of flipped bits in the 480 that count, XOR misses those in one bit column: 3 360 (2.9 %)."""
    wire = np.frombuffer(good_data(), np.uint8)
    bits = np.unpackbits(wire)
    one = np.repeat(bits[None], 480, axis=0)
    one[np.arange(480), np.arange(480)] ^= 1
    assert rejected(np.packbits(one, axis=1)).all()
    first, second = np.triu_indices(480, 1)
    missed = 0
    for part in np.array_split(np.arange(len(first)), 8):
        two = np.repeat(bits[None], len(part), axis=0)
        rows = np.arange(len(part))
        two[rows, first[part]] ^= 1
        two[rows, second[part]] ^= 1
        seen = rejected(np.packbits(two, axis=1))
        assert np.array_equal(~seen, (first[part] - second[part]) % 32 == 0)
        missed += np.count_nonzero(~seen)
    assert (len(first), missed) == (114_960, 3_360)


def test_xor_misses_exchanged_words_and_an_offset_written_twice() -> None:
    """Order does not count: legs or fields exchanged pass. Only the physics checks can see it."""
    words = np.frombuffer(good_data(), np.uint32).copy()
    words[[0, 1]] = words[[1, 0]]
    assert not rejected(words[None].view(np.uint8))[0]


def test_xor_sees_two_frames_ored_and_a_frame_that_ends_early() -> None:
    """Two boards that drive one line, or a board that stops sending: none of 2 000 random frames passes."""
    frames = np.array([np.frombuffer(good_data(seed), np.uint8) for seed in range(2000)])
    assert rejected(frames | np.roll(frames, 1, axis=0)).all()
    cut = frames.copy()
    cut[:, 40:] = 0
    assert rejected(cut).all()


@pytest.mark.parametrize("shift", [1, 2, 4])
def test_xor_misses_a_late_frame_where_the_bytes_of_the_checksum_that_drop_out_are_zero(shift: int) -> None:
    """A board that starts some bytes late: of random frames 1 in 256 passes per byte, of mirrored legs every one."""
    frames = np.array([np.frombuffer(good_data(seed), np.uint8) for seed in range(2000)])
    late = np.zeros_like(frames)
    late[:, shift:] = frames[:, :-shift]
    assert np.array_equal(~rejected(late), (frames[:, 60 - shift : 60] == 0).all(axis=1))
    mirrored = bytes(shift) + MIT_BOARD_0[:-shift]
    assert unpack_command(mirrored).tau_ff.tolist() != unpack_command(MIT_BOARD_0).tau_ff.tolist()  # accepted!


def test_xor_misses_the_or_of_two_equal_frames_and_a_repeated_old_frame() -> None:
    """Equal data ORed is itself, and a stale frame is a good frame: liveness needs time, not a checksum."""
    frame = np.frombuffer(good_data(), np.uint8)
    assert not rejected((frame | frame)[None])[0]
