"""Feet in a physics step: positions, contact forces and slip from PyBullet's contact points. Compiled kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from procs.model.legs import Chains, leg_kinematics

COLUMNS = 17  # of a contact row: link, point 3, normal 3, normal force, force 1, direction 1, force 2, direction 2, gap


class FootSums(NamedTuple):
    """Sums over the physics steps of a tick."""

    force: np.ndarray  # (L, 3) N, on the foot, world axes; divide by the steps
    slip: np.ndarray  # (L, 3) m
    weight: np.ndarray  # (L,) N, normal force of the last step
    point: np.ndarray  # (L, 3) m, contact point of the last step, world


@njit(cache=True)
def foot_sums(
    rows: np.ndarray,
    leg_of_link: np.ndarray,
    q: np.ndarray,
    qd: np.ndarray,
    R_wb: np.ndarray,
    position: np.ndarray,
    v_origin: np.ndarray,
    omega: np.ndarray,
    chains: Chains,
    foot_radius: float,
    dt: float,
    sums: FootSums,
) -> None:
    """Add one physics step's contacts to `sums`.

    The pose (q, R_wb, position) is that of the step's begin, where the contacts were found; the velocities (qd,
    v_origin of the body origin, omega, world axes) are those of its end, which the contact solver made not slip.
    Slip is the travel of the foot's material at the contact point along the ground, (v_centre + omega_foot x r)_t dt.
    """
    legs = chains.foot.shape[0]
    sums.weight[:] = 0.0
    if rows.shape[0] == 0:
        return
    p, J, axes = leg_kinematics(q, chains)
    point = np.zeros((legs, 3))
    slip = np.zeros((legs, 3))
    r_body = np.empty(3)
    v_body = np.empty(3)
    spin_body = np.empty(3)
    for k in range(rows.shape[0]):
        row = rows[k]
        leg = leg_of_link[int(row[0]) + 1]
        if leg < 0:
            continue
        for i in range(3):
            r_body[i] = chains.mount_position[leg, i] + p[leg, i]
            v_body[i] = 0.0
            spin_body[i] = 0.0
            for j in range(3):
                v_body[i] += J[leg, i, j] * qd[3 * leg + j]
                spin_body[i] += axes[leg, j, i] * qd[3 * leg + j]
        r = R_wb @ r_body
        arm = row[1:4] - (position + r)
        if arm[0] ** 2 + arm[1] ** 2 + arm[2] ** 2 > (1.2 * foot_radius + 0.005) ** 2:
            continue  # the shank, not the foot
        normal_force = row[7]
        for i in range(3):
            sums.force[leg, i] += normal_force * row[4 + i] + row[8] * row[9 + i] + row[12] * row[13 + i]
        if normal_force <= 0.0:
            continue
        spin = omega + R_wb @ spin_body
        v = v_origin + cross(omega, r) + R_wb @ v_body + cross(spin, arm)
        into = v[0] * row[4] + v[1] * row[5] + v[2] * row[6]
        sums.weight[leg] += normal_force
        for i in range(3):
            point[leg, i] += normal_force * row[1 + i]
            slip[leg, i] += normal_force * (v[i] - into * row[4 + i])
    for leg in range(legs):
        if sums.weight[leg] > 0.0:
            for i in range(3):
                sums.point[leg, i] = point[leg, i] / sums.weight[leg]
                sums.slip[leg, i] += dt * slip[leg, i] / sums.weight[leg]


@njit(cache=True)
def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a x b, (3,)."""
    out = np.empty(3)
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]
    return out


@njit(cache=True)
def foot_centres(q: np.ndarray, R_wb: np.ndarray, position: np.ndarray, chains: Chains) -> np.ndarray:
    """Centres of the foot spheres (L, 3) m, world."""
    p, _J, _axes = leg_kinematics(q, chains)
    out = np.empty_like(p)
    for leg in range(p.shape[0]):
        for i in range(3):
            out[leg, i] = position[i]
            for j in range(3):
                out[leg, i] += R_wb[i, j] * (chains.mount_position[leg, j] + p[leg, j])
    return out
