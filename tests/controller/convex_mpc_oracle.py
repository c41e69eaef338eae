"""Oracle and bench baseline of the convex MPC: plain numpy condensed build, then daqp's exact active set.

Written without the closed forms of `procs.controller.convex_mpc`: A and B are 13-state matrices (gravity is
the 13th state), discretised by the finite power series of A; the response is stacked stage by stage.
Source: Di Carlo et al., "Dynamic Locomotion in the MIT Cheetah 3 Through Convex MPC", IROS 2018.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import daqp
import numpy as np

REFERENCE_WEIGHTS = (0.25, 0.25, 10.0, 2.0, 2.0, 50.0, 0.0, 0.0, 0.3, 0.2, 0.2, 0.1)


@dataclass(frozen=True)
class Settings:
    """What the robot and the cost are; SI units. The defaults are those of the stored problems."""

    dt: float = 0.026
    mass: float = 9.0
    inertia: Any = field(default_factory=lambda: np.diag([0.07, 0.26, 0.242]))
    state_weights: Any = REFERENCE_WEIGHTS
    force_weight: float = 4e-5
    friction: float = 0.4
    force_max: float = 120.0
    force_min: float = 0.0
    gravity: float = 9.8

    def solver_arguments(self) -> dict[str, Any]:
        """The same settings as keyword arguments of ConvexMpc."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True)
class Problem:
    """The four arguments of ConvexMpc.solve."""

    state: np.ndarray
    feet: np.ndarray
    reference: np.ndarray
    contact: np.ndarray


def cross_matrix(v: np.ndarray) -> np.ndarray:
    """[v]x, so that cross_matrix(v) @ f = v x f."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def yaw_rotation(yaw: float) -> np.ndarray:
    """World from yaw-aligned frame."""
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def discretise(settings: Settings, yaw: float, feet: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Zero-order hold of one stage: A_d (13, 13), B_d (13, 3 legs)."""
    dt, num_legs = settings.dt, len(feet)
    rotation = yaw_rotation(yaw)
    inertia_inverse = np.linalg.inv(rotation @ np.asarray(settings.inertia) @ rotation.T)
    a = np.zeros((13, 13))
    a[0:3, 6:9] = rotation.T
    a[3:6, 9:12] = np.eye(3)
    a[11, 12] = 1.0
    b = np.zeros((13, 3 * num_legs))
    for leg in range(num_legs):
        b[6:9, 3 * leg : 3 * leg + 3] = inertia_inverse @ cross_matrix(feet[leg])
        b[9:12, 3 * leg : 3 * leg + 3] = np.eye(3) / settings.mass
    a2 = a @ a
    return np.eye(13) + a * dt + a2 * (dt**2 / 2), b * dt + a @ b * (dt**2 / 2) + a2 @ b * (dt**3 / 6)


