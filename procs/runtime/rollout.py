"""Rollout: plant and processes in one Python process, no LCM; for tests, sweeps and learning."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from lcmtypes.channels import JOINT_COMMAND, Channel
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
        self.step_us: dict[str, float] = {}  # of the last tick, per process and for the plant
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
            else:
                self.loop.obey(channel, message)
            for inbox in self._readers.get(channel, ()):
                inbox.put(channel, message)

    def tick(self, before: Callable[[], Sent] | None = None) -> None:
        """One plant tick; `before` gives operators' messages, sent before the sample."""
        begin = time.perf_counter()
        sample = self.loop.sample()
        self.step_us["plant"] = 1e6 * (time.perf_counter() - begin)
        if before is not None:
            self.send(before())
        self.send(sample)
        for engine, inbox in zip(self.engines, self._inboxes, strict=True):
            trigger = inbox.trigger
            if trigger is None:
                continue
            inbox.trigger = None
            begin = time.perf_counter()
            inputs, _ = inbox.inputs(trigger)
            sent = engine.step(inputs)
            self.step_us[engine.spec.name] = 1e6 * (time.perf_counter() - begin)
            self.send(sent)
        self.loop.act()
