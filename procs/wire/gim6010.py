"""GIM6010-8 / ODrive-style CAN: 11-bit id = node << 5 | command, little-endian, DLC 8; fields in gim6010_tables.

Positions are turns and torques N m at the ROTOR, except in mit_control (0x08), which is rad and N m at the output
shaft: conversions at the end take the gear as an argument. set_input_pos carries its feed-forwards as int16 x 0.001.
Get commands are asked for with a remote frame (ODrive) or eight zeros (vendor SDK).
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from procs.wire.decode import DecodeError, Fault, Reason, faults_of_bits
from procs.wire.fixed_point import require_finite
from procs.wire.frame import CanFrame
from procs.wire.gim6010_tables import (
    AXIS_ERRORS,
    COMMAND_OF_NAME,
    COMMANDS,
    ERROR_TABLES,
    Command,
    ErrorType,
    Field,
    Heartbeat,
    Way,
)

MAX_NODE = 63
Value = float | int | bytes
_FLOAT32_MAX = float(np.finfo(np.float32).max)


@dataclass(slots=True)
class Message:
    """One decoded frame; `valid` false with a number that is not finite or an int16 at its end (`saturated`: which)."""

    node: int
    command: Command
    values: dict[str, Value]
    saturated: tuple[str, ...]
    valid: bool


@dataclass(slots=True)
class AxisStatus:
    """A heartbeat in words; `life` only of firmware 5.13 and later."""

    node: int
    faults: list[Fault]
    axis_state: int
    motor_error: bool
    encoder_error: bool
    controller_error: bool
    system_error: bool
    trajectory_done: bool
    life: int | None


def can_id(node: int, number: int) -> int:
    """11-bit id."""
    if not (0 <= node <= MAX_NODE and number in COMMANDS):
        raise ValueError(f"{node=}, {number=:#x}: want node 0..{MAX_NODE} and a command 0x01..0x1F")
    return node << 5 | number


def pack(node: int, name: str, **values: Value) -> CanFrame:
    """A frame of any command with fields; every field must be given. Scaled integers are clamped."""
    command = _command(name)
    if set(values) != {field.name for field in command.fields}:
        raise ValueError(f"{name}: fields {sorted(values)}, want {[field.name for field in command.fields]}")
    data = b"".join(_pack_field(field, values[field.name]) for field in command.fields)
    return CanFrame(can_id(node, command.number), data.ljust(8, b"\0"))


def request(node: int, name: str, remote: bool = True) -> CanFrame:
    """Ask a drive for a get command: remote frame (ODrive) or eight zeros (vendor SDK)."""
    command = _command(name)
    if command.way is not Way.FROM_DRIVE or name in ("heartbeat", "tx_sdo"):
        raise ValueError(f"{name}: not a value to ask for")
    identifier = can_id(node, command.number)
    return CanFrame(identifier, remote=True, length=0) if remote else CanFrame(identifier, bytes(8))


def request_error(node: int, kind: ErrorType) -> CanFrame:
    """Ask for one of the error words; the answer does not say which it is."""
    return CanFrame(can_id(node, 0x03), bytes([kind]).ljust(8, b"\0"))


def sdo(node: int, endpoint: int, write: bool = False, value: float = 0, kind: str = "f") -> CanFrame:
    """Read or write an endpoint; `kind`: struct format of its value."""
    raw = _pack_field(Field("value", kind), value).ljust(4, b"\0")
    return pack(node, "rx_sdo", opcode=int(write), endpoint=endpoint, reserved=0, value=raw)


def mit_control(node: int, data: bytes) -> CanFrame:
    """A command of mit_can for motor type GIM6010-8, in this protocol's frame."""
    if len(data) != 8:
        raise ValueError(f"{len(data)} bytes, want 8")
    return CanFrame(can_id(node, 0x08), data)


def input_position(node: int, turns: float, turn_s: float, torque: float) -> CanFrame:
    """set_input_pos: rotor turns, turn/s and N m, the feed-forwards as int16 x 0.001. As `pack`, for every tick."""
    return pack(node, "set_input_pos", position=float(turns), velocity_ff=float(turn_s), torque_ff=float(torque))


