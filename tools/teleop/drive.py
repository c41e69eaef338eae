"""Drive: what is held, pressed and set, with times, in; the fields of motion_command out. No bus, clock or screen.

Speeds are a fraction of the robot's limits and live only while something holds them: nothing held is exactly zero.
They grow with the robot's own slew; on release they drop at once, and the controller brakes with its slew.
"""

from __future__ import annotations

from collections.abc import Mapping

from lcmtypes.generated import ModeState, MotionCommand
from tools.teleop.envelope import SETTINGS, SPEEDS, Envelope

LEVELS = (0.05, 0.1, 0.15, 0.25, 0.35, 0.5, 0.7, 1.0)  # of the limits
FIRST_LEVEL = 3  # index: a quarter
STEPS = 20  # from one end of a setting's range to the other
LONGEST = 0.1  # s; after a longer gap between two commands the slew goes on as if it had been this long
AGAIN = 0.05  # s without a mode before a new request, so that the same mode counts as asked for anew
PRESSED = 0.5  # s for which a request stands whatever the robot does
FORGET = ("idle", "damping", "estop")  # a robot that was forced there does not go back by a request held on


class Drive:
    """The operator's wishes. Without an envelope all speeds are zero."""

    def __init__(self, envelope: Envelope | None = None) -> None:
        self.envelope = envelope
        self.level = FIRST_LEVEL
        self.mode, self.gait = "", ""  # asked for; empty: nothing asked
        self.settings = dict.fromkeys(SETTINGS, 0.0)  # height 0: nominal
        self.speeds = dict.fromkeys(SPEEDS, 0.0)  # commanded now
        self.held: dict[str, float] = dict.fromkeys(SPEEDS, 0.0)  # fractions -1..1
        self.robot_gait = ""  # what the robot reports
        self._asked, self._last = -1e9, -1e9
        self._run: int | None = None

    def set_envelope(self, envelope: Envelope) -> None:
        """Of a robot that is known now, or of another one: then nothing that was set for the old one stays."""
        if self.envelope is not None and envelope.robot != self.envelope.robot:
            self.settings, self.gait, self.mode = dict.fromkeys(SETTINGS, 0.0), "", ""
        self.envelope = envelope

    # -- what the operator does ---------------------------------------------------------------------------------------

    def hold(self, fractions: Mapping[str, float]) -> None:
        """What is held now: fraction -1..1 of the set speed per axis; an axis not named is not held."""
        self.held = {axis: min(1.0, max(-1.0, fractions.get(axis, 0.0))) for axis in SPEEDS}

    def request(self, mode: str, t: float) -> None:
        """Ask for a mode; each call is a new request, also for the mode asked for before."""
        self.mode, self._asked = mode, t

    def let_go(self) -> None:
        """Nothing is asked for any more: no mode, no speed."""
        self.mode = ""
        self.hold({})

    def choose_gait(self, number: int) -> str:
        """The robot's gait of a number, 0 the first; returns what is wrong, empty if nothing."""
        names = list(self.envelope.gaits) if self.envelope else []
        if not 0 <= number < len(names):
            return f"no gait {number + 1}: {self._robot()} has {len(names)}"
        self.gait = names[number]
        return ""

    def next_gait(self, step: int) -> None:
        """The gait before or after the present one, in a circle."""
        names = list(self.envelope.gaits) if self.envelope else []
        present = self.gait or self.robot_gait
        if names:
            self.gait = names[(names.index(present) + step) % len(names)] if present in names else names[0]

    def change_level(self, step: int) -> None:
        """Faster or slower."""
        self.level = min(max(self.level + step, 0), len(LEVELS) - 1)

    def change(self, setting: str, step: int) -> None:
        """Move height, roll or pitch by `step` parts of its range."""
        if self.envelope is None:
            return
        low, high = self.envelope.ranges[setting]
        value = self.settings[setting]
        if setting == "height" and not value:
            value = self.envelope.nominal_height
        value = min(max(value + step * (high - low) / STEPS, low), high)
        self.settings[setting] = 0.0 if abs(value) < 1e-9 else value

    def level_out(self) -> None:
        """Nominal height, no roll, no pitch."""
        self.settings = dict.fromkeys(SETTINGS, 0.0)

    # -- what the robot does ------------------------------------------------------------------------------------------

    def follow(self, state: ModeState | None, t: float) -> None:
        """Forget the request when the robot was forced out of it, began a new run, or is not heard of (None)."""
        lost = state is None or state.run != self._run or state.mode in FORGET
        self._run = None if state is None else state.run
        self.robot_gait = "" if state is None else state.gait
        if lost and t - self._asked > PRESSED:
            self.mode = ""

    # -- what is sent -------------------------------------------------------------------------------------------------

    def command(self, t: float) -> MotionCommand:
        """The command of time t, s; to be called at a steady rate."""
        dt, self._last = min(max(t - self._last, 0.0), LONGEST), t
        message = MotionCommand()
        if t - self._asked >= AGAIN:
            message.mode = self.mode
        message.gait = self.gait
        for name, value in self.settings.items():
            setattr(message, name, value)
        for axis in SPEEDS:
            self.speeds[axis] = self._slewed(axis, dt)
            setattr(message, axis, self.speeds[axis])
        return message

    def goal(self, axis: str) -> float:
        """Speed of an axis that what is held leads to."""
        if self.envelope is None:
            return 0.0
        low, high = self.envelope.speed(axis, self.gait or self.robot_gait)
        fraction = self.held[axis] * LEVELS[self.level]
        return max(fraction * high, 0.0) if fraction > 0 else min(-fraction * low, 0.0)

    def _slewed(self, axis: str, dt: float) -> float:
        goal, value = self.goal(axis), self.speeds[axis]
        if self.envelope is None or goal == 0:
            return 0.0
        value = value if goal * value > 0 else 0.0  # no longer the other way
        step = self.envelope.slews[axis] * dt
        return value + min(max(goal - value, -step), step)

    def _robot(self) -> str:
        return self.envelope.robot if self.envelope else "the robot (not known yet)"
