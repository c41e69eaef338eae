"""Metrics of a run (design section 9): from messages to one dictionary, and expectations against it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from config.scenario import Bounds, Scenario
from lcmtypes.channels import BODY_STATE, GROUND_TRUTH, IMU, JOINT_STATE, MODE_STATE, MPC_DEBUG, PROC_HEALTH
from procs.model.robot import Robot
from procs.model.rotations import quat_to_matrix, quat_to_rpy
from tools.recording import Recording, Series

USED = (GROUND_TRUTH, BODY_STATE, MODE_STATE, JOINT_STATE, IMU, MPC_DEBUG, PROC_HEALTH)  # what metrics are made from
GRAVITY = 9.81
FALL_TILT = math.cos(math.radians(60))
FALL_HEIGHT = 0.45  # of nominal
SETTLE = 1.0  # s after entering a mode or a command before statistics begin
LOADED = 0.2  # of mg/legs: a foot that carries this much stands


def metrics(scenario: Scenario, robot: Robot, recording: Recording) -> dict[str, Any]:
    """All metrics that come from messages; timing is added by the runner."""
    s = recording.series(robot.dt)
    if not len(s.seq):
        return {"fell": None, "error": "no tick with ground_truth, body_state and mode_state"}
    nominal = robot.description.control.nominal_height
    position, velocity = s.true("position"), s.true("v_world")
    quat, normal = s.true("quat"), s.true("ground_normal")
    R = np.array([quat_to_matrix(q) for q in quat])
    height = (position[:, 2] - s.true("ground_height")) * normal[:, 2]
    fell_at = _fall(s, R, normal, height, nominal)
    steady = _steady(s, robot.dt)
    attitude = np.degrees(_attitude_to_ground(R, normal))
    yaw = np.array([quat_to_rpy(q)[2] for q in quat])
    heading = _heading_frame(velocity, yaw)
    path = float(np.linalg.norm(np.diff(position, axis=0), axis=1)[steady[1:]].sum())
    mass = robot.mass + scenario.plant.payload.mass
    tau = np.abs(s.true("tau"))
    work = s.true("work")
    moved = float(work[steady][-1] - work[steady][0]) if steady.any() else 0.0
    return {
        "fell": fell_at is not None,
        "fall_time_s": fell_at,
        "mode_final": str(s.mode_names[-1]),
        "distance_m": float(np.linalg.norm((position[-1] - position[0])[:2])),
        "path_m": path,
        "height_m": _stats(height[steady], ("mean", "std", "min", "max")),
        "roll_deg": _stats(attitude[steady, 0], ("mean", "mean_abs", "max_abs", "std")),
        "pitch_deg": _stats(attitude[steady, 1], ("mean", "mean_abs", "max_abs", "std")),
        "foot_slip_mm": _slip(s, steady, mass / robot.num_legs),
        "torque_nm": {"rms": float(np.sqrt((tau**2).mean())), "max": float(tau.max())},
        "torque_saturation": float(s.true("saturated").mean()),
        "cost_of_transport": moved / (mass * GRAVITY * path) if path > 0.2 else None,
        "estimator": _estimator(s, steady, yaw, path),
        "mpc": _mpc(recording),
        "latency_ms": _latency(recording),
        "missed_ticks": int(s.seq[-1] + 1 - len(s.seq)),
        "faults_rejected": _rejected(recording),
        "refusals": sorted({m.reason for m in s.mode if m.reason}),
        "segments": _segments(scenario, s, heading, yaw, fell_at),
    }


def _fall(s: Series, R: np.ndarray, normal: np.ndarray, height: np.ndarray, nominal: float) -> float | None:
    tilt = np.einsum("ki,ki->k", R[:, :, 2], normal)
    carrying = np.isin(s.mode_names, ("stand", "walk")) & ~s.busy
    bad = ~(tilt > FALL_TILT) | ~np.isfinite(height) | (carrying & (height < FALL_HEIGHT * nominal))
    # Damping is where a fall ends even if the trunk has not reached the ground yet.
    bad |= np.array([m.mode == "damping" and m.reason.startswith("fall") for m in s.mode])
    return float(s.t[bad.argmax()]) if bad.any() else None


def _steady(s: Series, dt: float) -> np.ndarray:
    """Ticks in stand or walk, not busy, from 1 s after entering the mode."""
    good = np.isin(s.mode_names, ("stand", "walk")) & ~s.busy
    entered = np.r_[True, (s.mode_names[1:] != s.mode_names[:-1]) | (s.busy[1:] != s.busy[:-1])]
    since = s.t - s.t[np.maximum.accumulate(np.where(entered, np.arange(len(s.t)), 0))]
    return good & (since >= SETTLE - dt / 2)


def _attitude_to_ground(R: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Roll and pitch (ticks, 2) rad of the body against the ground's normal."""
    n = np.einsum("kji,kj->ki", R, normal)  # normal in body axes
    return np.stack((np.arctan2(n[:, 1], n[:, 2]), np.arcsin(np.clip(-n[:, 0], -1, 1))), axis=1)


