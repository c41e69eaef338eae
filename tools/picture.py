"""A picture of a run: path, speeds, height, attitude, contacts. PNG, drawn without a display."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from lcmtypes.channels import CONTACT_PLAN, MOTION_COMMAND
from procs.model.robot import Robot
from procs.model.rotations import quat_to_rpy
from tools.recording import Recording

MODE_COLOURS = {
    "idle": "#dddddd",
    "ready": "#cccccc",
    "down": "#e8dcc8",
    "stand": "#d5e8d4",
    "walk": "#dae8fc",
    "damping": "#f8cecc",
    "estop": "#ff9999",
    "recover": "#fff2cc",
    "shutdown": "#eeeeee",
}
LOADED = 0.05  # of the weight: a foot that carries this much is drawn as standing


def draw(recording: Recording, robot: Robot, title: str, out: Path) -> Path:
    """Write the picture and return its path."""
    s = recording.series(robot.dt)
    position, velocity = s.true("position"), s.true("v_world")
    rpy = np.array([quat_to_rpy(q) for q in s.true("quat")])
    yaw = rpy[:, 2]
    heading = np.stack(
        (
            np.cos(yaw) * velocity[:, 0] + np.sin(yaw) * velocity[:, 1],
            -np.sin(yaw) * velocity[:, 0] + np.cos(yaw) * velocity[:, 1],
        ),
        axis=1,
    )
    estimate = s.estimated("v_body")
    wanted = held_commands(recording, s.seq)

    figure = plt.figure(figsize=(14, 10), constrained_layout=True)
    grid = figure.add_gridspec(5, 2, width_ratios=(1, 2.2))
    figure.suptitle(title)
    _path(figure.add_subplot(grid[:3, 0]), position, s.estimated("position"), yaw)
    first = figure.add_subplot(grid[0, 1])
    axes = [first, *(figure.add_subplot(grid[k, 1], sharex=first) for k in range(1, 5))]
    for k, name in enumerate(("vx", "vy")):
        axes[k].plot(s.t, wanted[:, k], "k--", lw=1.2, label="wanted")
        axes[k].plot(s.t, heading[:, k], color="C0", lw=1, label="true")
        axes[k].plot(s.t, estimate[:, k], color="C1", lw=0.8, alpha=0.8, label="estimated")
        axes[k].set_ylabel(f"{name}, m/s")
    axes[0].legend(loc="upper left", ncol=3, fontsize=8)
    axes[2].plot(s.t, wanted[:, 2], "k--", lw=1.2)
    axes[2].plot(s.t, s.true("omega_world")[:, 2], color="C0", lw=0.8)
    axes[2].set_ylabel("yaw rate, rad/s")
    height = (position[:, 2] - s.true("ground_height")) * s.true("ground_normal")[:, 2]
    axes[3].plot(s.t, height, color="C0", lw=1)
    axes[3].axhline(robot.description.control.nominal_height, color="k", ls="--", lw=0.8)
    axes[3].set_ylabel("height, m")
    for k, name in enumerate(("roll", "pitch")):
        axes[4].plot(s.t, np.degrees(rpy[:, k]), lw=0.9, label=name)
    axes[4].set_ylabel("deg")
    axes[4].set_xlabel("time, s")
    axes[4].legend(loc="upper left", ncol=2, fontsize=8)
    for axis in axes:
        _shade_modes(axis, s.t, s.mode_names)
        axis.grid(alpha=0.3)
    for axis in axes[:-1]:
        axis.tick_params(labelbottom=False)
    _contacts(figure.add_subplot(grid[3:, 0]), recording, robot, s.t, s.seq, s.true("foot_force"))
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, dpi=90)
    plt.close(figure)
    return out


def held_commands(recording: Recording, seq: np.ndarray) -> np.ndarray:
    """Wanted vx, vy, yaw rate (ticks, 3) at the ticks `seq`: a motion_command holds until the next; NaN before all."""
    sent = sorted(recording.of(MOTION_COMMAND), key=lambda m: m.seq)
    rows = np.array([[np.nan] * 3, *([m.vx, m.vy, m.yaw_rate] for m in sent)])
    return rows[np.searchsorted([m.seq for m in sent], seq, side="right")]


def _path(axis: plt.Axes, true: np.ndarray, estimated: np.ndarray, yaw: np.ndarray) -> None:
    axis.plot(true[:, 0], true[:, 1], color="C0", label="true")
    axis.plot(estimated[:, 0], estimated[:, 1], color="C1", lw=0.9, label="estimated")
    step = max(1, len(true) // 24)
    axis.quiver(
        true[::step, 0],
        true[::step, 1],
        np.cos(yaw[::step]),
        np.sin(yaw[::step]),
        color="C0",
        width=0.004,
        scale=25,
        alpha=0.6,
    )
    axis.plot(*true[0, :2], "o", color="C2", label="start")
    axis.plot(*true[-1, :2], "s", color="C3", label="end")
    axis.set_aspect("equal", adjustable="datalim")
    axis.set_xlabel("x, m")
    axis.set_ylabel("y, m")
    axis.set_title("path of the body")
    axis.legend(fontsize=8)
    axis.grid(alpha=0.3)


def _contacts(
    axis: plt.Axes, recording: Recording, robot: Robot, t: np.ndarray, seq: np.ndarray, force: np.ndarray
) -> None:
    """Planned stance (light) and felt load (dark) per leg over the last two seconds of walking."""
    plans = {m.seq: m for m in recording.of(CONTACT_PLAN)}
    moving = [k for k, n in enumerate(seq) if n in plans and 0 < plans[n].stance.sum() < robot.num_legs]
    end = t[moving[-1]] if moving else t[-1]
    part = (t > end - 2.0) & (t <= end)
    loaded = np.linalg.norm(force, axis=2) > LOADED * robot.mass * 9.81
    for leg, name in enumerate(robot.leg_names):
        planned = np.array([bool(plans[n].stance[leg]) if n in plans else False for n in seq[part]])
        y = robot.num_legs - leg
        axis.fill_between(t[part], y - 0.4, y + 0.4, where=planned, color="C0", alpha=0.3, lw=0)
        axis.fill_between(t[part], y - 0.2, y + 0.2, where=loaded[part, leg], color="C0", lw=0)
        axis.text(-0.02, y, name, transform=axis.get_yaxis_transform(), va="center", ha="right")
    axis.set_yticks([])
    axis.set_xlabel("time, s")
    axis.set_title("contacts: planned (light), loaded (dark)")


def _shade_modes(axis: plt.Axes, t: np.ndarray, modes: np.ndarray) -> None:
    edges = np.flatnonzero(np.r_[True, modes[1:] != modes[:-1], True])
    for a, b in pairwise(edges):
        axis.axvspan(t[a], t[b - 1], color=MODE_COLOURS.get(str(modes[a]), "#ffffff"), lw=0)
