"""Play an LCM log onto a URL of its own, at true or other speed: python -m tools.play LOG [--speed 2] [--loop].

Keys in a terminal: space pause, left and right 1 s, down and up 5 s, home to the beginning, '.' step (pauses; sends
all messages of the next time stamp), + and - speed (0.1 to 20), l loop, q quit. Without a terminal it just plays.
After a jump the newest message of every channel before that place is sent, so that viewers show the right state
(not: estop, reset, joint_test, parameters, which are events).

joint_command is left out unless --all is given. The default URL is that of `make replay`; watch it with
    make spy LCM_URL='udpm://239.255.76.68:7668?ttl=0'
The URL on which the stack itself runs is refused unless --onto-live says that it is meant: a packer there would turn
a played leg_command into joint commands. A damaged log is played as far as it can be read.
Exit code 0: played (or q); 2: usage, or not a log.
"""

from __future__ import annotations

import argparse
import gc
import re
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

from rich.console import Console

from lcmtypes.channels import JOINT_COMMAND
from procs.runtime.bus import DEFAULT_URL, Bus, BusError
from procs.runtime.eventfile import EventFile, LogError
from tools.arguments import interruptible, seconds
from tools.play.index import Index, build
from tools.play.keys import Keys
from tools.play.player import FASTEST, SLOWEST, Player
from tools.play.session import HELP, Session
from tools.progress import bar

REPLAY_URL = "udpm://239.255.76.68:7668?ttl=0"  # as in the Makefile
LCM_DEFAULT = ("239.255.76.67", 7667)  # what the LCM library takes for what is missing in a URL


class UsageError(ValueError):
    """The request makes no sense."""


def is_live(url: str) -> bool:
    """True for the group and port on which the stack runs by default, however it is written."""
    return _where(url) == _where(DEFAULT_URL)


def _where(url: str) -> tuple[str, str, int]:
    try:
        parts = urlsplit(url or "udpm://")
        return parts.scheme, parts.hostname or LCM_DEFAULT[0], parts.port or LCM_DEFAULT[1]
    except ValueError as error:
        raise UsageError(f"--lcm-url {url}: {error}") from error


def chooser(channels: str | None, everything: bool) -> re.Pattern[str]:
    """Pattern of the channels to be played."""
    spare = "" if everything else rf"(?!{JOINT_COMMAND.name}$)"
    try:
        return re.compile(f"{spare}(?:{channels or '.*'})")
    except re.error as error:
        raise UsageError(f"--channels {channels!r} is no regular expression: {error}") from error


def span(index: Index, begin: float | None, end: float | None) -> tuple[int, int]:
    """us since the log's start."""
    first = 0 if begin is None else round(1e6 * begin)
    last = index.end if end is None else min(round(1e6 * end), index.end)
    if not 0 <= first <= last:
        raise UsageError(f"nothing to play from {first / 1e6:g} to {last / 1e6:g} s; the log has {index.end / 1e6:g} s")
    return first, last


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.play", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("log", type=Path)
    parser.add_argument("--speed", type=float, default=1.0, help=f"{SLOWEST} to {FASTEST:g}")
    parser.add_argument("--from", dest="begin", type=seconds, metavar="S", help="s since the log's start")
    parser.add_argument("--to", dest="end", type=seconds, metavar="S")
    parser.add_argument("--loop", action="store_true")
    parser.add_argument("--channels", metavar="REGEX", help="only channels that match as a whole: 'imu|body_.*'")
    parser.add_argument("--all", action="store_true", help="joint_command too")
    parser.add_argument("--lcm-url", default=REPLAY_URL, help=f"default: {REPLAY_URL}")
    parser.add_argument("--onto-live", action="store_true", help="allow the URL on which the stack runs")
    args = parser.parse_args()
    console = Console(stderr=True)
    interruptible()  # the terminal is put right on the way out
    try:
        if not SLOWEST <= args.speed <= FASTEST:
            raise UsageError(f"--speed {args.speed:g}: want {SLOWEST} to {FASTEST:g}")
        if is_live(args.lcm_url):
            if not args.onto_live:
                raise UsageError(f"{args.lcm_url} is where robots listen; leave --lcm-url out, or add --onto-live")
            what = "joint_command too" if args.all else "without joint_command"
            print(f"play: ON THE LIVE URL {args.lcm_url}, {what}: running processes obey this log", file=sys.stderr)
        wanted = chooser(args.channels, args.all)
        with EventFile(args.log) as log:
            with bar(console) as progress:
                task = progress.add_task("reading", total=log.size)
                index = build(
                    log, lambda name: bool(wanted.fullmatch(name)), lambda at: progress.update(task, completed=at)
                )
            if not len(index):
                raise UsageError(f"no message to play; the log has {', '.join(sorted(log.channels))}")
            for damage in log.damages[:5]:
                print(f"play: {args.log}: {damage}", file=sys.stderr)
            player = Player(index.stamp, index.stream, *span(index, args.begin, args.end), args.speed, args.loop)
            return _play(log, index, player, args.lcm_url)
    except (UsageError, LogError, BusError, OSError) as error:
        print(f"play: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _play(log: EventFile, index: Index, player: Player, url: str) -> int:
    bus = Bus(url)
    session = Session(log, index, player, bus.publish_raw)
    left = ", ".join(f"{n} of {name}" for name, n in sorted(index.left_out.items()))
    print(f"playing on {url}" + (f", without {left}" if left else ""), flush=True)
    gc.collect()
    gc.freeze()
    begin = time.monotonic()
    with Keys() as keys:
        if keys.active:
            print(HELP)
        try:
            session.run(keys)
        finally:
            if keys.active:
                print()
            wall = time.monotonic() - begin
            print(
                f"{session.sent} messages in {wall:.2f} s, at the most {1e3 * session.latest:.1f} ms behind", flush=True
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
