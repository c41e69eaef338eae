"""The estop latch of controller and packer: operators' held messages in, the reason of the latch out."""

from __future__ import annotations

from lcmtypes.generated import Estop, Reset


def _identity(message: Estop | Reset) -> tuple[str, int, int, int]:
    """What tells two messages of any operators apart; each of them has a counter of its own."""
    return message.source, message.run, message.seq, message.utime


class EstopLatch:
    """Latched by every new estop, released only by a new reset. It outlives the plant's runs."""

    def __init__(self) -> None:
        self.reason = ""  # empty: not latched
        self._estop: tuple[str, int, int, int] | None = None
        self._reset: tuple[str, int, int, int] | None = None
        self._asked = False  # a reset came after the last estop
        self._new_run = True

    def new_run(self) -> None:
        """A plant that begins a new run has obeyed the reset that asked for it, also one still to be seen here."""
        self._new_run = True

    def update(self, estop: Estop | None, reset: Reset | None, moving: bool = False) -> bool:
        """Look at the held messages; while motion is asked for (`moving`) a reset releases nothing in mid-run.

        True if a new reset was obeyed. Of a new estop and a new reset seen together the estop counts.
        """
        obeyed = False
        if reset is not None and _identity(reset) != self._reset:
            self._reset, self._asked = _identity(reset), True
            obeyed = not moving
        obeyed |= self._new_run and self._asked
        self._new_run = False
        if obeyed:
            self.reason = ""
        if estop is not None and _identity(estop) != self._estop:
            self._estop, self._asked = _identity(estop), False
            self.reason = f"estop by {estop.source}: {estop.reason}"
        return obeyed
