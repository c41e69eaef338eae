"""A log as runs: which there are, which one to report, and its fields as arrays over the plant's ticks."""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from config.load import load_robot, parse_robot
from lcmtypes.channels import JOINT_STATE, MODE_STATE, MOTION_COMMAND, PIPELINE, ROBOT_CONFIG, Channel
from lcmtypes.generated import RobotConfig
from procs.model.robot import Robot
from procs.runtime.logs import LogError, read_log
from tools.recording import Recording

TICKED = frozenset(PIPELINE) - {MOTION_COMMAND}  # numbered by the plant's tick; operators number as they like
SPREAD = 20  # a run whose ticks span more than this many times their number has a nonsensical one among them
FORCED = ("damping", "estop")


@dataclass
class RunData:
    """All messages of one run in one log."""

    run: int
    recording: Recording = field(default_factory=Recording)
    stamps: dict[Channel, list[int]] = field(default_factory=lambda: defaultdict(list))  # us, beside the messages
    repeated: int = 0  # messages that came again
    forced: str = ""  # why it first went to damping or estop
    _seen: set[tuple[Channel, int]] = field(default_factory=set)

    def add(self, stamp: int, channel: Channel, message: Any) -> None:
        """One event; of a message that is sent again the first counts."""
        if channel in TICKED:
            key = (channel, message.seq)
            if key in self._seen:
                self.repeated += 1
                return
            self._seen.add(key)
        if channel is MODE_STATE and not self.forced and message.mode in FORCED:
            self.forced = message.reason or message.mode
        self.recording.add(channel, message)
        self.stamps[channel].append(stamp)

    def sort(self) -> None:
        """Every channel in order of its stamps."""
        for channel, stamps in self.stamps.items():
            messages = self.recording.of(channel)
            order = sorted(range(len(stamps)), key=stamps.__getitem__)
            self.stamps[channel] = [stamps[k] for k in order]
            self.recording.messages[channel] = [messages[k] for k in order]

    @property
    def ticks(self) -> int:
        """How many ticks of the plant there are."""
        return max((len(self.recording.of(c)) for c in TICKED), default=0)

    def span(self) -> tuple[int, int]:
        """First and last stamp, us."""
        ends = [(s[0], s[-1]) for s in self.stamps.values() if s]
        return min(a for a, _ in ends), max(b for _, b in ends)


@dataclass
class LogFile:
    """What a file holds."""

    path: Path
    runs: list[RunData]  # in order of time
    config: RobotConfig | None
    loose: list[tuple[int, Channel, Any]]  # of no run: health, operators

    @classmethod
    def read(cls, path: Path) -> LogFile:
        """Read a log; raises LogError if it is none, or holds no tick."""
        runs: dict[int, RunData] = {}
        loose: list[tuple[int, Channel, Any]] = []
        config = None
        gc.disable()  # messages hold no cycles, and there are many: the collector would walk them again and again
        try:
            events = list(read_log(path))
        finally:
            gc.enable()
        for event in events:
            channel, message = event.channel, event.message
            if channel is ROBOT_CONFIG:
                config = config or message
            elif channel in TICKED or message.run in runs:
                runs.setdefault(message.run, RunData(message.run)).add(event.stamp, channel, message)
            else:
                loose.append((event.stamp, channel, message))
        if not runs:
            raise LogError(f"{path}: no message of the pipeline ({', '.join(c.name for c in PIPELINE)}) in it")
        return cls(path, sorted(runs.values(), key=lambda r: r.span()), config, loose)  # type: ignore[arg-type]

    def robot(self, name: str | None) -> Robot:
        """The robot of the log's own description, or of `name`."""
        if name is not None:
            return Robot(load_robot(name))
        if self.config is None:
            raise LogError(f"{self.path}: no robot_config in it; name the robot with --robot")
        return Robot(parse_robot(self.config.yaml, where=f"robot_config in {self.path}"))

    def choose(self, number: int | None) -> int:
        """Index of the run to report: the one asked for (from 1), else the longest that fell, else the longest."""
        if number is not None:
            if not 1 <= number <= len(self.runs):
                raise LogError(f"{self.path}: no run {number}, it holds {len(self.runs)} (numbered from 1)")
            return number - 1
        fell = [r for r in self.runs if r.forced.startswith("fall")] or [r for r in self.runs if r.forced]
        return self.runs.index(max(fell or self.runs, key=lambda r: r.ticks))

    def run(self, index: int, robot: Robot, begin: float | None = None, end: float | None = None) -> Run:
        """One run on its ticks, from `begin` to `end` s of its own time."""
        data = self.runs[index]
        first, last = data.span()
        for stamp, channel, message in self.loose:  # what has no run belongs to the one during which it came
            before = index == 0 or stamp > self.runs[index - 1].span()[1]
            if (before or stamp >= first) and stamp <= last:
                data.add(stamp, channel, message)
        data.sort()
        return Run(data, robot, begin, end)


