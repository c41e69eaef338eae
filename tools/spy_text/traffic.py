"""Traffic: messages with their arrival times in, statistics per channel out. Pure; only headers are decoded."""

from __future__ import annotations

import struct
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lcmtypes.channels import CHANNELS, MOTION_COMMAND, MPC_DEBUG, PIPELINE
from lcmtypes.message import DecodeError
from tools.spy_text.decode import decode, recognise

WINDOW = 5.0  # s over which rate, jitter and bandwidth are taken
SILENT = 3.0  # usual intervals without a message after which the rate is zero
HEADER = struct.Struct(">Qqqq")  # fingerprint, utime, run, seq
# Sent in every tick of the plant, so that a hole in seq is a loss. The others number otherwise or send now and then.
TICKED = frozenset(c.name for c in PIPELINE if c not in (MOTION_COMMAND, MPC_DEBUG))
SELF_TEST = "LCM_SELF_TEST"  # LCM sends it to itself when a program subscribes first
MOST_CHANNELS = 500  # beyond them new names are only counted


@dataclass(frozen=True)
class Row:
    """What is shown of a channel."""

    name: str
    type: str  # name, or the fingerprint in hex
    total: int
    rate: float  # Hz
    age: float  # s
    jitter: float | None  # s, standard deviation of the interval; None: not known
    longest: float | None  # s, longest interval
    bandwidth: float  # bytes/s
    lost: int | None  # holes in seq; None: this channel has none to count
    errors: int  # messages of a wrong type or that cannot be decoded
    senders: int


@dataclass
class Channel:
    """Counts of one channel."""

    name: str
    expected: bytes | None  # fingerprint of the channel's type; None: any
    total: int = 0
    errors: int = 0
    error: str = ""  # the last one
    lost: int = 0
    newest: bytes = b""
    run: int = 0
    seq: int | None = None  # the last tick
    times: deque[float] = field(default_factory=deque)  # of arrival, within the window
    sizes: deque[int] = field(default_factory=deque)
    senders: set[object] = field(default_factory=set)
    last: float = 0.0  # s, of arrival
    _checked: bytes = b""

    def add(self, t: float, data: bytes, sender: object) -> None:
        """One message."""
        self.total += 1
        self.times.append(t)
        self.sizes.append(len(data))
        while t - self.times[0] > WINDOW:
            self.times.popleft()
            self.sizes.popleft()
        self.senders.add(sender)
        self.newest, self.last = data, t
        if self.expected is not None and data[:8] != self.expected:
            self._wrong(f"fingerprint {data[:8].hex() or 'missing'}, not that of {CHANNELS[self.name].type.TYPE}")
        elif self.name in TICKED and len(data) >= HEADER.size:
            self._count(*HEADER.unpack_from(data)[2:])

    def _wrong(self, why: str) -> None:
        self.errors += 1
        self.error = why

    def _count(self, run: int, seq: int) -> None:
        if run != self.run or self.seq is None:  # a new run has other ticks
            self.run, self.seq = run, seq
        elif seq > self.seq:
            self.lost += seq - self.seq - 1
            self.seq = seq

    def message(self) -> dict[str, Any] | str:
        """The newest message as plain data, or why it cannot be decoded; each bad one is counted once."""
        kind = recognise(self.newest)
        if kind is None:
            return "unknown type"
        try:
            return decode(self.newest, kind.struct)
        except DecodeError as error:
            if self._checked is not self.newest:
                self._checked = self.newest
                self._wrong(str(error))
            return str(error)

    def row(self, now: float, exact: bool) -> Row:
        """Statistics at `now`; jitter only where arrival times are `exact`."""
        times = np.array(self.times)
        rate, jitter, longest, bandwidth = 0.0, None, None, 0.0
        if len(times) > 1 and times[-1] > times[0]:
            mean = (times[-1] - times[0]) / (len(times) - 1)
            if now - times[-1] <= max(SILENT * mean, 1.0):
                rate = 1.0 / mean
                bandwidth = rate * sum(self.sizes) / len(self.sizes)
                if exact:
                    steps = np.diff(times)
                    jitter, longest = float(steps.std()), float(steps.max())
        kind = recognise(self.newest)
        return Row(
            self.name, kind.name if kind is not None else self.newest[:8].hex() or "empty", self.total, rate,
            max(0.0, now - self.last), jitter, longest, bandwidth, self.lost if self.name in TICKED else None,
            self.errors, len(self.senders),
        )  # fmt: skip


class Traffic:
    """All channels."""

    def __init__(self) -> None:
        self.channels: dict[str, Channel] = {}
        self.total = 0

    def add(self, t: float, sender: object, name: str, data: bytes) -> None:
        """One message as it came at t, s."""
        if name == SELF_TEST:
            return
        self.total += 1
        channel = self.channels.get(name)
        if channel is None:
            if len(self.channels) >= MOST_CHANNELS:
                return
            known = CHANNELS.get(name)
            expected = None if known is None else known.type.FINGERPRINT.to_bytes(8, "big")
            channel = self.channels[name] = Channel(name, expected)
        channel.add(t, data, sender)

    def check(self) -> None:
        """Try to decode the newest message of each channel; now and then, for it costs."""
        for channel in self.channels.values():
            channel.message()

    def rows(self, now: float, exact: bool = True, words: str = "") -> list[Row]:
        """Channels whose name or type contains all `words`, by name."""
        wanted = words.lower().split()
        rows = (self.channels[name].row(now, exact) for name in sorted(self.channels))
        return [row for row in rows if all(w in f"{row.name} {row.type}".lower() for w in wanted)]
