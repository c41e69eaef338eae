"""Convert logs: ours to those of MIT's Cheetah-Software and back. Exit code 0: done; 1: check: not identical; 2: usage
or log.

to-mit: every tick of a log of ours on MIT's channels with MIT's types, as the process mit_relay sends them.
from-mit: imu and joint_state from a log of MIT's software (on a robot or simulated), and what our estimator makes of
them, so that `tools.replay --process estimator`, pictures and players work on it.
check: MIT's channels recorded in a log of ours against those that the relay's core makes of the same log.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table

from config.load import ConfigError, load_robot, parse_robot
from lcmtypes.channels import ROBOT_CONFIG
from procs.model.robot import Robot
from procs.runtime.logs import LogError, LogWriter, read_log
from tools.mit_check import check
from tools.mit_read import MitLog, Summary, convert_from_mit
from tools.mit_write import relayed
from tools.progress import bar
from tools.record import robot_config

EVENT_HEADER = 28  # bytes in the file before an event's channel name


@contextmanager
def _written(path: Path, source: Path) -> Iterator[LogWriter]:
    """A log that appears only once it is complete."""
    if path.exists() and source.exists() and path.samefile(source):
        raise LogError(f"{path} is the log itself; give another name for the new one")
    part = path.with_name(path.name + ".part")
    writer = LogWriter(part)
    try:
        yield writer
    except BaseException:
        writer.close()
        part.unlink(missing_ok=True)
        raise
    writer.close()
    os.replace(part, path)


def to_mit(source: Path, target: Path, robot: Robot | None, console: Console) -> str:
    """Convert; one line on what was written."""
    robot = robot or _robot_of(source)
    with bar(console) as progress, _written(target, source) as log:
        task = progress.add_task("converting", total=source.stat().st_size)
        ticks = done = 0
        for size, stamp, messages in relayed(source, robot):
            done += size
            ticks += bool(messages)
            for channel, message in messages:
                log.write_raw(channel.name, message.encode(), stamp)
            if ticks % 100 == 0:
                progress.update(task, completed=done)
        if not ticks:
            raise LogError(f"{source}: no joint_command in it, and so no tick to convert")
        return f"{target}: {log.events} events of {ticks} ticks on MIT's channels"


def _robot_of(source: Path) -> Robot:
    """The description in the log."""
    for event in read_log(source, {ROBOT_CONFIG}):
        return Robot(parse_robot(event.message.yaml, where=f"{source.name} robot_config"))  # type: ignore[attr-defined]
    raise LogError(f"{source}: no robot_config in the log; give the robot with --robot")


def from_mit(source: Path, target: Path, robot: Robot, rate: float | None, console: Console) -> Summary:
    """Convert; what was found."""
    log = MitLog.of(source)
    with bar(console) as progress, _written(target, source) as out:
        task = progress.add_task("converting", total=log.events)
        out.write(ROBOT_CONFIG, robot_config(robot.description), log.first)
        return convert_from_mit(log, robot, out, rate, lambda done: progress.update(task, completed=done))


def check_log(source: Path, robot: Robot | None, console: Console) -> int:
    """Print a line a channel; exit code."""
    robot = robot or _robot_of(source)
    with bar(console) as progress:
        task = progress.add_task("checking", total=source.stat().st_size)
        channels = check(source, robot, lambda done: progress.update(task, completed=done))
    for channel in channels:
        console.print(str(channel), highlight=False)
    return int(any(channel.foreign for channel in channels))


def print_summary(console: Console, target: Path, summary: Summary) -> None:
    """What was taken from where, and how our estimate compares with MIT's."""
    table = Table(show_header=False, box=None)
    for name, value in summary.rows():
        table.add_row(name, value)
    console.print(f"{target}: {summary.ticks} ticks", highlight=False, soft_wrap=True)
    console.print(table)
    for note in summary.notes:
        console.print(f"[yellow]{note}[/]", highlight=False)


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.mit_log", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kinds = parser.add_subparsers(dest="kind", required=True)
    there = kinds.add_parser("to-mit", help="a log of ours as MIT's software would have written it")
    back = kinds.add_parser("from-mit", help="a log of MIT's software as one of ours")
    same = kinds.add_parser("check", help="whether a recorded relay gave what its core gives again")
    for sub in (there, back, same):
        sub.add_argument("log", type=Path, metavar="IN")
        if sub is not same:
            sub.add_argument("out", type=Path, metavar="OUT")
        sub.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    for sub in (there, same):
        sub.add_argument("--robot", help="name or YAML file, instead of the description in the log")
    back.add_argument("--robot", default="mini_cheetah", help="name in config/robots or path of a YAML file")
    back.add_argument(
        "--rate", type=float, metavar="HZ", help="ticks evenly spaced at this rate instead of by the log's time stamps"
    )
    args = parser.parse_args()
    console = Console()
    try:
        if args.set and not args.robot:
            parser.error("--set needs --robot: the description in the log is taken as it is")
        robot = Robot(load_robot(args.robot, args.set)) if args.robot else None
        if args.kind == "check":
            return check_log(args.log, robot, console)
        if args.kind == "to-mit":
            console.print(to_mit(args.log, args.out, robot, console), highlight=False, soft_wrap=True)
        else:
            if args.rate is not None and not args.rate > 0:
                parser.error(f"--rate {args.rate:g}: must be above 0")
            assert robot is not None
            print_summary(console, args.out, from_mit(args.log, args.out, robot, args.rate, console))
    except (LogError, ConfigError, OSError) as error:
        print(f"mit_log: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("mit_log: interrupted, nothing written", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
