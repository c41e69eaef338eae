"""Lines to the drives (SPI boards, CAN buses): opened, closed and tried again one by one, so none stops the others."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol

from procs.bridge.errors import TransportError

LOG = logging.getLogger(__name__)
AGAIN = 50  # failed exchanges in a row after which a line is opened anew, again and again


class Line(Protocol):
    """A board or a bus."""

    name: str

    def open(self) -> None:
        """Open it; TransportError."""

    def close(self) -> None:
        """Release it."""


def open_lines(lines: Sequence[Line], need_all: bool = True) -> None:
    """Open all; TransportError for the first that cannot be, or without `need_all` go on with the others."""
    for line in lines:
        try:
            line.open()
        except TransportError as error:
            if need_all:
                raise
            LOG.error("%s: %s", line.name, error)


def close_lines(lines: Sequence[Line]) -> None:
    """Close all, also after one that does not want to."""
    for line in lines:
        try:
            line.close()
        except Exception as error:
            LOG.warning("%s: not closed: %r", line.name, error)


class Watch:
    """What lines failed with, in words; opens those anew that fail for long (an adapter that is plugged in again)."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = tuple(lines)
        self.errors = [""] * len(lines)
        self._failed = [0] * len(lines)  # exchanges in a row

    def note(self, line: int, error: Exception) -> None:
        """A line raised."""
        if not self.errors[line]:
            LOG.error("%s: %r", self._lines[line].name, error)
        self.errors[line] = str(error) or repr(error)

    def exchanged(self, line: int, failed: bool) -> None:
        """After an exchange: whether nothing got through on this line although it should have."""
        if not failed:
            self._failed[line], self.errors[line] = 0, ""
            return
        self._failed[line] += 1
        if self._failed[line] % AGAIN == 0:
            close_lines(self._lines[line : line + 1])
            try:
                self._lines[line].open()
            except Exception as error:
                self.errors[line] = str(error) or repr(error)
