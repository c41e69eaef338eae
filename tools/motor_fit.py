"""Identify a pendulum on a drive from recordings, with the motor model of the simulator, and say how well it reproduces
the motion.

In: folder of the DFKI AK80-6 recordings (torque_limited_simple_pendulum, results/*/data_measured.csv, as gzip). Model:
I dqd/dt = drive(tau) - g1 sin q, the drive being `procs.model.motor` with damping and dry friction, fed with the torque
that the real one reported. Least squares over windows: each starts at the measured (smoothed) state and is simulated
open loop. Parameters are in the unit of the reported torque, which on these drives is a current in disguise.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.optimize import least_squares
from scipy.signal import savgol_filter

from procs.model.motor import Drives, drive_torque
from procs.wire.mit_motors import MOTORS

MOTOR = MOTORS["AK80-6_V1.0"]
WINDOW = 0.6  # s: less than half of the pendulum's 1.4 s, long enough that the motion is 400 quanta
SUBSTEP = 1.2e-3  # s, most of a simulation step
UNLIMITED = 1e9


class RecordingError(RuntimeError):
    """A recording is absent or is no such table."""


@dataclass(frozen=True)
class Run:
    """One recording and what of it can be used."""

    name: str
    file: str
    until: float  # s; later the pendulum is pushed by hand (or struck), which no torque shows
    smoothing: int  # samples of the cubic fit that gives a window's first position and velocity
    lag: int  # samples by which the reported torque comes after it was commanded
    chatters: bool = False  # the rotor shakes in its gears around the link: dry friction feels that


RUNS = (
    Run("system identification", "pd__system_identification", 3.9, 21, 0, chatters=True),
    Run("1 Nm swing-up failure", "pd__1nm_torque_limited_swingup_failure", 4.2, 13, 1),
    Run("energy shaping", "energy_shaping", 4.2, 13, 1),
    Run("iLQR", "ilqr", 2.9, 5, 1),
)


@dataclass(frozen=True)
class Pendulum:
    """Identified parameters at the output shaft, N m as the drive reports them."""

    inertia: float  # kg m^2, with the rotor
    damping: float  # N m s/rad
    friction: float  # N m, dry
    gravity: float  # N m at the horizontal
    offset: float  # N m that the drive reports too little

    @property
    def length(self) -> float:
        """m of the mathematical pendulum of the same period; free of the torque's unit."""
        return 9.81 * self.inertia / self.gravity


LOWER, UPPER = (1e-3, 0.0, 0.0, 0.0, -0.1), (1.0, 1.0, 1.0, 10.0, 0.1)
FIRST, SCALE = (0.15, 0.01, 0.1, 3.0, 0.0), (0.05, 0.05, 0.05, 1.0, 0.05)


@dataclass(frozen=True)
class Windows:
    """Pieces of a run: first state (n,), reported torque and what the rotor's speed adds to the smooth one (k, n),
    positions after each sample (k, n)."""

    step: float  # s between samples
    q: np.ndarray
    qd: np.ndarray
    torque: np.ndarray
    chatter: np.ndarray
    positions: np.ndarray

    @property
    def motion(self) -> float:
        """rad RMS of the measured motion away from the windows' starts."""
        return float(np.sqrt(np.mean((self.positions - self.q) ** 2)))


def read(folder: Path, run: Run) -> np.ndarray:
    """Rows of time s, position rad, velocity rad/s, torque N m."""
    path = folder / f"{run.file}_measured.csv.gz"
    try:
        table = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    except (OSError, ValueError) as error:
        raise RecordingError(f"{path}: {error}") from error
    if table.shape[1] != 4 or len(table) < 100:
        raise RecordingError(f"{path}: {table.shape=}, want rows of time, position, velocity, torque")
    return table


