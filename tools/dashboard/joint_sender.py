"""Sends joint_test while a joint is held, in a thread that lives only then: a slow browser cannot make it late."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Protocol

from lcmtypes.channels import JOINT_STATE
from tools.dashboard.commands import Commands
from tools.dashboard.joint_hold import MODE, JointPageState, Seen
from tools.dashboard.state import State
from tools.joint_test.signals import Settings
from tools.operator import Operator

RATE = 50.0  # Hz
BUTTON = "the button was pressed"
LOG = logging.getLogger(__name__)
Note = Callable[[str, str], None]  # level, text


class Watch(Protocol):
    """Whether a browser still shows the page (joint_presence.py)."""

    def __call__(self, client: int, now: float) -> bool:
        """It does."""

    def watch(self, client: int, watched: Callable[[], bool]) -> None:
        """Begin to look, as long as `watched`."""


class JointSender:
    """Thread-safe: browsers' callbacks, the dashboard's loop and the sending thread all come here."""

    def __init__(
        self,
        page: JointPageState,
        state: State,
        commands: Commands,
        operator: Operator,
        presence: Watch,
        note: Note,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """operator: of this sender alone."""
        self._page, self._state, self._commands = page, state, commands
        self._operator, self._presence, self._note = operator, presence, note
        self._clock = clock
        self._lock = threading.RLock()
        self._client = -1  # who holds, or held last
        self._holds = 0  # so far

    def seen(self, client: int, now: float) -> Seen:
        """What is known of a browser and of the robot."""
        state, commands = self._state, self._commands
        joints = state.fresh(JOINT_STATE, now)
        there = not self._page.held or self._presence(client, now)  # who presses is there
        return Seen(
            now, commands.owns(client) and there, commands.wanted.mode == MODE, state.mode(now),
            None if joints is None else joints.q,
        )  # fmt: skip

    def refusal(self, now: float) -> str:
        """Why the browser that has control cannot hold a joint now; empty if it can, or if nobody has control."""
        owner = self._commands.owner
        with self._lock:
            return "" if owner is None else self._page.refusal(self.seen(owner, now))

    def edit(self, client: int, settings: Settings) -> bool:
        """Other settings; False if another browser has control."""
        with self._lock:
            if self._commands.owner is not None and not self._commands.owns(client):
                return False
            self._page.edit(settings)
            return True

    def hold(self, client: int) -> str:
        """Begin to send; why not, if not."""
        with self._lock:
            if self._page.held:
                return "" if client == self._client else "another browser holds it"
            why = self._page.hold(self.seen(client, self._clock()))
            if not why:
                self._client, self._holds = client, self._holds + 1
                self._presence.watch(client, partial(self._holding, self._holds))
                threading.Thread(target=self._run, name="joint_test").start()
        self._note("warning" if why else "info", f"joint not held: {why}" if why else f"{self._name()} is held")
        return why

    def _holding(self, hold: int) -> bool:
        return self._page.held and hold == self._holds

    def let_go(self, why: str) -> None:
        """Anybody may: it only makes a joint limp. The thread says so to the controller, and ends."""
        with self._lock:
            self._page.let_go(why)

    def _name(self) -> str:
        return self._state.robot.joint_names[self._page.settings.joint]

    def _run(self) -> None:
        due = time.monotonic()
        try:
            while self._send():
                now = time.monotonic()
                due = max(due + 1.0 / RATE, now)
                time.sleep(due - now)
        except Exception:
            LOG.exception("joint test")
            self.let_go("an error in the dashboard")
        finally:
            level = "info" if self._page.why == BUTTON else "warning"
            self._note(level, f"the joint was let go: {self._page.why}")

    def _send(self) -> bool:
        """One message; False once it is let go."""
        with self._lock:
            message = self._page.step(self.seen(self._client, self._clock()))
            self._operator.joint_test(self._page.farewell() if message is None else message)
            return message is not None
