"""Reads LCM event logs fast and in bounded memory, past damage: blocks of whole events as arrays.

An event is, big-endian: sync word, event number, time stamp in us, lengths of channel name and message, both
(https://lcm-proj.github.io/lcm/content/log-file-format.html). There is no check sum: an event counts as read if its
lengths are possible and lead to the next sync word or to the end of the file.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from procs.runtime.eventblock import Block

SYNC = 0xEDA1DA01
SYNC_BYTES = SYNC.to_bytes(4, "big")
HEAD = struct.Struct(">IqqII")  # sync word, event number, stamp, length of the channel name, length of the message
LONGEST_NAME = 1000  # as LCM's own reader
CHUNK = 4 << 20  # bytes read at once
BELIEVED = 16 << 20  # bytes; a longer event must lead to a sync word before it is read into memory
MOST_DAMAGES = 1000  # kept one by one; the rest is only counted


class LogError(RuntimeError):
    """A log cannot be opened or does not hold what is needed."""


@dataclass
class Damage:
    """A place that could not be read."""

    kind: str  # "damaged" or "cut off"
    at: int  # byte offset in the file
    event: int  # number of the event that should have been there
    skipped: int  # bytes

    def __str__(self) -> str:
        return f"{self.kind} at byte {self.at} (event {self.event}): {self.skipped} bytes skipped"


class EventFile:
    """An open log. Read it with `blocks` (all, in order) or `read` (one message again)."""

    def __init__(self, path: Path, chunk: int = CHUNK) -> None:
        if not path.exists():
            raise LogError(f"no log at {path}")
        if not path.is_file():
            raise LogError(f"{path} is no file")
        try:
            self._file = path.open("rb", buffering=0)
        except OSError as error:
            raise LogError(f"cannot read the log {path}: {error}") from error
        self.path = path
        self.size = os.fstat(self._file.fileno()).st_size
        if not self.size:
            self.close()
            raise LogError(f"the log {path} is empty (0 bytes)")
        self.channels: list[str] = []
        self.events = 0
        self.damages: list[Damage] = []
        self.damage_count = 0
        self.skipped = 0  # bytes
        self._chunk = chunk
        self._names: dict[bytes, int] = {}
        self._number = -1  # of the last event read
        self._lost: Damage | None = None  # what is being skipped

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> EventFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, at: int, size: int) -> bytes:
        """Bytes of the file at an offset."""
        return os.pread(self._file.fileno(), size, at)

    def blocks(self, progress: Callable[[int], None] = lambda done: None) -> Iterator[Block]:
        """All events that can be read; LogError at the end if there was none. `progress` gets the bytes read so far."""
        self.events, self.damages, self.damage_count, self.skipped = 0, [], 0, 0
        self._number, self._lost = -1, None
        data, base, want = b"", 0, self._chunk
        while True:
            end = base + len(data)
            data += self.read(end, min(want, self.size - end))
            final = base + len(data) >= self.size or base + len(data) == end
            taken = _Taken()
            pos, want = self._parse(data, base, final, taken)
            if taken.at and taken.end == pos and not final and self._lost is None:
                pos = taken.drop()  # whether it leads to a sync word is seen in the next chunk
            if taken.at:
                self.events += len(taken.at)
                self._number = taken.number(data)
                yield taken.block(data, base)
            progress(base + pos)
            data, base = data[pos:], base + pos
            if final:
                break
        if self._lost is not None:
            self._note(self._lost, self.size)
        if not self.events:
            raise LogError(f"{self.path} holds no LCM events ({self.size} bytes): not an LCM event log")

    def _parse(self, data: bytes, base: int, final: bool, taken: _Taken) -> tuple[int, int]:
        """Take all events of `data`; where the rest begins, and how many bytes to read next."""
        pos = 0
        while True:
            if self._lost is not None:
                pos, found = self._resume(data, base, pos, final)
                if not found:
                    return pos, self._chunk
            pos, need = self._walk(data, pos, taken)
            waits = bool(need) and not final  # for the rest of an event, if its length is to be believed
            if waits and need > BELIEVED:
                waits = self._leads_on(base + pos + need)
            if waits or (need and pos == len(data)):
                return pos, max(need, self._chunk)
            if taken.at and taken.end == pos:
                pos = self._check_last(data, base, pos, taken)
            number = taken.number(data) if taken.at else self._number
            cut = bool(need) and data.startswith(SYNC_BYTES[: len(data) - pos], pos)
            self._lost = Damage("cut off" if cut else "damaged", base + pos, number + 1, 0)
            pos += 1

    def _walk(self, data: bytes, pos: int, taken: _Taken) -> tuple[int, int]:
        """Take events from `pos` on; where it stopped, and bytes that one event needs there (0: that is no event)."""
        unpack, head, n, names, start = HEAD.unpack_from, HEAD.size, len(data), self._names, pos
        ats, sizes, stamps, channels = taken.at.append, taken.size.append, taken.stamp.append, taken.channel.append
        begin, need = -1, head
        while pos + head <= n:
            sync, _number, stamp, name_size, size = unpack(data, pos)
            at = pos + head + name_size
            if sync != SYNC or not 0 < name_size < LONGEST_NAME:
                need = 0
                break
            if at + size > n:
                need = at + size - pos
                break
            name = data[pos + head : at]
            channel = names.get(name)
            if channel is None:
                if not _is_name(name):
                    need = 0
                    break
                channel = names[name] = len(names)
                self.channels.append(name.decode())
            ats(at)
            sizes(size)
            stamps(stamp)
            channels(channel)
            begin, pos = pos, at + size
        if pos > start:
            taken.begin, taken.end = begin, pos
        return pos, need

    def _check_last(self, data: bytes, base: int, pos: int, taken: _Taken) -> int:
        """What follows the last event is none: drop that event too if another begins inside it (a damaged length)."""
        inside = data.find(SYNC_BYTES, taken.begin + 4, pos + 3)
        while inside >= 0:
            if self._plausible(base + inside):
                return taken.drop()
            inside = data.find(SYNC_BYTES, inside + 1, pos + 3)
        return pos

    def _resume(self, data: bytes, base: int, pos: int, final: bool) -> tuple[int, bool]:
        """Next event at or behind `pos`; without one, from where on the bytes are still needed."""
        while (at := data.find(SYNC_BYTES, pos)) >= 0:
            if self._plausible(base + at):
                assert self._lost is not None
                self._lost.kind = "damaged"
                self._note(self._lost, base + at)
                self._lost = None
                return at, True
            pos = at + 1
        return (len(data) if final else max(pos, len(data) - len(SYNC_BYTES) + 1)), False

    def _plausible(self, at: int) -> bool:
        """True if a whole event of a readable name lies at a file offset and leads on, or has a name already known."""
        head = self.read(at, HEAD.size)
        if len(head) < HEAD.size:
            return False
        _sync, _number, _stamp, name_size, size = HEAD.unpack(head)
        end = at + HEAD.size + name_size + size
        if not 0 < name_size < LONGEST_NAME or end > self.size:
            return False
        name = self.read(at + HEAD.size, name_size)
        return _is_name(name) and (name in self._names or self._leads_on(end))

    def _leads_on(self, at: int) -> bool:
        """True if an event or the end of the file is at this offset."""
        return at == self.size or self.read(at, len(SYNC_BYTES)) == SYNC_BYTES

    def _note(self, damage: Damage, end: int) -> None:
        damage.skipped = end - damage.at
        self.damage_count += 1
        self.skipped += damage.skipped
        if len(self.damages) < MOST_DAMAGES:
            self.damages.append(damage)


def _is_name(name: bytes) -> bool:
    return name.isascii() and name.decode("ascii").isprintable()


class _Taken:
    """Events of one block while it is read; `begin` and `end` of the last one in the data."""

    def __init__(self) -> None:
        self.at: list[int] = []
        self.size: list[int] = []
        self.stamp: list[int] = []
        self.channel: list[int] = []
        self.begin = self.end = -1

    def number(self, data: bytes) -> int:
        """Event number of the last event."""
        return int(HEAD.unpack_from(data, data.rfind(SYNC_BYTES, 0, self.at[-1]))[1])

    def drop(self) -> int:
        """Forget the last event; where it begins."""
        begin, self.begin, self.end = self.begin, -1, -1
        for values in (self.at, self.size, self.stamp, self.channel):
            values.pop()
        return begin

    def block(self, data: bytes, base: int) -> Block:
        """As arrays."""
        return Block(data, base, *(np.array(x, np.int64) for x in (self.at, self.size, self.stamp, self.channel)))
