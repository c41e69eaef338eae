"""The convex MPC as one object: state, feet, reference and contact table in; ground reaction forces out.

Source: Di Carlo et al., "Dynamic Locomotion in the MIT Cheetah 3 Through Convex MPC", IROS 2018.
States are (12,): roll, pitch, yaw [rad], x, y, z [m], angular velocity [rad/s], velocity [m/s]; world axes.
"""

from enum import IntEnum
from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from procs.controller.convex_mpc import active_set, condense
from procs.controller.convex_mpc.predict import predict_states

Array = npt.NDArray[np.float64]

# Slack [N] below which a row counts as violated; the solutions are exact to about this.
TOLERANCE = 1e-9


class MpcStatus(IntEnum):
    """How a solve ended; every status but SOLVED comes with zero forces."""

    SOLVED = active_set.SOLVED
    ITERATION_LIMIT = active_set.ITERATION_LIMIT
    NOT_POSITIVE_DEFINITE = active_set.NOT_POSITIVE_DEFINITE
    INFEASIBLE = active_set.INFEASIBLE
    NOT_FINITE = active_set.NOT_FINITE


class MpcSolution(NamedTuple):
    """Ground reaction forces on the robot [N, world axes]; swing feet carry zeros."""

    forces: Array
    """(legs, 3), of the first stage."""
    force_plan: Array
    """(horizon, legs, 3)."""
    iterations: int
    """Constraint rows added or dropped."""
    status: MpcStatus


@nb.njit(cache=True, error_model="numpy")
def all_finite(values):
    """Whether no entry of a flat array is infinite or not a number."""
    finite = True
    for value in values:
        finite &= np.isfinite(value)
    return finite


@nb.njit(cache=True, error_model="numpy")
def build(plant, cost, inputs, work):
    """Fill the Hessian (upper triangle) and the gradient of `work`; returns the number of stance feet."""
    dt, mass, inertia_inverse, gravity = plant
    weights, force_weight, h1, h2 = cost
    state, feet, reference, contact = inputs
    stage, leg, maps, spread, adjoint, hessian, gradient = work
    count = condense.list_stance_feet(contact, stage, leg)
    condense.fill_acceleration_maps(state[2], inertia_inverse, mass, feet, stage, leg, count, maps)
    condense.fill_hessian(h1, h2, weights, force_weight, stage, count, maps, spread, hessian)
    condense.fill_adjoints(state, reference, dt, mass, gravity, weights, adjoint)
    condense.fill_gradient(adjoint, stage, count, maps, gradient)
    return count


@nb.njit(cache=True, error_model="numpy")
def minimise(hessian, gradient, n, cone, max_iterations, work):
    """Solve the QP into the x (n,) of `work`; the Hessian becomes its factor. Returns status, iterations."""
    normals, offsets = cone
    x, pivots, active, is_active, multipliers, columns, inverse, vectors = work
    if not active_set.cholesky(hessian, pivots, n):
        return active_set.NOT_POSITIVE_DEFINITE, 0
    for i in range(n):
        x[i] = -gradient[i]
    active_set.solve_factored(hessian, pivots, 0, n, x)
    status, iterations = active_set.dual_active_set(
        hessian, pivots, normals, offsets, n, TOLERANCE, max_iterations,
        x, active, is_active, multipliers, columns, inverse, vectors,
    )  # fmt: skip
    if status == active_set.SOLVED and not all_finite(x[:n]):
        status = active_set.NOT_FINITE
    return status, iterations


@nb.njit(cache=True, error_model="numpy")
def build_and_solve(plant, cost, cone, max_iterations, inputs, build_work, solve_work, force_plan):
    """One cold solve; fills force_plan (horizon, legs, 3) and returns status, iterations."""
    state, feet, reference, _ = inputs
    stage, leg, _, _, _, hessian, gradient = build_work
    force_plan[:] = 0.0
    if not (all_finite(state) and all_finite(feet.ravel()) and all_finite(reference.ravel())):
        return active_set.NOT_FINITE, 0
    count = build(plant, cost, inputs, build_work)
    status, iterations = minimise(hessian, gradient, 3 * count, cone, max_iterations, solve_work)
    if status == active_set.SOLVED:
        x = solve_work[0]
        for a in range(count):
            for axis in range(3):
                force_plan[stage[a], leg[a], axis] = x[3 * a + axis]
    return status, iterations


