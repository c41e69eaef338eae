"""Convex MPC against stored exact forces, a numpy + daqp oracle, closed forms and optimality conditions."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from procs.controller.convex_mpc import ConvexMpc, MpcSolution, MpcStatus
from tests.controller.convex_mpc_oracle import (
    Problem,
    Settings,
    condensed,
    load_problems,
    oracle,
    yaw_rotation,
)

DATA = Path(__file__).parents[1] / "data" / "mpc_problems.npz"
SETS = ("trot_10", "mixed_10", "seq_10", "trot_20", "mixed_20", "trot_40")
EXACT = 1e-6  # N
FEET_4 = np.array([[x, y, -0.29] for x in (0.19, -0.19) for y in (-0.115, 0.115)])
FEET_6 = np.vstack((FEET_4, [[0.0, -0.14, -0.29], [0.0, 0.14, -0.29]]))
# Offset of every leg and stance duration, in tenths of the gait cycle; the last two legs are a hexapod's.
GAITS = {
    "trot": ((0, 5, 5, 0, 5, 0), 5),
    "bound": ((5, 5, 0, 0, 3, 3), 4),
    "pronk": ((0, 0, 0, 0, 0, 0), 4),
    "gallop": ((0, 2, 7, 9, 4, 6), 4),
    "stand": ((0, 0, 0, 0, 0, 0), 10),
    "trot_run": ((0, 5, 5, 0, 5, 0), 4),
    "walk": ((0, 3, 5, 8, 2, 7), 7),
    "pace": ((5, 0, 5, 0, 5, 0), 5),
}
FULL_INERTIA = np.array([[0.07, 0.01, -0.02], [0.01, 0.26, 0.015], [-0.02, 0.015, 0.242]])


def make_solver(config: Settings, legs: int = 4, horizon: int = 10, **changes) -> ConvexMpc:
    return ConvexMpc(num_legs=legs, horizon=horizon, **(config.solver_arguments() | changes))


def run(solver: ConvexMpc, problem: Problem) -> MpcSolution:
    return solver.solve(problem.state, problem.feet, problem.reference, problem.contact)


def standing(height: float = 0.29, roll: float = 0.0, legs: int = 4, horizon: int = 10) -> Problem:
    state, reference = np.zeros(12), np.zeros((horizon, 12))
    state[0], state[5], reference[:, 5] = roll, height, 0.29
    feet = FEET_4 if legs == 4 else FEET_6
    return Problem(state, feet, reference, np.ones((horizon, legs), dtype=bool))


def gait_table(gait: str, start: int, legs: int, horizon: int) -> np.ndarray:
    offsets, duration = GAITS[gait]
    steps = np.arange(horizon)[:, None] + start - np.array(offsets[:legs])
    return (steps % 10) < duration


def random_problem(seed: int, gait: str, legs: int, horizon: int, feet_by_stage: bool, dt: float) -> Problem:
    """A state far from a reference that moves and turns, with the feet somewhere below the hips."""
    rng = np.random.default_rng(seed)
    state = rng.normal(0, (0.1, 0.1, 0, 1, 1, 0.03, 0.6, 0.6, 0.6, 0.5, 0.5, 0.2))
    state[2], state[5] = rng.uniform(-3, 3), state[5] + 0.29
    rotation = yaw_rotation(state[2])
    velocity = rotation @ [rng.uniform(-0.8, 1.5), rng.uniform(-0.5, 0.5), 0]
    turn = rng.uniform(-1, 1)
    times = dt * np.arange(horizon)[:, None]
    reference = np.zeros((horizon, 12))
    reference[:, 2:3] = state[2] + times * turn
    reference[:, 3:6] = [*state[3:5], 0.29] + times * velocity
    reference[:, 8], reference[:, 9:12] = turn, velocity
    feet = ((FEET_4 if legs == 4 else FEET_6) + rng.normal(0, 0.03, (legs, 3))) @ rotation.T
    if feet_by_stage:
        feet = feet - (times * velocity)[:, None, :]
    return Problem(state, feet, reference, gait_table(gait, int(rng.integers(10)), legs, horizon))


def assert_optimal(config: Settings, problem: Problem, plan: np.ndarray) -> None:
    """Feasible, and no descent direction: the gradient is in the cone of the active rows, foot by foot."""
    hessian, gradient, kept = condensed(config, problem)
    forces = plan.ravel()[kept]
    assert np.count_nonzero(np.delete(plan.ravel(), kept)) == 0
    slope = (hessian @ forces + gradient).reshape(-1, 3)
    mu = config.friction
    rows = np.array([[1, 0, mu], [-1, 0, mu], [0, 1, mu], [0, -1, mu], [0, 0, -1.0], [0, 0, 1.0]])
    limits = np.array([0, 0, 0, 0, -config.force_max, config.force_min])
    for force, derivative in zip(forces.reshape(-1, 3), slope, strict=True):
        slack = rows @ force - limits
        assert slack.min() > -1e-7
        active = rows[slack < 1e-6]
        if len(active) == 0:
            assert np.abs(derivative).max() < 1e-6
        else:
            assert nonnegative_residual(active, derivative) < 1e-6


def nonnegative_residual(rows: np.ndarray, target: np.ndarray) -> float:
    """min |rows' m - target| over m >= 0, for a few rows in three dimensions: by trying every subset."""
    best = float(np.abs(target).max())
    for mask in range(1, 2 ** len(rows)):
        chosen = rows[[bool(mask >> k & 1) for k in range(len(rows))]]
        multipliers = np.linalg.lstsq(chosen.T, target)[0]
        if multipliers.min() > -1e-7:
            best = min(best, float(np.abs(chosen.T @ multipliers - target).max()))
    return best