def _heading_frame(v: np.ndarray, yaw: np.ndarray) -> np.ndarray:
    c, s = np.cos(yaw), np.sin(yaw)
    return np.stack((c * v[:, 0] + s * v[:, 1], -s * v[:, 0] + c * v[:, 1], v[:, 2]), axis=1)


def _stats(x: np.ndarray, names: tuple[str, ...]) -> dict[str, float | None]:
    if not len(x):
        return dict.fromkeys(names)
    of = {
        "mean": x.mean,
        "std": x.std,
        "min": x.min,
        "max": x.max,
        "mean_abs": np.abs(x).mean,
        "max_abs": np.abs(x).max,
    }
    return {name: float(of[name]()) for name in names}


def _slip(s: Series, steady: np.ndarray, mass_per_leg: float) -> dict[str, float | None]:
    """Travel of the loaded contact points per stance, mm."""
    force = s.true("foot_force")
    travel = np.linalg.norm(s.true("foot_slip"), axis=2)
    along = np.einsum("kli,ki->kl", force, s.true("ground_normal"))
    loaded = (along >= LOADED * mass_per_leg * GRAVITY) & steady[:, None]
    totals = []
    for leg in range(force.shape[1]):
        edges = np.flatnonzero(np.diff(np.r_[0, loaded[:, leg].astype(int), 0]))
        totals += [travel[a:b, leg].sum() for a, b in zip(edges[::2], edges[1::2], strict=True)]
    mm = 1e3 * np.array(totals)
    if not len(mm):
        return {"mean": None, "p95": None, "max": None}
    return {"mean": float(mm.mean()), "p95": float(np.percentile(mm, 95)), "max": float(mm.max())}


def _estimator(s: Series, steady: np.ndarray, yaw: np.ndarray, path: float) -> dict[str, Any]:
    if not steady.any():
        return {"velocity_rmse": [None] * 3, "height_rmse": None, "drift_percent": None, "rpy_rmse_deg": [None] * 3}
    error = _heading_frame(s.estimated("v_world") - s.true("v_world"), yaw)[steady]
    offset = (s.estimated("position") - s.true("position"))[steady]
    rpy_true = np.array([quat_to_rpy(q) for q in s.true("quat")])
    rpy = s.estimated("rpy") - rpy_true
    rpy = np.degrees(np.arctan2(np.sin(rpy), np.cos(rpy)))[steady]
    growth = float(np.linalg.norm((offset[-1] - offset[0])[:2]))
    return {
        "velocity_rmse": [float(x) for x in np.sqrt((error**2).mean(axis=0))],
        "velocity_max": float(np.linalg.norm(s.estimated("v_world")[steady], axis=1).max()),
        "height_rmse": float(np.sqrt(((offset[:, 2] - offset[0, 2]) ** 2).mean())),
        "drift_percent": 100 * growth / path if path > 0.2 else None,
        "rpy_rmse_deg": [float(x) for x in np.sqrt((rpy**2).mean(axis=0))],
        "valid": float(np.mean([m.valid for m in s.body])),
    }


