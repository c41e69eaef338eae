"""A run as messages per channel: filled by a rollout or read from a log; what metrics and pictures are made from."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from lcmtypes.channels import BODY_STATE, GROUND_TRUTH, JOINT_COMMAND, JOINT_STATE, MODE_STATE, Channel
from lcmtypes.message import Message
from procs.runtime.logs import read_log


class Recording:
    """Messages of one run, in order, each (channel, seq) once."""

    def __init__(self) -> None:
        self.messages: dict[Channel, list[Any]] = {}
        self.step_us: dict[str, list[float]] = {}  # process -> step times, where a rollout measured them

    def add(self, channel: Channel, message: Message) -> None:
        """Append one message."""
        self.messages.setdefault(channel, []).append(message)

    def of(self, channel: Channel) -> list[Any]:
        """All messages of a channel."""
        return self.messages.get(channel, [])

    @classmethod
    def from_log(cls, path: Path) -> Recording:
        """Read a log; of several runs in it the one with the most ticks, re-sent messages once."""
        events = list(read_log(path))
        ticks = {(e.message.run, e.message.seq) for e in events if e.channel is JOINT_STATE}
        runs = Counter(run for run, _ in ticks)
        run = runs.most_common(1)[0][0] if runs else 0
        recording, seen = cls(), set()
        for event in events:
            message = event.message
            if message.run not in (run, 0):
                continue
            key = (event.channel, message.run, message.seq)
            if message.run == run and key in seen:
                continue
            seen.add(key)
            recording.add(event.channel, message)
        return recording

    def series(self, dt: float) -> Series:
        """Arrays by tick."""
        return Series(self, dt)


class Series:
    """The fields metrics need as arrays over the ticks for which ground truth, estimate and mode are all there."""

    def __init__(self, recording: Recording, dt: float) -> None:
        by_seq = {
            c: {m.seq: m for m in recording.of(c)}
            for c in (GROUND_TRUTH, BODY_STATE, MODE_STATE, JOINT_STATE, JOINT_COMMAND)
        }
        common = set(by_seq[GROUND_TRUTH]) & set(by_seq[BODY_STATE]) & set(by_seq[MODE_STATE])
        self.seq = np.array(sorted(common), dtype=int)
        self.t = self.seq * dt
        self.truth = [by_seq[GROUND_TRUTH][s] for s in self.seq]
        self.body = [by_seq[BODY_STATE][s] for s in self.seq]
        self.mode = [by_seq[MODE_STATE][s] for s in self.seq]
        self.mode_names = np.array([m.mode for m in self.mode])
        self.busy = np.array([bool(m.busy) for m in self.mode], dtype=bool)

    def true(self, field: str) -> np.ndarray:
        """A ground_truth field (ticks, ...)."""
        return np.array([getattr(m, field) for m in self.truth])

    def estimated(self, field: str) -> np.ndarray:
        """A body_state field (ticks, ...)."""
        return np.array([getattr(m, field) for m in self.body])
