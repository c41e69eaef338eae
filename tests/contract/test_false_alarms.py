"""No good frame is refused: not at rest, where replies are equal, not at a step out of it, not in a trot."""

from __future__ import annotations

import numpy as np
import pytest

from config.scenario import PlantOptions
from lcmtypes.channels import JOINT_STATE
from procs.runtime.commands import CommandPlayer
from procs.runtime.engine import Engine
from procs.runtime.plant_loop import PlantLoop
from procs.runtime.rollout import Rollout
from tests.bridge.soak import WALKING
from tests.contract.twins import hold, plant
from tools.stack import SPECS

AFTER = 260  # ticks: drives are up
BOARDS = ("spine", "scotty")  # CAN replies are never taken for repeated


def refused(one):
    """Rejections by reason since the drives are up."""
    return dict(one.drives.counts.rejected)


@pytest.mark.parametrize("suspended", [True, False])
@pytest.mark.parametrize("kind", BOARDS)
def test_steps_out_of_rest_are_no_frozen_board(kind, suspended):
    one, robot, _ = plant(kind, PlantOptions(imu_noise=False, suspended=suspended))
    loop = PlantLoop(one, robot)
    loop.start(1)
    q0 = robot.pose("down")
    command, faults, before = hold(robot, q0), 0, None
    try:
        for tick in range(1000):
            if tick == AFTER:
                before = refused(one)
            joints = dict(loop.sample())[JOINT_STATE]
            faults += int(joints.fault.any()) if tick >= AFTER else 0
            command.q_des[:] = q0 - 0.2 * (tick // 300 % 2)
            command.run, command.seq = loop.run, loop.seq
            loop.accept(command)
            loop.act()
    finally:
        one.stop()
    assert before is not None and refused(one) == before and not faults


@pytest.mark.parametrize(("kind", "stand"), [("spine", 5.0), ("can", 0.5)])
def test_standing_and_trotting_refuse_no_good_frame(kind, stand):
    one, robot, _ = plant(kind, PlantOptions())
    loop = PlantLoop(one, robot)
    runner = Rollout(loop, [Engine(spec, robot) for spec in SPECS.values()], lambda channel, message: None)
    still = [c.model_copy(update={"t": c.t + stand if c.t else 0.0}) for c in WALKING]
    player, before = CommandPlayer(still, robot.dt), None
    loop.start(1)
    try:
        for tick in range(round((stand + 2.4) / robot.dt)):
            runner.tick(lambda: player.messages(loop.seq, loop.utime, loop.run))
            if tick == AFTER:
                before = refused(one)
            assert tick < AFTER or not np.any(one.state.fault)
    finally:
        one.stop()
    assert refused(one) == before and not loop.latched
