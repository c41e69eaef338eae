"""Any message of a known type as plain data, told by its fingerprint; whatever its channel is called."""

from __future__ import annotations

import math
import struct
from typing import Any

from lcmtypes.known import Known, known_types
from lcmtypes.lcmfile import Struct
from lcmtypes.message import DecodeError

CODES = {
    "int8_t": "b", "int16_t": "h", "int32_t": "i", "int64_t": "q",
    "float": "f", "double": "d", "boolean": "b", "byte": "B",
}  # fmt: skip
FINGERPRINT = 8  # bytes before the first member


def recognise(data: bytes) -> Known | None:
    """The type whose fingerprint the message begins with; None: unknown."""
    return known_types().get(int.from_bytes(data[:8], "big")) if len(data) >= FINGERPRINT else None


def decode(data: bytes, kind: Struct) -> dict[str, Any]:
    """Field name -> number, text or nested list in declared order, without the sizes of arrays.

    DecodeError if the bytes are not exactly one message of this type.
    """
    sizes, out, at = dict[str, int](), dict[str, Any](), FINGERPRINT
    named = {dim for member in kind.members for dim in member.dims}
    for member in kind.members:
        shape = [int(d) if d.isdigit() else sizes[d] for d in member.dims]
        count = math.prod(shape)
        if not 0 <= count <= len(data) or min(shape, default=0) < 0:
            raise DecodeError(f"{kind.name}: {member.name} of size {shape}")
        try:
            values, at = _texts(data, at, count) if member.type == "string" else _numbers(data, at, count, member.type)
        except (struct.error, ValueError) as error:
            raise DecodeError(f"{kind.name}: cut off in {member.name}: {len(data)} bytes") from error
        if member.name in named:
            sizes[member.name] = values[0]
        else:
            out[member.name] = _shaped(values, shape)
    if at != len(data):
        raise DecodeError(f"{kind.name}: {len(data)} bytes, {at} expected")
    return out


def _numbers(data: bytes, at: int, count: int, kind: str) -> tuple[list[Any], int]:
    code = struct.Struct(f">{count}{CODES[kind]}")
    return list(code.unpack_from(data, at)), at + code.size


def _texts(data: bytes, at: int, count: int) -> tuple[list[Any], int]:
    out = []
    for _ in range(count):
        (length,) = struct.unpack_from(">i", data, at)
        if length < 1 or at + 4 + length > len(data):
            raise ValueError("no string")
        out.append(data[at + 4 : at + 3 + length].decode(errors="replace"))
        at += 4 + length
    return out, at


def _shaped(values: list[Any], shape: list[int]) -> Any:
    if not shape:
        return values[0]
    if len(shape) == 1:
        return values
    step = math.prod(shape[1:])
    return [_shaped(values[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]