class ConvexMpc:
    """Plans ground reaction forces over a horizon; every workspace is allocated once, here."""

    def __init__(
        self,
        *,
        num_legs: int,
        horizon: int,
        dt: float,
        mass: float,
        inertia: npt.ArrayLike,
        state_weights: npt.ArrayLike,
        force_weight: float,
        friction: float,
        force_max: float,
        force_min: float = 0.0,
        gravity: float = 9.81,
        max_iterations: int | None = None,
    ) -> None:
        """inertia (3, 3) [kg m^2] in body axes about the centre of mass; state_weights (12,) as the state.

        force_weight is alpha of the cost; force_min and force_max [N] bound fz of every stance foot.
        max_iterations defaults to four per force variable, several times more than any problem took.
        The constructor also compiles: the first solve is as quick as the others.
        """
        inertia = np.asarray(inertia, dtype=np.float64)
        _check(num_legs >= 1 and horizon >= 1, f"{num_legs=} and {horizon=}, want at least 1")
        _check(dt > 0 and mass > 0, f"{dt=} and {mass=}, want both positive")
        _check(inertia.shape == (3, 3), f"{inertia.shape=}, want (3, 3)")
        _check(bool(np.all(np.linalg.eigvalsh(inertia) > 0)), f"{inertia=}, want positive definite")
        self.num_legs, self.horizon, self.dt = num_legs, horizon, dt
        self.mass, self.gravity = mass, gravity
        self._inertia_inverse = np.linalg.inv(inertia)
        self._plant = (float(dt), float(mass), self._inertia_inverse, float(gravity))
        self._stencils = condense.stencils(horizon, dt)
        self.tune(state_weights, force_weight, friction, force_max, force_min)
        self._max_iterations = 12 * num_legs * horizon if max_iterations is None else int(max_iterations)
        self._allocate(num_legs * horizon)
        self._run()

    def tune(
        self, state_weights: npt.ArrayLike, force_weight: float, friction: float, force_max: float,
        force_min: float = 0.0,
    ) -> None:  # fmt: skip
        """Other weights and bounds from the next solve on; as in the constructor."""
        weights = np.array(state_weights, dtype=np.float64)
        _check(weights.shape == (12,), f"state_weights have shape {weights.shape}, want (12,)")
        _check(bool(np.all(weights >= 0)), f"state_weights={weights}, want none negative")
        _check(force_weight > 0 and friction > 0, f"{force_weight=} and {friction=}, want both positive")
        _check(0 <= force_min <= force_max, f"{force_min=}, {force_max=}, want 0 <= force_min <= force_max")
        self._cost = (weights, float(force_weight), *self._stencils)
        self._cone = active_set.friction_pyramid(friction, force_min, force_max)

    def _allocate(self, num_feet: int) -> None:
        n = 3 * num_feet
        horizon, legs = self.horizon, self.num_legs
        self._state, self._reference = np.zeros(12), np.zeros((horizon, 12))
        self._feet, self._contact = np.zeros((horizon, legs, 3)), np.zeros((horizon, legs), dtype=np.bool_)
        self._inputs = (self._state, self._feet, self._reference, self._contact)
        self._force_plan = np.zeros((horizon, legs, 3))
        stage, leg = np.zeros(num_feet, dtype=np.int64), np.zeros(num_feet, dtype=np.int64)
        # An odd number of cache lines (64 bytes) per row: with a power of two, rows would evict each other.
        row = 8 * ((n + 7) // 8 | 1)
        # stage, leg, maps, spread, adjoint, hessian, gradient
        self._build_work = (
            stage, leg, _aligned_zeros(9, row), _aligned_zeros(2, row), np.zeros((horizon, 6)),
            _aligned_zeros(n, row), np.zeros(n),
        )  # fmt: skip
        is_active = np.zeros(active_set.FACES * num_feet, dtype=np.bool_)
        # x, pivots, active, is_active, multipliers, columns, inverse, vectors; one more than n, as n rows can
        # be active while the next one is tried.
        self._solve_work = (
            np.zeros(n), np.zeros(n), np.zeros(n + 1, dtype=np.int64), is_active, np.zeros(n + 1),
            _aligned_zeros(n + 1, row), _aligned_zeros(n + 1, row), _aligned_zeros(3, row),
        )  # fmt: skip

    def solve(
        self, state: npt.ArrayLike, feet: npt.ArrayLike, reference: npt.ArrayLike, contact: npt.ArrayLike
    ) -> MpcSolution:
        """Forces that track `reference` (horizon, 12) from `state` (12,) with `contact` (horizon, legs).

        `feet` are foot minus centre of mass [m, world axes], (legs, 3) or, by stage, (horizon, legs, 3).
        Raises ValueError on wrong shapes only; whatever the values, the answer is a status.
        """
        self._load(np.asarray(state), np.asarray(feet), np.asarray(reference), np.asarray(contact))
        status, iterations = self._run()
        plan = self._force_plan.copy()
        return MpcSolution(plan[0], plan, iterations, MpcStatus(status))

    def _run(self) -> tuple[int, int]:
        return build_and_solve(
            self._plant, self._cost, self._cone, self._max_iterations,
            self._inputs, self._build_work, self._solve_work, self._force_plan,
        )  # fmt: skip

    def predict(self) -> Array:
        """States (horizon, 12) at the end of every stage under the last solve's force plan; for display."""
        return predict_states(
            self._state, self._feet, self._force_plan, self._inertia_inverse, self.mass, self.gravity, self.dt
        )

    def _load(
        self,
        state: npt.NDArray[np.generic],
        feet: npt.NDArray[np.generic],
        reference: npt.NDArray[np.generic],
        contact: npt.NDArray[np.generic],
    ) -> None:
        """Copy the inputs into fixed arrays, feet to every stage; shapes first, as the copies broadcast."""
        table = (self.horizon, self.num_legs)
        if state.shape != (12,) or reference.shape != (self.horizon, 12):
            raise ValueError(f"{state.shape=} and {reference.shape=}, want (12,) and ({self.horizon}, 12)")
        if contact.shape != table:
            raise ValueError(f"{contact.shape=}, want {table}")
        if feet.shape not in ((self.num_legs, 3), (*table, 3)):
            raise ValueError(f"{feet.shape=}, want {(self.num_legs, 3)} or {(*table, 3)}")
        self._state[:] = state
        self._feet[:] = feet
        self._reference[:] = reference
        self._contact[:] = contact


def _check(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(f"convex MPC: {message}")


def _aligned_zeros(rows: int, columns: int) -> Array:
    """Zeros (rows, columns) from a cache line on: 64 bytes, which is also the widest vector register."""
    memory = np.zeros(rows * columns + 8)
    start = -memory.ctypes.data % 64 // 8
    return memory[start : start + rows * columns].reshape(rows, columns)
