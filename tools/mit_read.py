"""A log of MIT's software as samples of ours: sources told by their fingerprints, one tick per joint message."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np

from lcmtypes.channels import IMU, JOINT_STATE
from lcmtypes.generated import BodyState, Imu
from lcmtypes.mit_types import MitMessage
from procs.estimator.estimator import SPEC as ESTIMATOR
from procs.mit_relay.layout import Layout
from procs.mit_relay.native import IMU_SOURCES, JOINT_SOURCES, SPI_COMMAND, STATE_ESTIMATOR, joint_state
from procs.model.robot import Robot
from procs.runtime.engine import Engine
from procs.runtime.logs import LogError, LogWriter, raw_events

NEW_RUN = 1.0  # s without joints after which another run begins: MIT's software was started again
OLD_IMU = 0.05  # s after which the newest IMU sample is not valid any more
BUNCHED = 0.05  # of the ticks with the stamp of the one before, from which on it is said
REPORT = 1000  # events between two reports of progress


@dataclass
class MitLog:
    """What a log of MIT's software holds."""

    path: Path
    events: int = 0
    first: int = 0  # us
    channels: Counter[tuple[str, int]] = field(default_factory=Counter)  # (name, fingerprint) -> events

    @classmethod
    def of(cls, path: Path) -> MitLog:
        """Look through it once."""
        log = cls(path)
        for stamp, name, data in raw_events(path):
            log.first = log.first if log.events else stamp
            log.events += 1
            log.channels[name, int.from_bytes(data[:8], "big")] += 1
        if not log.events:
            raise LogError(f"{path} holds no LCM events")
        return log

    def channel(self, kind: type[MitMessage]) -> str:
        """The channel with the most messages of a type; empty if there is none."""
        found = [
            (count, name) for (name, fingerprint), count in self.channels.items() if fingerprint == kind.FINGERPRINT
        ]
        return max(found)[1] if found else ""

    def best(self, kinds: Any, what: str) -> type[MitMessage]:
        """The first of some types that is there."""
        for kind in kinds:
            if self.channel(kind):
                return cast(type[MitMessage], kind)
        names = ", ".join(kind.TYPE for kind in kinds)
        there = ", ".join(sorted({name for name, _ in self.channels})) or "nothing"
        raise LogError(f"{self.path}: no {what} in it (none of {names}); its channels: {there}")


@dataclass
class Summary:
    """What came of a conversion."""

    imu: str
    joints: str
    ticks: int = 0
    runs: int = 0
    seconds: float = 0.0
    valid: int = 0  # ticks with a valid estimate of ours
    skipped: int = 0  # joint messages before the first IMU sample
    broken: int = 0  # messages that could not be read
    together: int = 0  # ticks with the stamp of the one before
    notes: list[str] = field(default_factory=list)
    differences: list[np.ndarray] = field(default_factory=list)  # ours - MIT's: v_body (3), height, roll, pitch

    def rows(self) -> list[tuple[str, str]]:
        """Name and value."""
        out = [
            ("joints from", self.joints),
            ("IMU from", self.imu),
            ("time", f"{self.seconds:.2f} s in {self.runs} runs"),
        ]
        if self.seconds > 0:
            out.append(("rate", f"{(self.ticks - self.runs) / self.seconds:.1f} Hz"))
        out.append(("estimate valid", f"{100 * self.valid / max(1, self.ticks):.0f} % of the ticks"))
        if self.differences:
            d = np.array(self.differences)
            d[:, 3] -= d[:, 3].mean()  # MIT's height is the ground's, ours the start's
            x, y, z, height, roll, pitch = np.sqrt((d**2).mean(axis=0))
            out.append(
                ("against MIT's estimate", f"velocity {x:.3f} {y:.3f} {z:.3f} m/s, height {1e3 * height:.1f} mm")
            )
            out.append(("(rms)", f"roll {math.degrees(roll):.2f}, pitch {math.degrees(pitch):.2f} deg"))
        return out


