"""The operator's command: age, limits, slews. Speeds in the heading frame."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from config.schema import Gait
from lcmtypes.generated import MotionCommand
from procs.model.robot import Robot


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
    mode: str = ""
    age: float = 0.0  # s since the command last changed its counter


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
        self._key: tuple[int, int, str] | None = None
        self.unknown_gait = ""

    def update(self, command: MotionCommand | None, moving: bool) -> Wanted:
        """One tick; while not `moving` the speeds stay zero."""
        w, lim, dt = self.wanted, self._limits, self._dt
        vx = vy = yaw_rate = 0.0
        height, roll, pitch = w.height, w.roll, w.pitch
        if command is not None:
            key = (command.run, command.seq, command.source)
            w.age = 0.0 if key != self._key else w.age + dt
            self._key = key
            w.mode = command.mode
            height, roll, pitch = command.height or self._height, command.roll, command.pitch
            self._choose_gait(command.gait)
            if w.age <= lim.command_timeout:
                vx, vy, yaw_rate = command.vx, command.vy, command.yaw_rate
            if w.age > lim.command_lost and w.mode == "walk":
                w.mode = "stand"
        gait: Gait = self._gaits[w.gait]
        if not moving:
            vx = vy = yaw_rate = 0.0
        goal = np.array([_clamp(vx, gait.vx or lim.vx), _clamp(vy, lim.vy)])
        w.goal = goal
        change = goal - w.velocity
        size = float(np.hypot(change[0], change[1]))
        w.velocity = w.velocity + change * min(1.0, lim.accel * dt / size) if size > 1e-9 else goal
        w.yaw_rate = _slew(w.yaw_rate, _clamp(yaw_rate, lim.yaw_rate), lim.yaw_accel * dt)
        w.height = _slew(w.height, _clamp(height, lim.height), lim.height_rate * dt)
        w.roll = _slew(w.roll, _clamp(roll, lim.roll), lim.attitude_rate * dt)
        w.pitch = _slew(w.pitch, _clamp(pitch, lim.pitch), lim.attitude_rate * dt)
        return w

    def _choose_gait(self, name: str) -> None:
        if name in self._gaits:
            self.wanted.gait = name
        self.unknown_gait = name if name and name not in self._gaits else ""


def _clamp(value: float, limits: tuple[float, float]) -> float:
    return min(max(value, limits[0]), limits[1])


def _slew(value: float, goal: float, step: float) -> float:
    return value + _clamp(goal - value, (-step, step))
