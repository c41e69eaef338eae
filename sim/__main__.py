"""Simulator process: the robot in PyBullet as the plant of the pipeline, in lock step or in real time."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from config.load import ConfigError, load_scenario
from config.problems import Problem
from config.scenario import Fault, PlantOptions, Push
from procs.model.robot import Robot
from procs.runtime.bus import Bus
from procs.runtime.commands import CommandPlayer
from procs.runtime.live_plant import LivePlant
from procs.runtime.main import arguments, guarded, prepare, robot_of
from procs.runtime.plant_loop import PlantLoop
from sim.emulators.hardware import emulated
from sim.plant import SimPlant
from sim.serve import Server

LOG = logging.getLogger("sim")
FASTEST = 100.0  # times real time


def _pace(parser: argparse.ArgumentParser, text: str) -> float | None:
    """Factor of real time; None: as fast as it can."""
    if text == "max":
        return None
    try:
        pace = float(text)
    except ValueError:
        pace = 0.0
    if not 0 < pace <= FASTEST:
        parser.error(f"--pace is max or a factor up to {FASTEST:g}, got {text!r}")
    return pace


def serve(
    args: argparse.Namespace, robot: Robot, options: PlantOptions, seed: int, pushes: Sequence[Push],
    faults: Sequence[Fault],
) -> None:  # fmt: skip
    """Emulated hardware behind sockets in --serve-bus instead of a plant on LCM."""
    try:
        hardware = emulated(robot, options, seed, pushes=pushes, faults=faults, gui=args.gui)
    except ValueError as error:
        raise ConfigError(args.scenario or args.robot, [Problem("bus", str(args.serve_bus), str(error))]) from error
    server = Server(hardware, args.serve_bus, Bus(args.lcm_url))
    for sig in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sig, server.stop)
    server.run()


def main() -> int:
    """Entry point."""
    parser = arguments("sim", __doc__)
    parser.add_argument("--scenario", help="plays its commands, pushes and faults; ends after its duration")
    parser.add_argument("--seed", type=int, help="of noise and terrain (default: the scenario's, else 1)")
    parser.add_argument("--real-time", action="store_true", help="a tick every period instead of lock step")
    parser.add_argument("--pace", default="1", help="lock step: 1 = not faster than real time, max = as fast as it can")
    parser.add_argument("--suspended", action="store_true", help="hold the body in the air, as in a rig")
    parser.add_argument("--gui", action="store_true", help="PyBullet's window")
    parser.add_argument("--serve-bus", type=Path, metavar="DIR", help="be the hardware behind a bridge: sockets in DIR")
    args = parser.parse_args()
    pace = _pace(parser, args.pace)
    prepare("sim", args)

    def run() -> None:
        scenario = load_scenario(args.scenario) if args.scenario else None
        robot = robot_of(args)
        seed = args.seed if args.seed is not None else scenario.seed if scenario else 1
        options = scenario.plant if scenario else PlantOptions(suspended=args.suspended)
        pushes, faults = (scenario.pushes, scenario.faults) if scenario else ((), ())
        if args.serve_bus:
            serve(args, robot, options, seed, pushes, faults)
            return
        try:
            plant = SimPlant(robot, options, seed=seed, pushes=pushes, faults=faults, gui=args.gui)
        except ValueError as error:
            raise ConfigError(args.scenario or "sim", [Problem("scenario", args.scenario, str(error))]) from error
        live = LivePlant(
            "sim", PlantLoop(plant, robot), Bus(args.lcm_url), lock_step=not args.real_time,
            pace=pace,
            player=CommandPlayer(scenario.commands, robot.dt) if scenario and scenario.commands else None,
            duration=scenario.duration if scenario else None,
        )  # fmt: skip
        for sig in (signal.SIGTERM, signal.SIGINT):
            signal.signal(sig, live.stop)
        live.run()

    return guarded("sim", run)


if __name__ == "__main__":
    sys.exit(main())
