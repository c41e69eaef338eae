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
    """Announces a process; of two with one name the younger ends, whenever they meet."""

    def __init__(self, bus: Bus, health: Health) -> None:
        self._bus, self._health = bus, health
        self._elder: ProcHealth | None = None
        self._asked = False
        bus.subscribe((PROC_HEALTH,), self._on_health)

    def _on_health(self, _channel: object, other: ProcHealth) -> None:
        mine = self._health
        if other.name != mine.name or other.instance == mine.instance or other.state == "stopping":
            return
        if other.instance < mine.instance:
            self._elder = other
        else:
            self._asked = True  # tell the younger that we exist

    def claim(self) -> None:
        """Ask for an elder and wait a moment; DuplicateProcessError if one answers."""
        end = time.monotonic() + ASK
        self._bus.publish(PROC_HEALTH, self._health.message())
        while time.monotonic() < end:
            self._bus.wait(0.02)
            self.check()

    def check(self) -> None:
        """Answer a younger one of our name; DuplicateProcessError if there is an elder (also one heard of late)."""
        if self._elder is not None:
            elder = self._elder
            raise DuplicateProcessError(
                f"a process named {elder.name} already runs on {self._bus.url} "
                f"(instance {elder.instance:x}, {elder.ticks} ticks); stop it first or use another --lcm-url"
            )
        if self._asked:
            self._asked = False
            self._bus.publish(PROC_HEALTH, self._health.message())
