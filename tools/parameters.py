"""Live parameters of the running robot: list, read, set, and save what was changed as an overlay.

    python -m tools.parameters list [PATTERN]
    python -m tools.parameters get control.stand.kp.0
    python -m tools.parameters set control.stand.kp.0=90 control.nominal_height=0.28
    python -m tools.parameters save tuned.yaml

Which numbers are live, and within what range, stands in the section `live` of the robot's YAML. `save` writes what
differs from the description as an overlay, never the robot's file; start with it: `--set @tuned.yaml`.
Exit code 0; 1: refused or no answer; 2: usage, no LCM, no robot.
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import yaml
from rich.console import Console
from rich.table import Table

from config.live import LiveParameter, live_parameters
from config.load import ConfigError, load_robot, parse_robot
from config.schema import RobotDescription
from lcmtypes.channels import PARAMETER_RESPONSE, ROBOT_CONFIG
from lcmtypes.generated import ParameterRequest, ParameterResponse, RobotConfig
from procs.runtime.bus import DEFAULT_URL, Bus, BusError
from tools.operator import Operator

AGAIN = 0.05  # s after which a request without an answer is sent again: a process reads only the newest one of a tick
PATIENCE = 1.0  # s
ROBOTS = Path(__file__).resolve().parent.parent / "config" / "robots"


class NoAnswerError(RuntimeError):
    """The process does not answer: it does not run, or the plant does not tick."""


class ParameterClient:
    """Asks the processes. Blocking, for command lines; a panel uses `send` and `answers`."""

    def __init__(self, bus: Bus, operator: Operator, description: RobotDescription) -> None:
        self.table = live_parameters(description)
        self.answers: dict[int, ParameterResponse] = {}  # by the request's number; whoever looks takes them out
        self._bus, self._operator = bus, operator
        bus.subscribe((PARAMETER_RESPONSE,), self._on_answer)

    def _on_answer(self, _channel: object, message: ParameterResponse) -> None:
        self.answers[message.request] = message
        while len(self.answers) > 1000:
            del self.answers[next(iter(self.answers))]

    def send(self, name: str, value: float | None = None) -> int:
        """Ask for a parameter, or set it; the number by which the answer names the request."""
        request = ParameterRequest()
        request.process, request.name = self.table[name].process, name
        request.set, request.value = int(value is not None), 0.0 if value is None else value
        return self._operator.parameter(request)

    def ask(self, name: str, value: float | None = None) -> ParameterResponse:
        """The answer; raises NoAnswerError."""
        sent, end = [], time.monotonic() + PATIENCE
        while time.monotonic() < end:
            sent.append(self.send(name, value))
            until = time.monotonic() + AGAIN
            while time.monotonic() < until:
                self._bus.wait(until - time.monotonic())
                for number in sent:
                    if number in self.answers:
                        return self.answers.pop(number)
        raise NoAnswerError(f"{self.table[name].process} does not answer: does the robot run on {self._bus.url}?")


def description_on(bus: Bus, seconds: float = 2.5) -> RobotDescription | None:
    """The description that `up` publishes once a second; None if nobody does."""
    found: list[RobotConfig] = []
    handles = bus.subscribe((ROBOT_CONFIG,), lambda _channel, message: found.append(message))
    end = time.monotonic() + seconds
    while not found and time.monotonic() < end:
        bus.wait(0.1)
    bus.unsubscribe(handles)
    return parse_robot(found[-1].yaml, where="robot_config on the bus") if found else None


def overlay(table: dict[str, LiveParameter], values: dict[str, float]) -> str:
    """YAML of the values that differ from the description: a mapping of dotted names, each as for --set."""
    changed = {name: value for name, value in values.items() if value != table[name].value}
    head = "# Tuned while it ran. Start with it: --set @THIS_FILE\n"
    return head + (yaml.safe_dump(changed, sort_keys=False) if changed else "{}\n")


def show(client: ParameterClient, names: Iterable[str]) -> None:
    """A line per parameter: value in force, that of the description, range."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("parameter", "in force", "described", "from", "to"):
        table.add_column(title, justify="left" if title == "parameter" else "right")
    for name in names:
        p, value = client.table[name], client.ask(name).value
        mark = "bold" if value != p.value else ""
        table.add_row(name, f"{value:g}", f"{p.value:g}", f"{p.minimum:g}", f"{p.maximum:g}", style=mark)
    Console().print(table)


def run(client: ParameterClient, args: argparse.Namespace) -> int:
    """Do what was asked; exit code."""
    if args.what == "list":
        show(client, (n for n in client.table if fnmatch.fnmatch(n, f"*{args.names[0] if args.names else ''}*")))
        return 0
    if args.what == "save":
        text = overlay(client.table, {name: client.ask(name).value for name in client.table})
        args.path.write_text(text)
        print(f"{args.path}:\n{text}", end="")
        return 0
    code = 0
    for name, value in args.pairs:
        answer = client.ask(name, value)
        print(f"{name} = {answer.value:g}" + ("" if answer.ok else f"  refused: {answer.reason}"))
        code = code or int(not answer.ok)
    return code


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.parameters", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("list", "get", "set", "save"))
    parser.add_argument("names", nargs="*", metavar="NAME[=VALUE]", help="a pattern, names, name=value, or a file")
    parser.add_argument("--robot", help="name or path (default: the description that runs, from robot_config)")
    parser.add_argument("--lcm-url", default=DEFAULT_URL)
    args = parser.parse_args()
    try:
        bus = Bus(args.lcm_url)
        description = load_robot(args.robot) if args.robot else description_on(bus)
        if description is None:
            print(f"parameters: nobody publishes robot_config on {args.lcm_url}; give --robot", file=sys.stderr)
            return 2
        client = ParameterClient(bus, Operator(bus, "parameters"), description)
        _arguments(parser, args, client)
        return run(client, args)
    except NoAnswerError as error:
        print(f"parameters: {error}", file=sys.stderr)
        return 1
    except (BusError, ConfigError, OSError) as error:
        print(f"parameters: {error}", file=sys.stderr)
        return 2


def _arguments(parser: argparse.ArgumentParser, args: argparse.Namespace, client: ParameterClient) -> None:
    """Names that are live, with numbers where they are set; usage errors otherwise."""
    if args.what == "save":
        if len(args.names) != 1:
            parser.error("save FILE")
        args.path = Path(args.names[0])
        if args.path.resolve().parent == ROBOTS:
            parser.error(f"{args.path}: an overlay is no robot; another folder, please")
    if args.what in ("get", "set") and not args.names:
        parser.error(f"{args.what} what? The names: python -m tools.parameters list")
    args.pairs = []
    for item in args.names if args.what in ("get", "set") else ():
        name, equals, text = item.partition("=")
        if name not in client.table:
            parser.error(f"{name!r} is not marked live in {', '.join(client.table) or 'this robot'}")
        if (args.what == "set") != bool(equals):
            parser.error(f"{item!r}: want NAME{'=VALUE' if args.what == 'set' else ''}")
        try:
            args.pairs.append((name, float(text) if equals else None))
        except ValueError:
            parser.error(f"{item!r}: {text!r} is not a number")


if __name__ == "__main__":
    sys.exit(main())
