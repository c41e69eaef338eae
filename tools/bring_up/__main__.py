"""Bring-up: `python -m tools.bring_up --robot R [--bus-dir DIR] [STEP [JOINT ...] ...]`; without steps a menu.

Steps: bit-rate, listen, roll-call, step JOINT, zero, quantum JOINT, silence JOINT, report, rig, ground.
JOINT: FR.hip, FR or all.
Exit code 0: everything asked for has passed; 1: something was found; 2: usage, description or bus.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import yaml
from rich.console import Console
from rich.table import Table

from config.load import ConfigError, load_robot
from procs.bridge.errors import TransportError
from procs.model.robot import Robot
from tools.bring_up.ask import Asker, Scripted, Terminal, UnansweredError
from tools.bring_up.bench import Bench, open_bench
from tools.bring_up.listen import LISTEN
from tools.bring_up.run import STEPS, Job, Runner, UsageError, jobs, protocol_of
from tools.bring_up.session import Record, Session, SessionError
from tools.bring_up.step import TRAVEL

TABLES = ("listen", "roll-call")  # shown as one, not line by line
WAYS_OUT = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(BaseException):
    """A signal."""


def _stop(number: int, _frame: object) -> None:
    raise Stopped(signal.Signals(number).name)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.bring_up", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("words", nargs="*", metavar="STEP", help=f"{', '.join(STEPS)}, with joints")
    parser.add_argument("--robot", required=True, help="name in config/robots or a YAML file")
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE", help="override a value")
    parser.add_argument("--bus-dir", type=Path, metavar="DIR", help="emulated hardware in DIR instead of real devices")
    parser.add_argument("--session", type=Path, metavar="FILE", help="default build/bring_up/ROBOT[_emulated].json")
    parser.add_argument("--yes-to", nargs="+", metavar="STEP", help="these steps may transmit without being asked")
    parser.add_argument("--answers", type=Path, metavar="FILE", help="YAML, pattern of question: answer")
    parser.add_argument("--json", action="store_true", help="results on stdout as JSON, everything else on stderr")
    parser.add_argument("--travel", type=float, default=TRAVEL, help="rad of a step at the joint")
    parser.add_argument("--hold", type=float, default=1.0, help="s at the end of a step, to look")
    parser.add_argument("--seconds", type=float, default=LISTEN, help="s to listen")
    parser.add_argument("--pose", help="pose of the description for zero, instead of legs straight down")
    return parser


def _asker(args: argparse.Namespace, console: Console) -> Asker:
    if args.answers is None and args.yes_to is None:
        return Terminal(console)
    answers = yaml.safe_load(args.answers.read_text(encoding="utf-8")) if args.answers else {}
    if not isinstance(answers, dict):
        raise UsageError(f"{args.answers}: want `pattern: answer` lines")
    return Scripted(args.yes_to or (), answers, console)


def show(console: Console, record: Record) -> None:
    """One line."""
    colour = "green" if record.passed else "red"
    console.print(f"[{colour}]{record.verdict}[/]  {record.step} {record.target}: ", end="", highlight=False)
    console.print(record.words, highlight=False, markup=False)


def nodes_table(console: Console, records: Sequence[Record]) -> None:
    """Node x bus x state x age, with the verdict."""
    table = Table(title=records[0].step, title_justify="left")
    for name in ("joint", "bus", "id", "state", "age, s", "verdict", "in words"):
        table.add_column(name, overflow="fold")
    for r in records:
        age = r.data.get("age")
        bus, number = str(r.data.get("bus", "")), str(r.data.get("id", ""))
        shown = "" if age is None else f"{age:.2f}"
        table.add_row(r.target, bus, number, str(r.data.get("state", "")), shown, r.verdict.value, r.words)
    console.print(table)


def _menu(console: Console, asker: Asker, joints: Sequence[str]) -> list[Job] | None:
    """The next steps; None: enough."""
    try:
        line = asker.text("menu", f"step ({', '.join(STEPS)}; joints or all; quit)")
    except UnansweredError:
        return None
    if line in ("quit", "q", "exit"):
        return None
    try:
        return jobs(line.split(), joints)
    except UsageError as error:
        console.print(str(error), markup=False, highlight=False)
        return []


def run(runner: Runner, words: Sequence[str], console: Console) -> list[Record]:
    """The steps of the command line, or those of the menu until the person has enough."""
    joints, out = runner.bench.robot.joint_names, []
    todo: list[Job] | None = jobs(words, joints) if words else []
    while todo is not None:
        for job in todo:
            records = runner.run(job)
            out += records
            if job[0] in TABLES and records:
                nodes_table(console, records)
        todo = None if words else _menu(console, runner.asker, joints)
    return out


def _session_path(robot: Robot, bus_dir: Path | None) -> Path:
    """What was found on emulated hardware never counts on a real one."""
    return Path("build/bring_up") / f"{robot.name}{'_emulated' if bus_dir is not None else ''}.json"


def _closed(bench: Bench) -> None:
    """Nothing may come between a motor and its exit frame."""
    for number in WAYS_OUT:
        signal.signal(number, signal.SIG_IGN)
    bench.close()


def main() -> int:
    """Entry point."""
    args = _parser().parse_args()
    console = Console(stderr=args.json)
    try:
        robot = Robot(load_robot(args.robot, args.set))
        if robot.description.bus is None:
            raise UsageError(f"{args.robot} has no bus section: there is nothing to bring up")
        jobs(args.words, robot.joint_names)
        asker = _asker(args, console)
        session = Session(args.session or _session_path(robot, args.bus_dir), robot.name, args.bus_dir is not None)
        for number in WAYS_OUT:
            signal.signal(number, _stop)
        bench, guardian = open_bench(robot, args.bus_dir, session.run)
    except (ConfigError, UsageError, SessionError, TransportError, OSError) as error:
        Console(stderr=True).print(str(error), markup=False, highlight=False)
        return 2
    except Stopped:
        return 130
    records: list[Record] = []
    code = 0
    try:
        console.print(f"{robot.name}: {protocol_of(bench)}, session {session.path}", highlight=False)
        runner = Runner(
            bench, session, asker, session.path.parent, lambda r: None if r.step in TABLES else show(console, r),
            travel=args.travel, hold=args.hold, seconds=args.seconds, pose=args.pose,
        )  # fmt: skip
        records = run(runner, args.words, console)
        code = 0 if all(r.passed for r in records) else 1
    except (Stopped, KeyboardInterrupt) as stop:
        console.print(f"stopped ({stop}): motors are switched off, the session is kept in {session.path}", markup=False)
        code = 130
    finally:
        _closed(bench)
        guardian.close()
    if args.json:
        print(json.dumps([asdict(r) for r in records], indent=1))
    return code


if __name__ == "__main__":
    sys.exit(main())
