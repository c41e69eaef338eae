"""Bridge process: the robot's motors and IMU as the plant of the pipeline, in the simulator's place."""

from __future__ import annotations

import argparse
import contextlib
import logging
import signal
import sys
from pathlib import Path

from config.load import ConfigError, load_scenario
from config.problems import Problem
from procs.bridge.build import bridge_plant, last_resort
from procs.bridge.capture import Capture
from procs.bridge.guardian import Guardian
from procs.runtime.bus import Bus
from procs.runtime.commands import CommandPlayer
from procs.runtime.live_plant import LivePlant
from procs.runtime.main import arguments, guarded, prepare, robot_of
from procs.runtime.plant_loop import PlantLoop

LOG = logging.getLogger("bridge")
NO_WATCHDOG = (
    "if this computer dies, the motors hold on to their last command. true only if the bring-up step `silence` has "
    "shown that the drives stop by themselves; else start with --without-drive-watchdog, a hand on the emergency stop"
)


def _parser() -> argparse.ArgumentParser:
    parser = arguments("procs.bridge", __doc__)
    parser.add_argument("--bus-dir", type=Path, metavar="DIR", help="emulated hardware in DIR instead of real devices")
    parser.add_argument("--scenario", help="plays its commands; ends after its duration")
    parser.add_argument("--lock-step", action="store_true", help="with --bus-dir: a tick waits for its joint_command")
    parser.add_argument("--pace", default="1", help="in lock step: factor of real time, max = as fast as it can")
    parser.add_argument(
        "--without-drive-watchdog", action="store_true",
        help="drive real motors that do not stop by themselves when this computer falls silent",
    )  # fmt: skip
    parser.add_argument("--capture", type=Path, metavar="FILE", help="write all CAN frames to FILE (candump)")
    return parser


def _checked(parser: argparse.ArgumentParser, args: argparse.Namespace) -> float | None:
    """Pace; usage errors end the program."""
    if args.lock_step and args.bus_dir is None:
        parser.error("--lock-step needs --bus-dir: real motors do not wait")
    if args.pace == "max":
        if not args.lock_step:
            parser.error("--pace max needs --lock-step")
        return None
    try:
        pace = float(args.pace)
    except ValueError:
        pace = 0.0
    if not pace > 0:
        parser.error(f"--pace is max or a positive factor, got {args.pace!r}")
    return pace


def _prepare_guardian() -> None:
    """Slow imports now, not when every millisecond counts."""
    with contextlib.suppress(ImportError):
        import can  # noqa: F401, PLC0415


def main() -> int:
    """Entry point."""
    parser = _parser()
    args = parser.parse_args()
    pace = _checked(parser, args)
    prepare("bridge", args)

    def run() -> None:
        robot = robot_of(args)
        bus = robot.description.bus
        if bus is None:
            raise ConfigError(args.robot, [Problem("bus", None, "required: this robot can only be simulated")])
        if args.capture is not None and bus.can is None:
            parser.error("--capture is for CAN, this robot has SPIne boards")
        if args.bus_dir is None and not (bus.start.drive_watchdog or args.without_drive_watchdog):
            raise ConfigError(args.robot, [Problem("bus.start.drive_watchdog", False, NO_WATCHDOG)])
        scenario = load_scenario(args.scenario) if args.scenario else None
        guardian = Guardian(
            last_resort(robot, args.bus_dir), _prepare_guardian if bus.can is not None else lambda: None
        )
        capture = Capture(args.capture) if args.capture is not None else None
        try:
            plant = bridge_plant(robot, args.bus_dir, capture, guardian)
            live = LivePlant(
                "bridge", PlantLoop(plant, robot), Bus(args.lcm_url), lock_step=args.lock_step, pace=pace,
                player=CommandPlayer(scenario.commands, robot.dt) if scenario else None,
                duration=scenario.duration if scenario else None,
                hardware=args.bus_dir is None,
            )  # fmt: skip
            for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(sig, live.stop)
            live.run()
        finally:
            if capture is not None:
                capture.close()
            guardian.close()

    return guarded("bridge", run)


if __name__ == "__main__":
    sys.exit(main())
