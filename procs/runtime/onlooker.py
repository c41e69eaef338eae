"""Runner of a process that only looks on: every tick in order, a few milliseconds late, and never in anybody's way.

Packets gather for a moment, because waking for each costs more than all the rest; the kernel wakes it last.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from typing import Any

from lcmtypes.channels import Channel
from procs.model.robot import Robot
from procs.runtime.bus import Bus
from procs.runtime.live import LiveProcess
from procs.runtime.spec import Inputs, ProcessSpec

LOG = logging.getLogger(__name__)

GATHER = 0.03  # s
PATIENCE = 4  # newer ticks after which one is stepped without what never came
KEPT = 60  # ticks whose trigger has not come
NICE = 5


def stand_back() -> None:
    """Ordinary scheduling that never takes a core from another process at the moment it wakes, also under --rt."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
        os.nice(NICE)


class LiveOnlooker(LiveProcess):
    """Runs one spec on a bus until `stop`. All reads are those of the trigger's tick; a `latest` one is not waited for.

    Use it for processes that read only the pipeline's channels and whose outputs nobody in the pipeline reads.
    """

    def __init__(self, spec: ProcessSpec, robot: Robot, bus: Bus, gather: float = GATHER) -> None:
        if any(r.kind == "previous" for r in spec.reads):
            raise ValueError(f"{spec.name}: an onlooker reads nothing of the tick before")
        self._gather = gather
        self._ticks: dict[tuple[int, int], Inputs] = {}
        self._needed = {spec.trigger, *(r.channel for r in spec.reads if r.kind != "latest")}
        super().__init__(spec, robot, bus)

    def _on_message(self, channel: Channel, message: Any) -> None:
        self._ticks.setdefault((message.run, message.seq), {})[channel] = message

    def step(self) -> bool:
        """Step every tick that is complete or given up; False if there was none."""
        if not self._ticks:
            return False
        if self._gather:
            time.sleep(self._gather)
            self.bus.drain()
        began = [key for key, inputs in self._ticks.items() if self.spec.trigger in inputs]
        stepped = 0
        for place, key in enumerate(began):
            inputs = self._ticks[key]
            if self.engine.classify(inputs[self.spec.trigger]) != "new":
                del self._ticks[key]  # sent again for somebody who waits; nobody waits for us
                self.engine.counts.repeated += 1
                continue
            if not self._needed <= inputs.keys() and len(began) - place <= PATIENCE:
                break
            del self._ticks[key]
            self._step(inputs)
            stepped += 1
        while len(self._ticks) > KEPT:
            del self._ticks[next(iter(self._ticks))]
        return stepped > 0

    def _step(self, inputs: Inputs) -> None:
        begin = time.perf_counter()
        for channel, message in self.engine.step({c: inputs.get(c) for c in self.spec.channels}):
            self.bus.publish_raw(channel.name, message.encode())  # the engine has seen that it is finite
        self.health.steps.add(1e6 * (time.perf_counter() - begin))
        self.health.state = "running"
