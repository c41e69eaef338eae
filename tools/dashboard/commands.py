"""Commands: who is in control, and what is published. Nothing is published unless somebody has taken control.

One browser (a client) has control at a time. It is given back when that browser closes, disconnects or no longer
answers: its connection is the hold. E-stop and reset need no control.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from config.schema import Control
from lcmtypes.generated import MotionCommand
from tools.operator import Operator

RATE = 30.0  # Hz of motion_command; the controller drops a source after 0.3 s
PAD_HELD = 0.25  # s after the last report of a held pad button until it counts as released
SPEEDS = ("vx", "vy", "yaw_rate")
POSTURE = ("height", "roll", "pitch")
Say = Callable[[str, str], None]  # level, text


@dataclass
class Wanted:
    """What the panel's controls ask for."""

    mode: str = ""  # empty: no mode is asked for
    gait: str = ""
    values: dict[str, float] = field(default_factory=lambda: dict.fromkeys((*SPEEDS, *POSTURE), 0.0))


class Commands:
    """Thread-safe: browsers' callbacks, the publishing thread and the main loop all come here."""

    def __init__(self, operator: Operator, control: Control, say: Say = lambda _level, _text: None) -> None:
        self._operator, self._control, self._say = operator, control, say
        self._lock = threading.RLock()
        self.owner: int | None = None
        self.wanted = Wanted()
        self._pad: dict[str, tuple[float, float]] = {}  # field -> value, time until which it is held
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def source(self) -> str:
        """The name under which this dashboard publishes."""
        return self._operator.source

    # -- control ------------------------------------------------------------------------------------------------------

    def take(self, client: int) -> bool:
        """Give control to a client; False if another has it. It begins with no mode, no speed, nominal posture."""
        with self._lock:
            if self.owner is not None:
                return self.owner == client
            self.owner, self.wanted = client, Wanted()
            self._pad.clear()
        self._say("info", "this dashboard has taken control")
        return True

    def release(self, client: int | None, why: str) -> None:
        """Ask for zero speed, once, and fall silent, if `client` has control (None: whoever has it)."""
        with self._lock:
            if self.owner is None or client not in (None, self.owner):
                return
            self.halt()
            self.publish(time.monotonic())
            self.owner = None
        self._say("info" if why == "given back" else "warning", f"control: {why}; nothing is commanded any more")

    def owns(self, client: int | None) -> bool:
        """Whether this client has control."""
        return self.owner is not None and client == self.owner

    # -- what is wanted -----------------------------------------------------------------------------------------------

    def ask_mode(self, client: int, mode: str) -> None:
        """Hold a mode as the target."""
        with self._lock:
            if self.owns(client):
                self.wanted.mode = mode

    def ask_gait(self, client: int, gait: str) -> None:
        """Walk in this gait."""
        with self._lock:
            if self.owns(client):
                self.wanted.gait = gait

    def set(self, client: int, name: str, value: float) -> None:
        """A speed or a posture."""
        with self._lock:
            if self.owns(client):
                self.wanted.values[name] = value

    def hold(self, client: int, name: str, value: float) -> None:
        """A pad button is held now; the value counts until it is released."""
        with self._lock:
            if self.owns(client):
                self._pad[name] = value, time.monotonic() + PAD_HELD

    def halt(self) -> None:
        """Zero speeds."""
        with self._lock:
            self._pad.clear()
            for name in SPEEDS:
                self.wanted.values[name] = 0.0

    def forced(self) -> None:
        """The robot has gone to damping or estop: what was asked for counts no longer."""
        with self._lock:
            self.halt()
            self.wanted.mode = ""

    # -- at once ------------------------------------------------------------------------------------------------------

    def estop(self, reason: str) -> None:
        """Latched damping; needs no control."""
        with self._lock:
            self._operator.estop(reason)
        self.forced()

    def reset(self, reason: str) -> None:
        """Release of the latch; asks for no motion before, or it would be refused."""
        self.forced()
        with self._lock:
            if self.owner is not None:
                self._operator.motion(self.message(time.monotonic()))
            self._operator.reset(reason)

    # -- publishing ---------------------------------------------------------------------------------------------------

    def message(self, now: float) -> MotionCommand:
        """The command of now: sliders, and the pad over them, within the limits of the description."""
        control, wanted = self._control, self.wanted
        values = dict(wanted.values)
        for name, (value, until) in list(self._pad.items()):
            if now <= until:
                values[name] = value
            else:
                del self._pad[name]
        out = MotionCommand()
        out.mode, out.gait = wanted.mode, wanted.gait
        gait = control.gaits.get(wanted.gait)
        for name, value in values.items():
            lower, upper = getattr(control.limits, name)
            if name == "vx" and gait is not None and gait.vx is not None:
                lower, upper = gait.vx
            zero_means_nominal = name == "height" and value == 0.0
            setattr(out, name, 0.0 if zero_means_nominal else min(max(value, lower), upper))
        return out

    def publish(self, now: float) -> bool:
        """One motion_command if somebody has control."""
        with self._lock:
            if self.owner is None:
                return False
            self._operator.motion(self.message(now))
            return True

    def start(self) -> None:
        """Publish in a thread of its own: a slow browser or scene must not make the commands late."""
        self._thread = threading.Thread(target=self._run, name="commands", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        due = time.monotonic()
        while not self._ended.wait(max(0.0, due - time.monotonic())):
            now = time.monotonic()
            self.publish(now)
            due = max(due + 1.0 / RATE, now)

    def stop(self) -> None:
        """End the thread; the robot hears nothing more."""
        self.release(None, "the dashboard ends")
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
