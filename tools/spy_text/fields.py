"""The fields of a message as rows, arrays opened where asked for; their recent values as sparklines. Pure."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

BLOCKS = "▁▂▃▄▅▆▇█"
NOT_FINITE = "×"
SHOWN = 3  # elements of a closed array that are printed
HEX_WIDTH = 16  # bytes in a row
MOST_HEX = 512  # bytes of an unknown message


@dataclass(frozen=True)
class Field:
    """One row: name with its place in an array, text, a number to plot (None: none), and whether it can be opened."""

    path: str
    depth: int
    text: str
    number: float | None = None
    array: bool = False


def fields(message: Mapping[str, Any], opened: Collection[str] = ()) -> list[Field]:
    """All fields in declared order; arrays named in `opened` with their elements. An array's number is its norm."""
    out: list[Field] = []
    for name, value in message.items():
        _rows(out, name, value, 0, opened)
    return out


def _rows(out: list[Field], path: str, value: Any, depth: int, opened: Collection[str]) -> None:
    if isinstance(value, list | tuple):
        out.append(Field(path, depth, _array(value), norm(value), bool(value)))
        if path in opened:
            for i, element in enumerate(value):
                _rows(out, f"{path}[{i}]", element, depth + 1, opened)
    elif isinstance(value, bool | int | float):
        out.append(Field(path, depth, number(value), float(value)))
    else:
        out.append(Field(path, depth, repr(value) if isinstance(value, str) else str(value)))


def number(value: float) -> str:
    """Integers in full, the rest with six digits."""
    return str(value) if isinstance(value, int) else f"{value:.6g}"


def norm(value: Sequence[Any]) -> float | None:
    """Euclidean norm of all numbers in nested lists; None if there are none."""
    flat = _flat(value)
    return math.sqrt(sum(v * v for v in flat)) if flat else None


def _flat(value: Sequence[Any]) -> list[float]:
    out: list[float] = []
    for v in value:
        out += _flat(v) if isinstance(v, list | tuple) else [float(v)] if isinstance(v, int | float) else []
    return out


def _array(value: Sequence[Any]) -> str:
    if not value:
        return "[]"
    if isinstance(value[0], list | tuple):
        return f"[{len(value)} x {len(value[0])}]"
    some = ", ".join(f"{v:.4g}" if isinstance(v, int | float) else repr(v) for v in value[:SHOWN])
    return f"[{len(value)}]  {some}{', ...' if len(value) > SHOWN else ''}"


def hex_rows(data: bytes) -> list[Field]:
    """Bytes of a message of unknown type: fingerprint, length, dump."""
    out = [Field("fingerprint", 0, data[:8].hex()), Field("bytes", 0, str(len(data)), float(len(data)))]
    for at in range(0, min(len(data), MOST_HEX), HEX_WIDTH):
        part = data[at : at + HEX_WIDTH]
        plain = "".join(chr(b) if 32 <= b < 127 else "." for b in part)
        out.append(Field(f"{at:04x}", 0, f"{part.hex(' '):<{3 * HEX_WIDTH}} {plain}"))
    return out


def sparkline(values: Sequence[float], width: int) -> str:
    """The last `width` values between their least and their greatest; a flat line in the middle if they are equal."""
    values = list(values)[-width:] if width > 0 else []
    finite = [v for v in values if math.isfinite(v)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 0.0)
    span = high - low

    def block(v: float) -> str:
        if not math.isfinite(v):
            return NOT_FINITE
        if not 0 < span < math.inf:
            return BLOCKS[3]
        return BLOCKS[min(int((v - low) / span * len(BLOCKS)), len(BLOCKS) - 1)]

    return "".join(map(block, values))


class History:
    """Recent numbers of each field."""

    def __init__(self, length: int) -> None:
        self._length = length
        self._values: dict[str, deque[float]] = {}

    def add(self, rows: Sequence[Field]) -> None:
        """One sample of all fields that have a number."""
        for row in rows:
            if row.number is not None:
                self._values.setdefault(row.path, deque(maxlen=self._length)).append(row.number)

    def of(self, path: str) -> Sequence[float]:
        """Values of a field, the oldest first."""
        return self._values.get(path, ())

    def clear(self) -> None:
        """Another channel."""
        self._values.clear()
