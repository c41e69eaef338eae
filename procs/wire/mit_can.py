"""MIT-mode CAN: MIT mini-cheetah drive, T-Motor/CubeMars AK, GIM in MIT mode. Classic CAN, 11-bit id, 1 Mbit/s.

Command, DLC 8, id = motor: big-endian bit stream p16 v12 kp12 kd12 t12. Reply, DLC 6, 7 or 8, id = master id (mostly 0,
so tell motors apart by b0): b0 motor id, p16 v12 t12, [b6 temperature, b7 error]. rad, rad/s, N m at the output shaft.
Special frames: seven FF, then FC enter, FD exit, FE set zero; no command may look like one, so kp of a command with
seven FF is lowered by one quantum. A raw value at an end of its range means out of range and is marked.
Sources: bgkatz motorcontrol, Scotty firmware, CubeMars AK manual, PyPI mini-cheetah-motor-driver-socketcan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from procs.wire.decode import DecodeError, Fault, Reason
from procs.wire.fixed_point import FixedPoint
from procs.wire.mit_motors import P_BITS, SMALL_BITS, MotorRange

Array = NDArray[np.float64]
COMMAND_NAMES = ("position", "velocity", "kp", "kd", "torque")
REPLY_NAMES = ("position", "velocity", "torque")
REPLY_LENGTHS = (6, 7, 8)
_COMMAND_BITS = np.array([P_BITS, SMALL_BITS, SMALL_BITS, SMALL_BITS, SMALL_BITS])
_COMMAND_SHIFTS = np.array([48, 36, 24, 12, 0], dtype=np.uint64)
_REPLY_SHIFTS = np.array([40, 28, 16], dtype=np.uint64)
_REPLY_MASKS = np.array([0xFFFF, 0xFFF, 0xFFF], dtype=np.uint64)
_ALIAS = np.uint64(0xFFFFFFFFFFFFFF00)  # seven FF: special frames live from here on
_KP_LSB = np.uint64(1 << 24)


class Special(Enum):
    """Data of the special frames; each is answered by a reply (set zero only after 1 to 1.5 s)."""

    ENTER = b"\xff" * 7 + b"\xfc"
    EXIT = b"\xff" * 7 + b"\xfd"
    ZERO = b"\xff" * 7 + b"\xfe"


class Temperature(Enum):
    """Meaning of byte 6; the vendor's answers contradict each other (TMotorCANControl, code and PR 4)."""

    MINUS_40 = (1.0, -40.0)
    RAW = (1.0, 0.0)
    PERCENT = (100 / 255, 0.0)

    def celsius(self, raw: ArrayLike) -> Array:
        """Degrees C of the raw byte."""
        scale, offset = self.value
        return np.asarray(raw, dtype=float) * scale + offset


AK_ERRORS: dict[int, Fault] = {  # TMotorCANControl; the serial mode has another list
    0: Fault("no fault", ""),
    1: Fault("over-temperature", "let the motor cool down; lower the load or the torque limit"),
    2: Fault("over-current", "lower gains or torque; check the phases for a short"),
    3: Fault("over-voltage", "braking pumps the supply up: battery, clamp or lower speed"),
    4: Fault("under-voltage", "charge the battery; check connectors and cable cross-section"),
    5: Fault("encoder fault", "check the magnet and the encoder board; do not enable again before"),
    6: Fault("phase unbalance", "a phase is open: check the motor's three wires"),
}


def ak_fault(code: int) -> Fault:
    """Error byte of a reply in words."""
    return AK_ERRORS.get(code, Fault(f"unknown error {code}", "not in the MIT-mode list: see the firmware's manual"))


@dataclass(slots=True)
class MitReplies:
    """Replies of n motors, all (n,). Numbers of a bad frame are NaN, saturated ones are kept but not valid.

    `temperature` is the raw byte, `error` the error byte, both -1 where the frame has none.
    """

    motor_id: NDArray[np.int64]
    position: Array
    velocity: Array
    torque: Array
    saturated: NDArray[np.bool_]  # (n, 3)
    valid: NDArray[np.bool_]
    temperature: NDArray[np.int64]
    error: NDArray[np.int64]
    reasons: list[Reason | None]


