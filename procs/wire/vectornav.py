"""VectorNav VN-100 binary output: 0xFA, group byte, a 16-bit mask per group, fields (little-endian), CRC (big-endian).

The group byte has a bit per group: 0 common, 1 time, 2 IMU, 4 attitude (3, 5, 6 are GNSS and INS: not of the VN-100).
Fields follow group by group in the order of their bits. CRC-16/CCITT (0x1021, start 0) over everything after 0xFA.
Units rad/s, m/s^2 (specific force), degrees where a name ends in _deg. Sensor axes: x forward,
y right, z down. The quaternion is stored x y z w. Source: VN-100 user manual, VectorNav vnproglib.
"""

from __future__ import annotations

import math
from binascii import crc_hqx
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from procs.wire.decode import DecodeError, Reason

SYNC = 0xFA
Array = NDArray[np.float64]


class Field(NamedTuple):
    """One field of a group: numpy type and number of elements."""

    name: str
    kind: str
    elements: int = 1

    @property
    def size(self) -> int:
        """Bytes."""
        return np.dtype(self.kind).itemsize * self.elements


def _f(name: str, elements: int = 1) -> Field:
    return Field(name, "<f4", elements)


GROUPS: dict[int, tuple[Field, ...]] = {
    0: (
        Field("time_startup_ns", "<u8"),
        Field("time_gps_ns", "<u8"),
        Field("time_sync_in_ns", "<u8"),
        _f("yaw_pitch_roll_deg", 3),
        _f("quaternion", 4),
        _f("gyro", 3),
        Field("position", "<f8", 3),
        _f("velocity", 3),
        _f("accel", 3),
        _f("raw_accel_gyro", 6),
        _f("mag_temperature_pressure", 5),
        _f("delta_time_theta_velocity", 7),
        Field("status", "<u2"),
        Field("sync_in_count", "<u4"),
        Field("time_pps_ns", "<u8"),
    ),
    1: (
        Field("time_startup_ns", "<u8"),
        Field("time_gps_ns", "<u8"),
        Field("gps_tow_ns", "<u8"),
        Field("gps_week", "<u2"),
        Field("time_sync_in_ns", "<u8"),
        Field("time_pps_ns", "<u8"),
        Field("time_utc", "u1", 8),
        Field("sync_in_count", "<u4"),
        Field("sync_out_count", "<u4"),
        Field("time_status", "u1"),
    ),
    2: (
        Field("status", "<u2"),
        _f("raw_mag", 3),
        _f("raw_accel", 3),
        _f("raw_gyro", 3),
        _f("temperature"),
        _f("pressure"),
        _f("delta_theta", 4),
        _f("delta_velocity", 3),
        _f("mag", 3),
        _f("accel", 3),
        _f("gyro", 3),
        Field("saturation", "<u2"),
    ),
    4: (
        Field("status", "<u2"),
        _f("yaw_pitch_roll_deg", 3),
        _f("quaternion", 4),
        _f("dcm", 9),
        _f("mag_ned", 3),
        _f("accel_ned", 3),
        _f("linear_accel", 3),
        _f("linear_accel_ned", 3),
        _f("yaw_pitch_roll_sigma_deg", 3),
    ),
}
FIELD_OF = {(group, field.name): 1 << bit for group, fields in GROUPS.items() for bit, field in enumerate(fields)}
_NORM_TOLERANCE = 0.02  # of a quaternion's length; float32 of a healthy sensor is within 1e-6


@dataclass(slots=True)
class ImuSample:
    """Orientation w x y z (sensor to north-east-down), gyro rad/s and specific force m/s^2 in sensor axes."""

    quat: Array
    gyro: Array
    accel: Array
    valid: bool


Packet = dict[tuple[int, str], NDArray[np.generic]]  # (group, field name) -> elements


def header_of(fields: Iterable[tuple[int, str]]) -> bytes:
    """Group byte and masks of a set of (group, field)."""
    masks: dict[int, int] = {}
    for group, name in fields:
        masks[group] = masks.get(group, 0) | FIELD_OF[group, name]
    return bytes([sum(1 << g for g in masks)]) + b"".join(masks[g].to_bytes(2, "little") for g in sorted(masks))


MIT_HEADER = header_of(((0, "quaternion"), (0, "gyro"), (0, "accel")))  # what the Mini Cheetah asks for


