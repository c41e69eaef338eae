"""How old a reply is when the host has it: the descriptions say what the boards' firmwares do."""

from __future__ import annotations

import pytest

from config.load import load_robot
from procs.bridge.joint_map import DriveCommand
from procs.model.robot import Robot
from tests.contract.on_bench import boards_on_a_bench

STEP = 0.01  # rad per transfer, well above a quantum


@pytest.mark.parametrize("name", ["mini_cheetah", "scotty"])
def test_the_described_age_of_a_reply_is_the_boards(name):
    robot = Robot(load_robot(name))
    drives, shafts = boards_on_a_bench(robot)
    for k in range(12):
        for shaft in shafts:
            shaft.position = STEP * k
        raw = drives.exchange(DriveCommand.zero(len(shafts)))
        if k > 4:
            ages = {k - round(float(raw.position[j]) / STEP) for j in (0, 1)}  # no belt there
            assert ages == {drives.reply_age} == {robot.description.bus.spine.reply_age}
