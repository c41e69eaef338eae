"""The cores of the pipeline as one table, and runs of them in one Python process."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Collection
from pathlib import Path

from config.problems import ConfigError, Problem
from config.scenario import Scenario
from lcmtypes.channels import MPC_DEBUG, ROBOT_CONFIG, Channel
from lcmtypes.message import Message
from procs.controller.controller import SPEC as CONTROLLER
from procs.estimator.estimator import SPEC as ESTIMATOR
from procs.model.robot import Robot
from procs.packer.packer import SPEC as PACKER
from procs.runtime.commands import CommandPlayer
from procs.runtime.engine import Engine
from procs.runtime.logs import LogWriter
from procs.runtime.plant_loop import PlantLoop
from procs.runtime.rollout import Rollout
from sim.plant import SimPlant
from tools.emulated_plant import EmulatedPlant, emulated_plant
from tools.record import robot_config
from tools.recording import Recording

SPECS = {spec.name: spec for spec in (ESTIMATOR, CONTROLLER, PACKER)}
ROLLOUT_RUN = 1  # the run id of rollouts: fixed, so that logs of two rollouts are equal


PLANTS = ("sim", "emulated")  # of a rollout


def plant_of(scenario: Scenario) -> str:
    """What a scenario runs on if nobody says: the simulator, or emulated hardware where it has faults of a bus."""
    return "emulated" if scenario.on_bus else "sim"


def make_plant(
    robot: Robot, scenario: Scenario, seed: int, gui: bool = False, plant: str = "sim"
) -> SimPlant | EmulatedPlant:
    """The plant as a scenario describes it; ConfigError for what this plant cannot do."""
    try:
        made = emulated_plant if plant == "emulated" else SimPlant
        return made(robot, scenario.plant, seed=seed, pushes=scenario.pushes, faults=scenario.faults, gui=gui)
    except ValueError as error:
        raise ConfigError(f"scenario {scenario.name}", [Problem("scenario", scenario.name, str(error))]) from error


def rollout(
    scenario: Scenario,
    robot: Robot,
    *,
    seed: int,
    log: Path | None = None,
    gui: bool = False,
    progress: Callable[[float], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
    watch: Callable[[SimPlant, Recording], None] | None = None,
    keep: Collection[Channel] | None = None,
    plant: str | None = None,
) -> Recording:
    """Run a scenario with all processes in this one; every message is recorded, or those of the channels to `keep`.

    `watch` is called after each tick. `plant`: one of PLANTS, None: the one that the scenario needs.
    """
    recording = Recording()
    writer = LogWriter(log) if log else None
    if writer is not None:
        writer.write(ROBOT_CONFIG, robot_config(robot.description), time.time_ns() // 1000)
    start = time.time_ns() // 1000

    def observe(channel: Channel, message: Message) -> None:
        if keep is None or channel in keep:
            recording.add(channel, message)
        if writer is not None:
            writer.write(channel, message, start)

    world = make_plant(robot, scenario, seed, gui, plant or plant_of(scenario))
    physics = world.physics if isinstance(world, EmulatedPlant) else world
    loop = PlantLoop(world, robot)
    engines = [Engine(spec, robot) for spec in SPECS.values()]
    runner = Rollout(loop, engines, observe)
    player = CommandPlayer(scenario.commands, robot.dt)
    times = recording.step_us
    gc.collect()
    gc.disable()  # a recording only grows and holds no cycles: the collector would walk it again and again
    try:
        loop.start(ROLLOUT_RUN)
        for tick in range(round(scenario.duration / robot.dt)):
            solved = len(recording.of(MPC_DEBUG))
            runner.tick(lambda: player.messages(loop.seq, loop.utime, loop.run))
            for name, us in runner.step_us.items():
                times.setdefault(name, []).append(us)
            if len(recording.of(MPC_DEBUG)) > solved:
                times.setdefault("controller.mpc", []).append(runner.step_us["controller"])
            if watch is not None:
                watch(physics, recording)
            if progress is not None and tick % 50 == 0:
                progress(loop.seq * robot.dt)
            if stop():
                break
    finally:
        gc.enable()
        loop.plant.stop()
        if writer is not None:
            writer.close()
    return recording
