"""Rollout: plant and processes in one Python process, no LCM; for tests, sweeps and learning."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lcmtypes.channels import ESTOP, JOINT_COMMAND, Channel
from lcmtypes.message import Message
from procs.runtime.engine import Engine, Sent
from procs.runtime.inbox import Inbox
from procs.runtime.plant_loop import PlantLoop

Observer = Callable[[Channel, Message], None]


class Rollout:
    """Steps plant loop and engines in the order of the pipeline; every message goes to `observe`."""

    def __init__(self, loop: PlantLoop, engines: Iterable[Engine], observe: Observer) -> None:
        self.loop = loop
        self.engines = list(engines)
        self.observe = observe
        self._inboxes = [Inbox(engine.spec) for engine in self.engines]
        self._readers: dict[Channel, list[Inbox]] = {}
        for inbox in self._inboxes:
            for channel in inbox.spec.channels:
                self._readers.setdefault(channel, []).append(inbox)

    def send(self, messages: Sent) -> None:
        """Deliver messages to all readers."""
        for channel, message in messages:
            self.observe(channel, message)
            if channel is JOINT_COMMAND:
                self.loop.accept(message)  # type: ignore[arg-type]
            elif channel is ESTOP:
                self.loop.latch(f"estop by {message.source}: {message.reason}")  # type: ignore[attr-defined]
            for inbox in self._readers.get(channel, ()):
                inbox.put(channel, message)

    def tick(self, before: Callable[[], Sent] | None = None) -> None:
        """One plant tick; `before` gives operators' messages, sent before the sample."""
        sample = self.loop.sample()
        if before is not None:
            self.send(before())
        self.send(sample)
        self.loop.plant.work_ahead()
        for engine, inbox in zip(self.engines, self._inboxes, strict=True):
            trigger = inbox.trigger
            if trigger is None:
                continue
            inbox.trigger = None
            inputs, _ = inbox.inputs(trigger)
            self.send(engine.step(inputs))
        self.loop.act()
