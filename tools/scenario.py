"""Run a scenario: what is commanded, what disturbs, what must come out.

Exit code 0: all expectations hold; 1: not met; 2: bad file or usage.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import signal
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from config.load import ConfigError
from config.problems import Problem
from config.scenario import BUS_KINDS, Scenario
from procs.model.robot import Robot
from procs.runtime.bus import BusError
from procs.runtime.logs import LogError
from tools.inputs import load
from tools.metrics import USED, failures, metrics
from tools.progress import bar
from tools.recording import Recording
from tools.stack import PLANTS, plant_of, rollout
from tools.tables import print_result, print_sweep
from tools.video import VIEWS, Video, VideoError


def result(
    scenario: Scenario, robot: Robot, recording: Recording, runner: str, seed: int, wall: float
) -> dict[str, Any]:
    """The dictionary that --json writes."""
    values = metrics(scenario, robot, recording)
    sim_time = scenario.duration
    head = {"scenario": scenario.name, "robot": robot.name, "runner": runner, "seed": seed}
    missed = failures(scenario, values)
    return {
        **head,
        "passed": not missed,
        "failures": missed,
        "sim_time_s": sim_time,
        "wall_time_s": wall,
        "real_time_factor": sim_time / wall,
        **values,
    }


def run_one(
    path: str, robot_name: str | None, overrides: list[str], seed: int | None, log: str | None,
    plant: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    """One rollout in this process; also what worker processes of a sweep run."""
    scenario, description, _ = load(path, robot_name, overrides)
    robot = Robot(description)
    seed = scenario.seed if seed is None else seed
    begin = time.perf_counter()
    plant = _plant(scenario, plant)
    recording = rollout(scenario, robot, seed=seed, log=Path(log) if log else None, keep=USED, plant=plant)
    return result(scenario, robot, recording, _named("rollout", plant), seed, time.perf_counter() - begin)


def _plant(scenario: Scenario, asked: str | None) -> str:
    """What the scenario runs on; ConfigError where that cannot do its faults."""
    needed = plant_of(scenario)
    if asked == "sim" and needed != "sim":
        kinds = ", ".join(sorted({f.kind for f in scenario.faults if f.kind in BUS_KINDS}))
        raise ConfigError(
            f"scenario {scenario.name}", [Problem("faults", kinds, "the simulator has no bus: use --plant emulated")]
        )
    return asked or needed


def _named(runner: str, plant: str) -> str:
    return runner if plant == "sim" else f"{runner}, {plant}"


def sweep(args: argparse.Namespace, console: Console) -> int:
    """Seeds in parallel processes: pass rate and spread of every metric."""
    results = []
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a shell has it ignored for us
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), mp_context=context, initializer=_ignore_interrupt) as pool:
        given = args.file, args.robot, args.set
        jobs = [pool.submit(run_one, *given, seed, None, args.plant) for seed in range(1, args.seeds + 1)]
        with bar(console) as progress:
            task = progress.add_task("seeds", total=len(jobs))
            try:
                for job in as_completed(jobs):
                    results.append(job.result())
                    progress.advance(task)
            except KeyboardInterrupt:
                pool.shutdown(wait=False, cancel_futures=True)
                for worker in multiprocessing.active_children():
                    worker.terminate()
                console.print(f"interrupted after {len(results)} of {args.seeds} seeds")
    results.sort(key=lambda r: r["seed"])
    if results:
        print_sweep(console, results)
        write_json(args.json, results)
    return 0 if len(results) == args.seeds and all(r["passed"] for r in results) else 1


def _ignore_interrupt() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def write_json(path: str | None, values: object) -> None:
    """Write metrics; NaN cannot occur (a null stands for what is missing)."""
    if path:
        Path(path).write_text(json.dumps(values, indent=1, allow_nan=False, default=_plain) + "\n")


def _plain(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} in the metrics")


def single(args: argparse.Namespace, console: Console) -> int:
    """One run with progress and a table."""
    scenario, description, for_robot = load(args.file, args.robot, args.set)
    robot = Robot(description)
    seed = scenario.seed if args.seed is None else args.seed
    plant = _plant(scenario, args.plant)
    log = Path(args.log) if args.log else None
    interrupted: list[bool] = []
    signal.signal(signal.SIGINT, lambda *_: interrupted.append(True))
    video = Video(Path(args.video), robot, args.camera or VIEWS[0]) if args.video else None
    begin = time.perf_counter()
    with video or contextlib.nullcontext(), bar(console) as progress:
        task = progress.add_task(scenario.name, total=scenario.duration)

        def show(t: float) -> None:
            progress.update(task, completed=t)

        if args.runner == "lcm":
            from tools.lcm_run import run_over_lcm  # noqa: PLC0415 - starts processes; only where it is asked for

            recording = run_over_lcm(
                scenario,
                robot,
                args.robot or scenario.robot,
                for_robot,
                seed=seed,
                log=log,
                gui=args.gui,
                progress=show,
                stop=lambda: bool(interrupted),
                url=args.lcm_url,
                plant=plant,
            )
        else:
            recording = rollout(
                scenario,
                robot,
                seed=seed,
                log=log,
                gui=args.gui,
                progress=show,
                stop=lambda: bool(interrupted),
                watch=video.watch if video else None,
                plant=plant,
            )
    values = result(scenario, robot, recording, _named(args.runner, plant), seed, time.perf_counter() - begin)
    if interrupted:
        values["passed"] = False
        values["failures"].insert(0, "interrupted")
    print_result(console, values)
    if log:
        console.print(f"log      {log}")
    if args.report and log:
        from tools.report.build import report  # noqa: PLC0415 - only here

        Path(args.report).write_text(report(log)[0], encoding="utf-8")
        console.print(f"report   {args.report}", highlight=False, soft_wrap=True)
    if video:
        console.print(f"video    {video.out}, {video.frames} frames", highlight=False, soft_wrap=True)
    write_json(args.json, values)
    return 0 if values["passed"] else 1


def parser() -> argparse.ArgumentParser:
    """Command line."""
    p = argparse.ArgumentParser(prog="python -m tools.scenario", description=__doc__)
    p.add_argument("file", help="a YAML file, or a name in config/scenarios")
    p.add_argument("--robot", help="instead of the scenario's robot")
    p.add_argument(
        "--runner",
        choices=("rollout", "lcm"),
        default="rollout",
        help="all in one process, or separate processes over LCM in lock step",
    )
    seeds = p.add_mutually_exclusive_group()
    seeds.add_argument("--seed", type=int)
    seeds.add_argument("--seeds", type=int, metavar="N", help="seeds 1..N in parallel processes")
    p.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override of the robot (control.mpc.horizon=8) or the scenario (plant.friction=0.4)",
    )
    p.add_argument("--json", metavar="OUT", help="write the metrics")
    p.add_argument("--log", metavar="OUT.lcmlog", help="write an LCM event log")
    p.add_argument("--report", metavar="OUT.html", help="why did it fall? one page about the run (with --log)")
    p.add_argument("--video", metavar="OUT.mp4", help="film the run (OUT.gif: a small animation); rollout runner only")
    p.add_argument("--camera", choices=VIEWS, help=f"of --video (default: {VIEWS[0]}; leg: close to the first leg)")
    p.add_argument("--gui", action="store_true", help="PyBullet's window")
    p.add_argument(
        "--plant",
        choices=PLANTS,
        help="the simulator, or the hardware bridge on emulated boards and motors (default: what the scenario needs)",
    )
    p.add_argument("--lcm-url", help="for --runner lcm (default: a private group)")
    return p


def main() -> int:
    """Entry point."""
    args = parser().parse_args()
    console = Console()
    try:
        if args.video and (args.runner != "rollout" or args.seeds is not None):
            parser().error("--video needs the rollout runner and a single run, without --seeds")
        if args.report and not args.log:
            parser().error("--report needs --log")
        if args.camera and not args.video:
            parser().error("--camera belongs to --video")
        if args.seeds is not None:
            if args.seeds < 1 or args.runner != "rollout" or args.log or args.gui:
                parser().error("--seeds N needs N >= 1 and the rollout runner, without --log and --gui")
            return sweep(args, console)
        return single(args, console)
    except (ConfigError, BusError, LogError, VideoError) as error:
        print(f"scenario: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