@pytest.mark.parametrize("name", SETS)
def test_stored_problems_have_the_stored_exact_forces_and_the_oracles_plan(name: str) -> None:
    stored = load_problems(DATA, name)
    horizon = len(stored[0].problem.reference)
    solvers: dict[float, ConvexMpc] = {}
    for item in stored:
        key = item.settings.dt
        if key not in solvers:
            solvers[key] = make_solver(item.settings, 4, horizon)
        solution = run(solvers[key], item.problem)
        assert solution.status == MpcStatus.SOLVED
        np.testing.assert_allclose(solution.forces, item.forces, rtol=0, atol=EXACT)
        plan = oracle(item.settings, item.problem)
        np.testing.assert_allclose(solution.force_plan, plan, rtol=0, atol=EXACT)


@pytest.mark.parametrize("feet_by_stage", [False, True])
@pytest.mark.parametrize("legs", [4, 6])
def test_random_problems_of_all_gaits_match_the_oracle(legs: int, feet_by_stage: bool) -> None:
    horizon = 10
    config = Settings(inertia=FULL_INERTIA, force_min=2.0 if feet_by_stage else 0.0)
    solver = make_solver(config, legs, horizon)
    constrained = 0
    for seed in range(250):
        gait = list(GAITS)[seed % len(GAITS)]
        problem = random_problem(seed, gait, legs, horizon, feet_by_stage, config.dt)
        solution = run(solver, problem)
        assert solution.status == MpcStatus.SOLVED
        np.testing.assert_allclose(solution.force_plan, oracle(config, problem), rtol=0, atol=EXACT)
        np.testing.assert_array_equal(solution.forces, solution.force_plan[0])
        constrained += solution.iterations > 0
    assert constrained > 50


@pytest.mark.parametrize(("height", "force"), [(0.29, 24.117), (0.28, 28.140)])
def test_standing_forces_are_the_closed_form_ones(height: float, force: float) -> None:
    forces = run(make_solver(Settings()), standing(height)).forces
    np.testing.assert_allclose(forces[:, 2], force, atol=5e-4)
    np.testing.assert_allclose(forces[:, :2], 0, atol=1e-9)


def test_a_roll_error_loads_the_right_feet_and_pushes_sideways() -> None:
    forces = run(make_solver(Settings()), standing(roll=0.02)).forces
    np.testing.assert_allclose(forces[:, 2], [24.3696, 23.8644, 24.3696, 23.8644], atol=5e-5)
    np.testing.assert_allclose(forces[:, 1], -0.4035, atol=5e-5)


def test_a_trotting_pair_carries_the_body() -> None:
    problem = replace(standing(), contact=gait_table("trot", 0, 4, 10))
    forces = run(make_solver(Settings()), problem).forces
    np.testing.assert_allclose(forces[:, 2], [50.350, 0, 0, 50.350], atol=5e-4)


