"""Step times of a rollout: each process, physics apart, and how much faster than real time it runs on one core."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import sim.world
from config.load import load_robot, load_scenario
from procs.model.robot import Robot
from tools.recording import Recording
from tools.stack import rollout


class Physics:
    """Time spent in PyBullet's stepSimulation, s."""

    def __init__(self) -> None:
        self.total = 0.0


@contextmanager
def timed_physics() -> Iterator[Physics]:
    """While inside, every stepSimulation of this process is timed."""
    engine, physics = sim.world.p, Physics()
    original = engine.stepSimulation

    def step(**options: int) -> None:
        begin = time.perf_counter()
        original(**options)
        physics.total += time.perf_counter() - begin

    engine.stepSimulation = step
    try:
        yield physics
    finally:
        engine.stepSimulation = original


def spread(us: np.ndarray | list[float]) -> dict[str, float]:
    """p50, p99 and max."""
    p50, p99 = np.percentile(us, (50, 99))
    return {"p50": float(p50), "p99": float(p99), "max": float(np.max(us))}


def bench_rollout(scenario_name: str = "trot_forward", duration: float = 12.0) -> dict[str, Any]:
    """Run on one core of this process's; step times over the part of the scenario where the robot walks."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        return _measure(scenario_name, duration)[0]
    finally:
        os.sched_setaffinity(0, cores)


def _measure(scenario_name: str, duration: float) -> tuple[dict[str, Any], Recording]:
    scenario = load_scenario(scenario_name, [f"duration={duration}"])
    robot = Robot(load_robot(scenario.robot))
    rollout(load_scenario(scenario_name, ["duration=2.2"]), robot, seed=1)  # kernels and caches are warm after it
    walking = round(next(c.t for c in scenario.commands if c.mode == "walk") / robot.dt) + 50
    stamps: list[tuple[float, float]] = []
    with timed_physics() as physics:

        def stamp() -> bool:
            stamps.append((time.perf_counter(), physics.total))
            return False

        cpu = time.process_time()
        recording = rollout(scenario, robot, seed=1, stop=stamp)
        cpu = time.process_time() - cpu
    wall, inside = 1e6 * np.diff(np.array(stamps), axis=0).T[:, walking:]
    times = {name: np.array(us) for name, us in recording.step_us.items() if name != "controller.mpc"}
    steps = {name: spread(us[walking:]) for name, us in times.items() if name not in ("plant", "controller")}
    solved = np.isin(times["controller"], recording.step_us.get("controller.mpc", []))
    controller = times["controller"]
    steps["controller, ticks with a solve"] = spread(controller[solved])
    steps["controller, other ticks"] = spread(controller[~solved])
    steps["physics (PyBullet's steps)"] = spread(inside)
    steps["plant besides physics"] = spread(times["plant"][walking + 1 :] - inside[: len(times["plant"]) - walking - 1])
    steps["everything but physics"] = spread(wall - inside)
    ticks = len(stamps) - 1
    elapsed = stamps[-1][0] - stamps[0][0]
    return {
        "scenario": scenario_name,
        "ticks": ticks,
        "step_us": steps,
        "mean_us": {"tick": float(wall.mean()), "physics": float(inside.mean()), "rest": float((wall - inside).mean())},
        "real_time_factor": ticks * robot.dt / elapsed,
        "real_time_factor_of_cpu_time": (ticks + 1) * robot.dt / cpu,
    }, recording


def last_messages(duration: float = 3.0) -> Recording:
    """A short walk whose messages are typical in size and content."""
    return _measure("trot_forward", duration)[1]
