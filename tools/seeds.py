"""Every scenario with many seeds in parallel processes: how many hold, and the worst figure of each expectation.

Exit code 0: every scenario holds for at least nine of ten seeds; 1: not; 130: interrupted (what is there is printed).
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import signal
import sys
import time
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from config.load import ConfigError, scenario_names
from config.scenario import Bounds, Scenario
from tools.metrics import lookup
from tools.scenario import bar, load, run_one, write_json
from tools.tables import number

ENOUGH = 0.9  # of the seeds


@dataclass(frozen=True)
class Case:
    """A scenario, or a variant of one."""

    name: str
    file: str
    overrides: tuple[str, ...] = ()


VARIANTS = (
    Case("trot_1_0, delay 1 tick", "trot_1_0", ("plant.delay_ticks=1",)),
    Case("push, in place", "push", ("commands.2.vx=0",)),
)


def cases(names: list[str]) -> list[Case]:
    """What is asked for; without names every scenario file and all variants."""
    if names:
        return [Case(Path(name).stem, name) for name in names]
    return [*(Case(name, name) for name in scenario_names()), *VARIANTS]


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def run_case(case: Case, overrides: list[str], seed: int) -> dict[str, Any]:
    """One run in a worker; an exception counts as a failure with its text."""
    try:
        return run_one(case.file, None, [*case.overrides, *overrides], seed, None)
    except Exception as error:  # any: one bad run must not end the sweep
        text = f"{type(error).__name__}: {error}"
        return {"scenario": case.name, "seed": seed, "passed": False, "failures": [text], "error": text}


def needed(seeds: int) -> int:
    """Seeds that must pass."""
    return math.ceil(ENOUGH * seeds - 1e-9)


def worst(scenario: Scenario, results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Per expectation the figure nearest to, or farthest beyond, its bound over all seeds."""
    rows: list[dict[str, Any]] = []
    for path, want in scenario.expect.items():
        got = [_value(r, path) for r in results]
        numbers = [x for x in got if isinstance(x, int | float) and not isinstance(x, bool)]
        if not isinstance(want, Bounds):
            rows.append({"metric": path, "bound": want, "worst": f"{got.count(want)} of {len(got)}"})
            continue
        for side, pick in (("max", max), ("min", min)):
            bound = getattr(want, side)
            if bound is not None:
                figure = pick(numbers) if numbers else None
                missing = len(got) - len(numbers)
                rows.append({"metric": path, "bound": {side: bound}, "worst": figure, "missing": missing})
    return rows


def _value(result: dict[str, Any], path: str) -> object:
    try:
        return lookup(result, path)
    except KeyError:
        return None


def summary(case: Case, scenario: Scenario, results: list[dict[str, Any]]) -> dict[str, Any]:
    """One case's line of the table and of the JSON."""
    results = sorted(results, key=lambda r: r["seed"])
    passed = sum(r["passed"] for r in results)
    return {
        "case": case.name,
        "scenario": scenario.name,
        "overrides": list(case.overrides),
        "seeds": len(results),
        "passed": passed,
        "holds": bool(results) and passed >= needed(len(results)),
        "worst": worst(scenario, results),
        "failures": {str(r["seed"]): r["failures"] for r in results if not r["passed"]},
        "results": results,
    }


