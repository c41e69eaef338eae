"""SPIne frame of the Mini Cheetah: one board, two legs, 66 16-bit words (132 bytes) both ways at once.

Command, 4-byte little-endian items, each [2] = the board's two legs: q_des abad, hip, knee at 0, 8, 16; qd_des 24, 32,
40; kp 48, 56, 64; kd 72, 80, 88; tau_ff 96, 104, 112; flags 120; checksum 128 (132 bytes).
Data: q abad, hip, knee at 0, 8, 16; qd 24, 32, 40; flags 48; checksum 56 (60 bytes, the other 36 words are ignored).
On the wire the two bytes of every 16-bit word are exchanged (b1 b0 b3 b2): the board clocks 16-bit words, the host
bytes.
Checksum: XOR of the 32-bit words before it. Units rad, rad/s, N m at the motor's output, in motor axes (signs, offsets
and ratios are not applied here). Source: MIT Cheetah-Software rt_spi.cpp.

The XOR has no seed, so a dead bus (all zero) would pass: decoders reject it, and encoders write a frame of zeros with
-0.0 in its first word, the same number in other bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from procs.wire.decode import DecodeError, Reason
from procs.wire.fixed_point import require_finite

FRAME_BYTES = 132
LEGS, JOINTS = 2, 3  # of one board
PER_BOARD = LEGS * JOINTS
COMMAND_FIELDS = ("q_des", "qd_des", "kp", "kd", "tau_ff")
DATA_FIELDS = ("q", "qd")
ENABLE = 0x1  # flags of a command
WIMP = 0x2  # weaker torque limits, only with ENABLE
ESTOP_MARK = 0xDEAD  # data flags of both legs: the board's e-stop pin is low

Array = NDArray[np.float64]
Words = NDArray[np.uint32]
_NEGATIVE_ZERO = np.uint32(0x80000000)


@dataclass(slots=True)
class BoardCommand:
    """Command of one board; numbers (2, 3) leg x joint, flags (2,)."""

    q_des: Array
    qd_des: Array
    kp: Array
    kd: Array
    tau_ff: Array
    flags: Words


@dataclass(slots=True)
class BoardData:
    """Reply of one board; numbers (2, 3) leg x joint, `valid` (2, 3) false where one is not finite, flags (2,)."""

    q: Array
    qd: Array
    flags: Words
    valid: NDArray[np.bool_]


@dataclass(slots=True)
class RobotData:
    """Replies of all boards, leg-major: q, qd, valid (joints,), flags (legs,); `reasons` per board, None where good.

    The numbers of a rejected board are NaN and its flags 0.
    """

    q: Array
    qd: Array
    flags: Words
    valid: NDArray[np.bool_]
    reasons: tuple[Reason | None, ...]


def checksum(words: Words) -> Words:
    """XOR over the last axis."""
    return np.bitwise_xor.reduce(words, axis=-1)


def pack_commands(
    q_des: ArrayLike, qd_des: ArrayLike, kp: ArrayLike, kd: ArrayLike, tau_ff: ArrayLike, flags: ArrayLike
) -> list[bytes]:
    """Frames of all boards from leg-major joint arrays (6 x boards,) and flags per leg (2 x boards,)."""
    return _frames(_words((q_des, qd_des, kp, kd, tau_ff), COMMAND_FIELDS, flags))


def pack_command(command: BoardCommand) -> bytes:
    """Frame of one board."""
    c = command
    return pack_commands(c.q_des, c.qd_des, c.kp, c.kd, c.tau_ff, c.flags)[0]


def pack_data(data: BoardData) -> bytes:
    """Reply of one board, as an emulated board sends it; the ignored rest is zero."""
    return _frames(_words((data.q, data.qd), DATA_FIELDS, data.flags))[0]


def unpack_command(frame: bytes, allow_zero: bool = False) -> BoardCommand:
    """Command of a frame. MIT's board takes a frame of zeros as "disable": `allow_zero` for such a board."""
    words = _command_words(frame)
    if checksum(words[:-1]) != words[-1]:
        raise DecodeError(Reason.CHECKSUM, f"{int(checksum(words[:-1])):#010x}, frame says {int(words[-1]):#010x}")
    if not allow_zero and not words.any():
        raise DecodeError(Reason.ALL_ZERO)
    with np.errstate(invalid="ignore"):  # a signalling NaN
        numbers = words[:-3].view("<f4").astype(np.float64)
    floats = numbers.reshape(len(COMMAND_FIELDS), JOINTS, LEGS).transpose(0, 2, 1)
    if not np.isfinite(floats).all():
        raise DecodeError(Reason.NOT_FINITE, "whole command refused")
    q_des, qd_des, kp, kd, tau_ff = floats
    return BoardCommand(q_des, qd_des, kp, kd, tau_ff, words[-3:-1].astype(np.uint32))


