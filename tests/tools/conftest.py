"""Small scenarios and command lines run in this process."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

TINY = """\
name: tiny
duration: 0.4
commands:
  - {t: 0.0, mode: stand}
expect:
  fell: false
  torque_nm.max: {max: 100}
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A scenario that holds and takes half a second."""
    path = tmp_path / "tiny.yaml"
    path.write_text(TINY)
    return path


@pytest.fixture
def command_line(monkeypatch: pytest.MonkeyPatch):
    """call(main, *arguments) -> exit code, as `python -m` would give it; signal handlers are put back."""
    handlers = {s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)}

    def call(main: Callable[[], int], *arguments: object) -> int:
        monkeypatch.setattr(sys, "argv", ["tool", *map(str, arguments)])
        try:
            return main()
        except SystemExit as stop:
            return int(stop.code or 0)

    yield call
    for number, handler in handlers.items():
        signal.signal(number, handler)
