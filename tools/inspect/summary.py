"""One pass over a log: counts, rates, gaps, losses, modes and faults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lcmtypes.channels import (
    CHANNELS,
    IMU,
    JOINT_STATE,
    MODE_STATE,
    MOTION_COMMAND,
    MPC_DEBUG,
    PIPELINE,
    PROC_HEALTH,
    ROBOT_CONFIG,
)
from lcmtypes.known import Known, known_types
from lcmtypes.layout import Layouts
from procs.runtime.eventblock import Block, by_type
from procs.runtime.eventfile import Damage, EventFile
from tools.inspect.losses import Losses
from tools.inspect.spans import Spans
from tools.inspect.watch import CONFIG, FIELDS, HEALTH, MODES, WATCHED, changes

EVERY_TICK = {c.name for c in PIPELINE if c not in (MOTION_COMMAND, MPC_DEBUG)}  # a missing seq is a loss
PLANTS = {IMU.name, JOINT_STATE.name}  # begin runs
MOST_USED = 32  # inputs of a step
HEADER = 24  # bytes of utime, run, seq behind the fingerprint


@dataclass
class Stream:
    """All messages of one channel that are of one type."""

    channel: str
    fingerprint: int | None  # None: shorter than a fingerprint
    known: Known | None
    count: int = 0
    bytes: int = 0
    first: int = 0  # us
    last: int = 0
    gap: int = 0  # us, the longest time between two
    gap_at: int = 0  # us, where it begins
    losses: dict[int, Losses] = field(default_factory=dict)  # by run
    undecoded: int = 0
    error: str = ""

    @property
    def native(self) -> bool:
        """True if it is the type that our table of channels has for this name."""
        channel = CHANNELS.get(self.channel)
        return channel is not None and self.fingerprint == channel.type.FINGERPRINT

    @property
    def rate(self) -> float:
        """Hz, over the time in which the channel was there; 0 for a single message."""
        return 1e6 * (self.count - 1) / (self.last - self.first) if self.last > self.first else 0.0

    @property
    def type_name(self) -> str:
        """Type, or the fingerprint in hex."""
        if self.known:
            return self.known.name
        return "too short for a type" if self.fingerprint is None else f"0x{self.fingerprint:016x}"

    def add(self, stamps: np.ndarray, sizes: np.ndarray) -> None:
        """Count further messages."""
        before = self.last if self.count else int(stamps[0])
        steps = np.diff(stamps, prepend=before)
        longest = int(steps.argmax())
        if steps[longest] > self.gap:
            self.gap = int(steps[longest])
            self.gap_at = int(stamps[longest]) - self.gap
        if not self.count:
            self.first = int(stamps[0])
        self.count += len(stamps)
        self.bytes += int(sizes.sum())
        self.last = int(stamps[-1])


@dataclass
class Run:
    """One run of the plant."""

    run: int
    begin: int  # us of the log
    end: int
    first_seq: int
    last_seq: int
    first_utime: int
    last_utime: int


@dataclass
class Summary:
    """What a log holds."""

    path: Path
    size: int
    events: int = 0
    first: int = 0  # us, stamp of the first event
    last: int = 0  # us, highest stamp
    back: int = 0  # stamps lower than the one before
    streams: list[Stream] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    modes: Spans = field(default_factory=Spans)
    watched: dict[tuple[str, str], Spans] = field(default_factory=dict)  # (channel, sender)
    health: dict[str, dict[str, Any]] = field(default_factory=dict)  # the last of each process
    configs: Spans = field(default_factory=Spans)
    damages: list[Damage] = field(default_factory=list)
    damage_count: int = 0
    skipped: int = 0  # bytes


class _Scan:
    def __init__(self, summary: Summary, log: EventFile) -> None:
        self.summary, self.log = summary, log
        self.streams: dict[tuple[int, int | None], Stream] = {}
        self.runs: dict[int, Run] = {}
        self.layouts: dict[int, Layouts] = {}

    def add(self, block: Block) -> None:
        s = self.summary
        if not s.events:
            s.first = s.last = int(block.stamp[0])
        steps = np.diff(block.stamp, prepend=s.last if s.events else block.stamp[0])
        s.back += int((steps < 0).sum())
        s.events += len(block)
        s.last = max(s.last, int(block.stamp.max()))
        s.first = min(s.first, int(block.stamp.min()))
        for channel, which in block.by_channel():
            for fingerprint, part in by_type(block, which):
                self._stream(block, part, self._find(channel, fingerprint))

    def _find(self, channel: int, fingerprint: int | None) -> Stream:
        key = (channel, fingerprint)
        if key not in self.streams:
            known = None if fingerprint is None else known_types().get(fingerprint)
            self.streams[key] = Stream(self.log.channels[channel], fingerprint, known)
        return self.streams[key]

    def _stream(self, block: Block, which: np.ndarray, stream: Stream) -> None:
        stream.add(block.stamp[which], block.size[which])
        if stream.channel in EVERY_TICK and (stream.native or not stream.known):
            self._ticks(block, which, stream)
        if stream.native and stream.channel in FIELDS:
            self._watch(block, which, stream)

    def _ticks(self, block: Block, which: np.ndarray, stream: Stream) -> None:
        which = which[block.size[which] >= 8 + HEADER + 4]
        if not stream.native:  # of another revision, whose header is the same, or anything
            used = block.rows(which, 8 + HEADER, 8 + HEADER + 4).view(">i4")[:, 0]
            which = which[(used >= 0) & (used < MOST_USED)]
        head = block.rows(which, 8, 8 + HEADER).view(">i8").astype(np.int64)
        utime, runs, seqs = head.T
        for run in np.unique(runs).tolist():
            mine = runs == run
            losses = stream.losses.setdefault(run, Losses())
            losses.add(seqs[mine])
            if stream.channel in PLANTS:
                stamps, ticks, times = block.stamp[which[mine]], seqs[mine], utime[mine]
                first = Run(run, int(stamps[0]), 0, int(ticks[0]), 0, int(times[0]), 0)
                entry = self.runs.setdefault(run, first)
                entry.end = max(entry.end, int(stamps.max()))
                entry.last_seq = max(entry.last_seq, int(ticks.max()))
                entry.last_utime = max(entry.last_utime, int(times.max()))

    def _watch(self, block: Block, which: np.ndarray, stream: Stream) -> None:
        assert stream.known is not None and stream.fingerprint is not None
        name = stream.channel
        layouts = self.layouts.setdefault(stream.fingerprint, Layouts(stream.known.struct))
        fields = FIELDS[name]
        starts, values, decoded = changes(block, which, layouts, fields)
        stream.undecoded, stream.error = layouts.bad, layouts.last_error
        stamps = block.stamp[which[decoded]]
        ends = np.append(starts[1:], len(decoded))
        for a, b, value in zip(starts.tolist(), ends.tolist(), values, strict=True):
            self._note(name, int(stamps[a]), int(stamps[b - 1]), dict(zip(fields, value, strict=True)), b - a)

    def _note(self, name: str, begin: int, end: int, value: dict[str, Any], count: int) -> None:
        s = self.summary
        if name == MODE_STATE.name:
            s.modes.add(begin, end, tuple(value[f] for f in MODES), count)
        if name == ROBOT_CONFIG.name:
            s.configs.add(begin, end, tuple(value[f] for f in CONFIG), count)
        if name == PROC_HEALTH.name:
            s.health[value["name"]] = {f: value[f] for f in ("state", *HEALTH)}
        if name in WATCHED:
            watched = WATCHED[name]
            sender = value[watched.by] if watched.by else ""
            spans = s.watched.setdefault((name, sender), Spans())
            spans.add(begin, end, tuple(value[f] for f in watched.fields), count)


def scan(path: Path, progress: Callable[[int], None] = lambda done: None) -> Summary:
    """Read a log once; LogError if it is none."""
    with EventFile(path) as log:
        summary = Summary(path, log.size)
        scan_ = _Scan(summary, log)
        for block in log.blocks(progress):
            scan_.add(block)
        summary.streams = sorted(scan_.streams.values(), key=lambda s: (s.first, s.channel))
        summary.runs = sorted(scan_.runs.values(), key=lambda r: r.begin)
        summary.damages, summary.damage_count, summary.skipped = log.damages, log.damage_count, log.skipped
    return summary
