"""Signals that the rules name. Each: Context in, (ticks,) or (ticks, n) out, or None."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import median_filter

from lcmtypes.channels import (
    BODY_STATE,
    BUS_STATUS,
    IMU,
    JOINT_STATE,
    LEG_COMMAND,
    LEG_STATE,
    MODE_STATE,
    MPC_DEBUG,
    PROC_HEALTH,
    Channel,
)
from tools.report.context import CHAIN, TAIL, Context
from tools.report.log import FORCED
from tools.report.signals import trailing_sum

COUNTED = ("checksum_errors", "retries", "intruders")  # `stale` also counts a robot at rest
STILL = 0.002  # rad: less motion than this may give the same numbers again
Signal = np.ndarray | None

# -- log, bus, sensors -------------------------------------------------------------------------------------------------


def _gaps(c: Context, channel: Channel) -> np.ndarray:
    """ms since the last message of a ticked channel, less one tick; 0 before the first and in the log's tail."""
    there = c.run.present(channel)
    if not there.any():
        return np.zeros(len(c.t))
    at = np.maximum.accumulate(np.where(there, np.arange(len(c.t)), -1))
    out = np.where(at >= 0, c.t - c.t[np.maximum(at, 0)], 0.0)
    last = len(there) - there[::-1].argmax()
    if c.t[-1] - c.t[last - 1] < TAIL:
        out[last:] = 0.0
    return 1e3 * out


def log_gap(c: Context) -> np.ndarray:
    """ms without any message."""
    gaps = [_gaps(c, ch) for ch in CHAIN if c.run.present(ch).any()]
    return np.min(gaps, axis=0) if gaps else np.zeros(len(c.t))


def silent(c: Context) -> Signal:
    """ms without a message, per channel of the pipeline."""
    missing = log_gap(c)
    return np.stack([np.where(missing > 0, 0.0, _gaps(c, ch)) for ch in CHAIN], axis=1)


def bus_errors(c: Context) -> Signal:
    """New checksum errors, retries, intruders per report."""
    if not c.run.has(BUS_STATUS):
        return None
    counts = np.nan_to_num(c.run.held(BUS_STATUS, COUNTED))
    new = np.diff(counts, axis=0, prepend=counts[:1]).sum(axis=1)
    return np.where(c.run.held(BUS_STATUS, ("frames",))[:, 0] > 0, np.maximum(new, 0), 0)


def _held_motors(c: Context, name: str) -> Signal:
    rows = [(t, getattr(m, name)) for t, m in c.run.events(BUS_STATUS) if m.num_motors == c.robot.num_joints]
    if not rows:
        return None
    at = np.searchsorted([t for t, _ in rows], c.t + c.dt / 2, side="right") - 1
    values = np.array([[bool(x) if isinstance(x, str) else x for x in row] for _, row in rows], dtype=float)
    return np.where((at >= 0)[:, None], values[np.maximum(at, 0)], np.nan)


def motor_fault(c: Context) -> Signal:
    """1 while a drive's fault is told."""
    return _held_motors(c, "fault")


def temperature(c: Context) -> Signal:
    """deg C."""
    return _held_motors(c, "temperature")


def voltage(c: Context) -> Signal:
    """V; NaN where a drive does not report it."""
    volts = _held_motors(c, "voltage")
    return None if volts is None else np.where(volts > 0, volts, np.nan)


def joint_bad(c: Context) -> Signal:
    """Age s of rejected samples."""
    fault, age = c.joints.fault, c.joints.age
    return None if fault is None or age is None else np.where(fault > 0, np.maximum(age, c.dt), 0.0)


def imu_invalid(c: Context) -> Signal:
    """1 where the IMU's sample is not valid."""
    valid = c.run.field(IMU, "valid")
    return None if valid is None else (valid == 0).astype(float)


def _repeats(c: Context, channel: Channel, names: tuple[str, ...]) -> Signal:
    parts = [p for n in names if (p := c.run.field(channel, n)) is not None]
    if len(parts) < len(names):
        return None
    x: np.ndarray = np.concatenate(parts, axis=1)
    same = np.r_[False, (x[1:] == x[:-1]).all(axis=1)]
    return 1e3 * (c.t - c.t[np.maximum.accumulate(np.where(same, 0, np.arange(len(x))))])


