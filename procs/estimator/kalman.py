"""Linear Kalman filter of body position, body velocity and feet, decoupled by axis.

State per world axis: [p, v, foot_0 .. foot_L-1]. All noises are equal in x, y and z of the world, so the 6+3L states of
the reference (MIT's PositionVelocityEstimator.cpp) fall into three filters of 2+L states; x and y share a covariance.
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
    """Numbers of the `estimator` section; kernels take them as one array in this order.

    Process noises are scaled as in the reference, measurement noises are variances.
    """

    position_process: float  # m^2 = value dt/20
    velocity_process: float  # m^2/s^2 = value 9.8 dt/20
    foot_process: float  # m^2 = value dt
    foot_position: float  # m^2
    foot_velocity: float  # m^2/s^2
    foot_height: float  # m^2, only the reference filter
    untrusted: float  # factor on foot process, velocity and height of an untrusted foot, added to 1


class Feet(NamedTuple):
    """What kinematics say in this tick, world axes: views of one block, which is what kernels take."""

    block: np.ndarray  # (13, L)
    offset: np.ndarray  # (3, L) foot centre from the body's origin, m
    velocity: np.ndarray  # (3, L) its time derivative, m/s
    roll: np.ndarray  # (3, L) speed of a foot centre that rolls on the ground, m/s
    trust: np.ndarray  # (L,) 0..1
    free: np.ndarray  # (L,) 1: in the air, its position is not held
    spread: np.ndarray  # (L,) noise factor of the measurements, 1 for good joints
    landed: np.ndarray  # (L,) 1: free until the last tick


OFFSET, VELOCITY, ROLL, TRUST, FREE, SPREAD, LANDED = 0, 3, 6, 9, 10, 11, 12  # rows of Feet.block


def new_feet(legs: int) -> Feet:
    """All free, at the origin."""
    block = np.zeros((13, legs))
    block[FREE : SPREAD + 1] = 1.0
    return Feet(block, block[0:3], block[3:6], block[6:9], block[TRUST], block[FREE], block[SPREAD], block[LANDED])


def new_filter(legs: int, variance: float = 100.0) -> Filter:
    """At the origin, at rest."""
    return Filter(np.zeros((3, 2 + legs)), variance * np.eye(2 + legs), variance * np.eye(2 + legs))


@njit(cache=True, error_model="numpy")
def process_noise(noises: np.ndarray, trust: np.ndarray, dt: float, q: np.ndarray) -> None:
    """Variances q (2+L,) that dt s add; foot trust (L,)."""
    q[P] = noises[0] * dt / 20
    q[V] = noises[1] * 9.8 * dt / 20
    for leg in range(trust.shape[0]):
        q[FOOT + leg] = noises[2] * dt * (1 + (1 - trust[leg]) * noises[6])


@njit(cache=True, error_model="numpy")
def advance(C: np.ndarray, dt: float, q: np.ndarray) -> None:
    """Covariance F C F^T + diag(q) of p += dt v."""
    n = C.shape[0]
    for i in range(n):
        C[i, P] += dt * C[i, V]
    for i in range(n):
        C[P, i] += dt * C[V, i]
    for i in range(n):
        C[i, i] += q[i]


@njit(cache=True, error_model="numpy")
def update(
    C: np.ndarray, x: np.ndarray, first: int, last: int, u: int, v: int, y: np.ndarray, r: float, w: np.ndarray
) -> None:
    """Measure y[axis] = x_u - x_v (v < 0: x_u alone), variance r, in axes first..last-1 of x (3, n) with covariance C.

    w (n,) is scratch. (w_i w_j) / s keeps C symmetric to the last bit.
    """
    n = C.shape[0]
    if v >= 0:
        for i in range(n):
            w[i] = C[u, i] - C[v, i]
        s = 1.0 / (w[u] - w[v] + r)
    else:
        for i in range(n):
            w[i] = C[u, i]
        s = 1.0 / (w[u] + r)
    for axis in range(first, last):
        e = y[axis] - x[axis, u]
        if v >= 0:
            e += x[axis, v]
        e *= s
        for i in range(n):
            x[axis, i] += w[i] * e
    for i in range(n):
        for j in range(n):
            C[i, j] -= w[i] * w[j] * s


@njit(cache=True, error_model="numpy")
def place_foot(f: Filter, leg: int, offset: np.ndarray, r: float) -> None:
    """Forget where a foot was: it is at the body plus offset (3, L)[leg] m, measured with variance r."""
    i = FOOT + leg
    for axis in range(3):
        f.x[axis, i] = f.x[axis, P] + offset[axis, leg]
    for C in (f.Pxy, f.Pz):
        for j in range(C.shape[0]):
            C[i, j] = C[P, j]
        for j in range(C.shape[0]):
            C[j, i] = C[i, j]
        C[i, i] = C[P, P] + r


@njit(cache=True, error_model="numpy")
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
        place_foot(f, leg, offset, foot_var)


@njit(cache=True, error_model="numpy")
def relative_step(
    f: Filter, noises: np.ndarray, feet: np.ndarray, accel: np.ndarray, dt: float, rest_time: float, doubtful: bool
) -> None:
    """Predict and update without any assumption on the ground's height; accel (3,) m/s^2, world, gravity removed.

    Measured per foot on the ground: p - foot = -offset, and v = roll - velocity (no slip of the contact point).
    A free foot follows the body, so each touch-down starts from the kinematics of its moment.
    rest_time > 0: nothing holds the body's speed; it is drawn to zero with this time constant, s.
    doubtful: the velocity contradicts all feet; its variance grows until they are heard again.
    """
    legs, x = feet.shape[1], f.x
    offset, velocity, roll, trust = feet[OFFSET:VELOCITY], feet[VELOCITY:ROLL], feet[ROLL:TRUST], feet[TRUST]
    q, w, y = np.empty(FOOT + legs), np.empty(FOOT + legs), np.empty(3)
    process_noise(noises, trust, dt, q)
    if doubtful:
        q[V] *= 1 + noises[6]
    for axis in range(3):
        x[axis, P] += dt * (x[axis, V] + 0.5 * dt * accel[axis])
        x[axis, V] += dt * accel[axis]
        for leg in range(legs):
            x[axis, FOOT + leg] += dt * roll[axis, leg]
    advance(f.Pxy, dt, q)
    advance(f.Pz, dt, q)
    for leg in range(legs):
        r = noises[3] * feet[SPREAD, leg]
        if feet[FREE, leg] > 0.0:
            place_foot(f, leg, offset, r)
            continue
        if feet[LANDED, leg] > 0.0:
            place_foot(f, leg, offset, r)
        else:
            for axis in range(3):
                y[axis] = -offset[axis, leg]
            update(f.Pxy, x, 0, 2, P, FOOT + leg, y, r, w)
            update(f.Pz, x, 2, 3, P, FOOT + leg, y, r, w)
        for axis in range(3):
            y[axis] = roll[axis, leg] - velocity[axis, leg]
        r = noises[4] * feet[SPREAD, leg] * (1 + (1 - trust[leg]) * noises[6])
        update(f.Pxy, x, 0, 2, V, -1, y, r, w)
        update(f.Pz, x, 2, 3, V, -1, y, r, w)
    if rest_time > 0.0:
        y[:] = 0.0
        r = q[V] * (rest_time / dt) ** 2  # steady gain sqrt(q/r) = dt / rest_time
        update(f.Pxy, x, 0, 2, V, -1, y, r, w)
        update(f.Pz, x, 2, 3, V, -1, y, r, w)


@njit(cache=True, error_model="numpy")
def reference_step(
    f: Filter, noises: np.ndarray, feet: np.ndarray, accel: np.ndarray, dt: float, ground: float
) -> None:
    """The reference's step: all feet always measured, trusted foot centres at height `ground` m, others as estimated.

    Same measurements, noises and covariance reset as procs.estimator.reference; roll, free and spread are not used.
    """
    legs, x = feet.shape[1], f.x
    offset, velocity, trust = feet[OFFSET:VELOCITY], feet[VELOCITY:ROLL], feet[TRUST]
    q, w, y, v = np.empty(FOOT + legs), np.empty(FOOT + legs), np.empty(3), np.empty(3)
    process_noise(noises, trust, dt, q)
    height = x[2, P]
    for axis in range(3):
        v[axis] = x[axis, V]
        x[axis, P] += dt * v[axis]
        x[axis, V] += dt * accel[axis]
    advance(f.Pxy, dt, q)
    advance(f.Pz, dt, q)
    for leg in range(legs):
        t = trust[leg]
        k = 1 + (1 - t) * noises[6]
        for axis in range(3):
            y[axis] = -offset[axis, leg]
        update(f.Pxy, x, 0, 2, P, FOOT + leg, y, noises[3], w)
        update(f.Pz, x, 2, 3, P, FOOT + leg, y, noises[3], w)
        for axis in range(3):
            y[axis] = (1 - t) * v[axis] - t * velocity[axis, leg]
        update(f.Pxy, x, 0, 2, V, -1, y, noises[4] * k, w)
        update(f.Pz, x, 2, 3, V, -1, y, noises[4] * k, w)
        y[2] = (1 - t) * (height + offset[2, leg]) + t * ground
        update(f.Pz, x, 2, 3, FOOT + leg, -1, y, noises[5] * k, w)
    if f.Pxy[P, P] ** 2 > 1e-6:  # x and y cannot be observed: keep their variance from growing
        for j in range(1, FOOT + legs):
            f.Pxy[P, j] = 0.0
            f.Pxy[j, P] = 0.0
        f.Pxy[P, P] /= 10
