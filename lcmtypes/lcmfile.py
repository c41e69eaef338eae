"""Reads .lcm files: struct name, members, and the fingerprint LCM gives them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PRIMITIVES = ("int8_t", "int16_t", "int32_t", "int64_t", "float", "double", "string", "boolean", "byte")


@dataclass(frozen=True)
class Member:
    """One member of a struct; `dims` holds numbers or the names of size members."""

    type: str
    name: str
    dims: tuple[str, ...]
    comment: str = ""


@dataclass(frozen=True)
class Struct:
    """A struct as written in a .lcm file."""

    name: str
    members: tuple[Member, ...]
    comment: str = ""

    @property
    def fingerprint(self) -> int:
        """The 64-bit type hash (LCM's lcmgen.c: names, primitive types and dimensions)."""
        value = 0x12345678
        for member in self.members:
            value = _hash_string(value, member.name)
            value = _hash_string(value, member.type)
            value = _hash(value, len(member.dims))
            for dim in member.dims:
                value = _hash(value, 0 if dim.isdigit() else 1)
                value = _hash_string(value, dim)
        return ((value << 1) + ((value >> 63) & 1)) & 0xFFFFFFFFFFFFFFFF


def _signed(value: int) -> int:
    value &= 0xFFFFFFFFFFFFFFFF
    return value - (1 << 64) if value >> 63 else value


def _hash(value: int, char: int) -> int:
    value = _signed(value)  # C shifts a signed value: the sign bit is copied in
    return _signed(((value << 8) ^ (value >> 55)) + char)


def _hash_string(value: int, text: str) -> int:
    value = _hash(value, len(text))
    for char in text.encode():
        value = _hash(value, char)
    return value


def read(path: Path) -> Struct:
    """Parse the single struct of a .lcm file; ValueError names file and line if it is not understood."""
    text = path.read_text()
    head = re.search(r"struct\s+(\w+)\s*\{(.*?)\}", text, re.S)
    if not head:
        raise ValueError(f"{path}: no struct found")
    note = re.search(r"//\s*(.*)\nstruct", text)
    members = []
    for line in filter(str.strip, head.group(2).splitlines()):
        match = re.fullmatch(r"\s*(\w+)\s+(\w+)((?:\[\w+\])*)\s*;\s*(?://\s*(.*))?", line)
        if not match or match.group(1) not in PRIMITIVES:
            raise ValueError(f"{path}: cannot read the member {line.strip()!r}; one primitive member a line")
        dims = tuple(re.findall(r"\[(\w+)\]", match.group(3)))
        members.append(Member(match.group(1), match.group(2), dims, (match.group(4) or "").strip()))
    return Struct(head.group(1), tuple(members), note.group(1) if note else "")