class MitCodec:
    """Frames of n motors, each with its own range."""

    def __init__(self, motors: Sequence[MotorRange]) -> None:
        self.motors = tuple(motors)
        high = np.array([(m.position, m.velocity, m.kp, m.kd, m.torque) for m in motors], dtype=float)
        low = -high
        low[:, 2:4] = 0.0
        ends = [0, 1, 4]
        self.command_grid = FixedPoint(low, high, _COMMAND_BITS, COMMAND_NAMES)
        self.reply_grid = FixedPoint(low[:, ends], high[:, ends], _COMMAND_BITS[ends], REPLY_NAMES)

    def pack(
        self, position: ArrayLike, velocity: ArrayLike, kp: ArrayLike, kd: ArrayLike, torque: ArrayLike
    ) -> list[bytes]:
        """Commands (n,) as n frames' data."""
        values = np.empty((len(self.motors), 5))
        for i, column in enumerate((position, velocity, kp, kd, torque)):
            values[:, i] = column
        return pack_raw_commands(self.command_grid.encode(values))

    def unpack(self, frames: Sequence[bytes | None], ids: Sequence[int] | None = None) -> MitReplies:
        """Replies in the motors' order, None where none came; with `ids` byte 0 must match. Never raises."""
        if len(frames) != len(self.motors):
            raise ValueError(f"{len(frames)} frames for {len(self.motors)} motors")
        data = [frame if frame is not None and len(frame) in REPLY_LENGTHS else b"" for frame in frames]
        length = np.array([len(frame) for frame in data])
        word = np.frombuffer(b"".join([frame.ljust(8, b"\0") for frame in data]), dtype=">u8").astype(np.uint64)
        raw = ((word[:, None] >> _REPLY_SHIFTS) & _REPLY_MASKS).astype(np.int64)
        numbers = self.reply_grid.decode(raw)
        saturated = self.reply_grid.saturated(raw)
        motor_id = (word >> np.uint64(56)).astype(np.int64)
        good = length > 0
        if ids is not None:
            good &= motor_id == ids
        valid = good & ~saturated.any(axis=1)
        reasons: list[Reason | None] = [None] * len(frames)
        if not valid.all():
            for i in np.flatnonzero(~valid).tolist():
                reasons[i] = _reason(frames[i], bool(length[i]), bool(good[i]))
            numbers[~good] = np.nan
        low_bytes = word.astype(np.int64)
        temperature = np.where(length >= 7, (low_bytes >> 8) & 0xFF, -1)
        error = np.where(length >= 8, low_bytes & 0xFF, -1)
        return MitReplies(
            motor_id, numbers[:, 0], numbers[:, 1], numbers[:, 2], saturated, valid, temperature, error, reasons
        )

    def unpack_command(self, frame: bytes, motor: int = 0) -> Array | Special:
        """A command as motor `motor` reads it: position, velocity, kp, kd, torque (5,), or a special frame."""
        if len(frame) != 8:
            raise DecodeError(Reason.LENGTH, f"{len(frame)} bytes, want 8")
        special = special_of(frame)
        if special is not None:
            return special
        grid = self.command_grid
        raw = unpack_raw_command(frame)
        return raw * grid.span[motor] / grid.top + grid.low[motor]

    def pack_replies(
        self,
        ids: Sequence[int],
        position: ArrayLike,
        velocity: ArrayLike,
        torque: ArrayLike,
        tail: bytes = b"",
    ) -> list[bytes]:
        """Replies of n motors as an emulator sends them; `tail`: temperature and error byte, or nothing (DLC 6)."""
        values = np.empty((len(self.motors), 3))
        for i, column in enumerate((position, velocity, torque)):
            values[:, i] = column
        raw = self.reply_grid.encode(values).tolist()
        return [
            (motor << 40 | p << 24 | v << 12 | t).to_bytes(6, "big") + tail
            for motor, (p, v, t) in zip(ids, raw, strict=True)
        ]


def pack_raw_commands(raw: NDArray[np.int64]) -> list[bytes]:
    """Data of raw integers (n, 5) p, v, kp, kd, t, with the guard against special frames."""
    word = (raw.astype(np.uint64) << _COMMAND_SHIFTS).sum(axis=1, dtype=np.uint64)
    alias = word >= _ALIAS
    if alias.any():
        word[alias] -= _KP_LSB
    joined = word.astype(">u8").tobytes()
    return [joined[i : i + 8] for i in range(0, len(joined), 8)]


def unpack_raw_command(frame: bytes) -> NDArray[np.int64]:
    """Raw integers p, v, kp, kd, t (5,) of a command's eight bytes."""
    word = int.from_bytes(frame, "big")
    raw = (word >> 48, word >> 36 & 0xFFF, word >> 24 & 0xFFF, word >> 12 & 0xFFF, word & 0xFFF)
    return np.array(raw, dtype=np.int64)


def special_of(frame: bytes) -> Special | None:
    """The special frame that these bytes are, or None."""
    try:
        return Special(bytes(frame))
    except ValueError:
        return None


def range_grid(motor: MotorRange) -> FixedPoint:
    """Position, velocity, torque (..., 3) of one motor: `at_end` marks numbers that a SPIne board decoded."""
    return MitCodec((motor,)).reply_grid


def _reason(frame: bytes | None, length_ok: bool, good: bool) -> Reason:
    if frame is None:
        return Reason.MISSING
    if not length_ok:
        return Reason.LENGTH
    return Reason.SATURATED if good else Reason.IDENTIFIER
