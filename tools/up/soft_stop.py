"""Ends a drive without a fall: asks the controller for `shutdown`, in which it slows down, stops, lies down, limps."""

from __future__ import annotations

from lcmtypes.generated import ModeState, MotionCommand
from procs.controller.modes import DRIVEN
from tools.operator import Operator

PATIENCE = 15.0  # s in which a walking robot has stopped and lain down
AGAIN = 1.5  # s after which a request that was not taken is made anew
PAUSE = 1.0  # s; longer than the controller's command time-out, also in a simulator that is slower than time
REPEAT = 0.04  # s between two commands: well within the controller's command time-out


def needed(mode: ModeState | None) -> bool:
    """True if the robot would collapse when its processes end now."""
    return mode is not None and mode.mode in DRIVEN and not limp(mode)


def limp(mode: ModeState) -> bool:
    """True at the end of a shutdown: the joints are not driven any more."""
    return mode.mode == "shutdown" and not mode.busy


class SoftStop:
    """Repeats the request until the robot is limp or in damping, or patience ends; `done` then says which.

    A request that was not obeyed counts as made: it is made again under another name of the same kind, after a silence
    in which the old name is forgotten.
    """

    def __init__(self, operator: Operator, now: float) -> None:
        self._operator, self._began, self._sent = operator, now, -1.0
        self._asked, self._source = now, operator.source
        self._command = MotionCommand()
        self._command.mode = "shutdown"
        self.done = ""

    def look(self, mode: ModeState | None, plant_runs: bool, now: float) -> None:
        """Once per turn of the loop."""
        if not plant_runs:
            self.done = "the plant does not obey the controller any more"
        elif not needed(mode):
            lies = mode is not None and limp(mode)
            self.done = "the robot has lain down" if lies else f"the robot is in {mode.mode if mode else 'no mode'}"
        elif now - self._began > PATIENCE:
            said = f": {mode.reason}" if mode is not None and mode.reason else ""
            self.done = f"the robot has not lain down within {PATIENCE:g} s{said}"
        elif now - self._sent >= REPEAT:
            self._sent = now
            if now - self._asked > AGAIN and mode is not None and mode.target != "shutdown":
                self._asked = now
                self._sent = now + PAUSE
                self._operator.source = f"{self._source}:{now - self._began:.0f}"
                return
            self._operator.motion(self._command)
