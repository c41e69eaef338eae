"""Drive the robot by hand: from a terminal's keyboard (also over ssh), or with a gamepad.

Keys: hold W S A D Q E to move, C stand, V walk, Z down, 1 ... 9 gait, SPACE E-STOP, U reset, H help, X quit. A tap is
a small step; held on, the set speed; let go, the robot stops. Publishes motion_command at 50 Hz, without speed while
nothing is held. When this program or the gamepad dies, the controller drops it within 0.3 s and the robot stops.

Exit code 0; 2: bad usage, no LCM, no terminal, no evdev.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
import time

from config.load import ConfigError, load_robot
from procs.runtime.bus import DEFAULT_URL, Bus, BusError
from tools.teleop.evdev_gamepad import EvdevGamepad, GamepadError
from tools.teleop.gamepad import GUIDE as PAD_GUIDE
from tools.teleop.keyhold import FIRST, KeyHold
from tools.teleop.keymap import GUIDE
from tools.teleop.session import PERIOD, Session

TELL = 1.0  # s between two lines where there is no screen


def parser() -> argparse.ArgumentParser:
    """The command line."""

    def listed(guide: tuple[tuple[str, str], ...]) -> str:
        return "\n".join(f"  {keys:<24}{does}" for keys, does in guide)

    out = argparse.ArgumentParser(
        prog="python -m tools.teleop",
        description=__doc__,
        epilog=f"keys:\n{listed(GUIDE)}\n\ngamepad:\n{listed(PAD_GUIDE)}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    out.add_argument("--robot", help="whose limits count (default: of the robot_config on the bus)")
    out.add_argument("--lcm-url", default=DEFAULT_URL)
    out.add_argument(
        "--gamepad", nargs="?", const="", metavar="DEVICE", help="a path in /dev/input or part of a name; default: any"
    )
    out.add_argument(
        "--no-screen",
        action="store_true",
        help="a line a second instead of a screen (with --gamepad; needs no terminal)",
    )
    out.add_argument(
        "--repeat-delay", type=float, default=FIRST, metavar="S",
        help="longer than your keyboard's delay before a held key repeats (default %(default)g s)",
    )  # fmt: skip
    return out


def without_screen(session: Session) -> None:
    """Until SIGTERM or Ctrl-C."""
    from tools.teleop.status import line  # noqa: PLC0415 - as the screen

    ended = threading.Event()
    for sig in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sig, lambda *_: ended.set())
    due = told = time.monotonic()
    while not ended.is_set():
        session.tick(time.monotonic())
        if due >= told:
            told += TELL
            print(line(session), flush=True)
        due = max(due + PERIOD, time.monotonic() - TELL)
        ended.wait(max(0.0, due - time.monotonic()))
    session.close()


def main() -> int:
    """Entry point."""
    usage = parser()
    args = usage.parse_args()
    if not 0.05 <= args.repeat_delay <= 2.0:
        usage.error(f"--repeat-delay is {args.repeat_delay:g} s, want 0.05 to 2")
    if args.no_screen and args.gamepad is None:
        usage.error("--no-screen is for --gamepad: keys need the screen")
    if not args.no_screen and not (sys.stdin.isatty() and sys.stderr.isatty()):
        usage.error("no terminal: start it in one (over ssh: ssh -t), or use --gamepad --no-screen")
    try:
        description = load_robot(args.robot) if args.robot else None
        gamepad = EvdevGamepad(args.gamepad) if args.gamepad is not None else None
        session = Session(Bus(args.lcm_url), description, gamepad, KeyHold(first=args.repeat_delay))
    except (ConfigError, BusError, GamepadError) as error:
        print(f"teleop: {error}", file=sys.stderr)
        return 2
    if args.no_screen:
        without_screen(session)
        return 0
    from tools.teleop.screen import Teleop  # noqa: PLC0415 - textual: only with a screen

    app = Teleop(session)
    app.run()
    return app.return_code or 0


if __name__ == "__main__":
    sys.exit(main())
