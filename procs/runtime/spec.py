"""What a process is: a pure core and a declaration of what it reads and writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from lcmtypes.channels import Channel
from lcmtypes.message import Message
from procs.model.robot import Robot

Inputs = dict[Channel, Any]  # Channel -> its message, or None where there is none
Outputs = Sequence[Message | None]  # in the declared order of writes; None: nothing to say on that channel this time


class Core(Protocol):
    """The pure part: no bus, clock, file, thread, global or environment.

    A core may have `warm_up()`: the live runner calls it before the first trigger, so that kernels and solvers are
    loaded when the robot needs them. It must leave no trace in the core.
    """

    def step(self, inputs: Inputs) -> Outputs:
        """One step; returns messages, sends nothing, never raises on bad data."""

    def reset(self) -> None:
        """Forget everything: a new run begins."""


@dataclass(frozen=True)
class Read:
    """How a channel is read: `same` seq as the trigger, the `previous` seq, or the `latest` there is."""

    channel: Channel
    kind: Literal["same", "previous", "latest"]


def same(channel: Channel) -> Read:
    """The message with the trigger's seq."""
    return Read(channel, "same")


def previous(channel: Channel) -> Read:
    """The message with the trigger's seq - 1 (none at the first tick)."""
    return Read(channel, "previous")


def latest(channel: Channel) -> Read:
    """The newest message of an operator (held: it is given again until a newer one comes)."""
    return Read(channel, "latest")


@dataclass(frozen=True)
class ProcessSpec:
    """Declaration of a process."""

    name: str
    trigger: Channel
    reads: tuple[Read, ...]
    writes: tuple[Channel, ...]  # in the order of sending; the next process's trigger last
    core: Callable[[Robot], Core] = field(repr=False)
    every: int = 1  # steps the core each n-th tick; its last answer is repeated between

    @property
    def channels(self) -> tuple[Channel, ...]:
        """All channels it subscribes to."""
        return (self.trigger, *(read.channel for read in self.reads))
