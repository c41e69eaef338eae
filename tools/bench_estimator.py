"""Times of the estimator: whole step, and the array filter against filterpy in the reference's configuration."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable

import numpy as np

from config.load import load_robot
from lcmtypes.channels import CONTACT_PLAN, IMU, JOINT_STATE
from lcmtypes.generated import ContactPlan, Imu, JointState
from procs.estimator.estimator import Estimator
from procs.estimator.kalman import Feet, Noises, new_feet, new_filter, reference_step
from procs.estimator.reference import ReferenceFilter
from procs.model.legs import joint_torques, leg_kinematics
from procs.model.robot import Robot

DT = 0.002
MIT_NOISES = Noises(0.02, 0.02, 0.002, 0.001, 0.1, 0.001, 100.0)  # mini-cheetah-defaults.yaml
GRAVITY = 9.81


def walking(ticks: int, legs: int = 4, seed: int = 1) -> list[tuple[Feet, np.ndarray]]:
    """Feet and acceleration (3,) m/s^2 of a noisy trot at 1 m/s, per tick."""
    rng = np.random.default_rng(seed)
    home = np.stack([np.linspace(0.2, -0.2, legs), 0.12 * (-1.0) ** np.arange(legs), np.full(legs, -0.3)])
    out = []
    for k in range(ticks):
        phase = (k * DT / 0.4 + 0.5 * (np.arange(legs) % 2)) % 1.0
        stance = phase < 0.5
        sweep = np.where(stance, 0.25 - phase, phase - 0.75) * 0.4
        lift = np.where(stance, 0.0, 0.05 * np.sin(np.pi * (phase - 0.5) / 0.5))
        offset = home + np.stack([sweep, np.zeros(legs), lift]) + 1e-3 * rng.standard_normal((3, legs))
        velocity = np.stack([np.where(stance, -1.0, 1.0), np.zeros(legs), np.zeros(legs)])
        velocity += 0.05 * rng.standard_normal((3, legs))
        p = 2 * phase
        trust = np.where(stance, np.clip(np.minimum(p, 1 - p) / 0.2, 0, 1), 0.0)
        feet = new_feet(legs)
        feet.offset[:], feet.velocity[:], feet.trust[:], feet.free[:] = offset, velocity, trust, 0.0
        out.append((feet, 0.2 * rng.standard_normal(3)))
    return out


def _times(step: Callable[[int], object], ticks: int) -> np.ndarray:
    """Microseconds of each tick after a warm-up of a twentieth."""
    out = np.empty(ticks)
    gc.collect()
    gc.disable()
    try:
        for k in range(ticks):
            begin = time.perf_counter_ns()
            step(k)
            out[k] = 1e-3 * (time.perf_counter_ns() - begin)
    finally:
        gc.enable()
    return out[ticks // 20 :]


def _standing(robot: Robot, ticks: int) -> list[dict]:
    q = robot.pose("stand")
    _p, J, _axes = leg_kinematics(q, robot.chains)
    force = np.zeros((robot.num_legs, 3))
    force[:, 2] = robot.mass * GRAVITY / robot.num_legs
    rng = np.random.default_rng(1)
    out = []
    for k in range(ticks):
        joints, imu, plan = JointState(robot.num_joints), Imu(), ContactPlan(robot.num_legs)
        joints.utime, joints.seq = round(1e6 * k * robot.dt), k
        joints.q[:] = q + 1e-4 * rng.standard_normal(len(q))
        joints.qd[:] = 1e-2 * rng.standard_normal(len(q))
        joints.tau[:] = joint_torques(J, -force)
        imu.valid, imu.quat[0], imu.accel[2] = 1, 1.0, GRAVITY
        plan.stance[:], plan.phase[:], plan.contact[:] = 1, 0.5, 0.5
        out.append({JOINT_STATE: joints, IMU: imu, CONTACT_PLAN: plan})
    return out


def bench_estimator(robot: str = "mini_cheetah", ticks: int = 4000) -> dict[str, float]:
    """Medians and p99 in us; `speed_up` is filterpy's predict and update over the array filter's whole step."""
    inputs = _standing(model := Robot(load_robot(robot)), ticks)
    core = Estimator(model)
    whole = _times(lambda k: core.step(inputs[k]), ticks)
    run = walking(ticks)
    array = new_filter(4)
    noises = np.array(MIT_NOISES)
    blocks = [(feet.block, accel) for feet, accel in run]

    def array_step(k: int) -> None:
        feet, accel = blocks[k]
        reference_step(array, noises, feet, accel, DT, 0.0)

    kernel = _times(array_step, ticks)
    reference = ReferenceFilter(4, MIT_NOISES)
    library = np.empty(ticks)
    difference = 0.0
    check = new_filter(4)
    for k, (feet, accel) in enumerate(run):
        y = reference.measurements(feet.offset.T, feet.velocity.T, feet.trust)
        reference.set_noises(feet.trust, DT)
        begin = time.perf_counter_ns()
        reference.kf.predict(u=accel)
        reference.kf.update(y)
        library[k] = 1e-3 * (time.perf_counter_ns() - begin)
        reference.limit_covariance()
        reference_step(check, noises, feet.block, accel, DT, 0.0)
        difference = max(difference, float(np.abs(check.x[:, :2].T.ravel() - reference.kf.x[:6]).max()))
    library = library[ticks // 20 :]
    return {
        "step_p50_us": float(np.median(whole)),
        "step_p99_us": float(np.percentile(whole, 99)),
        "array_filter_p50_us": float(np.median(kernel)),
        "filterpy_p50_us": float(np.median(library)),
        "speed_up": float(np.median(library) / np.median(kernel)),
        "largest_difference": difference,
    }


if __name__ == "__main__":
    print(json.dumps(bench_estimator(), indent=2))