class _Reader:
    """Turns the events into ticks."""

    def __init__(self, log: MitLog, robot: Robot, out: LogWriter, rate: float | None) -> None:
        self.layout, self.out, self.rate = Layout(robot), out, rate
        self.imu_kind = log.best(IMU_SOURCES, "IMU")
        self.joint_kind = log.best(JOINT_SOURCES, "joints")
        self.wanted: dict[tuple[str, int], type[MitMessage]] = {
            (log.channel(kind), kind.FINGERPRINT): kind
            for kind in (self.imu_kind, self.joint_kind, SPI_COMMAND, STATE_ESTIMATOR)
            if log.channel(kind)
        }
        self.summary = Summary(log.channel(self.imu_kind), log.channel(self.joint_kind))
        self.engine = Engine(ESTIMATOR, robot)
        self.imu: tuple[int, Imu] | None = None  # stamp and newest sample
        self.command: MitMessage | None = None
        self.told: np.ndarray | None = None  # torque commanded in the tick before: it acted until this sample
        self.run, self.seq, self.start, self.last = 0, -1, 0, 0
        self.estimate: BodyState | None = None

    def take(self, stamp: int, message: Any) -> None:
        """One message."""
        kind = type(message)
        if kind is self.imu_kind:
            self.imu = stamp, IMU_SOURCES[kind](message)
        if kind is SPI_COMMAND:
            self.command = message
        elif kind is STATE_ESTIMATOR and self.estimate is not None:
            self._compare(message)
        if kind is self.joint_kind:
            self._tick(stamp, message)

    def _tick(self, stamp: int, message: MitMessage) -> None:
        if self.imu is None:
            self.summary.skipped += 1
            return
        if self.run == 0 or not 0 <= stamp - self.last <= 1e6 * NEW_RUN:
            self.run, self.seq, self.start = self.run + 1, -1, stamp
            self.told, self.summary.runs = None, self.run
        self.seq += 1
        utime = stamp - self.start if self.rate is None else round(1e6 * self.seq / self.rate)
        self.summary.together += bool(self.seq) and stamp == self.last
        self.summary.seconds += 1e-6 * (stamp - self.last) if self.seq else 0.0
        self.last = stamp
        q, qd, tau = JOINT_SOURCES[self.joint_kind](message, self.command)
        acted = tau if "simulator" in self.joint_kind.TYPE or self.told is None else self.told
        self.told = None if tau is None else tau
        joints = joint_state((q, qd, acted), self.layout)
        taken, sample = self.imu
        imu = sample.copy()
        if stamp - taken > 1e6 * OLD_IMU:
            imu.valid, imu.status = 0, f"{1e-3 * (stamp - taken):.0f} ms old"
        for channel, out in ((IMU, imu), (JOINT_STATE, joints)):
            out.utime, out.run, out.seq = utime, self.run, self.seq
            self.out.write(channel, out, self.start + utime)
        inputs: dict[Any, Any] = {c: None for c in ESTIMATOR.channels}
        inputs.update({IMU: imu, JOINT_STATE: joints})
        for channel, answer in self.engine.step(inputs):
            self.out.write(channel, answer, self.start + utime)
            if isinstance(answer, BodyState):
                self.estimate = answer
                self.summary.valid += answer.valid
        self.summary.ticks += 1

    def _compare(self, theirs: Any) -> None:
        ours = self.estimate
        assert ours is not None
        if ours.valid:
            rest = [ours.position[2] - theirs.p[2], *(ours.rpy[:2] - theirs.rpy[:2])]
            self.summary.differences.append(np.concatenate((ours.v_body - theirs.vBody, rest)))
        self.estimate = None  # once a tick


def convert_from_mit(
    log: MitLog,
    robot: Robot,
    out: LogWriter,
    rate: float | None = None,
    progress: Callable[[int], None] = lambda n: None,
) -> Summary:
    """Write imu, joint_state and our estimate of a log's ticks; `progress` gets the events read so far."""
    reader = _Reader(log, robot, out, rate)
    summary = reader.summary
    for number, (stamp, name, data) in enumerate(raw_events(log.path)):
        kind = reader.wanted.get((name, int.from_bytes(data[:8], "big")))
        if number % REPORT == 0:
            progress(number)
        if kind is None:
            continue
        if len(data) != kind.DTYPE.itemsize:
            summary.broken += 1
            continue
        reader.take(stamp, kind.decode(data))
    if not summary.ticks:
        raise LogError(f"{log.path}: no joint message after an IMU sample, nothing to convert")
    if summary.skipped:
        summary.notes.append(f"{summary.skipped} joint messages before the first IMU sample are left out")
    if summary.together > BUNCHED * summary.ticks and rate is None:
        summary.notes.append(
            f"{summary.together} ticks have the stamp of the one before: better space them with --rate"
        )
    if summary.broken:
        summary.notes.append(f"{summary.broken} messages of a wrong length are left out")
    if reader.told is None:
        summary.notes.append("no torques in the log: without them no foot is felt to carry load")
    return summary
