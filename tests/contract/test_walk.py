"""The whole pipeline on every plant: it stands up and trots. The full scenarios are the behaviour tests' business."""

from __future__ import annotations

import numpy as np
import pytest

from config.load import load_scenario
from lcmtypes.channels import GROUND_TRUTH, IMU, JOINT_STATE, MODE_STATE
from procs.runtime.commands import CommandPlayer
from procs.runtime.engine import Engine
from procs.runtime.plant_loop import PlantLoop
from procs.runtime.rollout import Rollout
from tests.contract.twins import plant
from tools.stack import SPECS

DURATION = ("duration=3.6", "commands.1.t=1.8", "commands.2.t=2.0")


def walk(kind, faults=(), robot=None):
    """Recorded messages by channel of stand, trot on the spot, trot at 0.5 m/s."""
    scenario = load_scenario("trot_forward", DURATION)
    one, robot, hardware = plant(kind, scenario.plant, seed=scenario.seed, faults=faults, robot=robot)
    recorded = {}
    loop = PlantLoop(one, robot)
    engines = [Engine(spec, robot) for spec in SPECS.values()]
    runner = Rollout(loop, engines, lambda channel, message: recorded.setdefault(channel, []).append(message))
    player = CommandPlayer(scenario.commands, robot.dt)
    loop.start(1)
    try:
        for _ in range(round(scenario.duration / robot.dt)):
            runner.tick(lambda: player.messages(loop.seq, loop.utime, loop.run))
    finally:
        one.stop()
    return recorded, loop, hardware


@pytest.mark.parametrize("kind", ["spine", "can"])
def test_it_walks_through_the_bytes(kind):
    recorded, loop, _hardware = walk(kind)
    truth = recorded[GROUND_TRUTH]
    assert recorded[MODE_STATE][-1].mode == "walk"
    assert [m.seq for m in recorded[JOINT_STATE]] == [m.seq for m in recorded[IMU]] == list(range(1800))
    height = np.array([m.position[2] for m in truth[900:]])
    assert height.min() > 0.26 and height.max() < 0.33
    speed = (truth[-1].position[0] - truth[-300].position[0]) / (299 * 0.002)
    assert speed == pytest.approx(0.5, abs=0.08)
    assert not loop.latched
    faulty = [m.seq for m in recorded[JOINT_STATE] if m.fault.any()]
    assert len(faulty) <= 3 and max(faulty, default=0) < 300  # the first replies after enable, and nothing good later
