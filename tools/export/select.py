"""Which fields of which channels: `leg_state.q[3]`, `body_state.position`, `mode_state`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lcmtypes.channels import BUS_STATUS, CHANNELS, MPC_DEBUG
from lcmtypes.known import Known
from lcmtypes.layout import sizes_of
from tools.inspect.summary import EVERY_TICK, Stream, Summary

BY_TICK = EVERY_TICK | {MPC_DEBUG.name, BUS_STATUS.name}  # their (run, seq) is the plant's tick
HEADER = ("utime", "run", "seq")
_PATH = re.compile(r"(\w+|\*)((?:\[\d+\])*)")


class ExportError(ValueError):
    """What is asked for is not in the log or cannot be written."""


@dataclass(frozen=True)
class Column:
    """A member of a message, or one element of it."""

    name: str  # as it was asked for, without the channel
    member: str
    index: tuple[int, ...]
    text: bool


@dataclass(frozen=True)
class Source:
    """One stream of the log and what is wanted of it; `name` is the channel, or channel@type where it has several."""

    name: str
    channel: str
    fingerprint: int
    known: Known
    columns: tuple[Column, ...]
    count: int  # messages in the whole log

    @property
    def by_tick(self) -> bool:
        """True if its messages belong to ticks of the plant."""
        return self.known.native and self.channel in BY_TICK


def sources(summary: Summary, paths: Sequence[str], text: bool = False) -> tuple[list[Source], list[str]]:
    """What is to be exported, and notes on what cannot be; no paths: all fields of all channels, strings if `text`."""
    named, notes = _names(summary)
    wanted: dict[str, list[Column]] = {}
    if not paths:
        wanted = {name: _all(stream, text) for name, stream in named.items()}
    for path in paths:
        name, rest = _channel(path, named)
        chosen = wanted.setdefault(name, [])
        chosen += [c for c in _columns(path, rest, named[name]) if c not in chosen]
    out = []
    for name, columns in wanted.items():
        stream = named[name]
        assert stream.known is not None and stream.fingerprint is not None
        head = [_column(stream, m) for m in HEADER] if stream.known.native else []
        full = (*[c for c in head if c not in columns], *columns)
        out.append(Source(name, stream.channel, stream.fingerprint, stream.known, full, stream.count))
    if not out:
        raise ExportError(f"{summary.path} has no channel of a known type")
    return out, notes if not paths else []


def _names(summary: Summary) -> tuple[dict[str, Stream], list[str]]:
    named, notes = dict[str, Stream](), []
    for stream in summary.streams:
        if stream.known is None:
            what = "a type of another revision" if stream.channel in CHANNELS else "an unknown type"
            notes.append(f"{stream.channel}: {stream.count} messages of {what} ({stream.type_name}) left out")
            continue
        name = stream.channel
        if name in named:
            name = f"{stream.channel}@{stream.known.name.split()[0]}"
        named[name] = stream
    return named, notes


def _channel(path: str, named: dict[str, Stream]) -> tuple[str, str]:
    for name in sorted(named, key=len, reverse=True):
        if path == name or path.startswith(name + "."):
            return name, path[len(name) + 1 :]
    raise ExportError(f"--field {path}: the log has no such channel of a known type; it has {', '.join(sorted(named))}")


def _columns(path: str, rest: str, stream: Stream) -> list[Column]:
    if not rest or rest == "*":
        return _all(stream, text=True)
    assert stream.known is not None
    match = _PATH.fullmatch(rest)
    members = {m.name: m for m in stream.known.struct.members}
    if not match or match.group(1) not in members:
        names = [n for n in members if n not in sizes_of(stream.known.struct)]
        raise ExportError(f"--field {path}: {stream.known.name} has {', '.join(names)}")
    index = tuple(int(i) for i in re.findall(r"\d+", match.group(2)))
    dims = members[match.group(1)].dims
    if len(index) > len(dims):
        raise ExportError(f"--field {path}: {match.group(1)} has {len(dims)} dimensions")
    for i, dim in zip(index, dims, strict=False):
        if dim.isdigit() and i >= int(dim):
            raise ExportError(f"--field {path}: {match.group(1)} has {dim} elements there, counted from 0")
    return [_column(stream, match.group(1), index)]


def _column(stream: Stream, member: str, index: tuple[int, ...] = ()) -> Column:
    assert stream.known is not None
    kind = next(m.type for m in stream.known.struct.members if m.name == member)
    return Column(member + "".join(f"[{i}]" for i in index), member, index, kind == "string")


def _all(stream: Stream, text: bool) -> list[Column]:
    assert stream.known is not None
    struct = stream.known.struct
    sizes = sizes_of(struct)
    return [_column(stream, m.name) for m in struct.members if (text or m.type != "string") and m.name not in sizes]