def sweep(
    todo: list[Case], overrides: list[str], seeds: int, jobs: int, console: Console
) -> tuple[list[dict[str, Any]], bool]:
    """Run all seeds of all cases, longest first; summaries of what was run, and whether it was interrupted."""
    scenarios = {case: load(case.file, None, [*case.overrides, *overrides])[0] for case in todo}
    results: dict[Case, list[dict[str, Any]]] = {case: [] for case in todo}
    work = [(case, seed) for case in todo for seed in range(1, seeds + 1)]
    work.sort(key=lambda item: -scenarios[item[0]].duration)
    interrupted = False
    context = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(jobs, mp_context=context, initializer=_leave_interrupts_to_the_parent) as pool,
        bar(console) as progress,
    ):
        total = sum(scenarios[case].duration for case, _ in work)
        task = progress.add_task(f"{len(work)} runs", total=total)
        try:
            futures: dict[Future[dict[str, Any]], Case] = {
                pool.submit(run_case, case, overrides, seed): case for case, seed in work
            }
            for future in as_completed(futures):
                case = futures[future]
                results[case].append(future.result())
                progress.advance(task, scenarios[case].duration)
                if len(results[case]) == seeds:
                    passed = sum(r["passed"] for r in results[case])
                    console.print(f"{case.name}: {passed} of {seeds}", highlight=False)
        except KeyboardInterrupt:
            interrupted = True
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in multiprocessing.active_children():
                worker.terminate()
    return [summary(case, scenarios[case], results[case]) for case in todo if results[case]], interrupted


def bound_text(bound: object) -> str:
    """A bound as in the scenario's file."""
    if isinstance(bound, dict):
        return " ".join(f"{'<=' if side == 'max' else '>='} {number(x)}" for side, x in bound.items())
    return str(bound).lower() if isinstance(bound, bool) else number(bound)


def print_table(console: Console, rows: list[dict[str, Any]]) -> None:
    """All cases with the worst figure of each expectation, then the failures in words."""
    table = Table(title="seeds that hold, and the worst figure of each expectation", title_justify="left")
    table.add_column("scenario")
    table.add_column("passed", justify="right")
    for name in ("expectation", "worst", "bound"):
        table.add_column(name, justify="left" if name == "expectation" else "right")
    for row in rows:
        colour = "green" if row["holds"] else "red"
        head = (row["case"], f"[{colour}]{row['passed']}/{row['seeds']}[/]")
        for k, item in enumerate(row["worst"] or [{}]):
            missing = f" ({item['missing']} without)" if item.get("missing") else ""
            figure = f"{number(item.get('worst'))}{missing}"
            table.add_row(
                *(head if k == 0 else ("", "")), item.get("metric", "-"), figure, bound_text(item.get("bound"))
            )
    console.print(table)
    for row in rows:
        for seed, failures in row["failures"].items():
            for failure in failures:
                console.print(f"[red]{row['case']} seed {seed}[/]  {failure}", highlight=False)


def parser() -> argparse.ArgumentParser:
    """Command line."""
    p = argparse.ArgumentParser(prog="python -m tools.seeds", description=__doc__)
    p.add_argument(
        "scenarios", nargs="*", help="names or YAML files (default: all of config/scenarios and the variants)"
    )
    p.add_argument("--seeds", type=int, default=10, metavar="N", help="seeds 1..N of each (default 10)")
    p.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="worker processes (default: one per core)")
    p.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="for every scenario or its robot")
    p.add_argument("--json", metavar="OUT", help="write summaries and all metrics")
    return p


def main() -> int:
    """Entry point."""
    args = parser().parse_args()
    if args.seeds < 1 or args.jobs < 1:
        parser().error("--seeds and --jobs need at least 1")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a shell has it ignored for us
    console = Console(width=None if sys.stdout.isatty() else 120)
    begin = time.perf_counter()
    try:
        rows, interrupted = sweep(cases(args.scenarios), args.set, args.seeds, args.jobs, console)
    except ConfigError as error:
        print(f"seeds: {error}", file=sys.stderr)
        return 2
    print_table(console, rows)
    runs = sum(row["seeds"] for row in rows)
    held = sum(row["holds"] for row in rows)
    minutes = (time.perf_counter() - begin) / 60
    console.print(f"{held} of {len(rows)} scenarios hold; {runs} runs in {minutes:.1f} min", highlight=False)
    write_json(args.json, rows)
    if interrupted:
        console.print("interrupted: the table holds what had been run")
        return 130
    return 0 if held == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
