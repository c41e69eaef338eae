"""The main job: bring up all processes, walk the scenario over LCM, show what happens, leave a log and a picture."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from config.load import ConfigError
from procs.model.robot import Robot
from procs.runtime.bus import BusError
from procs.runtime.logs import LogError
from tools.launch import ROOT
from tools.lcm_run import Watch, run_over_lcm
from tools.picture import draw
from tools.scenario import load, result
from tools.tables import print_result


def status(watch: Watch, duration: float) -> Table:
    """One line: time, bar, mode, gait, processes."""
    table = Table.grid(padding=(0, 2))
    mode = watch.mode
    said = (
        f"{mode.mode}{' (busy)' if mode.busy else ''} {mode.gait if mode.mode == 'walk' else ''}"
        if mode
        else "starting"
    )
    running = " ".join(sorted(n for n, h in watch.health.items() if h.state in ("running", "paused")))
    table.add_row(
        f"{watch.t:5.1f} of {duration:g} s",
        ProgressBar(duration, watch.t, width=24),
        f"[bold]{said}[/]",
        f"{watch.speed[0]:+.2f} {watch.speed[1]:+.2f} m/s",
        f"[dim]{running}[/]",
    )
    return table


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m tools.walk", description=__doc__)
    parser.add_argument("--scenario", default="walk")
    parser.add_argument("--robot", help="instead of the scenario's")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--gui", action="store_true", help="PyBullet's window, at real time")
    parser.add_argument("--real-time", action="store_true", help="a tick every 2 ms instead of lock step")
    parser.add_argument("--lcm-url", help="default: a private multicast group")
    parser.add_argument("--out", type=Path, help="log file (default: logs/<scenario>_<date>_<time>.lcmlog)")
    args = parser.parse_args()
    console = Console()
    interrupted: list[int] = []
    for sig in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sig, lambda number, _frame: interrupted.append(number))
    try:
        scenario, description, for_robot = load(args.scenario, args.robot, args.set)
        robot = Robot(description)
        seed = scenario.seed if args.seed is None else args.seed
        log = args.out or ROOT / "logs" / f"{scenario.name}_{time.strftime('%Y%m%d_%H%M%S')}.lcmlog"
        console.print(f"[bold]{description.title}[/]: {scenario.doc or scenario.name}")
        begin = time.perf_counter()
        with Live(console=console, refresh_per_second=8, transient=True) as live:
            recording = run_over_lcm(
                scenario, robot, args.robot or scenario.robot, for_robot, seed=seed, log=log, gui=args.gui,
                pace="1" if args.gui else "max", real_time=args.real_time, url=args.lcm_url,
                stop=lambda: bool(interrupted), observe=lambda w: live.update(status(w, scenario.duration)),
            )  # fmt: skip
        values = result(scenario, robot, recording, "lcm", seed, time.perf_counter() - begin)
        if interrupted:
            console.print("interrupted; all processes are stopped")
        if values["fell"] is not None:
            print_result(console, values)
            picture = draw(recording, robot, f"{scenario.name} · {robot.name} · seed {seed}", log.with_suffix(".png"))
            console.print(f"log      {log}\npicture  {picture}", highlight=False, soft_wrap=True)
        return 130 if interrupted else 0 if values["passed"] else 1
    except (ConfigError, BusError, LogError) as error:
        print(f"walk: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
