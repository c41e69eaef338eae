"""Command the robot from a shell: hold a mode and speeds, play a script of commands, or press estop or reset.

Publishes motion_command at 50 Hz as source command:<host>:<pid> until Ctrl-C, --seconds or the end of the script; then
the controller drops it within 0.3 s and the robot stops. Keyboard, gamepad and dashboard have priority over it.

A script has the `commands` of a scenario (a scenario's file will do) and is played in real time:

    commands:
      - {t: 0.0, mode: stand}
      - {t: 2.0, mode: walk, gait: trot, vx: 0.3}
      - {t: 5.0, vx: 0.0}

Exit code 0; 2: bad usage, bad file or no LCM.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from config.load import ConfigError, load_commands
from config.scenario import Command
from lcmtypes.channels import ESTOP, MOTION_COMMAND
from lcmtypes.generated import MotionCommand
from procs.runtime.bus import DEFAULT_URL, Bus, BusError
from procs.runtime.commands import FIELDS, CommandPlayer
from tools.operator import Operator

PERIOD = 0.02  # s; the controller slows down when it hears nothing for 0.3 s
PRESSED = ("estop", "reset")
HELD = ("gait", "vx", "vy", "yaw_rate", "height", "roll", "pitch")


class Script:
    """Plays commands through an operator, a tick every PERIOD; the last motion_command is held."""

    def __init__(self, operator: Operator, commands: list[Command]) -> None:
        self._operator, self._commands = operator, commands
        self._player = CommandPlayer(commands, PERIOD)
        self._held: MotionCommand | None = None
        self.tick = 0

    @property
    def t(self) -> float:
        """s, of the next step."""
        return self.tick * PERIOD

    def step(self) -> None:
        """Send what belongs to this tick."""
        for channel, message in self._player.messages(self.tick, 0, 0):
            if channel is MOTION_COMMAND:
                assert isinstance(message, MotionCommand)
                self._held = message
            elif channel is ESTOP:
                self._operator.estop("script")
            else:
                self._operator.reset("script")
        if self._held is not None:
            self._operator.motion(self._held)
        self.tick += 1

    def says(self) -> str:
        """The command in force."""
        played = [c for c in self._commands if c.t <= self.t]
        if not played:
            return f"waiting for t = {self._commands[0].t:g} s"
        named = played[-1].model_dump(exclude_unset=True)
        return ", ".join(f"{k} {v}" for k, v in named.items() if k in (*FIELDS, *PRESSED))


def ticks(seconds: float | None, ended: threading.Event) -> Iterator[float]:
    """Time since the start, s, every PERIOD on an absolute schedule, until the time is over or `ended`."""
    start = time.monotonic()
    n = 0
    while not ended.is_set() and (seconds is None or n * PERIOD < seconds):
        yield n * PERIOD
        n += 1
        late = time.monotonic() - start - n * PERIOD
        if late > 10 * PERIOD:  # the machine slept: go on from here, do not catch up
            start += late
        ended.wait(max(0.0, start + n * PERIOD - time.monotonic()))


def play(script: Script, seconds: float | None, ended: threading.Event, console: Console) -> None:
    """Until the script's time is over; without one until Ctrl-C."""
    columns = (TextColumn("{task.completed:5.1f} s"), BarColumn(24), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=seconds)
        for t in ticks(seconds, ended):
            script.step()
            bar.update(task, completed=t, description=script.says())


def hold(operator: Operator, message: MotionCommand, seconds: float | None, ended: threading.Event) -> None:
    """Until the time is over or Ctrl-C."""
    for _ in ticks(seconds, ended):
        operator.motion(message)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    out = argparse.ArgumentParser(
        prog="python -m tools.command", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    out.add_argument("what", metavar="MODE", nargs="?", help="stand, walk, down, ...; or estop, or reset")
    out.add_argument("--script", metavar="FILE", help="play these commands instead")
    out.add_argument("--gait", default="", help="default: keep the present one")
    for name, unit in (
        ("vx", "m/s, forward"), ("vy", "m/s, to the left"), ("yaw-rate", "rad/s, to the left"),
        ("height", "m, of the body; 0: nominal"), ("roll", "rad"), ("pitch", "rad"),
    ):  # fmt: skip
        out.add_argument(f"--{name}", type=float, default=0.0, metavar="X", help=unit)
    out.add_argument("--seconds", type=float, help="end after this time (default: Ctrl-C; of a script: its duration)")
    out.add_argument("--reason", default="pressed", help="of estop and reset")
    out.add_argument("--lcm-url", default=DEFAULT_URL)
    return out


def motion(args: argparse.Namespace) -> MotionCommand:
    """The command that is held."""
    message = MotionCommand()
    message.mode = args.what
    for name in HELD:
        setattr(message, name, getattr(args, name))
    return message


def task(args: argparse.Namespace, usage: argparse.ArgumentParser) -> Callable[[Operator, threading.Event], None]:
    """What the command line asks for; raises ConfigError for a bad script."""
    seconds: float | None = args.seconds
    if (args.what is None) == (args.script is None):
        usage.error("say either a mode, estop or reset, or --script FILE")
    if seconds is not None and not 0 < seconds < float("inf"):
        usage.error(f"--seconds is {seconds:g}, want more than 0")
    if args.script is not None:
        set_too = [n for n in HELD if getattr(args, n) != usage.get_default(n)]
        if set_too:
            usage.error(f"--{set_too[0].replace('_', '-')} is for a held mode; the script says its own")
        commands, duration = load_commands(args.script)
        length = duration if seconds is None else seconds
        return lambda operator, ended: play(Script(operator, commands), length, ended, Console(stderr=True))
    if args.what in PRESSED:
        return lambda operator, _ended: getattr(operator, args.what)(args.reason)
    message = motion(args)
    if not message.finite():
        usage.error("speeds, height, roll and pitch must be finite")
    return lambda operator, ended: hold(operator, message, seconds, ended)


def main() -> int:
    """Entry point."""
    usage = parser()
    args = usage.parse_args()
    ended = threading.Event()
    for sig in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sig, lambda *_: ended.set())
    try:
        run = task(args, usage)
        run(Operator(Bus(args.lcm_url), "command"), ended)
    except (ConfigError, BusError) as error:
        print(f"command: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
