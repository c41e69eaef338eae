"""From samples to what the filter needs, in one compiled call: attitude, foot kinematics, forces, contacts."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from procs.estimator.contact import (
    HELD,
    ContactModel,
    foot_force,
    force_odds,
    motion_odds,
    plan_odds,
    probability,
    trust,
)
from procs.estimator.kalman import FREE, LANDED, OFFSET, ROLL, SPREAD, TRUST, VELOCITY, Filter, P, V
from procs.estimator.orientation import GRAVITY, Attitude, coast, follow_imu, fuse
from procs.model.legs import Chains, foot_velocities, leg_kinematics
from procs.model.rotations import quat_to_matrix

SPIN_DELAY = 0.01  # s, low-pass of the angular acceleration (the gyro's difference over one tick is mostly noise)
LOAD_DELAY = 0.02  # s, low-pass of the total foot load, so that a leg's kick in the air is not a load
DOUBT_TIME = 0.03  # s of carrying feet that all seem to move; a change of feet in a gait is shorter
CALM_DELAY = 0.05  # s, low-pass of |specific force| and |rotation|


class Model(NamedTuple):
    """Constants of a robot."""

    chains: Chains
    contact: ContactModel
    radius: float  # m, foot
    imu_at: np.ndarray  # (3,) m, IMU in the body frame
    complementary: bool  # attitude from gyro and accelerometer, not from the IMU's quaternion
    gain: float  # 1/s
    bias_gain: float  # 1/s^2
    carried: float  # N of vertical foot load from which the feet carry the robot
    bad_factor: float  # noise factor of a leg with predicted joints


class Samples(NamedTuple):
    """Inputs of a tick, checked and finite."""

    quat: np.ndarray  # (4,) IMU, body to world
    gyro: np.ndarray  # (3,) rad/s
    accel: np.ndarray  # (3,) m/s^2 at the IMU
    q: np.ndarray  # (3L,) rad
    qd: np.ndarray  # (3L,) rad/s
    tau: np.ndarray  # (3L,) N m
    bad: np.ndarray  # (L,) 1: a joint of the leg is predicted
    stance: np.ndarray  # (L,) planned
    phase: np.ndarray  # (L,) 0..1 within stance or swing


class Sense(NamedTuple):
    """What came of it; also memory of the low-passes. Body axes unless named world."""

    omega: np.ndarray  # (3,) rad/s
    spin: np.ndarray  # (3,) rad/s^2
    accel: np.ndarray  # (3,) m/s^2 specific force at the body's origin
    accel_world: np.ndarray  # (3,) m/s^2, gravity removed
    R: np.ndarray  # (3, 3) body to world
    p: np.ndarray  # (L, 3) m, foot centre from the first joint
    v: np.ndarray  # (L, 3) m/s
    force: np.ndarray  # (L, 3) N on the foot, low-passed
    contact: np.ndarray  # (L,) probability
    calm: np.ndarray  # (4,) low-passed |specific force| m/s^2, |rotation| rad/s, foot load N; doubtful for s
    ticks: np.ndarray  # (1,) since the start


def new_sense(legs: int) -> Sense:
    """Nothing sensed yet."""
    z3 = (legs, 3)
    return Sense(
        np.zeros(3), np.zeros(3), np.array([0, 0, GRAVITY]), np.zeros(3), np.eye(3),
        np.zeros(z3), np.zeros(z3), np.zeros(z3), np.full(legs, 0.5), np.zeros(4), np.zeros(1),
    )  # fmt: skip


def new_samples(legs: int) -> Samples:
    """At rest at the zero pose."""
    n = 3 * legs
    return Samples(
        np.array([1.0, 0, 0, 0]), np.zeros(3), np.array([0, 0, GRAVITY]), np.zeros(n), np.zeros(n), np.zeros(n),
        np.zeros(legs), np.zeros(legs), np.zeros(legs),
    )  # fmt: skip


@njit(cache=True)
def _blend(old: float, new: float, dt: float, delay: float, first: bool) -> float:
    """First-order low-pass with time constant `delay`, s; starts at the first value."""
    return new if first else old + (new - old) * dt / (delay + dt)


@njit(cache=True)
def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    out = np.empty(3)
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]
    return out


@njit(cache=True)
def sense_body(sense: Sense, attitude: Attitude, samples: Samples, model: Model, imu_fresh: bool, dt: float) -> None:
    """Attitude, angular velocity and specific force at the body's origin, m/s^2."""
    first = sense.ticks[0] == 0.0
    if imu_fresh:
        if model.complementary:
            fuse(attitude, samples.gyro, samples.accel, dt, model.gain, model.bias_gain)
        else:
            follow_imu(attitude, samples.quat)
    omega = samples.gyro - attitude.bias
    if not imu_fresh:
        coast(attitude, omega, dt)
    for i in range(3):
        rate = 0.0 if first else (omega[i] - sense.omega[i]) / dt
        sense.spin[i] = _blend(sense.spin[i], rate, dt, SPIN_DELAY, first)
        sense.omega[i] = omega[i]
    arm = model.imu_at
    tangential = _cross(sense.spin, arm)
    centripetal = _cross(omega, _cross(omega, arm))
    sense.R[:] = quat_to_matrix(attitude.quat)
    for i in range(3):
        sense.accel[i] = samples.accel[i] - tangential[i] - centripetal[i]
    for i in range(3):
        sense.accel_world[i] = (
            sense.R[i, 0] * sense.accel[0] + sense.R[i, 1] * sense.accel[1] + sense.R[i, 2] * sense.accel[2]
        )
    sense.accel_world[2] -= GRAVITY
    force = math.sqrt(sense.accel[0] ** 2 + sense.accel[1] ** 2 + sense.accel[2] ** 2)
    turn = math.sqrt(omega[0] ** 2 + omega[1] ** 2 + omega[2] ** 2)
    sense.calm[0] = _blend(sense.calm[0], force, dt, CALM_DELAY, first)
    sense.calm[1] = _blend(sense.calm[1], turn, dt, CALM_DELAY, first)


