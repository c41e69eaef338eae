"""All speeds in one table, each beside its target: step times, MPC, estimator, messages, lock step, latency, losses.

Where a target is a ratio, both sides are measured in this run. Absolute times mean something on an idle machine only:
the load average is printed and stands in the JSON. The exit code says whether everything could be measured, not
whether it is fast.
"""

from __future__ import annotations

import procs  # isort: skip  # noqa: F401 - sets one BLAS thread before numpy is loaded

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from procs.runtime.bus import BusError
from procs.runtime.logs import LogError
from tools.bench_bridge import bench_bridge
from tools.bench_estimator import bench_estimator
from tools.bench_figures import Figure, figures
from tools.bench_lcm import bench_lock_step, bench_real_time
from tools.bench_messages import bench_messages
from tools.bench_mpc import SETS, bench_mpc
from tools.bench_rollout import bench_rollout, last_messages
from tools.bench_watchers import bench_watchers
from tools.launch import ROOT
from tools.record import cpu_kind, revision
from tools.scenario import bar

QUICK_SETS = ("trot_10", "mixed_10", "trot_20", "mixed_20")


@dataclass(frozen=True)
class Effort:
    """How long each part is measured."""

    rollout: float = 14.0  # s of simulation
    lock_step: float = 20.0
    real_time: float = 20.0  # s
    mpc_sets: tuple[str, ...] = SETS
    mpc_repeats: int = 3
    mpc_problems: int | None = None  # None: all
    estimator: int = 4000  # ticks
    messages: int = 2000  # repeats
    bridge: int = 4000  # ticks
    set_input_pos: float = 60.0  # s
    watchers: tuple[float, int] = (10.0, 2)  # s a round, rounds


FULL = Effort()
QUICK = Effort(3.0, 2.5, 3.0, QUICK_SETS, 1, 8, 300, 100, 300, 1.0, (2.5, 1))

Part = Callable[[Effort, argparse.Namespace, Callable[[float], None]], Any]

# Name -> (what is measured, length of its progress bar for an effort)
PARTS: dict[str, tuple[Part, Callable[[Effort], float]]] = {
    "rollout": (lambda e, a, p: bench_rollout(duration=e.rollout), lambda e: 1),
    "mpc": (
        lambda e, a, p: bench_mpc(e.mpc_sets, e.mpc_repeats, e.mpc_problems, p),
        lambda e: len(e.mpc_sets),
    ),
    "estimator": (lambda e, a, p: bench_estimator(ticks=e.estimator), lambda e: 1),
    "messages": (lambda e, a, p: bench_messages(last_messages(), e.messages), lambda e: 1),
    "bridge": (lambda e, a, p: bench_bridge(p, e.bridge, e.set_input_pos), lambda e: 1),
    "lock_step": (lambda e, a, p: bench_lock_step(e.lock_step, progress=p), lambda e: e.lock_step),
    "watchers": (lambda e, a, p: bench_watchers(*e.watchers, p), lambda e: 2 * e.watchers[0] * e.watchers[1]),
    "real_time": (lambda e, a, p: bench_real_time(e.real_time, a.rt, progress=p), lambda e: e.real_time),
}


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    return {
        "cpu": cpu_kind(),
        "cores": os.cpu_count(),
        "usable_cores": len(os.sched_getaffinity(0)),
        "load_average": list(os.getloadavg()),
        "system": platform.platform(),
        "python": platform.python_version(),
        "revision": revision(),
        "blas_threads": os.environ["OPENBLAS_NUM_THREADS"],
        "time": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
    }


def measure(names: list[str], effort: Effort, args: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Run the parts one after the other; what was measured before an interrupt is kept."""
    out: dict[str, Any] = {}
    with bar(console) as progress:
        whole = progress.add_task("bench", total=len(names))
        for name in names:
            part, length = PARTS[name]
            out[name] = _with_bar(progress, name, length(effort), lambda show, p=part: p(effort, args, show))  # type: ignore[misc]
            progress.advance(whole)
    return out


def _with_bar(progress: Progress, name: str, total: float, part: Callable[[Callable[[float], None]], Any]) -> Any:
    task = progress.add_task(name, total=total)
    try:
        return part(lambda done: progress.update(task, completed=done))
    finally:
        progress.remove_task(task)


def print_table(console: Console, rows: list[Figure], where: dict[str, Any]) -> None:
    """The figures beside their targets."""
    load = where["load_average"][0]
    title = f"{where['cpu']}, {where['cores']} cores, load {load:.2f}, revision {where['revision']}"
    table = Table(title=title, title_justify="left")
    for name in ("part", "figure", "value", "target", ""):
        table.add_column(name, justify="right" if name in ("value", "target") else "left")
    last = ""
    for row in rows:
        verdict = "" if row.met is None else "[green]met[/]" if row.met else "[red]not met[/]"
        table.add_row(row.part if row.part != last else "", row.name, row.text, row.target_text, verdict)
        last = row.part
    console.print(table)
    if load > 0.5:
        console.print("the machine was busy when this began: times, not ratios, are worse than they could be")


def parser() -> argparse.ArgumentParser:
    """Command line."""
    p = argparse.ArgumentParser(prog="python -m tools.bench", description=__doc__)
    p.add_argument("--quick", action="store_true", help="half a minute, to see that everything runs; figures are rough")
    p.add_argument("--minutes", type=float, default=0.0, metavar="N", help="walk in real time for N minutes on top")
    p.add_argument("--only", nargs="+", choices=tuple(PARTS), metavar="PART", help=f"of {', '.join(PARTS)}")
    p.add_argument("--rt", action="store_true", help="SCHED_FIFO for the real-time parts, where allowed")
    p.add_argument("--json", type=Path, default=ROOT / "build" / "bench.json", metavar="OUT")
    return p


def main() -> int:
    """Entry point."""
    args = parser().parse_args()
    console = Console(width=None if sys.stdout.isatty() else 120)
    effort = QUICK if args.quick else FULL
    where = machine()
    try:
        raw = measure(args.only or list(PARTS), effort, args, console)
        if args.minutes:
            with bar(console) as progress:
                seconds = 60.0 * args.minutes
                raw["long_walk"] = _with_bar(
                    progress, "long walk", seconds, lambda show: bench_real_time(seconds, args.rt, progress=show)
                )
    except (BusError, LogError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("bench: interrupted, nothing written", file=sys.stderr)
        return 130
    rows = figures(raw)
    print_table(console, rows, where)
    settings = {"quick": args.quick, "minutes": args.minutes, "rt": args.rt, **asdict(effort)}
    values = {"machine": where, "settings": settings, "figures": [row.as_dict() for row in rows], "raw": raw}
    args.json.parent.mkdir(parents=True, exist_ok=True)
    args.json.write_text(json.dumps(values, indent=1, allow_nan=False) + "\n")
    console.print(f"json     {args.json}", highlight=False, soft_wrap=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