def condensed(settings: Settings, problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """H, g of min 1/2 U'HU + g'U over the stance forces, and the indices of these in (horizon, legs, 3)."""
    horizon, num_legs = problem.contact.shape
    width = 3 * num_legs
    per_stage = problem.feet.ndim == 3
    a, b = discretise(settings, problem.state[2], problem.feet[0] if per_stage else problem.feet)
    response = np.zeros((13 * horizon, width * horizon))
    errors = np.zeros((horizon, 13))
    previous = np.zeros((13, width * horizon))
    x = np.append(problem.state, -settings.gravity)
    for k in range(horizon):
        if per_stage and k > 0:
            b = discretise(settings, problem.state[2], problem.feet[k])[1]
        rows = response[13 * k : 13 * k + 13]
        rows[:, : width * k] = a @ previous[:, : width * k]
        rows[:, width * k : width * k + width] = b
        previous = rows
        x = a @ x
        errors[k, :12] = x[:12] - problem.reference[k]
    kept = np.repeat(problem.contact.ravel().astype(bool), 3).nonzero()[0]
    response = response[:, kept]
    weighted = response.T * np.tile(np.append(settings.state_weights, 0.0), horizon)
    hessian = 2.0 * (weighted @ response + settings.force_weight * np.eye(len(kept)))
    return hessian, 2.0 * (weighted @ errors.ravel()), kept


def constraints(settings: Settings, num_feet: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """C, lower, upper of the friction pyramids and fz bounds, five rows per stance foot."""
    mu = settings.friction
    foot = np.array([[1 / mu, 0, 1], [-1 / mu, 0, 1], [0, 1 / mu, 1], [0, -1 / mu, 1], [0, 0, 1.0]])
    lower, upper = np.zeros(5 * num_feet), np.full(5 * num_feet, 1e30)
    lower[4::5], upper[4::5] = settings.force_min, settings.force_max
    return np.kron(np.eye(num_feet), foot), lower, upper


def solve_qp(settings: Settings, hessian: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Exact stance forces (n,) [N] by daqp; raises when daqp does not report an optimum."""
    if len(gradient) == 0:
        return np.zeros(0)
    matrix, lower, upper = constraints(settings, len(gradient) // 3)
    sense = np.zeros(len(lower), dtype=np.int32)
    # The regularisation of eps_prox would move the forces; the Hessian is positive definite without it.
    options = {"primal_tol": 1e-9, "eps_prox": 0.0}
    x, _, flag, _ = daqp.solve(hessian, gradient, matrix, upper, lower, sense, **options)
    if flag != 1:
        raise RuntimeError(f"daqp stopped with exit flag {flag}")
    return np.asarray(x)


def oracle(settings: Settings, problem: Problem) -> np.ndarray:
    """Optimal force plan (horizon, legs, 3) [N, world]."""
    hessian, gradient, kept = condensed(settings, problem)
    plan = np.zeros(problem.contact.size * 3)
    plan[kept] = solve_qp(settings, hessian, gradient)
    return plan.reshape(*problem.contact.shape, 3)


def roll_pitch_yaw(q: np.ndarray) -> np.ndarray:
    """Roll, pitch, yaw [rad] of the quaternion w x y z (z-y-x order)."""
    w, x, y, z = q
    pitch = np.arcsin(min(-2.0 * (x * z - w * y), 0.99999))
    roll = np.arctan2(2 * (y * z + w * x), w * w - x * x - y * y + z * z)
    return np.array([roll, pitch, np.arctan2(2 * (x * y + w * z), w * w + x * x - y * y - z * z)])


@dataclass(frozen=True)
class StoredProblem:
    """A stored problem, its settings, and its exact first-step forces (4, 3) [N]."""

    settings: Settings
    problem: Problem
    forces: np.ndarray


def load_problems(path: Path, name: str) -> list[StoredProblem]:
    """All problems of one stored set (trot_10, mixed_10, seq_10, trot_20, mixed_20, trot_40)."""
    with np.load(path, allow_pickle=False) as data:
        columns = {key.split("/")[1]: data[key] for key in data if key.startswith(name + "/")}
    settings = {dt: Settings(dt=float(dt)) for dt in np.unique(columns["dt"])}
    problems = []
    for k, dt in enumerate(columns["dt"]):
        angles = roll_pitch_yaw(columns["q"][k])
        reference = columns["traj"][k].reshape(-1, 12).copy()
        # The stored problems rotate by a rounded yaw but start from the quaternion's; as only the difference
        # to the reference counts for the start, the reference carries the rounding.
        reference[:, 2] += columns["yaw"][k] - angles[2]
        angles[2] = columns["yaw"][k]
        state = np.concatenate([angles, columns["p"][k], columns["w"][k], columns["v"][k]])
        feet = np.ascontiguousarray(columns["r"][k].reshape(3, 4).T)
        contact = columns["gait"][k].reshape(-1, 4)
        problem = Problem(state, feet, reference, contact)
        problems.append(StoredProblem(settings[dt], problem, columns["force_exact"][k].reshape(4, 3)))
    return problems
