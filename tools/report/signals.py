"""What a run's arrays say of the body: speeds, height, attitude, each as wanted, estimated and true where there is.

None stands for a signal whose channels the log lacks; NaN for ticks without it.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.ndimage import median_filter

from lcmtypes.channels import BODY_STATE, CONTACT_PLAN, GROUND_TRUTH, IMU, LEG_STATE, MODE_STATE, MOTION_COMMAND
from procs.controller.modes import DRIVEN
from tools.report.log import Run
from tools.report.rotation import heading_frame, integrate, matrices, roll_pitch_yaw, rotate, turned

START_UP = 0.1  # s of a run in which drives and IMU give their first samples
CARRYING = ("stand", "walk")


class Signals:
    """Derived signals of one run. World axes unless said otherwise."""

    def __init__(self, run: Run) -> None:
        self.run, self.robot, self.dt, self.t = run, run.robot, run.dt, run.t
        self.has_truth = run.has(GROUND_TRUTH)

    # -- modes ---------------------------------------------------------------------------------------------------------

    @cached_property
    def mode(self) -> np.ndarray:
        """Mode names (ticks,), held where a mode_state is missing."""
        return _hold(self.run.words(MODE_STATE, "mode"))

    @cached_property
    def gait(self) -> np.ndarray:
        """Gait names (ticks,) while walking, else empty."""
        return np.where(self.walking, _hold(self.run.words(MODE_STATE, "gait")), "")

    @cached_property
    def busy(self) -> np.ndarray:
        """True during transitions."""
        busy = self.run.field(MODE_STATE, "busy")
        return np.zeros(len(self.t), bool) if busy is None else fill(busy[:, None])[:, 0] > 0

    @cached_property
    def walking(self) -> np.ndarray:
        """True in walk."""
        return self.mode == "walk"

    @cached_property
    def carrying(self) -> np.ndarray:
        """True in stand or walk, not in a transition: the feet carry the robot."""
        return np.isin(self.mode, CARRYING) & ~self.busy

    @cached_property
    def awake(self) -> np.ndarray:
        """True once the sensors have been good: the controller has left idle (if one runs), the run has begun."""
        return (self.mode != "idle") & (self.t >= START_UP)

    @cached_property
    def driven(self) -> np.ndarray:
        """True where joints are driven."""
        return np.isin(self.mode, DRIVEN)

    def steady(self, after: float) -> np.ndarray:
        """True where the same mode has carried the robot for `after` s."""
        changed = np.r_[True, (self.mode[1:] != self.mode[:-1]) | (self.carrying[1:] != self.carrying[:-1])]
        since = self.t - self.t[np.maximum.accumulate(np.where(changed, np.arange(len(self.t)), 0))]
        return self.carrying & (since >= after - self.dt / 2)

    # -- wanted --------------------------------------------------------------------------------------------------------

    @cached_property
    def command(self) -> np.ndarray:
        """Held motion_command (ticks, 6): vx, vy, yaw rate, height, roll, pitch; NaN before the first."""
        return self.run.held(MOTION_COMMAND, ("vx", "vy", "yaw_rate", "height", "roll", "pitch"))

    @cached_property
    def command_age(self) -> np.ndarray | None:
        """Age s of the motion_command in force; None if nobody ever commanded."""
        if not self.run.has(MOTION_COMMAND):
            return None
        times = np.array([t for t, _ in self.run.events(MOTION_COMMAND)] or [np.nan])
        at = np.searchsorted(times, self.t + self.dt / 2, side="right") - 1
        return np.where(at >= 0, self.t - times[np.maximum(at, 0)], np.nan)

    @cached_property
    def wanted_speed(self) -> np.ndarray:
        """(ticks, 3) vx, vy, yaw rate; zero outside of walk."""
        return np.where(self.walking[:, None], self.command[:, :3], 0.0)

    @cached_property
    def paced_speed(self) -> np.ndarray:
        """Wanted vx, vy (ticks, 2) within the description's limits and accelerations: what the controller follows."""
        limits = self.robot.description.control.limits
        bounds = np.array([limits.vx, limits.vy])
        aim = np.clip(np.nan_to_num(self.wanted_speed[:, :2]), bounds[:, 0], bounds[:, 1]).tolist()
        most, out, (x, y) = limits.accel * self.dt, [], aim[0]  # a log may begin in the middle of a walk
        for ax, ay in aim:
            x += min(most, max(-most, ax - x))
            y += min(most, max(-most, ay - y))
            out.append((x, y))
        return np.array(out)

    @cached_property
    def wanted_height(self) -> np.ndarray:
        """m over the feet, in stand and walk."""
        asked = np.nan_to_num(self.command[:, 3])
        nominal = np.full(len(self.t), self.robot.description.control.nominal_height)
        for name, gait in self.robot.description.control.gaits.items():
            if gait.height is not None:
                nominal[self.gait == name] = gait.height
        return np.where(np.isin(self.mode, CARRYING), np.where(asked > 0, asked, nominal), np.nan)

    # -- estimated and true --------------------------------------------------------------------------------------------

    @cached_property
    def rotation(self) -> np.ndarray | None:
        """Estimated attitude (ticks, 3, 3)."""
        quat = self.run.field(BODY_STATE, "quat")
        return None if quat is None else matrices(quat)

    @cached_property
    def true_rotation(self) -> np.ndarray | None:
        """True attitude."""
        quat = self.run.field(GROUND_TRUTH, "quat")
        return None if quat is None else matrices(quat)

    @cached_property
    def rpy(self) -> np.ndarray | None:
        """Estimated roll, pitch, yaw (ticks, 3), deg; yaw unwrapped."""
        return None if self.rotation is None else _degrees(self.rotation)

    @cached_property
    def true_rpy(self) -> np.ndarray | None:
        """True roll, pitch, yaw, deg."""
        return None if self.true_rotation is None else _degrees(self.true_rotation)

    @cached_property
    def speed(self) -> np.ndarray | None:
        """Estimated vx, vy, yaw rate (ticks, 3) in the heading frame, m/s and rad/s."""
        return self._speed(BODY_STATE, self.rpy)

    @cached_property
    def true_speed(self) -> np.ndarray | None:
        """True vx, vy, yaw rate."""
        return self._speed(GROUND_TRUTH, self.true_rpy)

    def _speed(self, channel: object, rpy: np.ndarray | None) -> np.ndarray | None:
        v, omega = self.run.field(channel, "v_world"), self.run.field(channel, "omega_world")
        if v is None or omega is None or rpy is None:
            return None
        return np.c_[heading_frame(v, np.radians(rpy[:, 2]))[:, :2], omega[:, 2]]

    @cached_property
    def true_height(self) -> np.ndarray | None:
        """m along the ground's normal."""
        position, ground, normal = (
            self.run.field(GROUND_TRUTH, n) for n in ("position", "ground_height", "ground_normal")
        )
        if position is None or ground is None or normal is None:
            return None
        return (position[:, 2] - ground) * normal[:, 2]

    @cached_property
    def height(self) -> np.ndarray | None:
        """Estimated, over the feet that carry, m; NaN while none does."""
        contact, legs = self.run.field(BODY_STATE, "contact"), self.feet_from_body
        if contact is None or legs is None:
            return None
        weight = np.where(contact > 0.5, contact, 0.0)
        total = weight.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(total > 0, -(weight * legs[:, :, 2]).sum(axis=1) / total, np.nan) + self.robot.foot_radius

    @cached_property
    def feet_from_body(self) -> np.ndarray | None:
        """Foot centres (ticks, legs, 3) from the body's origin, world axes, m."""
        p = self.run.field(LEG_STATE, "p")
        if p is None or self.rotation is None:
            return None
        return rotate(self.rotation, p + self.robot.chains.mount_position)

    @cached_property
    def tilt(self) -> np.ndarray | None:
        """Angle between body and world z, deg; of the estimate, else of the IMU."""
        R = self.rotation
        if R is None:
            quat = self.run.field(IMU, "quat")
            R = None if quat is None else matrices(quat)
        return None if R is None else np.degrees(np.arccos(np.clip(R[:, 2, 2], -1, 1)))

    @cached_property
    def planned(self) -> np.ndarray | None:
        """Planned stance (ticks, legs), 1 or 0."""
        return self.run.field(CONTACT_PLAN, "stance")

    # -- sensors against each other ------------------------------------------------------------------------------------

    @cached_property
    def specific_force(self) -> np.ndarray | None:
        """Specific force at the body's origin (ticks, 3), world axes, m/s^2."""
        a = self.run.field(BODY_STATE, "a_body")
        return None if a is None or self.rotation is None else rotate(self.rotation, a)

    @cached_property
    def _unexplained(self) -> np.ndarray | None:
        force = self.run.field(LEG_STATE, "foot_force")
        if force is None or self.rotation is None or self.specific_force is None:
            return None
        # Legs act on the body with what their motors give, on the ground or in the air.
        rest = self.robot.mass * self.specific_force - rotate(self.rotation, force).sum(axis=1)
        return smooth(rest[:, :2], round(0.02 / self.dt))

    @property
    def unexplained_force(self) -> np.ndarray | None:
        """Horizontal force N (ticks,) that accelerates the body and that no leg exerts, mean of 20 ms."""
        return None if self._unexplained is None else np.linalg.norm(self._unexplained, axis=1)

    @cached_property
    def _integrated_gyro(self) -> np.ndarray | None:
        gyro = self.run.field(IMU, "gyro")
        return None if gyro is None else integrate(np.nan_to_num(gyro), self.dt)

    def gyro_error(self, window: float) -> np.ndarray | None:
        """Angle between the turns by the gyro and by the IMU's own attitude over a window (ticks,), per s of it."""
        quat, lag = self.run.field(IMU, "quat"), round(window / self.dt)
        if quat is None or self._integrated_gyro is None or len(quat) <= lag:
            return None
        by_gyro, by_itself = turned(self._integrated_gyro, lag), turned(quat, lag)
        return np.linalg.norm(by_gyro - by_itself, axis=1) / window

    @cached_property
    def accel_error(self) -> np.ndarray | None:
        """Lasting horizontal acceleration (ticks,) that no leg explains, m/s^2: its median over the last second."""
        if self._unexplained is None:
            return None
        step, window = max(1, round(0.02 / self.dt)), round(1.0 / 0.02)
        coarse = self._unexplained[::step] / self.robot.mass
        if len(coarse) <= window:
            return None
        lasting = np.stack([median_filter(x, window, origin=(window - 1) // 2, mode="nearest") for x in coarse.T], 1)
        return np.repeat(np.linalg.norm(lasting, axis=1), step)[: len(self.t)]


def _degrees(R: np.ndarray) -> np.ndarray:
    rpy = roll_pitch_yaw(R)
    known = np.isfinite(rpy[:, 2])
    rpy[known, 2] = np.unwrap(rpy[known, 2])
    return np.degrees(rpy)


def _hold(words: np.ndarray) -> np.ndarray:
    """Fills empty entries with the last one before (at the start: with the first there is)."""
    there = words != ""
    at = np.maximum.accumulate(np.where(there, np.arange(len(words)), 0))
    at[: there.argmax()] = there.argmax()
    return words[at]


def fill(x: np.ndarray) -> np.ndarray:
    """NaN rows of (ticks, n) replaced by the last known one (before the first: by the first)."""
    known = np.isfinite(x).all(axis=1)
    if not known.any():
        return np.zeros_like(x)
    at = np.maximum.accumulate(np.where(known, np.arange(len(x)), 0))
    at[: known.argmax()] = known.argmax()
    return x[at]


def smooth(x: np.ndarray, ticks: int) -> np.ndarray:
    """Mean of the last `ticks` samples (ticks, n); NaN rows count as the last known."""
    return trailing_sum(fill(x), ticks) / max(1, ticks)


def trailing_sum(x: np.ndarray, ticks: int) -> np.ndarray:
    """Sum of the last `ticks` rows (at the start: the first row repeated); NaN counts as 0."""
    ticks = max(1, ticks)
    padded = np.concatenate((np.repeat(x[:1], ticks, axis=0), x))
    total = np.cumsum(np.nan_to_num(padded), axis=0)
    return total[ticks:] - total[:-ticks]