def joint_repeats(c: Context) -> Signal:
    """ms for which all joints have given the same values although by their own velocity they move."""
    out, bad, qd = _repeats(c, JOINT_STATE, ("q", "qd", "tau")), joint_bad(c), c.joints.qd
    if out is None or bad is None or qd is None:
        return None
    quantum = c.robot.per_joint([a.position_quantum for a in c.robot.actuators])
    moves = (1e-3 * out[:, None] * np.abs(qd) > 2 * quantum + STILL).any(axis=1)
    return np.where(bad.any(axis=1) | ~moves, 0.0, out)  # what was predicted is no sample


def imu_repeats(c: Context) -> Signal:
    """ms for which the IMU has given the same values; what was rejected is no sample."""
    out, bad = _repeats(c, IMU, ("quat", "gyro", "accel")), imu_invalid(c)
    return out if out is None or bad is None else np.where(bad > 0, 0.0, out)


def repeat_limit(c: Context) -> float:
    """ms of the same values that are borne: three ticks."""
    return 3e3 * c.dt + 1e-6


def imu_repeat_limit(c: Context) -> float:
    """The same for the IMU, which may be slower than the ticks: twice what is usual."""
    repeats = imu_repeats(c)
    return max(repeat_limit(c), 0.0 if repeats is None else 2 * float(np.nanpercentile(repeats, 75)))


def _gyro_error(c: Context, window: float) -> Signal:
    error, repeats, bad = c.signals.gyro_error(window), imu_repeats(c), imu_invalid(c)
    if error is None or repeats is None or bad is None:
        return None
    unknown = ((repeats > imu_repeat_limit(c)) | (bad > 0)).astype(float)
    return np.where(trailing_sum(unknown, round(window / c.dt) + 1) > 0, np.nan, error)


def gyro_error_fast(c: Context) -> Signal:
    """rad/s over 0.1 s."""
    return _gyro_error(c, 0.1)


def gyro_error_slow(c: Context) -> Signal:
    """rad/s over 1 s."""
    return _gyro_error(c, 1.0)


def accelerometer(c: Context) -> Signal:
    """m/s^2."""
    return c.signals.accel_error


# -- processes and commands --------------------------------------------------------------------------------------------


def _health(c: Context, field: str) -> Signal:
    """A field of the plants' reports, for the second before each."""
    out, any_of = np.zeros(len(c.t)), False
    for t, m in c.run.events(PROC_HEALTH):
        value = getattr(m, field)
        if value > 0:
            any_of = True
            part = (c.t > t - 1.0) & (c.t <= t)
            out[part] = np.maximum(out[part], value)
    return out if any_of else None


def latency(c: Context) -> Signal:
    """ms, largest of each report."""
    return _health(c, "latency_max")


def tick_late(c: Context) -> Signal:
    """ms, 99 % of each report."""
    return _health(c, "late_p99")


def process_error(c: Context) -> Signal:
    """1 for a moment when a process reports a new last_error."""
    out, said = np.zeros((len(c.t), len(c.processes))), dict.fromkeys(c.processes, "")
    for t, m in c.run.events(PROC_HEALTH):
        if m.last_error != said[m.name] and m.last_error:
            out[min(len(c.t) - 1, int(np.searchsorted(c.t, t))), c.processes.index(m.name)] = 1.0
        said[m.name] = m.last_error
    return out if c.processes else None


def command_age(c: Context) -> Signal:
    """s."""
    return c.signals.command_age


def command_beyond(c: Context) -> Signal:
    """By how much vx, vy (m/s) or yaw rate (rad/s) lies beyond the limits, the largest."""
    limits, gaits = c.robot.description.control.limits, c.robot.description.control.gaits
    wanted = np.nan_to_num(c.signals.wanted_speed)
    low, high = (np.tile([limits.vx[k], limits.vy[k], limits.yaw_rate[k]], (len(c.t), 1)) for k in (0, 1))
    for name, gait in gaits.items():
        if gait.vx is not None:
            low[c.signals.gait == name, 0], high[c.signals.gait == name, 0] = gait.vx
    return np.maximum(wanted - high, low - wanted).max(axis=1)


def refused(c: Context) -> np.ndarray:
    """1 for a moment when the controller gives a new reason without being forced into a mode."""
    words = c.run.words(MODE_STATE, "reason")
    new = np.r_[words[:1] != "", (words[1:] != words[:-1]) & (words[1:] != "")]
    return (new & ~np.isin(c.signals.mode, FORCED)).astype(float)


# -- drives ------------------------------------------------------------------------------------------------------------


def drive_dead(c: Context) -> Signal:
    """1 where a drive gives no torque although told."""
    return c.joints.dead


def undelivered(c: Context) -> Signal:
    """Share of the limit."""
    return c.joints.undelivered


