"""Live runner: one process on an LCM bus. A message starts a step; the only other thing it does is report health."""

from __future__ import annotations

import logging
import time
from typing import Any

from lcmtypes.channels import PROC_HEALTH, Channel
from lcmtypes.message import Message
from procs.model.robot import Robot
from procs.runtime.bus import Bus
from procs.runtime.engine import Engine
from procs.runtime.health import Health
from procs.runtime.inbox import Inbox
from procs.runtime.single import Single
from procs.runtime.spec import ProcessSpec

LOG = logging.getLogger(__name__)

PATIENCE = 0.1  # s lock step waits for an input that belongs to the tick before stepping without it
REAL_TIME_PATIENCE = 0.001  # s that real time waits for an input of the same tick (packets may overtake)


class LiveProcess:
    """Runs one spec on a bus until `stop`."""

    def __init__(self, spec: ProcessSpec, robot: Robot, bus: Bus) -> None:
        self.spec, self.bus = spec, bus
        self.engine = Engine(spec, robot)
        self.inbox = Inbox(spec)
        self.health = Health(spec.name)
        self.single = Single(bus, self.health)
        self.stopping = False
        self._deadline: float | None = None  # until when a trigger waits for its inputs
        self._skipped_before = 0  # triggers skipped before the first step of a run: the engine sees no gap there
        bus.subscribe(spec.channels, self._on_message)

    def _on_message(self, channel: Channel, message: Any) -> None:
        self.inbox.put(channel, message)

    def run(self) -> None:
        """Step on triggers until stopped; raises DuplicateProcessError if another of this name is there."""
        self.single.claim()
        warm_up = getattr(self.engine.core, "warm_up", None)
        if warm_up is not None:
            warm_up()
        self.health.state = "waiting"
        while not self.stopping:
            left = 0.2 if self._deadline is None else self._deadline - time.monotonic()
            self.bus.wait(min(left, self.health.until_due()))
            self.step()
            self.single.check()
            if self.health.due():
                self.report()
        self.health.state = "stopping"
        self.report()

    def stop(self, *_: object) -> None:
        """End `run` after the current step (also a signal handler)."""
        self.stopping = True

    def step(self) -> bool:
        """Step once if a trigger and its inputs are there; False if not."""
        trigger = self.inbox.trigger
        if trigger is None:
            return False
        inputs, missing = self.inbox.inputs(trigger)
        if missing and self.engine.classify(trigger) == "new":
            if self._wait_for(trigger, missing):
                return False
            for channel in missing:
                inputs[channel] = self.inbox.newest(channel, trigger.run)
        self._deadline = None
        self.inbox.trigger = None
        if self.engine.last[0] != trigger.run:
            self._skipped_before += self.inbox.skipped
        self.inbox.skipped = 0
        begin = time.perf_counter()
        sent = self.engine.step(inputs)
        for channel, message in sent:
            self.bus.publish(channel, message)
        self.health.steps.add(1e6 * (time.perf_counter() - begin))
        self.health.state = "running"
        return True

    def _wait_for(self, trigger: Message, missing: list[Channel]) -> bool:
        """True while a missing input may still come; a newer trigger in between does not begin the wait again."""
        real_time = not getattr(trigger, "lock_step", 1)  # only the plant's own message says so
        if real_time and not any(r.kind == "same" and r.channel in missing for r in self.spec.reads):
            return False  # the newest there is
        now = time.monotonic()
        if self._deadline is None:
            self._deadline = now + (REAL_TIME_PATIENCE if real_time else PATIENCE)
        return now < self._deadline

    def report(self) -> None:
        """Publish proc_health."""
        counts, bus = self.engine.counts, self.bus
        health = self.health.message()
        health.ticks, health.old, health.repeated = counts.ticks, counts.old + self.inbox.old, counts.repeated
        health.missed = counts.missed + self._skipped_before
        health.decode_errors = bus.counts["decode_errors"]
        health.not_finite = bus.counts["not_finite"] + counts.not_finite
        health.last_error = counts.last_error or bus.last_error
        bus.publish(PROC_HEALTH, health)
