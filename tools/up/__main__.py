"""Start all processes of a robot and keep them running until Ctrl-C, with a live table of how they are.

A process that dies is named with its last words and started again if the table in tools/processes.py allows it; the
robot then stays in damping until somebody sends `reset`. Ctrl-C lets a standing or walking robot lie down first, a
second one stops at once. What the processes print is kept in logs/up_<date>/.
Exit code 0 after Ctrl-C or the scenario's end; 1: a process without which nothing goes died for good; 2: usage.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console

from config.load import ConfigError, load_robot
from config.scenario import Scenario
from config.schema import RobotDescription
from lcmtypes.channels import PROC_HEALTH, ROBOT_CONFIG
from procs.runtime.bus import DEFAULT_URL, Bus, BusError
from procs.runtime.health import Health
from procs.runtime.logs import LogError
from procs.runtime.single import DuplicateProcessError, Single
from tools.inputs import load, split_overrides
from tools.launch import ROOT, Launcher
from tools.lcm_run import Watch, write_inputs
from tools.operator import Operator
from tools.processes import ALWAYS, LISTENERS, PLANTS, UP, Run, available, listeners, processes
from tools.record import robot_config
from tools.up import status
from tools.up.notify import Notify
from tools.up.screen import FLIGHT, Screen
from tools.up.soft_stop import SoftStop, needed
from tools.up.supervisor import Supervisor

REFRESH = 1.0  # s, of the table and of robot_config
FOR_EVER = 1e7  # s
IDLE = "stand"  # the scenario whose robot is taken when none is given; it is not played


class Up:
    """The running stack."""

    def __init__(self, args: argparse.Namespace, screen: Screen) -> None:
        self.args, self.screen = args, screen
        self.signals = 0
        self.notify = Notify()
        self.health = Health(UP)
        self.saved: set[str] = set()  # what the flight recorder has said

    def on_signal(self, *_: object) -> None:
        """Ctrl-C or SIGTERM: the first asks for a soft stop, the second stops at once."""
        self.signals += 1

    def run(self) -> int:
        """Start, watch, stop; the exit code."""
        args = self.args
        scenario, for_robot = _first_in_control(*load(args.scenario or IDLE, args.robot, args.set))
        self.config = robot_config(load_robot(args.robot or scenario.robot, for_robot))
        names = [n for n in available() if n in {*ALWAYS, *args.listeners} and n not in args.without]
        with tempfile.TemporaryDirectory(prefix="up-") as temporary:
            directory = Path(temporary)
            world = not args.scenario and bool(split_overrides(args.set)[0])  # a world of its own, driven by hand
            if world:
                scenario = scenario.model_copy(update={"commands": [], "duration": FOR_EVER})
            robot_file, scenario_file = write_inputs(directory, args.robot or scenario.robot, for_robot, scenario)
            stamp = time.strftime("up_%Y%m%d_%H%M%S")
            record = Path(args.record or args.logs / f"{stamp}.lcmlog").resolve() if "recorder" in names else None
            played = scenario_file if args.scenario or world else None
            flight = args.logs.resolve()
            run = Run(
                directory, "1", played, gui=args.gui, real_time=args.real_time, record=record, flight=flight,
                no_drive_watchdog=args.without_drive_watchdog,
            )  # fmt: skip
            bus = Bus(args.lcm_url)
            single = Single(bus, self.health)
            single.claim()
            with Launcher(args.lcm_url, args.logs.resolve() / stamp) as launcher:
                self.watch = Watch(bus)
                self.operator = Operator(bus, UP)
                self.supervisor = Supervisor(
                    launcher, self.watch, self.screen.say, self.operator.estop, not args.no_restart
                )
                self.screen.say(f"what the processes print is in {launcher.directory}")
                self._start(launcher, run, str(robot_file), names)
                try:
                    return self._follow(single)
                finally:
                    self.health.state = "stopping"  # the flight recorder takes what follows for no fault
                    self._report()
                    self.notify.stopping("stopping all processes")
                    launcher.stop()
                    self._tell_saved(launcher)

    def _start(self, launcher: Launcher, run: Run, robot: str, names: list[str]) -> None:
        """Listeners first and ready, so that they miss nothing; then plant and pipeline."""
        for process in listeners(names):
            if self.signals:
                return
            launcher.start_process(process, robot, run)
            self.supervisor.track(process, time.monotonic())
            if process.options(run):  # has files to write
                self._wait_for(process.name, must=run.record is not None)
        if run.record is not None:
            self.screen.say(f"recording {run.record}")
        if not self.signals:
            launcher.start_stack(robot, self.args.plant, run, *(["--rt"] if self.args.rt else []))
            for process in processes(self.args.plant):
                self.supervisor.track(process, time.monotonic())

    def _wait_for(self, name: str, must: bool) -> None:
        """Return when a listener reports; if it never will: LogError if it `must`."""
        tracked = self.supervisor.tracked[name]
        while not (tracked.alive or tracked.over or self.signals):
            self.watch.look()
            self.supervisor.look(time.monotonic())
        if tracked.over and must:
            raise LogError(f"what shall be recorded cannot be: {tracked.warning}")

    def _follow(self, single: Single) -> int:
        supervisor, watch = self.supervisor, self.watch
        figures = status.Status(supervisor, watch, os.getpid())
        self.health.state = "running"
        due, soft = time.monotonic(), None
        while True:
            watch.look()
            single.check()
            now = time.monotonic()
            death = supervisor.last_death
            supervisor.look(now)
            if supervisor.last_death != death:
                self._report()  # the flight recorder waits for it
            flight = watch.health.get(FLIGHT)
            if flight is not None and flight.last_error and flight.last_error not in self.saved:
                self.saved.add(flight.last_error)
                self.screen.say(f"flight recorder: {flight.last_error}")
            if supervisor.failure:
                self.screen.say(f"stopping all processes: {supervisor.failure}")
                return 1
            if supervisor.ended:
                self.screen.say("the scenario is over")
                return 0
            if self.signals and soft is None:
                soft = self._begin_to_stop(now)
            if soft is not None:
                soft.look(watch.mode, supervisor.plant_runs(), now)
            if self.signals > 1 or (soft is not None and soft.done):
                self.screen.say(f"stopping all processes: {soft.done if soft and soft.done else 'at once'}")
                return 0
            if now >= due:
                due = max(due + REFRESH, now)
                self._publish()
                mode, rows = watch.mode, figures.rows(now)
                words = status.in_words(mode, watch.t)
                self.screen.show(rows, words, mode.mode if mode is not None else "", now)
                self.notify.alive(words, supervisor.all_alive())

    def _tell_saved(self, launcher: Launcher) -> None:
        """Flight files that were finished while all was being stopped."""
        child = launcher.children.get(FLIGHT)
        for text in child.last_words().splitlines() if child is not None else ():
            said = text.partition(" INFO ")[2]
            if said.startswith("saved ") and said not in self.saved:
                self.screen.say(f"flight recorder: {said}")

    def _begin_to_stop(self, now: float) -> SoftStop:
        mode = self.watch.mode
        self.supervisor.stopping = True
        self.notify.stopping("the robot lies down")
        if needed(mode) and self.supervisor.plant_runs():
            assert mode is not None
            self.screen.say(f"the robot is in {mode.mode}: it lies down first; Ctrl-C again stops at once")
        return SoftStop(self.operator, now)

    def _publish(self) -> None:
        """robot_config and the own health, once a second."""
        self.config.utime = time.monotonic_ns() // 1000
        self.config.seq += 1
        self.watch.bus.publish(ROBOT_CONFIG, self.config)
        self._report()

    def _report(self) -> None:
        message = self.health.message()
        message.ticks, message.last_error = self.config.seq, self.supervisor.last_death
        self.watch.bus.publish(PROC_HEALTH, message)


def _first_in_control(
    scenario: Scenario, description: RobotDescription, for_robot: list[str]
) -> tuple[Scenario, list[str]]:
    """The robot's overrides with `up` before all operators, unless the description has another place for it: to let
    the robot lie down it must be obeyed while somebody still asks for speed."""
    sources = {UP: 1 + max(description.control.sources.values(), default=0), **description.control.sources}
    return scenario, [*for_robot, f"control.sources={json.dumps(sources)}"]


def _names(text: str) -> list[str]:
    names = [name for name in text.split(",") if name]
    for name in names:
        if name not in available():
            raise argparse.ArgumentTypeError(f"no {name!r}, there are {', '.join(available())}")
    return names


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.up", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--robot", help="name or path (default: the scenario's, or mini_cheetah)")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="as in tools.scenario: a key of the robot, @tuned.yaml, or plant.suspended=true: in its rig",
    )
    parser.add_argument("--lcm-url", default=DEFAULT_URL)
    parser.add_argument(
        "--plant", choices=tuple(PLANTS), default="sim", help="simulator, hardware, or the bridge to emulated hardware"
    )
    parser.add_argument("--scenario", help="the simulator plays it; without one the robot waits for commands")
    parser.add_argument("--real-time", action="store_true", help="a tick every period instead of paced lock step")
    parser.add_argument("--rt", action="store_true", help="SCHED_FIFO and locked memory for plant and pipeline")
    parser.add_argument("--gui", action="store_true", help="PyBullet's window")
    parser.add_argument("--record", nargs="?", const="", metavar="LOG", help="default: logs/up_<date>.lcmlog")
    parser.add_argument(
        "--with", dest="listeners", type=_names, default=[], metavar="NAME,..",
        help=f"listeners to start too: {', '.join(LISTENERS)} (always: {', '.join(ALWAYS)})",
    )  # fmt: skip
    parser.add_argument("--without", type=_names, default=[], metavar="NAME,..", help="listeners not to start")
    parser.add_argument(
        "--without-drive-watchdog", action="store_true", help="drive real motors that do not stop by themselves"
    )
    parser.add_argument("--no-restart", action="store_true", help="any process that dies ends all")
    parser.add_argument("--logs", type=Path, default=ROOT / "logs", metavar="DIR", help="where logs go (logs/)")
    args = parser.parse_args()
    if args.record is not None:
        args.listeners = [*args.listeners, "recorder"]
    logging.basicConfig(level=logging.ERROR, format="up: %(message)s")  # what processes say is in the table
    with Screen(Console()) as screen:
        up = Up(args, screen)
        for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if sig != signal.SIGHUP or signal.getsignal(sig) is not signal.SIG_IGN:  # nohup
                signal.signal(sig, up.on_signal)
        try:
            return up.run()
        except LogError as error:
            print(f"up: {error}", file=sys.stderr)
            return 1
        except (ConfigError, BusError, DuplicateProcessError) as error:
            print(f"up: {error}", file=sys.stderr)
            return 2
        except OSError as error:
            print(f"up: {error}: can nothing be written to {args.logs}?", file=sys.stderr)
            return 2
        finally:
            up.notify.close()


if __name__ == "__main__":
    sys.exit(main())