def unpack_data(frame: bytes) -> BoardData:
    """Reply of one board, or DecodeError."""
    robot = unpack_boards((frame,))
    if robot.reasons[0] is not None:
        raise DecodeError(robot.reasons[0], f"SPIne reply of {len(frame)} bytes")
    shape = (LEGS, JOINTS)
    return BoardData(robot.q.reshape(shape), robot.qd.reshape(shape), robot.flags, robot.valid.reshape(shape))


def unpack_boards(frames: Sequence[bytes]) -> RobotData:
    """Replies of all boards in leg order; never raises, a bad frame spoils only its own board."""
    boards = len(frames)
    reasons: list[Reason | None] = [None if len(f) == FRAME_BYTES else Reason.LENGTH for f in frames]
    if any(reasons):
        blank = bytes(FRAME_BYTES)
        frames = [frame if reason is None else blank for frame, reason in zip(frames, reasons, strict=True)]
    wire = np.frombuffer(b"".join(frames), dtype=">u2").reshape(boards, -1)
    words = wire[:, :30].astype("<u2").view("<u4")
    bad = (checksum(words[:, :14]) != words[:, 14]) | (words == 0).all(axis=1)
    with np.errstate(invalid="ignore"):  # a signalling NaN
        floats = words[:, :12].view("<f4").astype(np.float64)
    flags = words[:, 12:14].astype(np.uint32)
    if bad.any():
        for board in np.flatnonzero(bad):
            reasons[board] = reasons[board] or (Reason.CHECKSUM if words[board].any() else Reason.ALL_ZERO)
        floats[bad] = np.nan
        flags[bad] = 0
    numbers = floats.reshape(boards, 2, JOINTS, LEGS).transpose(1, 0, 3, 2).reshape(2, -1)
    valid = np.isfinite(numbers[0]) & np.isfinite(numbers[1])
    return RobotData(numbers[0], numbers[1], flags.reshape(-1), valid, tuple(reasons))


def to_boards(values: ArrayLike) -> Array:
    """Leg-major (6 x boards,) as (boards, 2, 3)."""
    return np.asarray(values, dtype=float).reshape(-1, LEGS, JOINTS)


def from_boards(values: Iterable[ArrayLike]) -> Array:
    """(2, 3) of each board as leg-major (6 x boards,)."""
    return np.asarray(list(values), dtype=float).reshape(-1)


def _words(fields: Sequence[ArrayLike], names: Sequence[str], flags: ArrayLike) -> Words:
    """(boards, words) with checksum."""
    leg_flags = np.asarray(flags, dtype=np.int64).reshape(-1, LEGS)
    boards, count = len(leg_flags), PER_BOARD * len(fields)
    words = np.zeros((boards, count + LEGS + 1), dtype="<u4")
    numbers = words.view("<f4")[:, :count].reshape(boards, len(fields), JOINTS, LEGS)
    with np.errstate(over="ignore", invalid="ignore"):
        for i, (name, field) in enumerate(zip(names, fields, strict=True)):
            values = np.asarray(field, dtype=float)
            if values.size != boards * PER_BOARD:
                raise ValueError(f"{name}: {values.shape=}, want {boards * PER_BOARD} numbers for {boards} boards")
            numbers[:, i] = values.reshape(boards, LEGS, JOINTS).transpose(0, 2, 1)
    if not np.isfinite(numbers).all():
        for name, field in zip(names, fields, strict=True):
            require_finite(name, field)
            _require_float32(name, field)
    words[:, count : count + LEGS] = leg_flags & 0xFFFFFFFF
    words[:, -1] = checksum(words[:, :-1])
    if not words[:, -1].all():
        dead = ~words.any(axis=1)
        words[dead, 0] = words[dead, -1] = _NEGATIVE_ZERO
    return words


def _require_float32(name: str, field: ArrayLike) -> None:
    values = np.asarray(field, dtype=float)
    worst = values.flat[int(np.argmax(np.abs(values)))]
    if abs(worst) > np.finfo(np.float32).max:
        raise ValueError(f"{name} = {worst}: refused, too large for float32")


def _frames(words: Words) -> list[bytes]:
    """Wire bytes: 16-bit words big-endian, padded to 66 words."""
    wire = np.zeros((len(words), FRAME_BYTES // 2), dtype=">u2")
    wire[:, : 2 * words.shape[1]] = words.view("<u2")
    joined = wire.tobytes()
    return [joined[i : i + FRAME_BYTES] for i in range(0, len(joined), FRAME_BYTES)]


def _command_words(frame: bytes) -> Words:
    if len(frame) != FRAME_BYTES:
        raise DecodeError(Reason.LENGTH, f"{len(frame)} bytes, want {FRAME_BYTES}")
    return np.frombuffer(frame, dtype=">u2").astype("<u2").view("<u4")
