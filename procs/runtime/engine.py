"""Engine: one process's core with the rules of the pipeline around it, without any bus or clock.

Live runner, replay and rollout all step their cores through it, so a step means the same everywhere: a new run
resets the core, a lower seq is ignored, a trigger seen twice gets the last answer again, headers are stamped,
and what is not finite is not sent.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from lcmtypes.channels import Channel
from lcmtypes.message import Message
from procs.model.robot import Robot
from procs.runtime.spec import Inputs, ProcessSpec

LOG = logging.getLogger(__name__)

Sent = list[tuple[Channel, Message]]


@dataclass
class Counts:
    """What an engine counted since its start."""

    ticks: int = 0
    missed: int = 0  # ticks of the run that never came
    old: int = 0  # lower seq in the same run
    repeated: int = 0  # triggers seen twice
    not_finite: int = 0  # own results that were not sent
    last_error: str = ""


class Engine:
    """Steps one core."""

    def __init__(self, spec: ProcessSpec, robot: Robot) -> None:
        self.spec = spec
        self.core = spec.core(robot)
        self.counts = Counts()
        self._run: int | None = None
        self._seq = -1
        self._answer: Sent = []
        self._period = -1  # seq // every of the core's last step

    @property
    def last(self) -> tuple[int | None, int]:
        """(run, seq) of the last trigger stepped."""
        return self._run, self._seq

    def classify(self, trigger: Message) -> str:
        """`new`, `repeated` or `old`; says nothing of inputs."""
        if trigger.run != self._run or trigger.seq > self._seq:
            return "new"
        return "repeated" if trigger.seq == self._seq else "old"

    def step(self, inputs: Inputs) -> Sent:
        """Step with one message per declared read (None: there is none) and return what goes out, in order."""
        spec = self.spec
        trigger = inputs[spec.trigger]
        kind = self.classify(trigger)
        if kind == "old":
            self.counts.old += 1
            return []
        if kind == "repeated":
            self.counts.repeated += 1
            return self._answer
        if trigger.run != self._run:
            self._run, self._answer, self._period = trigger.run, [], -1
            self.core.reset()
        elif trigger.seq > self._seq + 1:
            self.counts.missed += trigger.seq - self._seq - 1
        self._seq = trigger.seq
        self.counts.ticks += 1
        period = trigger.seq // spec.every
        if period == self._period and self._answer:
            self._answer = [(channel, _again(message, trigger)) for channel, message in self._answer]
            return self._answer
        self._period = period
        used = [-1 if inputs[r.channel] is None else inputs[r.channel].seq for r in spec.reads]
        outputs = self.core.step(inputs)
        self._answer = []
        for channel, message in zip(spec.writes, outputs, strict=True):
            if message is None:
                continue
            message.utime, message.run, message.seq, message.used = trigger.utime, trigger.run, trigger.seq, used
            if not message.finite():
                self.counts.not_finite += 1
                self.counts.last_error = f"{channel.name} {trigger.seq}: not finite, not sent"
                LOG.error(self.counts.last_error)
                continue
            self._answer.append((channel, message))
        return self._answer


def _again(message: Message, trigger: Message) -> Message:
    """The same content with the header of a later tick."""
    again = message.copy()
    again.utime, again.seq = trigger.utime, trigger.seq
    return again
