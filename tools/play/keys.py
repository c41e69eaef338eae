"""Keys from a terminal, without waiting for Enter."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from types import TracebackType

ARROWS = {b"\x1b[A": "up", b"\x1b[B": "down", b"\x1b[C": "right", b"\x1b[D": "left", b"\x1b[H": "home"}


class Keys:
    """Context: single keys while inside. Without a terminal it only waits."""

    def __init__(self) -> None:
        self.active = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
        self._file = sys.stdin.fileno() if self.active else -1
        self._old: list[object] = []

    def __enter__(self) -> Keys:
        if self.active:
            self._old = termios.tcgetattr(self._file)
            tty.setcbreak(self._file)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.active:
            termios.tcsetattr(self._file, termios.TCSADRAIN, self._old)  # type: ignore[arg-type]

    def wait(self, seconds: float) -> list[str]:
        """Keys pressed within `seconds`; returns at the first."""
        if not select.select([self._file] if self.active else [], [], [], max(0.0, seconds))[0]:
            return []
        return split(os.read(self._file, 64))


def split(data: bytes) -> list[str]:
    """Characters, and arrows by name; other escape sequences are left out."""
    out = []
    while data:
        if data[:2] == b"\x1b[":
            end = next((k for k in range(2, len(data)) if 0x40 <= data[k] <= 0x7E), len(data) - 1) + 1
            name = ARROWS.get(data[:end])
            out += [name] if name else []
        else:
            end = 1
            out.append(data[:1].decode("latin-1"))
        data = data[end:]
    return out