class Run:
    """Messages as arrays over the ticks [begin, end]; what a channel lacks is NaN."""

    def __init__(self, data: RunData, robot: Robot, begin: float | None = None, end: float | None = None) -> None:
        self.data, self.robot, self.dt = data, robot, robot.dt
        seqs = np.unique([m.seq for c in TICKED for m in data.recording.of(c)])
        low = -np.inf if begin is None else begin / self.dt - 0.5
        high = np.inf if end is None else end / self.dt + 0.5
        inside = seqs[(seqs >= low) & (seqs <= high)]
        if len(inside) < 2:
            wanted = f"from {begin if begin is not None else seqs[0] * self.dt:g} s"
            wanted += f" to {end if end is not None else seqs[-1] * self.dt:g} s"
            raise LogError(f"no two ticks {wanted}: the run has {seqs[0] * self.dt:.2f} to {seqs[-1] * self.dt:.2f} s")
        whole = int(inside[-1] - inside[0]) + 1
        self.seq = np.arange(inside[0], inside[-1] + 1) if whole < SPREAD * len(inside) + 1000 else inside
        self.t = self.seq * self.dt
        self.field = cache(self._field)
        self.messages = cache(self._messages)
        self.sized = cache(self._sized)
        self._clock = self._clock_of()

    @classmethod
    def of(cls, recording: Recording, robot: Robot) -> Run:
        """A rollout's recording, stamped by the ticks of its messages."""
        data = RunData(0, recording)
        period = 1e6 * robot.dt
        data.stamps.update({c: [round(period * m.seq) for m in ms] for c, ms in recording.messages.items()})
        return cls(data, robot)

    def __len__(self) -> int:
        return len(self.seq)

    def has(self, channel: Channel) -> bool:
        """True if there is any message of it."""
        return bool(self.data.recording.of(channel))

    def _messages(self, channel: Channel) -> tuple[list[Any], np.ndarray]:
        """Messages of a ticked channel within the span, and their places in `seq`."""
        all_of = self.data.recording.of(channel)
        seqs = np.array([m.seq for m in all_of], dtype=int)
        at = np.searchsorted(self.seq, seqs)
        known = (at < len(self.seq)) & (self.seq[np.minimum(at, len(self.seq) - 1)] == seqs)
        return [m for m, k in zip(all_of, known.tolist(), strict=True) if k], at[known]

    def _sized(self, channel: Channel) -> tuple[list[Any], np.ndarray]:
        """The same without messages of another robot's size."""
        messages, at = self.messages(channel)
        size = {"num_legs": self.robot.num_legs, "num_joints": self.robot.num_joints}
        checked = [n for n in size if messages and hasattr(messages[0], n)]
        fits = [all(getattr(m, n) == size[n] for n in checked) for m in messages]
        return [m for m, f in zip(messages, fits, strict=True) if f], at[np.array(fits, bool)]

    def _field(self, channel: Channel, name: str) -> np.ndarray | None:
        """A numeric field (ticks, ...), NaN where there is no message; None without the channel."""
        messages, at = self.sized(channel)
        if not messages:
            return None
        values = np.array([getattr(m, name) for m in messages], dtype=float)
        out = np.full((len(self.seq), *values.shape[1:]), np.nan)
        out[at] = values
        return out

    def recording(self) -> Recording:
        """The messages within the span, for tools.metrics."""
        out = Recording()
        for channel in self.data.recording.messages:
            if channel in TICKED:
                out.messages[channel] = self.messages(channel)[0]
            else:
                out.messages[channel] = [m for _, m in self.events(channel)]
        return out

    def words(self, channel: Channel, name: str) -> np.ndarray:
        """A text field (ticks,), empty where there is no message."""
        messages, at = self.messages(channel)
        out = np.full(len(self.seq), "", dtype=object)
        for message, k in zip(messages, at, strict=True):
            out[k] = getattr(message, name)
        return out

    def present(self, channel: Channel) -> np.ndarray:
        """(ticks,) True where the channel has a message."""
        out = np.zeros(len(self.seq), bool)
        out[self.messages(channel)[1]] = True
        return out

    def events(self, channel: Channel) -> list[tuple[float, Any]]:
        """(time s, message) of any channel by its stamp in the log, within the span; sorted."""
        out = zip(self._at(self.data.stamps[channel]), self.data.recording.of(channel), strict=True)
        low, high = self.t[0] - self.dt / 2, self.t[-1] + 1.0
        return [(float(t), m) for t, m in out if low <= t <= high]

    def held(self, channel: Channel, names: tuple[str, ...]) -> np.ndarray:
        """Numeric fields (ticks, len(names)) that hold until the next message; NaN before the first."""
        times = self._at(self.data.stamps[channel])
        rows = [[getattr(m, n) for n in names] for m in self.data.recording.of(channel)]
        table = np.array([[np.nan] * len(names), *rows], dtype=float)
        return table[np.searchsorted(times, self.t + self.dt / 2, side="right")]

    def _clock_of(self) -> tuple[np.ndarray, np.ndarray]:
        for channel in (JOINT_STATE, *TICKED):
            messages = self.data.recording.of(channel)
            if messages:
                stamps = np.maximum.accumulate(np.array(self.data.stamps[channel], dtype=float))
                return stamps, np.array([m.seq for m in messages]) * self.dt
        raise LogError("no tick in the run")

    def _at(self, stamps: list[int]) -> np.ndarray:
        """Run time s of stamps us; outside the run at its true speed."""
        known, times = self._clock
        s = np.asarray(stamps, dtype=float)
        t = np.interp(s, known, times)
        return np.where(s > known[-1], times[-1] + 1e-6 * (s - known[-1]),
                        np.where(s < known[0], times[0] + 1e-6 * (s - known[0]), t))  # fmt: skip


def intervals(mask: np.ndarray) -> Iterator[tuple[int, int]]:
    """[begin, end) of each stretch of True."""
    edges = np.flatnonzero(np.diff(np.r_[0, mask.astype(np.int8), 0]))
    return zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
