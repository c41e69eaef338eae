"""Closed-form condensed convex MPC: state, feet, reference, contact in; H and g over the stance forces out.

Model (Di Carlo et al., IROS 2018; yaw frozen at its present value, R = Rz(yaw), I_w = R I_b R'):

    d rpy/dt = R' omega   d omega/dt = I_w^-1 sum_l r_l x f_l   dp/dt = v   dv/dt = sum_l f_l / m - gravity

Each half is a double integrator, so A is nilpotent and the zero-order hold is a polynomial in dt. A force f
held over stage i changes the state at the end of stage k >= i by

    d(omega) = dt W f        d(rpy) = dt^2 (k - i + 1/2) R' W f        with W = I_w^-1 [r]x
    d(v)     = dt f / m      d(p)   = dt^2 (k - i + 1/2) f / m

In the cost  sum_k |x_k - ref_k|_Q^2 + alpha sum |f|^2  the sums over k split off as two constant stencils

    h1[i, j] = sum_{k >= max(i, j)} (k - i + 1/2) (k - j + 1/2)        h2[i, j] = horizon - max(i, j)

and the Hessian block of the forces (stage i, foot a) and (stage j, foot b) is a 3x3 matrix

    H = 2 dt^4 h1[i, j] G1 + 2 dt^2 h2[i, j] G2 + 2 alpha delta
    G1 = (R' W_a)' Q_rpy (R' W_b) + Q_p / m^2          G2 = W_a' Q_omega W_b + Q_v / m^2

With feet that stay put, G1 and G2 are two Gram matrices of the robot and H is a sum of Kronecker products;
feet that differ by stage (the paper's) need the columns of W per stage, and the one kernel here serves both.
The gradient is 2 sum_k (d x_k / d f)' Q e_k, with e the error of the force-free motion: backward sums of
Q e and k Q e.

Variables are stance forces only, by stage (last first), leg, axis: n = 3 x stance feet of the horizon.
"""

import numba as nb
import numpy as np
import numpy.typing as npt

from procs.controller.convex_mpc.active_set import aligned_range

Array = npt.NDArray[np.float64]


def stencils(horizon: int, dt: float) -> tuple[Array, Array]:
    """2 dt^4 h1 and 2 dt^2 h2, each (horizon, horizon)."""
    h1, h2 = np.empty((horizon, horizon)), np.empty((horizon, horizon))
    for i in range(horizon):
        for j in range(horizon):
            k = np.arange(max(i, j), horizon)
            h1[i, j] = np.sum((k - i + 0.5) * (k - j + 0.5))
            h2[i, j] = len(k)
    return 2.0 * dt**4 * h1, 2.0 * dt**2 * h2


@nb.njit(cache=True, error_model="numpy")
def list_stance_feet(contact, stage, leg):
    """Fill stage[a], leg[a] of the stance feet of contact (horizon, legs), last stage first; returns n / 3.

    Most active constraints belong to the first stages; as last variables they make the forward solves short.
    """
    count = 0
    for i in range(contact.shape[0] - 1, -1, -1):
        for foot in range(contact.shape[1]):
            if contact[i, foot]:
                stage[count] = i
                leg[count] = foot
                count += 1
    return count


@nb.njit(cache=True, error_model="numpy")
def fill_acceleration_maps(yaw, inertia_inverse, mass, feet, stage, leg, count, maps):
    """Columns of every stance foot: R'W in maps[0:3], W = I_w^-1 [r]x in maps[3:6], 1 / m in maps[6:9].

    As [r]x = R [R'r]x R', both come from the body-frame matrix V = I_b^-1 [R'r]x:  R'W = V R',  W = R V R'.
    """
    c, s = np.cos(yaw), np.sin(yaw)
    for a in range(count):
        r = feet[stage[a], leg[a]]
        x, y, z = c * r[0] + s * r[1], c * r[1] - s * r[0], r[2]
        for row in range(3):
            i0, i1, i2 = inertia_inverse[row, 0], inertia_inverse[row, 1], inertia_inverse[row, 2]
            v0, v1, v2 = i1 * z - i2 * y, i2 * x - i0 * z, i0 * y - i1 * x
            maps[row, 3 * a] = c * v0 - s * v1
            maps[row, 3 * a + 1] = s * v0 + c * v1
            maps[row, 3 * a + 2] = v2
        for axis in range(3):
            column = 3 * a + axis
            u0, u1 = maps[0, column], maps[1, column]
            maps[3, column] = c * u0 - s * u1
            maps[4, column] = s * u0 + c * u1
            maps[5, column] = maps[2, column]
            for row in range(3):
                maps[6 + row, column] = 1.0 / mass if row == axis else 0.0


@nb.njit(cache=True, error_model="numpy")
def spread_stencils(h1, h2, stage, first, count, spread):
    """The stencils of the stage of foot `first` with every column from that foot on."""
    for b in range(first, count):
        s1, s2 = h1[stage[first], stage[b]], h2[stage[first], stage[b]]
        for column in range(3 * b, 3 * b + 3):
            spread[0, column] = s1
            spread[1, column] = s2


