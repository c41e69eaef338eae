"""Time of the convex MPC, build and solve, against plain numpy + daqp on the stored problems, in one run.

Both sides solve the same problem in turn, so ratios hold on a busy machine. The figure of a problem is the
best of a few repeats; no solve is warm-started. Run from the repository root: `python -m tools.bench_mpc`.
"""

import os

for _library in ("OMP", "OPENBLAS", "MKL"):
    # One thread: these matrices are too small to share, and the controller has one core.
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

from collections.abc import Callable  # noqa: E402
from pathlib import Path  # noqa: E402
from time import perf_counter  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

from procs.controller.convex_mpc import ConvexMpc  # noqa: E402
from procs.controller.convex_mpc.solver import build  # noqa: E402
from tests.controller.convex_mpc_oracle import StoredProblem, condensed, load_problems, solve_qp  # noqa: E402

PROBLEMS = Path(__file__).parents[1] / "tests" / "data" / "mpc_problems.npz"
SETS = ("trot_10", "seq_10", "mixed_10", "trot_20", "mixed_20", "trot_40")
REPEATS = 3


def best_us(call: Callable[[], Any], repeats: int) -> float:
    """Shortest of a few calls [us]."""
    best = np.inf
    for _ in range(repeats):
        start = perf_counter()
        call()
        best = min(best, perf_counter() - start)
    return 1e6 * best


def time_problem(mpc: ConvexMpc, stored: StoredProblem, repeats: int) -> tuple[float, float, float, float]:
    """Our build and total, the baseline's build and QP [us]."""
    problem, settings = stored.problem, stored.settings
    arguments = (problem.state, problem.feet, problem.reference, problem.contact)

    def our_build() -> None:
        mpc._load(*arguments)
        build(mpc._plant, mpc._cost, mpc._inputs, mpc._build_work)

    hessian, gradient, _ = condensed(settings, problem)
    return (
        best_us(our_build, repeats),
        best_us(lambda: mpc.solve(*arguments), repeats),
        best_us(lambda: condensed(settings, problem), repeats),
        best_us(lambda: solve_qp(settings, hessian, gradient), repeats),
    )


def summary(values: np.ndarray) -> dict[str, float]:
    """Median and worst over the problems."""
    return {"median": float(np.median(values)), "worst": float(np.max(values))}


def bench_set(name: str, repeats: int, limit: int | None = None) -> dict[str, Any]:
    """Times [us] of one stored set (its first `limit` problems), and their ratios."""
    stored = load_problems(PROBLEMS, name)[:limit]
    solvers: dict[float, ConvexMpc] = {}
    times = []
    for item in stored:
        dt = item.settings.dt
        if dt not in solvers:
            legs, horizon = len(item.problem.feet), len(item.problem.reference)
            solvers[dt] = ConvexMpc(num_legs=legs, horizon=horizon, **item.settings.solver_arguments())
            time_problem(solvers[dt], item, 1)
        times.append(time_problem(solvers[dt], item, repeats))
    our_build, our_total, base_build, base_qp = np.array(times).T
    ours = {"build": summary(our_build), "solve": summary(our_total - our_build), "total": summary(our_total)}
    total = base_build + base_qp
    baseline = {"build": summary(base_build), "solve": summary(base_qp), "total": summary(total)}
    return {
        "ours_us": ours,
        "baseline_us": baseline,
        "speedup_median": baseline["total"]["median"] / ours["total"]["median"],
        "our_worst_over_baseline_median": ours["total"]["worst"] / baseline["total"]["median"],
    }


def bench_mpc(
    sets: tuple[str, ...] = SETS,
    repeats: int = REPEATS,
    limit: int | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> dict[str, Any]:
    """Per stored set: times of ours and the baseline (build, solve, total; median, worst), and ratios."""
    out = {}
    for k, name in enumerate(sets):
        out[name] = bench_set(name, repeats, limit)
        progress(k + 1)
    return out


def main() -> None:
    """Print the table."""
    print("median / worst [us]  build          solve           total      numpy + daqp  speed-up  worst/base")
    for name, result in bench_mpc().items():
        ours, base = result["ours_us"], result["baseline_us"]["total"]
        columns = [ours["build"], ours["solve"], ours["total"], base]
        cells = [f"{cell['median']:6.1f} /{cell['worst']:7.1f}" for cell in columns]
        ratios = f"{result['speedup_median']:7.1f}x {result['our_worst_over_baseline_median']:8.2f}"
        print(f"{name:12}", *cells, ratios)


if __name__ == "__main__":
    main()