@njit(cache=True)
def sense_feet(
    sense: Sense, feet: np.ndarray, filt: Filter, samples: Samples, model: Model, planned: bool, dt: float
) -> bool:
    """Foot kinematics, forces and contacts into feet (13, L), the block of Feet; `filt` holds the last velocity.

    True if that velocity is doubtful: the feet carry the robot and yet none seems to stand still.
    """
    first = sense.ticks[0] == 0.0
    offset, velocity, roll, trusted = feet[OFFSET:VELOCITY], feet[VELOCITY:ROLL], feet[ROLL:TRUST], feet[TRUST]
    R, omega, chains = sense.R, sense.omega, model.chains
    p, J, axes = leg_kinematics(samples.q, chains)
    v = foot_velocities(J, samples.qd)
    sense.p[:] = p
    sense.v[:] = v
    speed_std = math.sqrt(max(filt.Pxy[V, V], filt.Pz[V, V]))
    load = 0.0
    shank = np.empty(3)
    for leg in range(p.shape[0]):
        at = chains.mount_position[leg] + p[leg]
        moving = _cross(omega, at) + v[leg]
        for i in range(3):
            shank[i] = omega[i]
            for j in range(3):
                shank[i] += axes[leg, j, i] * samples.qd[3 * leg + j]
        for i in range(3):
            offset[i, leg] = R[i, 0] * at[0] + R[i, 1] * at[1] + R[i, 2] * at[2]
            velocity[i, leg] = R[i, 0] * moving[0] + R[i, 1] * moving[1] + R[i, 2] * moving[2]
        # A sphere of radius r that rolls on the ground moves by omega x (r up).
        wx = R[0, 0] * shank[0] + R[0, 1] * shank[1] + R[0, 2] * shank[2]
        wy = R[1, 0] * shank[0] + R[1, 1] * shank[1] + R[1, 2] * shank[2]
        roll[0, leg] = model.radius * wy
        roll[1, leg] = -model.radius * wx
        roll[2, leg] = 0.0
        bad = samples.bad[leg] > 0.0
        feet[SPREAD, leg] = model.bad_factor if bad else 1.0
        odds = plan_odds(samples.stance[leg] > 0.0, samples.phase[leg], model.contact.window) if planned else 0.0
        if not bad:  # a predicted joint has no torque
            force = foot_force(J[leg], samples.tau[3 * leg : 3 * leg + 3], model.contact.damping)
            for i in range(3):
                sense.force[leg, i] = _blend(sense.force[leg, i], force[i], dt, model.contact.force_delay, first)
            lift = R[2, 0] * sense.force[leg, 0] + R[2, 1] * sense.force[leg, 1] + R[2, 2] * sense.force[leg, 2]
            load += lift
            speed = 0.0
            for i in range(3):
                speed += (filt.x[i, V] + velocity[i, leg] - roll[i, leg]) ** 2
            odds += force_odds(lift, model.contact) + motion_odds(math.sqrt(speed), speed_std)
        sense.contact[leg] = probability(odds)
        trusted[leg] = trust(sense.contact[leg])
        feet[LANDED, leg] = feet[FREE, leg]
        feet[FREE, leg] = 1.0 if sense.contact[leg] < HELD else 0.0
    sense.calm[2] = _blend(sense.calm[2], load, dt, LOAD_DELAY, first)
    sense.ticks[0] += 1.0
    doubt = sense.calm[2] > model.carried and trusted.max() <= 0.0
    sense.calm[3] = sense.calm[3] + dt if doubt else 0.0
    return sense.calm[3] > DOUBT_TIME


@njit(cache=True)
def finite_filter(filt: Filter) -> bool:
    """True if the estimate is finite and its variances are positive."""
    total = filt.x.sum() + filt.Pxy.sum() + filt.Pz.sum()
    if not math.isfinite(total):
        return False
    for C in (filt.Pxy, filt.Pz):
        for i in range(C.shape[0]):
            if C[i, i] < 0.0:
                return False
    return filt.Pxy[P, P] >= 0.0
