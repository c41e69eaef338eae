"""A robot's boards with their drives on bench shafts, behind the bridge's own driver: no physics, only bytes."""

from __future__ import annotations

import numpy as np

from procs.bridge.build import spine_drives, wires_of
from procs.bridge.spi import CallableBoard
from procs.model.robot import Robot
from procs.wire.mit_motors import MOTORS
from sim.emulators.can_motor import MitMotor, MitQuirks
from sim.emulators.scotty_board import ScottyBoard, ScottyQuirks
from sim.emulators.spine_board import SpineBoard, SpineQuirks
from tests.sim.emulators.conftest import Bench


def boards_on_a_bench(robot: Robot):
    """(drives of the bridge, shafts in joint order)."""
    rng = np.random.default_rng(2)
    wires, spine = wires_of(robot), robot.description.bus.spine
    scotty = spine.variant == "scotty"
    shafts = [Bench() for _ in wires]
    boards = []
    for line in range(len(spine.boards)):
        mine = sorted((w.place(j), j) for j, w in enumerate(wires) if w.line == line)
        quirks = MitQuirks(wrong_first_reply=False, reply_length=8 if scotty else 6)
        motors = [MitMotor(shafts[j], at[2] + 1, MOTORS[wires[j].drive], robot.dt, rng, quirks) for at, j in mine]
        made = (
            ScottyBoard(motors, rng, robot.dt, ScottyQuirks(garbage=0))
            if scotty
            else SpineBoard(motors, rng, SpineQuirks(garbage=0))
        )
        boards.append(CallableBoard(made.transfer, f"spi{line}"))
    return spine_drives(robot, boards), shafts
