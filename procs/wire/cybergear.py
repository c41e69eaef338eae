"""Xiaomi CyberGear: CAN 2.0B, 29-bit id = type[28:24] | data2[23:8] | target[7:0], DLC 8, 1 Mbit/s.

Control (type 1): torque u16 in data2; data big-endian u16 position, velocity, kp, kd. Feedback (type 2): data2 = motor
id, faults in its bits 8..13, mode in 14..15; data big-endian u16 position, velocity, torque, temperature x 10 C.
Parameters (17, 18): little-endian u16 index, two zeros, value at byte 4. rad, rad/s, N m at the output.
Feedback positions saturate at the end of the range instead of wrapping: marked, never to be unwrapped.
Of published drivers pycybergear puts the host id where the torque belongs: do not compare control frames with it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from procs.wire.cybergear_tables import (
    BAUD_CODES,
    FAULT_BITS,
    FEEDBACK_FAULTS,
    PARAMETER_OF_INDEX,
    PARAMETERS,
    RANGE,
    WARNING_BITS,
    CyberGearRange,
    Kind,
    Parameter,
    State,
)
from procs.wire.decode import DecodeError, Fault, Reason, faults_of_bits
from procs.wire.fixed_point import FixedPoint, require_finite
from procs.wire.frame import CanFrame

BROADCAST_REPLY = 0xFE  # target of the answer to GET_ID
MAX_MOTOR = 0x7F
_BITS = 16


@dataclass(slots=True)
class Feedback:
    """One feedback frame; `saturated` position, velocity, torque; `valid`: none of them."""

    motor: int
    host: int
    position: float
    velocity: float
    torque: float
    temperature_c: float
    state: State
    faults: list[Fault]
    saturated: tuple[bool, bool, bool]
    valid: bool


@dataclass(slots=True)
class ParameterValue:
    """Answer to a parameter request; `valid` false where the value is not finite."""

    motor: int
    parameter: Parameter
    value: float
    valid: bool


@dataclass(slots=True)
class FaultReport:
    """Fault frame (type 21)."""

    motor: int
    faults: list[Fault]
    warnings: list[Fault]


@dataclass(slots=True)
class Identity:
    """Answer to a request for the id."""

    motor: int
    uid: bytes


Message = Feedback | ParameterValue | FaultReport | Identity


def can_id(kind: int, data2: int, target: int) -> int:
    """29-bit id."""
    if not (0 <= kind <= 0x1F and 0 <= data2 <= 0xFFFF and 0 <= target <= 0xFF):
        raise ValueError(f"{kind=}, {data2=:#x}, {target=:#x}: want 5, 16 and 8 bits")
    return kind << 24 | data2 << 8 | target


def split_id(identifier: int) -> tuple[int, int, int]:
    """(type, data2, target)."""
    return identifier >> 24 & 0x1F, identifier >> 8 & 0xFFFF, identifier & 0xFF


def enable(motor: int, host: int) -> CanFrame:
    """Start running. It sets no gains: the first control frame must carry the measured position."""
    return _frame(Kind.ENABLE, host, motor)


def stop(motor: int, host: int, clear_faults: bool = False) -> CanFrame:
    """Stop; with `clear_faults` also forget faults."""
    return _frame(Kind.STOP, host, motor, bytes([clear_faults]))


def set_zero(motor: int, host: int) -> CanFrame:
    """The present position becomes zero, until power-off."""
    return _frame(Kind.SET_ZERO, host, motor, b"\x01")


def set_can_id(motor: int, host: int, new: int) -> CanFrame:
    """New id of a motor, at once."""
    if not 0 < new <= MAX_MOTOR:
        raise ValueError(f"{new=}: want 1..{MAX_MOTOR}")
    return _frame(Kind.SET_CAN_ID, new << 8 | host, motor, b"\x01")


def get_id(motor: int, host: int) -> CanFrame:
    """Ask for the chip's number; also a way to find out who is there."""
    return _frame(Kind.GET_ID, host, motor)


def set_baud(motor: int, host: int, bits_per_second: int) -> CanFrame:
    """Bus speed after the next power-on."""
    if bits_per_second not in BAUD_CODES:
        raise ValueError(f"{bits_per_second=}: want one of {sorted(BAUD_CODES)}")
    return _frame(Kind.SET_BAUD, host, motor, bytes([BAUD_CODES[bits_per_second]]))


def read_parameter(motor: int, host: int, name: str) -> CanFrame:
    """Ask for a parameter."""
    parameter = _parameter(name)
    kind = Kind.READ if parameter.index >= 0x3030 else Kind.READ_LOW
    return _frame(kind, host, motor, parameter.index.to_bytes(2, "little"))


def write_parameter(motor: int, host: int, name: str, value: float) -> CanFrame:
    """Set a parameter in RAM; a value outside its limits is refused, not clamped: it is a setting, not a target."""
    parameter = _parameter(name)
    require_finite(name, value)
    if not parameter.writable or not parameter.low <= value <= parameter.high:
        raise ValueError(f"{name} = {value}: want {parameter.low}..{parameter.high}, {parameter.writable=}")
    if parameter.kind != "f" and value != int(value):
        raise ValueError(f"{name} = {value}: want a whole number")
    kind = Kind.WRITE if parameter.index >= 0x3030 else Kind.WRITE_LOW
    try:
        packed = struct.pack("<" + parameter.kind, value if parameter.kind == "f" else int(value))
    except OverflowError as error:
        raise ValueError(f"{name} = {value}: refused, too large for float32") from error
    return _frame(kind, host, motor, parameter.index.to_bytes(2, "little") + b"\0\0" + packed)