def test_one_foot_over_one_stage_has_the_scalar_solution() -> None:
    """Only z velocity weighted, foot below: fz = w dt (v_ref + g dt) / (m (w dt^2 / m^2 + alpha))."""
    weights = np.zeros(12)
    weights[11] = 3.0
    solver = ConvexMpc(
        num_legs=1, horizon=1, dt=0.1, mass=2.0, inertia=np.eye(3), state_weights=weights, force_weight=0.01,
        friction=0.5, force_max=1e3, gravity=10.0,
    )  # fmt: skip
    reference = np.zeros((1, 12))
    reference[0, 11] = 0.5
    forces = solver.solve(np.zeros(12), np.array([[0, 0, -0.3]]), reference, [[True]]).forces
    expected = 3.0 * 0.1 * (0.5 + 10.0 * 0.1) / 2.0 / (3.0 * 0.1**2 / 2.0**2 + 0.01)
    np.testing.assert_allclose(forces, [[0, 0, expected]], atol=1e-9)


def test_feet_that_repeat_by_stage_change_nothing() -> None:
    config = Settings()
    problem = random_problem(3, "walk", 4, 10, False, config.dt)
    repeated = replace(problem, feet=np.tile(problem.feet, (10, 1, 1)))
    solver = make_solver(config)
    np.testing.assert_array_equal(run(solver, problem).force_plan, run(solver, repeated).force_plan)


def test_turning_the_world_turns_the_forces_and_nothing_else() -> None:
    weights = (0.25, 0.25, 10, 2, 2, 50, 0.1, 0.1, 0.3, 0.2, 0.2, 0.1)
    config = Settings(inertia=FULL_INERTIA, state_weights=weights, friction=0.1)
    problem = replace(standing(0.27, 0.05), contact=gait_table("trot", 2, 4, 10))
    problem.state[6:12] = [0.3, -0.2, 0.1, 0.5, -0.3, 0.0]
    turn = yaw_rotation(np.pi / 2)
    state, reference = problem.state.copy(), problem.reference.copy()
    state[2], reference[:, 2] = np.pi / 2, np.pi / 2
    state[6:9], state[9:12] = turn @ state[6:9], turn @ state[9:12]
    turned = Problem(state, problem.feet @ turn.T, reference, problem.contact)
    solver = make_solver(config)
    first, second = run(solver, problem), run(solver, turned)
    assert first.iterations > 0
    np.testing.assert_allclose(second.force_plan, first.force_plan @ turn.T, rtol=0, atol=EXACT)


@given(
    seed=st.integers(0, 2**32 - 1),
    gait=st.sampled_from(sorted(GAITS)),
    legs=st.sampled_from([4, 6]),
    friction=st.floats(0.05, 1.5),
    bounds=st.sampled_from([(0.0, 120.0), (5.0, 40.0), (10.0, 10.0), (0.0, 0.0), (0.0, 25.0)]),
    feet_by_stage=st.booleans(),
)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_every_solution_is_feasible_and_optimal(
    seed: int, gait: str, legs: int, friction: float, bounds: tuple[float, float], feet_by_stage: bool
) -> None:
    config = Settings(friction=friction, force_min=bounds[0], force_max=bounds[1], inertia=FULL_INERTIA)
    problem = random_problem(seed, gait, legs, 8, feet_by_stage, config.dt)
    solution = run(make_solver(config, legs, 8), problem)
    assert solution.status == MpcStatus.SOLVED
    assert_optimal(config, problem, solution.force_plan)


@given(st.integers(0, 2**32 - 1), st.floats(0.0, 1.0))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_any_contact_table_is_solved_exactly(seed: int, share: float) -> None:
    config = Settings()
    contact = np.random.default_rng(seed).random((7, 4)) < share
    problem = replace(random_problem(seed, "stand", 4, 7, True, config.dt), contact=contact)
    solution = run(make_solver(config, 4, 7), problem)
    assert solution.status == MpcStatus.SOLVED
    np.testing.assert_allclose(solution.force_plan, oracle(config, problem), rtol=0, atol=EXACT)


def test_no_foot_in_contact_gives_zero_forces_and_a_free_fall() -> None:
    solver = make_solver(Settings())
    run(solver, standing())
    solution = run(solver, replace(standing(), contact=np.zeros((10, 4), dtype=np.uint8)))
    assert solution.status == MpcStatus.SOLVED
    assert not solution.force_plan.any()
    fall = 0.29 - 0.5 * 9.8 * (10 * 0.026) ** 2
    np.testing.assert_allclose(solver.predict()[-1, 5], fall, atol=1e-12)


