"""LCM event logs: writing without loss, reading with types, stamps that let a player run at true speed."""

from __future__ import annotations

import logging
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import lcm

from lcmtypes.channels import CHANNELS, IMU, JOINT_STATE, PIPELINE, Channel
from lcmtypes.message import DecodeError, Message
from procs.runtime.eventfile import EventFile, LogError

LOG = logging.getLogger(__name__)

_TICKED = {c.name for c in PIPELINE}
_PLANTS = {IMU.name, JOINT_STATE.name}  # only the plant begins a run
_HEADER = struct.Struct(">Qqqq")  # fingerprint, utime, run, seq


class Stamps:
    """Event times in us: wall clock where a run begins, then the run's own time.

    A run in lock step is faster or slower than real time; stamped by its messages a player gives back the true speed.
    """

    def __init__(self) -> None:
        self._run: int | None = None
        self._start = 0
        self._last = 0

    def of(self, name: str, data: bytes, wall_us: int) -> int:
        """Stamp of one event; never before the last one."""
        if name in _TICKED and len(data) >= _HEADER.size:
            _, utime, run, _ = _HEADER.unpack_from(data)
            if run != self._run and name in _PLANTS:
                self._run, self._start = run, max(wall_us, self._last) - utime
            if run == self._run:  # not an operator's or a late one of an earlier run
                self._last = max(self._last, self._start + utime)
        if self._run is None:
            self._last = max(self._last, wall_us)
        return self._last


class LogWriter:
    """Writes events; usable as a context manager."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._log = lcm.EventLog(str(path), "w", overwrite=True)
        except (ValueError, OSError) as error:
            raise LogError(f"cannot write the log {path}: {error}") from error
        self.path = path
        self.events = 0
        self._stamps = Stamps()

    def write_raw(self, name: str, data: bytes, wall_us: int) -> None:
        """One event as received."""
        self._log.write_event(self._stamps.of(name, data, wall_us), name, data)
        self.events += 1

    def write(self, channel: Channel, message: Message, wall_us: int) -> None:
        """One typed message."""
        self.write_raw(channel.name, message.encode(), wall_us)

    def close(self) -> None:
        """Finish the file."""
        self._log.close()

    def __enter__(self) -> LogWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True)
class Event:
    """One decoded event of a log."""

    stamp: int  # us
    channel: Channel
    message: Message


def raw_events(path: Path) -> Iterator[tuple[int, str, bytes]]:
    """Stamp us, channel name and bytes of all events that can be read; damage and a cut-off end are no error."""
    with EventFile(path) as log:
        for block in log.blocks():
            data, channels = block.data, log.channels
            places = (block.stamp.tolist(), block.channel.tolist(), block.at.tolist(), block.size.tolist())
            for stamp, channel, at, size in zip(*places, strict=True):
                yield stamp, channels[channel], data[at : at + size]
        for damage in log.damages[:3]:
            LOG.warning("%s: %s", path.name, damage)


def read_log(path: Path, channels: set[Channel] | None = None) -> Iterator[Event]:
    """Events of known channels in log order; what cannot be decoded is skipped with a warning."""
    wanted = {c.name: c for c in (channels or CHANNELS.values())}
    bad = 0
    for stamp, name, data in raw_events(path):
        channel = wanted.get(name)
        if channel is None:
            continue
        try:
            yield Event(stamp, channel, channel.type.decode(data))
        except DecodeError as error:
            bad += 1
            if bad <= 3:
                LOG.warning("%s: %s: %s", path.name, name, error)