class CyberGearCodec:
    """Control frames of n motors and feedback of any of them, in one range."""

    def __init__(self, motors: Sequence[int], limits: CyberGearRange = RANGE) -> None:
        self.motors = tuple(motors)
        high = np.array([limits.position, limits.velocity, limits.kp, limits.kd, limits.torque])
        low = np.array([-limits.position, -limits.velocity, 0.0, 0.0, -limits.torque])
        self.grid = FixedPoint(low, high, np.full(5, _BITS), ("position", "velocity", "kp", "kd", "torque"))
        self._position = FixedPoint(-limits.position, limits.position, _BITS, "position")
        self._velocity = FixedPoint(-limits.velocity, limits.velocity, _BITS, "velocity")
        self._torque = FixedPoint(-limits.torque, limits.torque, _BITS, "torque")
        self._targets = [can_id(Kind.CONTROL, 0, motor) for motor in motors]

    def control(
        self, position: ArrayLike, velocity: ArrayLike, kp: ArrayLike, kd: ArrayLike, torque: ArrayLike
    ) -> list[CanFrame]:
        """Control frames of all motors from arrays (n,)."""
        values = np.empty((len(self.motors), 5))
        for i, column in enumerate((position, velocity, kp, kd, torque)):
            values[:, i] = column
        raw = self.grid.encode(values)
        data = raw[:, :4].astype(">u2").tobytes()
        torques = raw[:, 4].tolist()
        return [
            CanFrame(target | torques[i] << 8, data[8 * i : 8 * i + 8], True) for i, target in enumerate(self._targets)
        ]

    def unpack_control(self, frame: CanFrame) -> tuple[int, float, float, float, float, float]:
        """(motor, position, velocity, kp, kd, torque) as the motor reads it."""
        kind, data2, target = _split(frame)
        if kind != Kind.CONTROL:
            raise DecodeError(Reason.IDENTIFIER, f"type {kind}, want control")
        raw = np.array([*struct.unpack(">4H", frame.data), data2], dtype=np.int64)
        position, velocity, kp, kd, torque = self.grid.decode(raw).tolist()
        return target, position, velocity, kp, kd, torque

    def feedback(
        self, motor: int, host: int, position: float, velocity: float, torque: float, temperature_c: float,
        state: State = State.RUN, faults: int = 0,
    ) -> CanFrame:  # fmt: skip
        """Feedback frame as an emulated motor sends it; `faults`: six bits."""
        require_finite("temperature_c", temperature_c)
        data = struct.pack(
            ">4H",
            self._position.encode_one(position),
            self._velocity.encode_one(velocity),
            self._torque.encode_one(torque),
            round(min(max(temperature_c, 0.0), 6553.5) * 10),
        )
        return CanFrame(can_id(Kind.FEEDBACK, state << 14 | (faults & 0x3F) << 8 | motor, host), data, True)

    def unpack(self, frame: CanFrame) -> Message:
        """A frame from a motor, or DecodeError."""
        kind, data2, target = _split(frame)
        motor = data2 & 0xFF
        if kind == Kind.FEEDBACK:
            return self._feedback(frame.data, data2, target)
        if kind in (Kind.READ, Kind.READ_LOW):
            return _parameter_value(frame.data, motor)
        if kind == Kind.FAULTS:
            faults, warnings = struct.unpack("<II", frame.data)
            return FaultReport(motor, faults_of_bits(faults, FAULT_BITS), faults_of_bits(warnings, WARNING_BITS))
        if kind == Kind.GET_ID and target == BROADCAST_REPLY:
            return Identity(motor, frame.data)
        raise DecodeError(Reason.UNKNOWN, f"type {kind} from a motor")

    def _feedback(self, data: bytes, data2: int, host: int) -> Feedback:
        p, v, t, temperature = struct.unpack(">4H", data)
        saturated = (self._position.saturated(p), self._velocity.saturated(v), self._torque.saturated(t))
        return Feedback(
            data2 & 0xFF,
            host,
            self._position.decode(p),
            self._velocity.decode(v),
            self._torque.decode(t),
            temperature / 10,
            State(data2 >> 14),
            faults_of_bits(data2 >> 8 & 0x3F, FEEDBACK_FAULTS),
            saturated,
            not any(saturated),
        )


def _frame(kind: Kind, data2: int, motor: int, data: bytes = b"") -> CanFrame:
    return CanFrame(can_id(kind, data2, motor), data.ljust(8, b"\0"), True)


def _split(frame: CanFrame) -> tuple[int, int, int]:
    if not frame.extended or frame.remote or frame.can_id >> 29:
        raise DecodeError(Reason.IDENTIFIER, f"{frame.can_id:#x}: want a 29-bit data frame")
    if len(frame.data) != 8:
        raise DecodeError(Reason.LENGTH, f"{len(frame.data)} bytes, want 8")
    return split_id(frame.can_id)


def _parameter(name: str) -> Parameter:
    if name not in PARAMETERS:
        raise ValueError(f"parameter {name!r}: want one of {', '.join(PARAMETERS)}")
    return PARAMETERS[name]


def _parameter_value(data: bytes, motor: int) -> ParameterValue:
    index = int.from_bytes(data[:2], "little")
    parameter = PARAMETER_OF_INDEX.get(index)
    if parameter is None:
        raise DecodeError(Reason.UNKNOWN, f"parameter {index:#06x}")
    (value,) = struct.unpack_from("<" + parameter.kind, data, 4)
    return ParameterValue(motor, parameter, value, bool(np.isfinite(value)))
