"""One process of a name on a bus: a second one is refused before it sends anything."""

from __future__ import annotations

import time

from lcmtypes.channels import PROC_HEALTH
from lcmtypes.generated import ProcHealth
from procs.runtime.bus import Bus
from procs.runtime.health import Health

ASK = 0.25  # s to wait for an answer of the elder


class DuplicateProcessError(RuntimeError):
    """Another process of this name runs on this LCM URL."""


class Single:
    """Announces a process and answers the announcement of a younger one."""

    def __init__(self, bus: Bus, health: Health) -> None:
        self._bus, self._health = bus, health
        self._elder: ProcHealth | None = None
        self._asked = False
        bus.subscribe((PROC_HEALTH,), self._on_health)

    def _on_health(self, _channel: object, other: ProcHealth) -> None:
        mine = self._health
        if other.name != mine.name or other.instance == mine.instance:
            return
        if other.state != "starting":
            self._elder = other
        elif mine.state != "starting" or mine.instance < other.instance:
            self._asked = True  # tell the younger (or, of two at once, the one with the larger number) that we exist

    def claim(self) -> None:
        """Ask for an elder and wait a moment; DuplicateProcessError if one answers."""
        end = time.monotonic() + ASK
        self._bus.publish(PROC_HEALTH, self._health.message())
        while time.monotonic() < end:
            self._bus.wait(0.02)
            self.answer()
            if self._elder is not None:
                raise DuplicateProcessError(
                    f"a process named {self._health.name} already runs on {self._bus.url} "
                    f"(instance {self._elder.instance:x}, {self._elder.ticks} ticks); "
                    "stop it first or use another --lcm-url"
                )

    def answer(self) -> None:
        """Answer a younger one's announcement, if there was one."""
        if self._asked:
            self._asked = False
            health = self._health.message()
            health.state = "running"
            self._bus.publish(PROC_HEALTH, health)