def commands_lost(c: Context) -> Signal:
    """Share of the joints whose torque is not as told; 0 where no torque worth the name is told."""
    off = c.joints.undelivered
    if off is None:
        return None
    return (off > np.maximum(0.05, 3 * c.usual(off))[:, None]).mean(axis=1)


def torque_share(c: Context) -> Signal:
    """|torque| over the limit."""
    return c.joints.torque_share


def saturated(c: Context) -> Signal:
    """Share of the tick."""
    return c.joints.saturated


def speed_share(c: Context) -> Signal:
    """|velocity| over the limit."""
    return c.joints.speed_share


def limit_margin(c: Context) -> Signal:
    """rad; what was predicted does not count."""
    margin, fault = c.joints.limit_margin, c.joints.fault
    return margin if margin is None or fault is None else np.where(fault > 0, np.nan, margin)


# -- feet and body -----------------------------------------------------------------------------------------------------


def unexplained_force(c: Context) -> Signal:
    """N."""
    return c.signals.unexplained_force


def slip(c: Context) -> Signal:
    """mm."""
    return c.feet.slip


def late(c: Context) -> Signal:
    """s."""
    return c.feet.late


def early(c: Context) -> Signal:
    """s."""
    return c.feet.early


def swing_error(c: Context) -> Signal:
    """m between a swing foot and where it is told to be, per leg."""
    p, told, kp = (c.run.field(*of) for of in ((LEG_STATE, "p"), (LEG_COMMAND, "p_des"), (LEG_COMMAND, "kp_cartesian")))
    if p is None or told is None or kp is None or c.feet.planned is None:
        return None
    swings = (c.feet.planned == 0) & (kp[:, :, 0] > 0)
    return np.where(swings, np.linalg.norm(told - p, axis=2), 0.0)


def speed_error(c: Context) -> Signal:
    """m/s, horizontal, against the wanted speed within the description's accelerations."""
    speed = c.signals.true_speed if c.signals.true_speed is not None else c.signals.speed
    return None if speed is None else np.linalg.norm(speed[:, :2] - c.signals.paced_speed, axis=1)


def capture_margin(c: Context) -> Signal:
    """m."""
    return c.feet.capture_margin


def stand_margin(c: Context) -> Signal:
    """m, of the standing feet."""
    return c.feet.support_margin


def tilt(c: Context) -> Signal:
    """deg."""
    return c.signals.tilt


def tilt_change(c: Context) -> Signal:
    """Largest of roll and pitch (less the commanded ones) against their medians of the last 2 s, deg."""
    rpy = c.signals.rpy
    if rpy is None:
        return None
    x = rpy[:, :2] - np.degrees(np.nan_to_num(c.signals.command[:, 4:6]))
    step, window = max(1, round(0.02 / c.dt)), round(2.0 / 0.02)
    coarse = np.nan_to_num(x[::step])
    slow = np.stack([median_filter(k, window, origin=(window - 1) // 2, mode="nearest") for k in coarse.T], axis=1)
    return np.abs(x - np.repeat(slow, step, axis=0)[: len(x)]).max(axis=1)


def height_share(c: Context) -> Signal:
    """Of the wanted height."""
    height = c.signals.true_height if c.signals.true_height is not None else c.signals.height
    return None if height is None else height / c.signals.wanted_height


# -- estimator and MPC -------------------------------------------------------------------------------------------------


def estimate_invalid(c: Context) -> Signal:
    """1 where body_state is not valid."""
    valid = c.run.field(BODY_STATE, "valid")
    return None if valid is None else (valid == 0).astype(float)


def velocity_std(c: Context) -> Signal:
    """m/s, the largest axis."""
    std = c.run.field(BODY_STATE, "velocity_std")
    return None if std is None else std.max(axis=1)


def velocity_error(c: Context) -> Signal:
    """m/s, horizontal, against the truth."""
    own, true = c.signals.speed, c.signals.true_speed
    return None if own is None or true is None else np.linalg.norm((own - true)[:, :2], axis=1)


def attitude_error(c: Context) -> Signal:
    """deg of roll and pitch against the truth."""
    own, true = c.signals.rpy, c.signals.true_rpy
    return None if own is None or true is None else np.abs(own - true)[:, :2].max(axis=1)


def mpc_failed(c: Context) -> Signal:
    """1 where the last solve failed."""
    words = c.run.words(MPC_DEBUG, "status")
    return np.isin(words, ("", "solved"), invert=True).astype(float) if c.run.has(MPC_DEBUG) else None
