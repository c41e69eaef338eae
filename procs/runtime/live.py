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

PATIENCE = 0.1  # s to wait for an input that belongs to the trigger's tick before stepping without it


class LiveProcess:
    """Runs one spec on a bus until `stop`."""

    def __init__(self, spec: ProcessSpec, robot: Robot, bus: Bus) -> None:
        self.spec, self.bus = spec, bus
        self.engine = Engine(spec, robot)
        self.inbox = Inbox(spec)
        self.health = Health(spec.name)
        self.single = Single(bus, self.health)
        self.stopping = False
        self._waiting: tuple[int, int, float] | None = None  # run, seq of the trigger that waits, and since when
        bus.subscribe(spec.channels, self._on_message)

    def _on_message(self, channel: Channel, message: Any) -> None:
        self.inbox.put(channel, message)

    def run(self) -> None:
        """Step on triggers until stopped; raises DuplicateProcessError if another of this name is there."""
        self.single.claim()
        self.health.state = "waiting"
        while not self.stopping:
            waiting = self._waiting is not None
            self.bus.wait(min(0.005 if waiting else 0.2, self.health.until_due()))
            self.step()
            self.single.answer()
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
        self._waiting = None
        self.inbox.trigger = None
        begin = time.perf_counter()
        sent = self.engine.step(inputs)
        for channel, message in sent:
            self.bus.publish(channel, message)
        self.health.steps.add(1e6 * (time.perf_counter() - begin))
        self.health.state = "running"
        return True

    def _wait_for(self, trigger: Message, missing: list[Channel]) -> bool:
        """True while a missing input may still come: always for the same tick's, in lock step also the previous's."""
        same = {r.channel for r in self.spec.reads if r.kind == "same"}
        if not getattr(trigger, "lock_step", 0) and not same.intersection(missing):
            return False  # real time: the newest there is
        key = (trigger.run, trigger.seq)
        now = time.monotonic()
        if self._waiting is None or self._waiting[:2] != key:
            self._waiting = (*key, now)
        return now - self._waiting[2] < PATIENCE

    def report(self) -> None:
        """Publish proc_health."""
        counts, bus = self.engine.counts, self.bus
        health = self.health.message()
        health.ticks, health.old, health.repeated = counts.ticks, counts.old, counts.repeated
        health.missed = counts.missed
        health.decode_errors = bus.counts["decode_errors"]
        health.not_finite = bus.counts["not_finite"] + counts.not_finite
        health.last_error = counts.last_error or bus.last_error
        bus.publish(PROC_HEALTH, health)