def layout(data: bytes | bytearray) -> tuple[list[tuple[int, Field]], int, int] | None:
    """(fields, header bytes, bytes of the whole packet) of a packet's start without sync; None: more bytes needed."""
    if not data:
        return None
    groups = [bit for bit in range(8) if data[0] >> bit & 1]
    if not groups or any(group not in GROUPS for group in groups):
        raise DecodeError(Reason.UNKNOWN, f"groups {data[0]:#04x}")
    header = 1 + 2 * len(groups)
    if len(data) < header:
        return None
    fields: list[tuple[int, Field]] = []
    for i, group in enumerate(groups):
        mask = int.from_bytes(data[1 + 2 * i : 3 + 2 * i], "little")
        if mask == 0 or mask >> len(GROUPS[group]):
            raise DecodeError(Reason.UNKNOWN, f"fields {mask:#06x} of group {group}")
        fields += [(group, field) for bit, field in enumerate(GROUPS[group]) if mask >> bit & 1]
    return fields, header, 1 + header + sum(field.size for _, field in fields) + 2


def unpack(packet: bytes) -> Packet:
    """Fields of one whole packet from its sync byte to its CRC, or DecodeError."""
    if not packet or packet[0] != SYNC:
        raise DecodeError(Reason.IDENTIFIER, "no 0xFA at the start")
    found = layout(packet[1:])
    if found is None or len(packet) != found[2]:
        raise DecodeError(Reason.LENGTH, f"{len(packet)} bytes")
    if crc_hqx(packet[1:], 0) != 0:
        raise DecodeError(Reason.CHECKSUM)
    offset = 1 + found[1]
    out: Packet = {}
    for group, field in found[0]:
        out[group, field.name] = np.frombuffer(packet, dtype=field.kind, count=field.elements, offset=offset)
        offset += field.size
    return out


def pack(values: dict[tuple[int, str], object]) -> bytes:
    """One packet of (group, field) -> numbers, as an emulated sensor sends it."""
    body = header_of(values)
    found = layout(body)
    assert found is not None
    for group, field in found[0]:
        with np.errstate(over="ignore", invalid="ignore"):
            numbers = np.asarray(values[group, field.name]).astype(field.kind)
        if numbers.size != field.elements or not np.isfinite(numbers).all():
            raise ValueError(f"{field.name} = {values[group, field.name]}: want {field.elements} finite numbers")
        body += numbers.tobytes()
    return bytes([SYNC]) + body + crc_hqx(body, 0).to_bytes(2, "big")


def imu_sample(packet: Packet) -> ImuSample | None:
    """Orientation, gyro and accel from whichever group has them; None where one is not in the packet."""
    parts = []
    for name, groups in (("quaternion", (0, 4)), ("gyro", (0, 2)), ("accel", (0, 2))):
        found = next((packet[group, name] for group in groups if (group, name) in packet), None)
        if found is None:
            return None
        with np.errstate(invalid="ignore"):  # a signalling NaN
            parts.append(found.astype(np.float64))
    xyzw, gyro, accel = parts
    valid = bool(np.isfinite(np.concatenate(parts)).all()) and abs(math.hypot(*xyzw) - 1) < _NORM_TOLERANCE
    return ImuSample(xyzw[[3, 0, 1, 2]], gyro, accel, valid)


class Parser:
    """Packets out of a byte stream that may start anywhere, be split anywhere and carry garbage or ASCII lines.

    With `header` (group byte and masks, as configured in the sensor) any other packet is skipped at once; without it a
    stray 0xFA holds the stream back until the bytes it promises have come.
    """

    def __init__(self, header: bytes | None = None) -> None:
        self.header = header
        self.packets = self.bad_crc = self.skipped_bytes = 0
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Packet]:
        """Whole packets that these bytes complete, oldest first."""
        buffer = self._buffer
        buffer += data
        out: list[Packet] = []
        start = 0
        while True:
            sync = buffer.find(SYNC, start)
            self.skipped_bytes += (len(buffer) if sync < 0 else sync) - start
            start = len(buffer) if sync < 0 else sync
            if sync < 0:
                break
            size = self._size(start)
            if size is None:
                break
            packet = bytes(buffer[start : start + size])
            if size and crc_hqx(packet[1:], 0) == 0:
                out.append(unpack(packet))
                start += size
            else:
                self.bad_crc += size > 0
                self.skipped_bytes += 1
                start += 1
        del buffer[:start]
        self.packets += len(out)
        return out

    def _size(self, start: int) -> int | None:
        """Bytes of the packet at `start`; 0: not a packet; None: more bytes needed."""
        head = self._buffer[start + 1 : start + 17]  # up to seven groups
        if self.header is not None and not self.header.startswith(head[: len(self.header)]):
            return 0
        try:
            found = layout(head)
        except DecodeError:
            return 0
        if found is None or len(self._buffer) - start < found[2]:
            return None
        return found[2]
