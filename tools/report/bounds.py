"""Bounds that the rules name: of the description, or of what is usual in the run. Number or (ticks,)."""

from __future__ import annotations

import numpy as np

from tools.metrics import GRAVITY
from tools.report import sources
from tools.report.context import Context


def two_ticks(c: Context) -> float:
    """ms."""
    return 2e3 * c.dt


def silent(c: Context) -> float:
    """ms: a quarter of the watchdog, two ticks at least."""
    return max(2e3 * c.dt, 250 * c.robot.description.safety.watchdog)


def repeats(c: Context) -> float:
    """ms: three ticks."""
    return sources.repeat_limit(c)


def imu_repeats(c: Context) -> float:
    """ms: likewise, or twice what is usual."""
    return sources.imu_repeat_limit(c)


def _bound_gyro(c: Context, window: float) -> float:
    noise = c.robot.description.imu.noise
    return max(0.02 / window**0.5, 4 * 3**0.5 * noise.attitude / window + 4 * noise.gyro_bias)


def gyro_fast(c: Context) -> float:
    """rad/s: twice the worst that the attitude's noise makes of 0.1 s."""
    return _bound_gyro(c, 0.1)


def gyro_slow(c: Context) -> float:
    """rad/s: the same for 1 s."""
    return _bound_gyro(c, 1.0)


def accelerometer(c: Context) -> np.ndarray:
    """m/s^2: grows with speed, since legs have mass."""
    return 1.5 + 0.5 * np.linalg.norm(c.signals.paced_speed, axis=1)


def latency(c: Context) -> float:
    """ms."""
    return 500 * c.robot.description.safety.watchdog


def period(c: Context) -> float:
    """ms."""
    return 1e3 * c.dt


def command_timeout(c: Context) -> float:
    """s."""
    return c.robot.description.control.limits.command_timeout


def most_joints(_c: Context) -> float:
    """Of the joints."""
    return 0.5


def undelivered(c: Context) -> np.ndarray:
    """Of the limit: a quarter, or three times what is usual in the mode."""
    off = c.joints.undelivered
    return np.maximum(0.25, 3 * c.usual(off)) if off is not None else np.full(len(c.t), 0.25)


def temperature(c: Context) -> float:
    """deg C."""
    bus = c.robot.description.bus
    return np.inf if bus is None else bus.temperature_max - 10


def voltage_low(c: Context) -> float:
    """V."""
    bus = c.robot.description.bus
    return 0.0 if bus is None else bus.voltage_range[0]


def voltage_high(c: Context) -> float:
    """V."""
    bus = c.robot.description.bus
    return np.inf if bus is None else bus.voltage_range[1]


def push(c: Context) -> np.ndarray:
    """N: a third of the weight, or two and a half times the most of the second before."""
    found = c.signals.unexplained_force
    force = np.zeros(len(c.t)) if found is None else np.nan_to_num(found)
    step, window = max(1, round(0.02 / c.dt)), round(1.0 / 0.02)
    coarse = np.maximum.reduceat(force, np.arange(0, len(force), step))
    padded = np.r_[np.zeros(window + 5), coarse]
    recent = np.lib.stride_tricks.sliding_window_view(padded, window)[: len(coarse)].max(axis=1)  # up to 0.1 s ago
    return np.maximum(0.33 * c.robot.mass * GRAVITY, 2.5 * np.repeat(recent, step)[: len(force)])


def swing(c: Context) -> np.ndarray:
    """m: 45 mm and 30 mm per m/s, twice what a sound leg is behind."""
    return 0.045 + 0.03 * np.linalg.norm(c.signals.paced_speed, axis=1)


def late(c: Context) -> np.ndarray:
    """s: 60 % of the gait's stance, 80 ms at least."""
    out = np.full(len(c.t), 0.08)
    for name, gait in c.robot.description.control.gaits.items():
        out[c.signals.gait == name] = max(0.08, 0.6 * gait.duty * gait.period)
    return out


def speed_error(c: Context) -> np.ndarray:
    """m/s: 0.3 and a tenth of the wanted speed."""
    return 0.3 + 0.1 * np.linalg.norm(c.signals.paced_speed, axis=1)


def half_tilt(c: Context) -> float:
    """deg."""
    return float(np.degrees(c.robot.description.control.limits.tilt) / 2)