def windows(table: np.ndarray, run: Run, length: float = WINDOW, overlap: int = 4) -> Windows:
    """Windows of `length` s of the usable part of a run, each `overlap`-th of a length later."""
    step = float(np.median(np.diff(table[:, 0])))
    q, qd, torque = table[table[:, 0] <= run.until, 1:].T
    smooth = savgol_filter(q, run.smoothing, 3)
    speed = savgol_filter(q, run.smoothing, 3, deriv=1, delta=step)
    count, half = round(length / step), run.smoothing // 2
    starts = np.arange(half, len(q) - count - 2, max(1, count // overlap))
    samples = starts + np.arange(count)[:, None]
    chatter = (qd - speed)[samples] if run.chatters else np.zeros(samples.shape)
    return Windows(step, smooth[starts], speed[starts], torque[samples + run.lag], chatter, q[samples + 1])


def drive(pendulum: Pendulum, count: int, step: float) -> Drives:
    """`count` drives of the simulator's model. Their limits are off: what was reported was within the real one's."""
    per = np.ones(count)
    slope = 0.5 * pendulum.inertia / step
    return Drives(
        MOTOR.gear * per, UNLIMITED * per, 0.1 * per, 0 * per, 0.1 * per, UNLIMITED * per, pendulum.damping * per,
        pendulum.friction * per, slope * per,
    )  # fmt: skip


def simulate(pendulum: Pendulum, w: Windows) -> np.ndarray:
    """Positions (k, n) of all windows, open loop from their first states."""
    n = len(w.q)
    parts = max(1, round(w.step / SUBSTEP))
    h = w.step / parts
    constants, zero, on = drive(pendulum, n, h), np.zeros(n), np.ones(n, np.int8)
    q, qd, out = w.q.copy(), w.qd.copy(), np.empty(w.positions.shape)
    for k, (torque, chatter) in enumerate(zip(w.torque, w.chatter, strict=True)):
        for _ in range(parts):
            shaft, _, _ = drive_torque(q, qd + chatter, zero, zero, torque, zero, zero, on, constants)
            qd = qd + h / pendulum.inertia * (shaft + pendulum.offset - pendulum.gravity * np.sin(q))
            q = q + h * qd
        out[k] = q
    return out


def error(pendulum: Pendulum, w: Windows) -> float:
    """rad RMS between simulated and measured position over all windows."""
    return float(np.sqrt(np.mean((simulate(pendulum, w) - w.positions) ** 2)))


def identify(pieces: Sequence[Windows], friction: bool = True) -> Pendulum:
    """Least squares over the windows of one or more runs, each run weighing the same for its motion; `friction` False:
    with a frictionless drive, for comparison."""
    free = np.array([True, friction, friction, True, True])
    first, lower, upper = np.where(free, FIRST, 0.0), np.array(LOWER), np.array(UPPER)

    def residuals(x: np.ndarray) -> np.ndarray:
        values = first.copy()
        values[free] = x
        pendulum = Pendulum(*values.tolist())
        each = [(simulate(pendulum, w) - w.positions).ravel() / (w.motion * np.sqrt(w.positions.size)) for w in pieces]
        return np.concatenate(each)

    found = least_squares(
        residuals, first[free], bounds=(lower[free], upper[free]), x_scale=np.array(SCALE)[free], diff_step=1e-4
    )
    values = first.copy()
    values[free] = found.x
    return Pendulum(*values.tolist())


def report(folder: Path) -> tuple[dict[str, Pendulum], dict[str, dict[str, float]]]:
    """Pendulums by what they were identified on, and per run its motion and the error of each, rad RMS.

    The chatter of the identification run leaves damping and dry friction hardly told apart; the slow 1 Nm run shows
    the dry friction. Energy shaping and iLQR are never fitted.
    """
    pieces = {run.name: windows(read(folder, run), run) for run in RUNS}
    one, two = list(pieces.values())[:1], list(pieces.values())[:2]
    known = {
        "system identification": identify(one),
        "both PD runs": identify(two),
        "both, frictionless": identify(two, friction=False),
    }
    errors = {
        name: {"motion": w.motion, **{label: error(pendulum, w) for label, pendulum in known.items()}}
        for name, w in pieces.items()
    }
    return known, errors


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m tools.motor_fit", description=__doc__)
    parser.add_argument("folder", type=Path, help="with pd__system_identification_measured.csv.gz and the others")
    args = parser.parse_args()
    console = Console()
    try:
        with console.status("identifying ..."):
            known, errors = report(args.folder)
    except RecordingError as problem:
        print(f"motor_fit: {problem}", file=sys.stderr)
        return 2
    table = Table(
        "identified on", "inertia kg m^2", "damping N m s/rad", "friction N m", "gravity N m", "offset N m", "length m"
    )
    for label, pendulum in known.items():
        table.add_row(label, *(f"{value:.4f}" for value in (*astuple(pendulum), pendulum.length)))
    console.print(table)
    table = Table(f"rad RMS in {WINDOW:g} s", "motion", *known)
    for name, row in errors.items():
        table.add_row(name, *(f"{value:.4f}" for value in row.values()))
    console.print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
