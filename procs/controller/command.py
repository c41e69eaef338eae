"""The operator's command: age, limits, slews, and what counts as a new request. Speeds in the heading frame."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from config.schema import Gait
from lcmtypes.generated import MotionCommand
from procs.model.robot import Robot

SOURCES = 16  # operators remembered
SHOWN = 40  # characters of an unknown name that are repeated


@dataclass
class Wanted:
    """What the body shall do now."""

    velocity: np.ndarray = field(default_factory=lambda: np.zeros(2))  # m/s, heading frame
    goal: np.ndarray = field(default_factory=lambda: np.zeros(2))  # m/s, where velocity is being slewed to
    yaw_rate: float = 0.0  # rad/s
    height: float = 0.0  # m above the contact points
    roll: float = 0.0  # rad
    pitch: float = 0.0  # rad
    gait: str = ""
    request: str = ""  # the mode some operator newly asks for in this tick; empty: nothing new
    age: float = math.inf  # s since the command last changed its counter
    complaint: str = ""  # what is wrong with the command

    def still(self) -> bool:
        """No speed is left to slow down from."""
        return float(np.abs(self.velocity).max()) < 0.02 and abs(self.yaw_rate) < 0.05


class CommandFilter:
    """Clamps and slews motion_command. Its age is counted in ticks of the pipeline: operators' clocks may differ."""

    def __init__(self, robot: Robot) -> None:
        control = robot.description.control
        self._limits, self._gaits = control.limits, control.gaits
        self._default_gait, self._height = control.default_gait, control.nominal_height
        self._dt = robot.dt
        self.reset()

    def reset(self) -> None:
        """A new run."""
        self.wanted = Wanted(height=self._height, gait=self._default_gait)
        self._key: tuple[str, int, int, int] | None = None
        self._modes: dict[str, str] = {}  # source -> the mode it holds
        self._first = True

    def lost(self) -> bool:
        """No fresh command for so long that walking must end."""
        return self.wanted.age > self._limits.command_lost

    def update(self, command: MotionCommand | None, run: int, moving: bool) -> Wanted:
        """One tick of the plant's `run`; while not `moving` (walking on) the speeds go to zero."""
        w, lim, dt = self.wanted, self._limits, self._dt
        vx = vy = yaw_rate = 0.0
        height, roll, pitch = w.height, w.roll, w.pitch
        w.request = ""
        if command is not None and self._take(command, run):
            w.request = self._request(command)
            self._choose_gait(command.gait)
            height, roll, pitch = command.height or self._height, command.roll, command.pitch
            if moving and not command.height:
                height = self._gaits[w.gait].height or self._height
            if moving and w.age <= lim.command_timeout:
                vx, vy, yaw_rate = command.vx, command.vy, command.yaw_rate
        self._first = False
        gait: Gait = self._gaits[w.gait]
        w.goal = np.array([_clamp(vx, gait.vx or lim.vx), _clamp(vy, lim.vy)])
        change = w.goal - w.velocity
        size = float(np.hypot(change[0], change[1]))
        w.velocity = w.velocity + change * min(1.0, lim.accel * dt / size) if size > 1e-9 else w.goal
        w.yaw_rate = _slew(w.yaw_rate, _clamp(yaw_rate, lim.yaw_rate), lim.yaw_accel * dt)
        w.height = _slew(w.height, _clamp(height, lim.height), lim.height_rate * dt)
        w.roll = _slew(w.roll, _clamp(roll, lim.roll), lim.attitude_rate * dt)
        w.pitch = _slew(w.pitch, _clamp(pitch, lim.pitch), lim.attitude_rate * dt)
        return w

    def _take(self, command: MotionCommand, run: int) -> bool:
        """Count the age; False for what is left over from an earlier run (its age is unknown) and for nonsense."""
        key = (command.source, command.run, command.seq, command.utime)
        if self._first and command.run != run:
            self._key = key
        elif key != self._key and command.finite():
            self._key, self.wanted.age = key, 0.0
        else:
            self.wanted.age += self._dt
        return self.wanted.age < math.inf and command.finite()

    def _request(self, command: MotionCommand) -> str:
        """The mode if its source did not hold it before: a target is held by each operator for himself."""
        if not command.mode or self._modes.get(command.source) == command.mode:
            return ""
        if command.source not in self._modes and len(self._modes) >= SOURCES:
            del self._modes[next(iter(self._modes))]
        self._modes[command.source] = command.mode
        return command.mode

    def _choose_gait(self, name: str) -> None:
        if name in self._gaits:
            self.wanted.gait = name
        known = not name or name in self._gaits
        self.wanted.complaint = "" if known else f"no gait {name[:SHOWN]!r}; there are {', '.join(self._gaits)}"


def _clamp(value: float, limits: tuple[float, float]) -> float:
    return min(max(value, limits[0]), limits[1])


def _slew(value: float, goal: float, step: float) -> float:
    return value + _clamp(goal - value, (-step, step))