def test_swing_feet_at_the_first_stage_carry_nothing_but_later_stages_do() -> None:
    contact = np.ones((10, 4), dtype=bool)
    contact[0] = False
    solution = run(make_solver(Settings()), replace(standing(), contact=contact))
    assert not solution.forces.any()
    assert (solution.force_plan[1:, :, 2] > 1).all()


def test_prediction_is_the_state_that_the_oracles_model_reaches() -> None:
    config = Settings(inertia=FULL_INERTIA)
    problem = random_problem(11, "gallop", 4, 10, True, config.dt)
    solver = make_solver(config)
    plan = run(solver, problem).force_plan
    states = solver.predict()
    errors = states - problem.reference
    cost = np.sum(np.asarray(config.state_weights) * errors**2) + config.force_weight * np.sum(plan**2)
    hessian, gradient, kept = condensed(config, problem)
    forces = plan.ravel()[kept]
    run(solver, replace(problem, contact=np.zeros((10, 4))))
    free = np.sum(np.asarray(config.state_weights) * (solver.predict() - problem.reference) ** 2)
    np.testing.assert_allclose(cost, free + 0.5 * forces @ hessian @ forces + gradient @ forces, rtol=1e-10)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("field", ["state", "feet", "reference"])
def test_an_input_that_is_not_finite_gives_a_status_and_zeros(field: str, bad: float) -> None:
    problem = standing()
    values = getattr(problem, field).copy()
    values.flat[-1] = bad
    solver = make_solver(Settings())
    solution = run(solver, replace(problem, **{field: values}))
    assert solution.status == MpcStatus.NOT_FINITE
    assert not solution.force_plan.any()
    assert run(solver, problem).forces[0, 2] == pytest.approx(24.117, abs=5e-4)


def test_finite_inputs_that_overflow_give_a_status_and_zeros() -> None:
    solver = make_solver(Settings())
    before = run(solver, standing(0.2)).force_plan
    far = replace(standing(), state=np.full(12, 1e308))
    wide = replace(standing(), feet=np.full((4, 3), 1e200))
    for problem, status in ((far, MpcStatus.NOT_FINITE), (wide, MpcStatus.NOT_POSITIVE_DEFINITE)):
        solution = run(solver, problem)
        assert solution.status == status
        assert not solution.force_plan.any()
        np.testing.assert_array_equal(run(solver, standing(0.2)).force_plan, before)


def test_the_iteration_limit_gives_a_status_and_zeros() -> None:
    problem = standing(0.2)
    config = Settings(force_max=20.0)
    needed = run(make_solver(config), problem).iterations
    assert needed > 1
    solution = run(make_solver(config, max_iterations=needed - 1), problem)
    assert solution.status == MpcStatus.ITERATION_LIMIT
    assert solution.iterations == needed - 1
    assert not solution.forces.any() and not solution.force_plan.any()
    assert run(make_solver(config, max_iterations=needed), problem).status == MpcStatus.SOLVED


def test_a_solution_survives_the_next_solve_and_solves_repeat_bit_for_bit() -> None:
    config = Settings()
    solver = make_solver(config)
    problem = random_problem(5, "trot", 4, 10, False, config.dt)
    first = run(solver, problem)
    kept = first.force_plan.copy()
    run(solver, standing(0.2))
    np.testing.assert_array_equal(first.force_plan, kept)
    np.testing.assert_array_equal(run(solver, problem).force_plan, kept)


@pytest.mark.parametrize(
    "changes",
    [
        {"state": np.zeros(13)},
        {"feet": np.zeros((3, 3))},
        {"feet": np.zeros((9, 4, 3))},
        {"reference": np.zeros((9, 12))},
        {"contact": np.ones((10, 5))},
    ],
)
def test_wrong_shapes_are_refused(changes: dict) -> None:
    with pytest.raises(ValueError, match="want"):
        run(make_solver(Settings()), replace(standing(), **changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"dt": 0.0},
        {"mass": np.nan},
        {"inertia": np.diag([1.0, 1.0, 0.0])},
        {"state_weights": np.ones(13)},
        {"state_weights": -np.ones(12)},
        {"force_weight": 0.0},
        {"friction": 0.0},
        {"force_min": 10.0, "force_max": 5.0},
    ],
)
def test_settings_without_a_solution_are_refused(changes: dict) -> None:
    with pytest.raises(ValueError, match="want"):
        make_solver(Settings(), **changes)
