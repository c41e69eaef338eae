"""The CAN controller of the host on one emulated bus: error counter, bus-off, restart, full buffer (ISO 11898-1).

A frame that is destroyed is sent again at once, and each time the counter of transmit errors rises by 8; a good one
lowers it by 1. At 96 the controller warns, from 128 it is error-passive, at 256 it is off the bus and takes nothing
until it is restarted. What it has to say are error frames as SocketCAN brings them (procs.wire.can_errors).
"""

from __future__ import annotations

from collections.abc import Callable

from procs.wire.can_errors import ControllerState, ErrorClass, Violation, error_frame

WARNING, PASSIVE, OFF = 96, 128, 256
BAD, GOOD = 8, 1
MOST = 64  # error frames that wait for a host that does not read: newer ones are lost, as in its socket


class CanController:
    """`restart` s from bus-off to the next try, as `ip link set can0 type can restart-ms 100` has it; 0: never."""

    def __init__(self, dt: float, restart: float = 0.1) -> None:
        self.restart_ticks = round(restart / dt)
        self.errors = 0  # transmit error counter
        self.bus_offs = self.refused = self.destroyed = 0
        self._tick = 0
        self._back_at: int | None = None  # tick of the restart; None: not off
        self._held = False  # off because somebody holds it there
        self._said: list[tuple[int, bytes]] = []

    @property
    def off(self) -> bool:
        """Whether it has left the bus."""
        return self._held or self._back_at is not None

    def tick(self, tick: int, held: bool = False) -> None:
        """A new tick; `held`: something outside keeps it off the bus."""
        self._tick = tick
        if held and not self._held:
            self._leave()
        due = self._back_at is not None and self.restart_ticks > 0 and tick >= self._back_at
        if not held and (self._held or due):
            self._come_back()
        self._held = held

    def send(self, destroyed: Callable[[], bool], full: bool = False) -> bool:
        """Whether a frame of the host gets onto the bus. `destroyed`: asked for each attempt."""
        if self.off or full:
            self.refused += 1
            if full and not self.off:
                self._say(ErrorClass.CONTROLLER, ControllerState.TX_OVERFLOW)
            return False
        while destroyed():
            self.destroyed += 1
            before, self.errors = self.errors, self.errors + BAD
            self._say(ErrorClass.PROTOCOL, wrong=Violation.BIT)
            for level, state in ((WARNING, ControllerState.TX_WARNING), (PASSIVE, ControllerState.TX_PASSIVE)):
                if before < level <= self.errors:
                    self._say(ErrorClass.CONTROLLER, state)
            if self.errors >= OFF:
                self._leave()
                return False
        self.errors = max(0, self.errors - GOOD)
        return True

    def hear_nonsense(self) -> None:
        """Somebody else's frame that could not be read."""
        self._say(ErrorClass.PROTOCOL, wrong=Violation.STUFF)

    def said(self) -> list[tuple[int, bytes]]:
        """(id, data) of the error frames since the last call."""
        said, self._said = self._said, []
        return said

    def _leave(self) -> None:
        self.bus_offs += 1
        self.errors = 0
        self._back_at = self._tick + self.restart_ticks
        self._say(ErrorClass.BUS_OFF)

    def _come_back(self) -> None:
        self._back_at = None
        self._say(ErrorClass.RESTARTED)

    def _say(self, kind: ErrorClass, state: int = 0, wrong: int = 0) -> None:
        grave = kind & (ErrorClass.BUS_OFF | ErrorClass.RESTARTED)
        if grave or len(self._said) < MOST:
            self._said.append(error_frame(kind, state, wrong))
