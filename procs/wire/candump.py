"""Lines of candump log files (`candump -L`), as can-utils and python-can read and write them; text only.

`(1436509052.249713) can0 044#2A366C2BBA`, eight hex digits for a 29-bit id, `#R` or `#R4` for a remote frame, an
optional ` R` or ` T` (received, sent) at the end. CAN FD (`##`) is not supported.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from procs.wire.decode import DecodeError, Reason
from procs.wire.frame import CanFrame

STANDARD_MAX, EXTENDED_MAX = 0x7FF, 0x1FFFFFFF
MAX_DATA = 8
ERROR_FLAG = 0x20000000  # in the id: an error message of the controller, not a frame

_LINE = re.compile(
    r"\((?P<s>\d{1,12})\.(?P<us>\d{6})\) +(?P<channel>\S{1,32}) +"
    r"(?P<id>[0-9A-Fa-f]{8}|[0-9A-Fa-f]{3})#"
    r"(?:(?P<remote>[Rr])(?P<length>[0-8]?)|(?P<data>(?:[0-9A-Fa-f]{2}){0,8}))(?: +(?P<way>[RrTt]))?\s*",
    re.ASCII,
)


class Logged(NamedTuple):
    """One line: stamp in us, channel, frame; `sent` is None where the line does not say."""

    stamp_us: int
    channel: str
    frame: CanFrame
    sent: bool | None = None


def format_line(entry: Logged) -> str:
    """The line, without line end."""
    frame, stamp = entry.frame, entry.stamp_us
    top = EXTENDED_MAX if frame.extended else STANDARD_MAX
    if not 0 <= frame.can_id <= top:
        raise ValueError(f"can_id = {frame.can_id:#x}: want 0..{top:#x}")
    if stamp < 0 or not re.fullmatch(r"\S{1,32}", entry.channel):
        raise ValueError(f"stamp_us = {stamp}, channel = {entry.channel!r}: want a time from 0 on and a bare word")
    if len(frame.data) > MAX_DATA or (frame.remote and (frame.data or not 0 <= frame.length <= MAX_DATA)):
        raise ValueError(f"{frame}: want at most {MAX_DATA} bytes, none in a remote frame")
    identifier = f"{frame.can_id:08X}" if frame.extended else f"{frame.can_id:03X}"
    body = f"R{frame.length or ''}" if frame.remote else frame.data.hex().upper()
    way = {None: "", True: " T", False: " R"}[entry.sent]
    return f"({stamp // 1_000_000:010d}.{stamp % 1_000_000:06d}) {entry.channel} {identifier}#{body}{way}"


def parse_line(line: str) -> Logged:
    """One line, or DecodeError."""
    found = _LINE.fullmatch(line)
    if found is None:
        raise DecodeError(Reason.SYNTAX, f"no candump line: {line[:80]!r}")
    can_id, extended = int(found["id"], 16), len(found["id"]) > 3
    if can_id & ERROR_FLAG and extended:
        raise DecodeError(Reason.UNKNOWN, f"error message of the controller: {line[:80]!r}")
    if can_id > (EXTENDED_MAX if extended else STANDARD_MAX):
        raise DecodeError(Reason.IDENTIFIER, f"{can_id:#x}")
    remote = found["remote"] is not None
    frame = CanFrame(
        can_id, bytes.fromhex(found["data"] or ""), extended, remote, int(found["length"] or 0) if remote else 0
    )
    sent = None if found["way"] is None else found["way"] in "Tt"
    return Logged(int(found["s"]) * 1_000_000 + int(found["us"]), found["channel"], frame, sent)
