"""Start all processes and keep them running until Ctrl-C, with a live table of how they are.

Exit code 0 after Ctrl-C or the scenario's end; 1: a process died (named with its last words); 2: usage.
"""

from __future__ import annotations

import argparse
import logging
import signal
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.table import Table

from config.load import ConfigError
from lcmtypes.channels import ROBOT_CONFIG
from lcmtypes.generated import ProcHealth, RobotConfig
from procs.runtime.bus import DEFAULT_URL, Bus, BusError
from procs.runtime.logs import LogError
from tools.launch import ROOT, Child, Launcher
from tools.lcm_run import Watch, wait_for, write_inputs
from tools.processes import PLANTS, Run
from tools.record import robot_config
from tools.scenario import load

REFRESH = 1.0  # s, of the table and of robot_config
SILENT = 2.5  # s without proc_health after which a process is called silent
IDLE = "stand"  # the scenario whose robot is taken when none is given; it is not played


class Rates:
    """Ticks per second from one proc_health to the next."""

    def __init__(self) -> None:
        self._last: dict[str, ProcHealth] = {}
        self._rate: dict[str, float] = {}

    def of(self, health: ProcHealth) -> float:
        """Hz."""
        last = self._last.get(health.name)
        if last is not None and health.utime > last.utime:
            self._rate[health.name] = max(0, health.ticks - last.ticks) / (1e-6 * (health.utime - last.utime))
        self._last[health.name] = health
        return self._rate.get(health.name, 0.0)


def table(watch: Watch, rates: Rates) -> Table:
    """A row per process: state, rate, step time, losses, last error; below: time, mode, refusal."""
    out = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", caption_justify="left")
    for title in ("process", "state", "Hz", "step p50", "missed", "last error"):
        out.add_column(title, justify="right" if title in ("Hz", "step p50", "missed") else "left")
    for name, health in sorted(watch.health.items()):
        step = f"{health.step_p50:.0f} us" if health.step_p50 else "-"
        out.add_row(name, state(health), f"{rates.of(health):.0f}", step, str(health.missed), health.last_error)
    mode = watch.mode
    text = "no controller yet" if mode is None else f"{mode.mode}{' (busy)' if mode.busy else ''} {mode.reason}"
    out.caption = f"{watch.t:.1f} s   {text}   Ctrl-C stops all"
    return out


def state(health: ProcHealth) -> str:
    """Its own word, or that it has not reported for a while."""
    age = 1e-6 * (time.monotonic_ns() // 1000 - health.utime)
    return health.state if age < SILENT else f"silent for {age:.0f} s"


class Up:
    """The running stack."""

    def __init__(self, args: argparse.Namespace, console: Console) -> None:
        self.args, self.console = args, console
        self.ended = False
        self.config: RobotConfig | None = None

    def stop(self, *_: object) -> None:
        """Ctrl-C."""
        self.ended = True

    def run(self) -> int:
        """Start, watch, stop; the exit code."""
        args = self.args
        scenario, description, for_robot = load(args.scenario or IDLE, args.robot, args.set)
        name = args.robot or scenario.robot
        self.config = robot_config(description)
        with tempfile.TemporaryDirectory(prefix="up-") as temporary:
            directory = Path(temporary)
            robot_file, scenario_file = write_inputs(directory, name, for_robot, scenario)
            played = scenario_file if args.scenario else None
            run = Run(directory, "1", played, gui=args.gui, real_time=args.real_time)
            with Launcher(args.lcm_url, directory) as launcher:
                watch = Watch(Bus(args.lcm_url))
                if args.record is not None:
                    log = Path(args.record or ROOT / "logs" / time.strftime("up_%Y%m%d_%H%M%S.lcmlog"))
                    launcher.start("recorder", "tools.record", "--out", str(log), "--robot", str(robot_file))
                    wait_for(watch, launcher, "recorder", lambda: self.ended)
                    self.console.print(f"recording {log}", highlight=False, soft_wrap=True)
                if not self.ended:
                    launcher.start_stack(str(robot_file), args.plant, run)
                return self._follow(watch, launcher)

    def _follow(self, watch: Watch, launcher: Launcher) -> int:
        assert self.config is not None
        rates = Rates()
        due = time.monotonic()
        with Live(console=self.console, auto_refresh=False) as live:
            while not self.ended:
                watch.look()
                if launcher.failed():
                    return self._tell(launcher.failed())
                if launcher.plant and launcher.over():
                    self.console.print("the scenario is over")
                    return 0
                if time.monotonic() >= due:
                    due += REFRESH
                    self.config.utime = time.monotonic_ns() // 1000
                    self.config.seq += 1
                    watch.bus.publish(ROBOT_CONFIG, self.config)
                    live.update(table(watch, rates), refresh=True)
        self.console.print("stopping all processes")
        return 0

    def _tell(self, dead: list[Child]) -> int:
        """Name the dead."""
        for child in dead:
            words = child.last_words() or "(it said nothing)"
            print(
                f"up: {child.name} ended with code {child.process.returncode}. Its last words:\n{words}",
                file=sys.stderr,
            )
        return 1


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m tools.up", description=__doc__)
    parser.add_argument("--robot", help="name or path (default: the scenario's, or mini_cheetah)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="as in tools.scenario")
    parser.add_argument("--lcm-url", default=DEFAULT_URL)
    parser.add_argument(
        "--plant", choices=tuple(PLANTS), default="sim", help="simulator, hardware, or the bridge to emulated hardware"
    )
    parser.add_argument("--scenario", help="the simulator plays it; without one the robot waits for commands")
    parser.add_argument("--real-time", action="store_true", help="a tick every period instead of paced lock step")
    parser.add_argument("--gui", action="store_true", help="PyBullet's window")
    parser.add_argument("--record", nargs="?", const="", metavar="LOG", help="default: logs/up_<date>.lcmlog")
    args = parser.parse_args()
    logging.basicConfig(level=logging.ERROR, format="up: %(message)s")  # what processes say is in the table
    up = Up(args, Console())
    for sig in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sig, up.stop)
    try:
        return up.run()
    except LogError as error:
        print(f"up: {error}", file=sys.stderr)
        return 1
    except (ConfigError, BusError) as error:
        print(f"up: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
