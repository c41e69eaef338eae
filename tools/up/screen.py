"""Where `up` says what happens: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import time
from collections import deque

from rich.console import Console
from rich.live import Live

from tools.up import status

JOURNAL = 60.0  # s between two lines of figures where there is no terminal
FLIGHT = "flight_recorder"  # whose words are no warnings


class Screen:
    """A live table on a terminal; elsewhere plain lines, with the time unless a journal adds it."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, auto_refresh=False) if console.is_terminal else None
        self._stamp = "" if console.is_terminal or "JOURNAL_STREAM" in os.environ else "%H:%M:%S "
        self._due = 0.0  # s, of the next line of figures
        self._mode = ""
        self._warnings: dict[str, str] = {}
        self._said: deque[str] = deque(maxlen=20)

    def __enter__(self) -> Screen:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def say(self, text: str) -> None:
        """One event."""
        self._said.append(text)
        self._console.print(f"{time.strftime(self._stamp)}{text}", highlight=False, markup=False, soft_wrap=True)

    def show(self, rows: list[status.Row], words: str, mode: str, now: float) -> None:
        """The state of things, once a second."""
        if self._live is not None:
            self._live.update(status.table(rows, f"{words}   Ctrl-C stops all", self._console.width), refresh=True)
            return
        if mode != self._mode:
            self._mode = mode
            self.say(f"mode {words.split('   ', 1)[-1]}")
        for row in rows:
            if (
                row.name != FLIGHT
                and row.warning
                and row.state != "dead"
                and self._warnings.get(row.name) != row.warning
            ):
                self._warnings[row.name] = row.warning
                if not any(row.warning in said for said in self._said):
                    self.say(f"{row.name}: {row.warning}")
        if now >= self._due:
            first, self._due = not self._due, now + JOURNAL
            if first:  # nothing to say yet
                self._due = now + JOURNAL / 6
                return
            self.say(status.line(rows))
