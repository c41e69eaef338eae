"""What a joint is told over time, around a centre: limits and slews included, no clock."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from lcmtypes.generated import JointTest
from procs.model.robot import Robot

APPROACH = 0.5  # rad/s at which the centre is gone to
MOST_SPEED = 0.5  # of the joint's top speed: what a sine may ask for
SHORTEST = 0.1  # s, period
MOST_JUMP = 0.6  # rad, what a step may ask for at once
MOST_GAIN = 2.0  # times the gains the robot stands with

Wave = Callable[[float], tuple[float, float]]  # phase 0..1 -> value -1..1 and its slope by phase


def _hold(_phase: float) -> tuple[float, float]:
    return 0.0, 0.0


def _sine(phase: float) -> tuple[float, float]:
    angle = 2.0 * math.pi * phase
    return math.sin(angle), 2.0 * math.pi * math.cos(angle)


def _step(phase: float) -> tuple[float, float]:
    return (1.0 if phase < 0.5 else -1.0), 0.0


WAVES: dict[str, Wave] = {"hold": _hold, "sine": _sine, "step": _step}


@dataclass(frozen=True)
class Settings:
    """What to do with one joint. Gains on the joint's side."""

    joint: int
    wave: str = "hold"
    centre: float = 0.0  # rad
    amplitude: float = 0.0  # rad
    period: float = 2.0  # s
    kp: float = 10.0  # N m/rad
    kd: float = 0.5  # N m s/rad
    tau_limit: float = 3.0  # N m

    def problems(self, robot: Robot) -> list[str]:
        """Why this cannot be done with the joint; empty: it can."""
        j, name = self.joint, robot.joint_names[self.joint]
        if self.wave not in WAVES:
            return [f"wave {self.wave!r}: want one of {', '.join(WAVES)}"]
        numbers = {n: getattr(self, n) for n in ("centre", "amplitude", "period", "kp", "kd", "tau_limit")}
        out = [f"{n} {value}: want a finite number" for n, value in numbers.items() if not math.isfinite(value)]
        if self.amplitude < 0 or self.kp < 0 or self.kd < 0:
            out.append("amplitude and gains must not be negative")
        if self.period < SHORTEST:
            out.append(f"period {self.period:g} s: want at least {SHORTEST:g}")
        if out:
            return out
        lower, upper = float(robot.q_lower[j]), float(robot.q_upper[j])
        reach = 0.0 if self.wave == "hold" else self.amplitude
        low, high = self.centre - reach, self.centre + reach
        if not (lower <= low and high <= upper):
            out.append(f"{name} would go {low:.3f} to {high:.3f} rad: its limits are {lower:g} to {upper:g}")
        speed, most = 2 * math.pi * self.amplitude / self.period, MOST_SPEED * float(robot.qd_max[j])
        if self.wave == "sine" and speed > most:
            out.append(f"{name} would turn at {speed:.2f} rad/s: want at most {most:.2f} (a longer period, less reach)")
        if self.wave == "step" and 2 * self.amplitude > MOST_JUMP:
            out.append(
                f"{name} would jump {2 * self.amplitude:g} rad: want at most {MOST_JUMP:g} (half that amplitude)"
            )
        strongest = float(robot.tau_max[j])
        if not 0 < self.tau_limit <= strongest:
            out.append(f"torque limit {self.tau_limit:g} N m: {name} wants 0 to {strongest:g}")
        for what, value, top in zip(("kp", "kd"), (self.kp, self.kd), gain_limits(robot, j), strict=True):
            if value > top:
                out.append(f"{what} {value:g}: {name} wants 0 to {top:g}")
        return out


def gain_limits(robot: Robot, joint: int) -> tuple[float, float]:
    """Most kp N m/rad and kd N m s/rad of a test: from the gains of standing, and never less than damping."""
    control = robot.description.control
    kp, kd, damping = (float(robot.per_joint(g)[joint]) for g in (control.stand.kp, control.stand.kd, control.damping))
    return MOST_GAIN * kp, max(MOST_GAIN * kd, damping)


class Motion:
    """From where the joint is to the centre, slowly, then the wave. `at` is called with rising times, s."""

    def __init__(self, settings: Settings, q: float) -> None:
        """q: measured angle at the start, rad."""
        self.settings = settings
        self._from, self._wave = q, WAVES[settings.wave]
        self.approach = abs(settings.centre - q) / APPROACH  # s

    def at(self, t: float) -> tuple[float, float]:
        """Angle rad and speed rad/s wanted t s after the start."""
        s = self.settings
        if t < self.approach:
            speed = math.copysign(APPROACH, s.centre - self._from)
            return self._from + speed * t, speed
        value, slope = self._wave(((t - self.approach) / s.period) % 1.0)
        return s.centre + s.amplitude * value, s.amplitude * slope / s.period

    def message(self, t: float) -> JointTest:
        """The held command at t."""
        s, out = self.settings, JointTest()
        out.joint, out.hold, out.kp, out.kd, out.tau_limit = s.joint, 1, s.kp, s.kd, s.tau_limit
        out.q_des, out.qd_des = self.at(t)
        return out
