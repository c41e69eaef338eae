"""What a decoder says about bytes it cannot use, and bit words in plain language."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class Reason(StrEnum):
    """Why a frame or a value of it is not usable; countable."""

    MISSING = "no frame"
    LENGTH = "wrong length"
    ALL_ZERO = "all zero (dead bus)"
    CHECKSUM = "bad checksum"
    NOT_FINITE = "NaN or infinity"
    SATURATED = "saturated value"
    IDENTIFIER = "unexpected identifier"
    UNKNOWN = "unknown command, group or parameter"
    FLAGS = "flags out of range"
    SYNTAX = "unreadable text"


class DecodeError(ValueError):
    """Bytes that are no frame of this protocol; `reason` is for counting, the text for reading."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else str(reason))
        self.reason = reason


class Fault(NamedTuple):
    """One fault of a drive in words."""

    name: str
    advice: str


def faults_of_bits(value: int, table: Mapping[int, Fault]) -> list[Fault]:
    """Faults of a bit word; `table` has the bit's value as key. Unknown bits are named too."""
    found = [fault for bit, fault in table.items() if value & bit]
    rest = value & ~sum(table)
    if rest:
        found.append(Fault(f"unknown bits {rest:#x}", "not in our table: see the manual of this firmware"))
    return found