def unpack(frame: CanFrame) -> Message:
    """Any frame of the table, or DecodeError. Remote frames are requests and have no values."""
    node, number = frame.can_id >> 5, frame.can_id & 0x1F
    if frame.extended or node > MAX_NODE or frame.can_id < 0:
        raise DecodeError(Reason.IDENTIFIER, f"{frame.can_id:#x}: want an 11-bit id")
    command = COMMANDS.get(number)
    if command is None:
        raise DecodeError(Reason.UNKNOWN, f"command {number:#04x}")
    if frame.remote:
        return Message(node, command, {}, (), True)
    data = frame.data
    if command.name == "get_error" and 0 < len(data) < 8:
        data = data.ljust(8, b"\0")  # u8 type in a request, u32 in most answers
    if command.name == "mit_control" and 6 <= len(data) < 8:
        return Message(node, command, {"data": data}, (), True)
    layout = "<" + "".join(field.kind for field in command.fields)
    if len(data) < struct.calcsize(layout) or len(data) > 8:
        raise DecodeError(Reason.LENGTH, f"{command.name}: {len(data)} bytes, want {struct.calcsize(layout)}..8")
    values: dict[str, Value] = {}
    saturated, finite = [], True
    for field, raw in zip(command.fields, struct.unpack_from(layout, data), strict=True):
        values[field.name] = raw if field.scale == 1 else raw * field.scale
        if field.kind == "f":
            finite &= math.isfinite(raw)
        elif field.scale != 1 and abs(raw) >= 32767:
            saturated.append(field.name)
    return Message(node, command, values, tuple(saturated), finite and not saturated)


def axis_status(frame: CanFrame, layout: Heartbeat) -> AxisStatus:
    """A heartbeat in words."""
    message = unpack(frame)
    if message.command.number != 0x01 or not message.values:
        raise DecodeError(Reason.IDENTIFIER, f"{message.command.name}, want a heartbeat")
    place = layout.value
    data = frame.data

    def flag(where: tuple[int, int] | None) -> bool:
        return where is not None and bool(data[where[0]] >> where[1] & 1)

    return AxisStatus(
        message.node,
        faults_of_bits(int(message.values["axis_error"]), AXIS_ERRORS),
        data[4],
        flag(place.motor),
        flag(place.encoder),
        flag(place.controller),
        flag(place.system),
        flag(place.trajectory_done),
        None if place.life is None else data[place.life],
    )


def errors_in_words(kind: ErrorType, value: int) -> list[Fault]:
    """The answer to `request_error` in words."""
    return faults_of_bits(value, ERROR_TABLES[kind])


def sdo_value(message: Message, kind: str) -> float:
    """Value of a tx_sdo answer; `kind`: struct format of the endpoint."""
    raw = message.values.get("value")
    if not isinstance(raw, bytes) or struct.calcsize("<" + kind) > len(raw):
        raise DecodeError(Reason.IDENTIFIER, f"{message.command.name} has no SDO value of format {kind}")
    (value,) = struct.unpack_from("<" + kind, raw)
    return value


def rotor_turns(joint: ArrayLike, gear: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """Rotor turns (or turn/s) of output rad (or rad/s)."""
    return np.asarray(joint, dtype=float) * (gear / (2 * math.pi))


def output_rad(turns: ArrayLike, gear: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """Output rad (or rad/s) of rotor turns (or turn/s)."""
    return np.asarray(turns, dtype=float) * (2 * math.pi / gear)


def rotor_damping(damping: ArrayLike, gear: float | ArrayLike) -> NDArray[np.float64]:
    """vel_gain, rotor N m/(turn/s), of N m s/rad at the output."""
    return np.asarray(damping, dtype=float) * (2 * math.pi) / np.asarray(gear, dtype=float) ** 2


def rotor_torque(torque: ArrayLike, gear: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """Rotor N m of output N m, without losses."""
    return np.asarray(torque, dtype=float) / gear


def output_torque(torque: ArrayLike, gear: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """Output N m of rotor N m, without losses."""
    return np.asarray(torque, dtype=float) * gear


def _command(name: str) -> Command:
    if name not in COMMAND_OF_NAME:
        raise ValueError(f"command {name!r}: want one of {', '.join(COMMAND_OF_NAME)}")
    return COMMAND_OF_NAME[name]


def _pack_field(field: Field, value: Value) -> bytes:
    if isinstance(value, bytes):
        if field.kind[-1] != "s" or len(value) != int(field.kind[:-1]):
            raise ValueError(f"{field.name} = {value!r}: want format {field.kind}")
        return value
    require_finite(field.name, value)
    if field.kind == "f":
        if abs(value) > _FLOAT32_MAX:
            raise ValueError(f"{field.name} = {value}: refused, too large for float32")
        return struct.pack("<f", value)
    scaled = field.scale != 1
    raw = round(min(max(value / field.scale, -32767), 32767)) if scaled else int(value)
    try:
        return struct.pack("<" + field.kind, raw)
    except struct.error as error:
        raise ValueError(f"{field.name} = {value}: does not fit format {field.kind}") from error