@nb.njit(cache=True, error_model="numpy")
def fill_hessian_row(hessian, maps, spread, weights, i, n):
    """H[i, i:] without alpha (and columns around it that mean nothing, see aligned_range)."""
    axis = i % 3
    first, stop = aligned_range(i, n)
    t0, t1, t2 = weights[0] * maps[0, i], weights[1] * maps[1, i], weights[2] * maps[2, i]
    w0, w1, w2 = weights[6] * maps[3, i], weights[7] * maps[4, i], weights[8] * maps[5, i]
    t3, w3 = weights[3 + axis] * maps[6 + axis, i], weights[9 + axis] * maps[6 + axis, i]
    # Slices, because the compiler vectorises the loop only when no index can be negative.
    rpy0, rpy1, rpy2 = maps[0, first:stop], maps[1, first:stop], maps[2, first:stop]
    omega0, omega1, omega2 = maps[3, first:stop], maps[4, first:stop], maps[5, first:stop]
    linear, s1, s2 = maps[6 + axis, first:stop], spread[0, first:stop], spread[1, first:stop]
    row = hessian[i, first:stop]
    for j in range(row.shape[0]):
        g1 = t0 * rpy0[j] + t1 * rpy1[j] + t2 * rpy2[j] + t3 * linear[j]
        g2 = w0 * omega0[j] + w1 * omega1[j] + w2 * omega2[j] + w3 * linear[j]
        row[j] = s1[j] * g1 + s2[j] * g2


@nb.njit(cache=True, error_model="numpy")
def fill_hessian(h1, h2, weights, force_weight, stage, count, maps, spread, hessian):
    """Upper triangle of H (n, n), with h1 and h2 as `stencils` scales them."""
    n = 3 * count
    for a in range(count):
        if a == 0 or stage[a] != stage[a - 1]:
            spread_stencils(h1, h2, stage, a, count, spread)
        for i in range(3 * a, 3 * a + 3):
            fill_hessian_row(hessian, maps, spread, weights, i, n)
            hessian[i, i] += 2.0 * force_weight


@nb.njit(cache=True, error_model="numpy")
def free_motion(state, dt, gravity, k, x):
    """State (12,) at the end of stage k when no foot pushes."""
    t = (k + 1) * dt
    c, s = np.cos(state[2]), np.sin(state[2])
    x[0] = state[0] + t * (c * state[6] + s * state[7])
    x[1] = state[1] + t * (c * state[7] - s * state[6])
    x[2] = state[2] + t * state[8]
    for axis in range(3):
        x[3 + axis] = state[3 + axis] + t * state[9 + axis]
        x[6 + axis] = state[6 + axis]
        x[9 + axis] = state[9 + axis]
    x[5] -= 0.5 * gravity * t * t
    x[11] -= gravity * t


@nb.njit(cache=True, error_model="numpy")
def fill_adjoints(state, reference, dt, mass, gravity, weights, adjoint):
    """adjoint (horizon, 6): half the cost gradient by angular acceleration and by force, of every stage."""
    c, s = np.cos(state[2]), np.sin(state[2])
    x = np.empty(12)
    error_sum, ramp_sum = np.zeros(12), np.zeros(6)
    for k in range(reference.shape[0] - 1, -1, -1):
        free_motion(state, dt, gravity, k, x)
        for j in range(12):
            error = weights[j] * (x[j] - reference[k, j])
            error_sum[j] += error
            if j < 6:
                ramp_sum[j] += k * error
        # sum over k' >= k of (k' - k + 1/2) Q e, rpy first, then p
        a0 = dt * dt * (ramp_sum[0] + (0.5 - k) * error_sum[0])
        a1 = dt * dt * (ramp_sum[1] + (0.5 - k) * error_sum[1])
        a2 = dt * dt * (ramp_sum[2] + (0.5 - k) * error_sum[2])
        adjoint[k, 0] = c * a0 - s * a1 + dt * error_sum[6]
        adjoint[k, 1] = s * a0 + c * a1 + dt * error_sum[7]
        adjoint[k, 2] = a2 + dt * error_sum[8]
        for axis in range(3):
            position = dt * dt * (ramp_sum[3 + axis] + (0.5 - k) * error_sum[3 + axis])
            adjoint[k, 3 + axis] = (position + dt * error_sum[9 + axis]) / mass


@nb.njit(cache=True, error_model="numpy")
def fill_gradient(adjoint, stage, count, maps, gradient):
    """g (n,): the adjoint of its stage through the torque map of every stance force."""
    for a in range(count):
        lever = adjoint[stage[a]]
        for axis in range(3):
            i = 3 * a + axis
            torque = lever[0] * maps[3, i] + lever[1] * maps[4, i] + lever[2] * maps[5, i]
            gradient[i] = 2.0 * (torque + lever[3 + axis])
