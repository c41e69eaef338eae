"""Command the robot from a shell: hold a mode and speeds, or press estop, or reset.

Publishes motion_command at 50 Hz as source "command" until Ctrl-C or --seconds. Exit code 0; 2: usage or no LCM.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
import time

from lcmtypes.channels import ESTOP, MOTION_COMMAND, RESET
from lcmtypes.generated import Estop, MotionCommand, Reset
from procs.runtime.bus import DEFAULT_URL, Bus, BusError

SOURCE = "command"
RATE = 50.0  # Hz; the controller slows down when it hears nothing for 0.3 s
REPEATS = 3  # of estop and reset: a single packet may be lost
BETWEEN = 0.02  # s


def counter() -> int:
    """Microseconds of the monotonic clock: as an operator's counter it never repeats, also after a new start."""
    return time.monotonic_ns() // 1000


def motion(args: argparse.Namespace) -> MotionCommand:
    """The command that is held."""
    message = MotionCommand()
    message.source, message.mode, message.gait = SOURCE, args.what, args.gait
    message.vx, message.vy, message.yaw_rate, message.height = args.vx, args.vy, args.yaw_rate, args.height
    return message


def hold(bus: Bus, message: MotionCommand, seconds: float | None, ended: threading.Event) -> None:
    """Publish at RATE on an absolute schedule until the time is over or `ended`."""
    due = time.monotonic()
    end = None if seconds is None else due + seconds
    while not ended.is_set() and (end is None or due < end):
        message.utime = message.seq = counter()
        bus.publish(MOTION_COMMAND, message)
        due += 1.0 / RATE
        ended.wait(max(0.0, due - time.monotonic()))


def press(bus: Bus, what: str, reason: str) -> None:
    """Publish an estop or a reset."""
    channel, message = (ESTOP, Estop()) if what == "estop" else (RESET, Reset())
    message.utime = message.seq = counter()
    message.source, message.reason = SOURCE, reason
    for _ in range(REPEATS if what == "estop" else 1):  # every reset begins a new run of the simulator
        bus.publish(channel, message)
        time.sleep(BETWEEN)


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m tools.command", description=__doc__)
    parser.add_argument("what", metavar="MODE", help="stand, walk, down, ...; or estop, or reset")
    parser.add_argument("--gait", default="", help="default: keep the present one")
    parser.add_argument("--vx", type=float, default=0.0, help="m/s, forward")
    parser.add_argument("--vy", type=float, default=0.0, help="m/s, to the left")
    parser.add_argument("--yaw-rate", type=float, default=0.0, help="rad/s, to the left")
    parser.add_argument("--height", type=float, default=0.0, help="m, of the body; 0: nominal")
    parser.add_argument("--seconds", type=float, help="end after this time (default: Ctrl-C)")
    parser.add_argument("--reason", default="pressed", help="of estop and reset")
    parser.add_argument("--lcm-url", default=DEFAULT_URL)
    args = parser.parse_args()
    ended = threading.Event()
    for sig in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sig, lambda *_: ended.set())
    message = motion(args)
    if not message.finite():
        parser.error("speeds and height must be finite")
    try:
        bus = Bus(args.lcm_url)
    except BusError as error:
        print(f"command: {error}", file=sys.stderr)
        return 2
    if args.what in ("estop", "reset"):
        press(bus, args.what, args.reason)
    else:
        hold(bus, message, args.seconds, ended)
    return 0


if __name__ == "__main__":
    sys.exit(main())
