"""Scotty's variant of the SPIne frame: same layout and checksum, more in the flags.

Command flags: bits 0-15 flags, bits 16-31 the host's control mode.
Data flags: bits 0-1 soft-stop code, then the measured torque of abad at bit 2, hip at 12, knee at 22, 10 bits each:
u = round((clamp(t, +-70 N m) + 70) 1023 / 140). Zero encodes as 512 and reads back as +0.0684 N m.
Source: Vichu95/Scotty rt_spi.cpp and CAN_MOTORFIRMWARE_like_MIT main.c.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from procs.wire.decode import DecodeError, Reason
from procs.wire.fixed_point import require_finite
from procs.wire.spine import BoardData, pack_data, unpack_data

TORQUE_RANGE = 70.0  # N m
TORQUE_TOP = 1023
_SHIFTS = np.array([2, 12, 22])

Array = NDArray[np.float64]


class SoftStop(IntEnum):
    """Soft-stop code; the firmware ORs the joints' codes, so 3 may also mean abad and hip together."""

    NONE = 0
    ABAD = 1
    HIP = 2
    KNEE_OR_ABAD_AND_HIP = 3


@dataclass(slots=True)
class ScottyData:
    """Reply of one board; numbers and `valid`, `torque_valid` (2, 3), stops (2,) are SoftStop codes."""

    q: Array
    qd: Array
    tau: Array
    stops: NDArray[np.int64]
    valid: NDArray[np.bool_]
    torque_valid: NDArray[np.bool_]


def pack_torques(tau: ArrayLike, stop: ArrayLike = 0) -> NDArray[np.uint32]:
    """Data flags of torques (..., 3) in N m and soft-stop codes (...)."""
    require_finite("tau", tau)
    torque = np.clip(np.asarray(tau, dtype=float), -TORQUE_RANGE, TORQUE_RANGE)
    raw = np.floor((torque + TORQUE_RANGE) * TORQUE_TOP / (2 * TORQUE_RANGE) + 0.5).astype(np.int64)
    code = np.asarray(stop, dtype=np.int64)
    if np.any((code < 0) | (code > 3)):
        raise ValueError(f"soft-stop code {code.tolist()}: want 0..3")
    return ((raw << _SHIFTS).sum(axis=-1) | code).astype(np.uint32)


def unpack_torques(flags: ArrayLike) -> tuple[Array, NDArray[np.int64], NDArray[np.bool_]]:
    """(torques (..., 3) N m, codes (...), valid (..., 3)); the ends of the range are not valid: flags 0 reads -70."""
    word = np.asarray(flags, dtype=np.int64) & 0xFFFFFFFF
    raw = (word[..., None] >> _SHIFTS) & TORQUE_TOP
    return raw * (2 * TORQUE_RANGE) / TORQUE_TOP - TORQUE_RANGE, word & 3, (raw > 0) & (raw < TORQUE_TOP)


def pack_scotty_data(data: ScottyData) -> bytes:
    """Frame of one board, as an emulated board sends it."""
    return pack_data(BoardData(data.q, data.qd, pack_torques(data.tau, data.stops), data.valid))


def unpack_scotty_data(frame: bytes) -> ScottyData:
    """Reply of one board, or DecodeError."""
    board = unpack_data(frame)
    tau, stops, torque_valid = unpack_torques(board.flags)
    return ScottyData(board.q, board.qd, tau, stops, board.valid, torque_valid)


def pack_command_flags(flags: ArrayLike, control_mode: ArrayLike) -> NDArray[np.uint32]:
    """Command flags of 16-bit flags and a 16-bit control mode."""
    low, high = np.asarray(flags, dtype=np.int64), np.asarray(control_mode, dtype=np.int64)
    if np.any((low | high) & ~0xFFFF):
        raise ValueError(f"{flags=}, {control_mode=}: want 0..65535")
    return (low | high << 16).astype(np.uint32)


def unpack_command_flags(flags: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(flags, control mode)."""
    word = np.asarray(flags, dtype=np.int64) & 0xFFFFFFFF
    return word & 0xFFFF, word >> 16


def check_command_flags(flags: ArrayLike, legacy: bool = False) -> None:
    """DecodeError where the flags without the mode exceed 3; the shipped firmware (`legacy`) lets one bad leg pass."""
    low, _ = unpack_command_flags(flags)
    good = low <= 3
    if not (good.any() if legacy else good.all()):
        raise DecodeError(Reason.FLAGS, f"{low.tolist()}, want 0..3")


def knee_from_legacy_firmware(qd: ArrayLike, tau: ArrayLike, ratio: float) -> tuple[Array, Array]:
    """Joint (qd rad/s, tau N m) of a knee as the shipped firmware reports it.

    It multiplies the motor's velocity by the belt ratio and divides the torque, where physics wants it the other way
    round; proven by the integral of qd in the log. Position is right.
    """
    return np.asarray(qd, dtype=float) / ratio**2, np.asarray(tau, dtype=float) * ratio**2


def knee_for_legacy_firmware(
    qd: ArrayLike, tau: ArrayLike, kp: ArrayLike, kd: ArrayLike, ratio: float
) -> tuple[Array, Array, Array, Array]:
    """(qd, tau, kp, kd) to send for a knee so that the shipped firmware does what the joint needs.

    It divides velocity, multiplies torque and leaves the gains, which belong to the motor's side, unscaled.
    """
    square = ratio**2
    velocity, torque, stiffness, damping = (np.asarray(x, dtype=float) for x in (qd, tau, kp, kd))
    return velocity * square, torque / square, stiffness / square, damping / square
