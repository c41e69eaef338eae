"""Base of all generated messages: equality, finiteness, readable form."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np


class DecodeError(ValueError):
    """The bytes are not a message of this type (foreign, truncated or wrongly typed)."""


class Message:
    """A typed LCM message. Array fields are views of one float64 block, so coding is one copy."""

    __slots__ = ("run", "seq", "used", "utime")
    TYPE: ClassVar[str]
    FINGERPRINT: ClassVar[int]
    FIELDS: ClassVar[tuple[str, ...]]

    utime: int
    run: int
    seq: int
    used: list[int]

    def __init__(self, *sizes: int) -> None:
        raise TypeError("abstract")

    def encode(self) -> bytes:
        """Return the bytes on the wire, as lcm-gen's classes write them."""
        raise TypeError("abstract")

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Read the bytes on the wire; DecodeError if they are not exactly one message of this type."""
        raise TypeError("abstract")

    def finite(self) -> bool:
        """True if every number is finite."""
        raise TypeError("abstract")

    def fields(self) -> dict[str, Any]:
        """Field name to value in declared order, arrays as nested lists."""
        values = ((name, getattr(self, name)) for name in self.FIELDS)
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values}

    def copy(self) -> Self:
        """An independent copy."""
        return type(self).decode(self.encode())

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.encode() == other.encode()  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.fields().items())})"


def text(data: bytes, at: int) -> tuple[str, int]:
    """Read one LCM string at `at`; returns it and the offset behind it."""
    end = at + 4 + int.from_bytes(data[at : at + 4], "big", signed=True)
    if not at + 4 < end <= len(data):
        raise DecodeError("truncated string")
    return data[at + 4 : end - 1].decode(), end


def raw_text(value: str) -> bytes:
    """Write one LCM string: length with the closing zero, characters, zero."""
    raw = value.encode()
    return (len(raw) + 1).to_bytes(4, "big") + raw + b"\0"


def finite_block(block: np.ndarray, *scalars: float) -> bool:
    """True if the block and the scalars hold no infinity and no NaN."""
    return bool(np.isfinite(block).all()) and all(map(math.isfinite, scalars))
