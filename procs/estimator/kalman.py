"""Linear Kalman filter of body position, body velocity and feet, decoupled by axis.

State per world axis: [p, v, foot_0 .. foot_L-1]. All noises are equal in x, y and z of the world, so the 6+3L states of
the reference (mini_cheetah.md section 6) fall into three filters of 2+L states, and x and y share one covariance.
Measurements are scalar and independent, so they are applied one after the other without any matrix inverse.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

P, V, FOOT = 0, 1, 2  # rows of the state of one axis


class Filter(NamedTuple):
    """Memory of the filter; L legs."""

    x: np.ndarray  # (3, 2+L) per world axis: position m, velocity m/s, foot centres m
    Pxy: np.ndarray  # (2+L, 2+L) covariance of x, and of y
    Pz: np.ndarray  # (2+L, 2+L) covariance of z


class Noises(NamedTuple):
    """Numbers of the `estimator` section. Process noises are scaled as in the reference, measurements are variances."""

    position_process: float  # m^2 = value dt/20
    velocity_process: float  # m^2/s^2 = value 9.8 dt/20
    foot_process: float  # m^2 = value dt
    foot_position: float  # m^2
    foot_velocity: float  # m^2/s^2
    foot_height: float  # m^2, only the reference filter
    untrusted: float  # factor on foot process, velocity and height of an untrusted foot, added to 1


class Feet(NamedTuple):
    """What kinematics say in this tick; world axes."""

    offset: np.ndarray  # (3, L) foot centre from the body's origin, m
    velocity: np.ndarray  # (3, L) its time derivative, m/s
    roll: np.ndarray  # (3, L) speed of a foot centre that rolls on the ground, m/s
    trust: np.ndarray  # (L,) 0..1
    free: np.ndarray  # (L,) 1: in the air, its position is not held
    spread: np.ndarray  # (L,) noise factor of the measurements, 1 for good joints


def new_filter(legs: int, variance: float = 100.0) -> Filter:
    """At the origin, at rest."""
    return Filter(np.zeros((3, 2 + legs)), variance * np.eye(2 + legs), variance * np.eye(2 + legs))


@njit(cache=True)
def predict(f: Filter, accel: np.ndarray, dt: float, foot_step: np.ndarray, q: np.ndarray, half: float) -> None:
    """Advance by dt, s, with accel (3,) m/s^2, foot steps (3, L) m and process variances q (2+L,)."""
    n = q.shape[0]
    for axis in range(3):
        f.x[axis, P] += dt * f.x[axis, V] + half * dt * dt * accel[axis]
        f.x[axis, V] += dt * accel[axis]
        for leg in range(n - FOOT):
            f.x[axis, FOOT + leg] += foot_step[axis, leg]
    for C in (f.Pxy, f.Pz):
        for i in range(n):
            C[i, P] += dt * C[i, V]
        for i in range(n):
            C[P, i] += dt * C[V, i]
        for i in range(n):
            C[i, i] += q[i]


@njit(cache=True)
def update(C: np.ndarray, x: np.ndarray, u: int, v: int, y: np.ndarray, r: float) -> None:
    """Measure y (axes,) = x_u - x_v (v < 0: x_u alone) of variance r, for all axes x (axes, n) of one covariance C."""
    n = C.shape[0]
    w = np.empty(n)
    for i in range(n):
        w[i] = C[i, u] - C[i, v] if v >= 0 else C[i, u]
    s = (w[u] - w[v] if v >= 0 else w[u]) + r
    for axis in range(x.shape[0]):
        e = (y[axis] - x[axis, u] + (x[axis, v] if v >= 0 else 0.0)) / s
        for i in range(n):
            x[axis, i] += w[i] * e
    for i in range(n):
        gain = w[i] / s
        for j in range(i + 1):
            C[i, j] -= gain * w[j]
            C[j, i] = C[i, j]


@njit(cache=True)
def _measure(f: Filter, u: int, v: int, y: np.ndarray, r: float) -> None:
    update(f.Pxy, f.x[:2], u, v, y[:2], r)
    update(f.Pz, f.x[2:], u, v, y[2:], r)


@njit(cache=True)
def place_foot(f: Filter, leg: int, offset: np.ndarray, r: float) -> None:
    """Forget where a foot was: it is at the body plus offset (3,) m, measured with variance r."""
    i = FOOT + leg
    for axis in range(3):
        f.x[axis, i] = f.x[axis, P] + offset[axis]
    for C in (f.Pxy, f.Pz):
        for j in range(C.shape[0]):
            C[i, j] = C[P, j]
        for j in range(C.shape[0]):
            C[j, i] = C[i, j]
        C[i, i] = C[P, P] + r


@njit(cache=True)
def start(
    f: Filter, offset: np.ndarray, radius: float, position_var: float, velocity_var: float, foot_var: float
) -> None:
    """At rest at x = y = 0 with the mean contact point at height 0; offset (3, L) m, foot radius m."""
    legs = offset.shape[1]
    f.x[:] = 0.0
    f.Pxy[:] = 0.0
    f.Pz[:] = 0.0
    f.x[2, P] = radius - offset[2].sum() / legs
    for C in (f.Pxy, f.Pz):
        C[P, P] = position_var
        C[V, V] = velocity_var
    for leg in range(legs):
        place_foot(f, leg, offset[:, leg].copy(), foot_var)


@njit(cache=True)
def relative_step(
    f: Filter, n: Noises, feet: Feet, accel: np.ndarray, dt: float, rest_time: float, doubtful: bool
) -> None:
    """Predict and update without any assumption on the ground's height; accel (3,) m/s^2, world, gravity removed.

    Measured per foot on the ground: p - foot = -offset, and v = roll - velocity (no slip of the contact point).
    A free foot follows the body, so each touch-down starts from the kinematics of its moment.
    rest_time > 0: nothing holds the body's speed; it is drawn to zero with this time constant, s.
    doubtful: the velocity contradicts all feet; its variance grows until they are heard again.
    """
    legs = feet.trust.shape[0]
    q = np.empty(FOOT + legs)
    step = np.zeros((3, legs))
    q[P] = n.position_process * dt / 20
    q[V] = n.velocity_process * 9.8 * dt / 20 * (1 + n.untrusted if doubtful else 1.0)
    for leg in range(legs):
        q[FOOT + leg] = n.foot_process * dt * (1 + (1 - feet.trust[leg]) * n.untrusted)
        for axis in range(3):
            step[axis, leg] = dt * feet.roll[axis, leg]
    predict(f, accel, dt, step, q, 0.5)
    y = np.empty(3)
    for leg in range(legs):
        r = n.foot_position * feet.spread[leg]
        if feet.free[leg]:
            place_foot(f, leg, feet.offset[:, leg].copy(), r)
            continue
        for axis in range(3):
            y[axis] = -feet.offset[axis, leg]
        _measure(f, P, FOOT + leg, y, r)
        for axis in range(3):
            y[axis] = feet.roll[axis, leg] - feet.velocity[axis, leg]
        _measure(f, V, -1, y, n.foot_velocity * feet.spread[leg] * (1 + (1 - feet.trust[leg]) * n.untrusted))
    if rest_time > 0.0:
        y[:] = 0.0
        _measure(f, V, -1, y, q[V] * (rest_time / dt) ** 2)  # steady gain sqrt(q/r) = dt / rest_time


@njit(cache=True)
def reference_step(f: Filter, n: Noises, feet: Feet, accel: np.ndarray, dt: float, ground: float) -> None:
    """The reference's step: all feet always measured, trusted foot centres at height `ground` m, others as estimated.

    Same measurements, noises and covariance reset as procs.estimator.reference; roll, free and spread are not used.
    """
    legs = feet.trust.shape[0]
    q = np.empty(FOOT + legs)
    q[P] = n.position_process * dt / 20
    q[V] = n.velocity_process * 9.8 * dt / 20
    for leg in range(legs):
        q[FOOT + leg] = n.foot_process * dt * (1 + (1 - feet.trust[leg]) * n.untrusted)
    before = f.x[:, :FOOT].copy()
    predict(f, accel, dt, np.zeros((3, legs)), q, 0.0)
    y = np.empty(3)
    for leg in range(legs):
        for axis in range(3):
            y[axis] = -feet.offset[axis, leg]
        _measure(f, P, FOOT + leg, y, n.foot_position)
    for leg in range(legs):
        t = feet.trust[leg]
        k = 1 + (1 - t) * n.untrusted
        for axis in range(3):
            y[axis] = (1 - t) * before[axis, V] - t * feet.velocity[axis, leg]
        _measure(f, V, -1, y, n.foot_velocity * k)
        y[2] = (1 - t) * (before[2, P] + feet.offset[2, leg]) + t * ground
        update(f.Pz, f.x[2:], FOOT + leg, -1, y[2:], n.foot_height * k)
    if f.Pxy[P, P] ** 2 > 1e-6:  # x and y cannot be observed: keep their variance from growing
        for j in range(1, FOOT + legs):
            f.Pxy[P, j] = 0.0
            f.Pxy[j, P] = 0.0
        f.Pxy[P, P] /= 10