def _mpc(recording: Recording) -> dict[str, Any]:
    solves = recording.of(MPC_DEBUG)
    times = recording.step_us.get("controller.mpc", [])
    p50, p99, most = (*np.percentile(times, (50, 99)), max(times)) if times else (None, None, None)
    return {
        "solves": len(solves),
        "p50_ms": _ms(p50),
        "p99_ms": _ms(p99),
        "max_ms": _ms(most),
        "failures": int(solves[-1].failures) if solves else 0,
    }


def _ms(us: float | None) -> float | None:
    return None if us is None else float(us) / 1e3


def _latency(recording: Recording) -> dict[str, float | None]:
    reports = [m for m in recording.of(PROC_HEALTH) if m.latency_max > 0]
    if not reports:
        return {"p50": None, "p99": None, "max": None}
    return {
        "p50": float(np.median([m.latency_p50 for m in reports])),
        "p99": float(np.median([m.latency_p99 for m in reports])),
        "max": float(max(m.latency_max for m in reports)),
    }


def _rejected(recording: Recording) -> int:
    joints = sum(bool((m.fault > 0).any()) for m in recording.of(JOINT_STATE))
    return joints + sum(not m.valid for m in recording.of(IMU))


def _segments(
    scenario: Scenario, s: Series, v: np.ndarray, yaw: np.ndarray, fell: float | None
) -> list[dict[str, Any]]:
    omega = s.true("omega_world")[:, 2]
    wanted = {"vx": 0.0, "vy": 0.0, "yaw_rate": 0.0}
    out = []
    ends = [c.t for c in scenario.commands[1:]] + [scenario.duration]
    for command, end in zip(scenario.commands, ends, strict=True):
        wanted.update({k: x for k in wanted if (x := getattr(command, k)) is not None})
        part = (s.t >= command.t + SETTLE) & (s.t < end)
        row: dict[str, Any] = {"t0": command.t, "t1": end, **wanted}
        for k, (name, x) in enumerate((("vx", v[:, 0]), ("vy", v[:, 1]), ("yaw_rate", omega))):
            mean = float(x[part].mean()) if part.any() and fell is None else None
            row[f"{name}_mean"] = mean
            row[f"{name}_error"] = None if mean is None else abs(mean - wanted[name])
            if k == 0:
                row["vx_rmse"] = None if mean is None else float(np.sqrt(((x[part] - wanted["vx"]) ** 2).mean()))
        out.append(row)
    return out


def lookup(values: object, path: str) -> object:
    """A dotted metric: `segments.2.vx_error`. KeyError names what is missing."""
    for part in path.split("."):
        if isinstance(values, list) and part.lstrip("-").isdigit() and -len(values) <= int(part) < len(values):
            values = values[int(part)]
        elif isinstance(values, dict) and part in values:
            values = values[part]
        else:
            raise KeyError(f"no metric {path!r} (at {part!r})")
    return values


def failures(scenario: Scenario, values: dict[str, Any]) -> list[str]:
    """Expectations that do not hold, in words."""
    out = []
    for path, want in scenario.expect.items():
        try:
            got = lookup(values, path)
        except KeyError as error:
            out.append(str(error.args[0]))
            continue
        if isinstance(want, Bounds):
            if not isinstance(got, int | float) or isinstance(got, bool):
                out.append(f"{path} is {got}, want a number")
            elif want.max is not None and not got <= want.max:
                out.append(f"{path} = {got:.4g}, want <= {want.max:g}")
            elif want.min is not None and not got >= want.min:
                out.append(f"{path} = {got:.4g}, want >= {want.min:g}")
        elif got != want:
            out.append(f"{path} is {got}, want {want}")
    return out
