"""The terminal screen: keys in, status out. It owns the clock; when it hangs or dies, nothing is sent any more."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import AppBlur, Key
from textual.widgets import Static

from tools.teleop import gamepad, keymap
from tools.teleop.keymap import PRESSED
from tools.teleop.session import PERIOD, Session
from tools.teleop.status import (
    ROBOT_LINES,
    SPEED_LINES,
    WARNING_LINES,
    robot_lines,
    speed_lines,
    warning_lines,
)

REFRESH = 0.2  # s
KEYS = (
    "[b]SPACE E-STOP[/]  U reset  C stand  V walk  Z down  1..9 gait  P hand over\n"
    "hold W S A D Q E to move  \\[ ] speed  R F height  arrows tilt  H help  X quit"
)
PAD = (
    "[b]B or SPACE E-STOP[/]  R1 reset  A stand  Start walk  Back down  P hand over\n"
    "hold L1 and move the sticks  H help  X quit"
)


class Teleop(App[None]):
    """Drives a session by `clock`, s."""

    CSS = """
    #robot, #speed, #warnings { padding: 0 1; }
    #speed, #warnings { margin-top: 1; }
    #help { padding: 0 1; height: auto; margin-top: 1; display: none; }
    #keys { dock: bottom; height: 2; background: $panel; padding: 0 1; }
    #title { dock: top; height: 1; background: $panel; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c,ctrl+q,ctrl+d", "quit", priority=True, show=False)]
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, session: Session, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self.session, self._now = session, clock
        self._shown: dict[str, Text] = {}

    def compose(self) -> ComposeResult:
        """Title, robot, speeds, warnings, help, keys."""
        yield Static(id="title")
        with Vertical():
            for name, height in (("robot", ROBOT_LINES), ("speed", SPEED_LINES), ("warnings", WARNING_LINES)):
                lines = Static(id=name)
                lines.styles.height = height
                yield lines
            yield Static(_guide(self.session), id="help")
        yield Static(PAD if self.session.gamepad else KEYS, id="keys")

    def on_mount(self) -> None:
        """Begin to publish."""
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self.exit)
        self.set_interval(PERIOD, self._tick)
        self.set_interval(REFRESH, self._show)
        self._show()

    def on_unmount(self) -> None:
        """The last word."""
        self.session.close()

    def on_key(self, event: Key) -> None:
        """Keys go to the session; letters whatever the shift lock says."""
        key = event.key.removeprefix("upper_").lower() if len(event.key.removeprefix("upper_")) == 1 else event.key
        self.session.key(key, PRESSED.get(key), self._now())
        event.stop()
        if self.session.quitting:
            self.exit()
        elif key in ("h", "question_mark"):
            for name in ("robot", "speed", "warnings"):  # a small terminal has no room for both
                self.query_one(f"#{name}").display = not self.session.wants_help
            self.query_one("#help").display = self.session.wants_help

    def on_app_blur(self, _event: AppBlur) -> None:
        """The terminal lost the focus: no key is held any more."""
        self.session.let_go()

    def _tick(self) -> None:
        self.session.tick(self._now())

    def _show(self) -> None:
        session = self.session
        robot = session.drive.envelope.robot if session.drive.envelope else "robot not known yet"
        url = session.bus.url.split("recv_buf_size")[0].rstrip("?&")
        title = Text(f"teleop   {robot}   {session.operator.source}   {url}")
        self._update(
            title=title, robot=robot_lines(session), speed=speed_lines(session), warnings=warning_lines(session)
        )

    def _update(self, **texts: Text) -> None:
        """Draw what has changed; the heights are fixed, so nothing is laid out anew."""
        for name, text in texts.items():
            if text != self._shown.get(name):
                self._shown[name] = text
                self.query_one(f"#{name}", Static).update(text, layout=False)


def _guide(session: Session) -> Table:
    table = Table.grid(padding=(0, 2))
    for keys, does in (*(gamepad.GUIDE if session.gamepad else ()), *keymap.GUIDE):
        table.add_row(f"[b]{keys}[/]", does)
    return table
