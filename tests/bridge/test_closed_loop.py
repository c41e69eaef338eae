"""The robot walks through the bridge and the emulated hardware of sim, all in one process."""

from __future__ import annotations

import numpy as np
import pytest

from config.load import load_robot
from config.scenario import Command, PlantOptions
from lcmtypes.channels import MODE_STATE
from procs.bridge.build import can_drives, imu_reader, spine_drives
from procs.bridge.can_bus import CallableLink
from procs.bridge.imu_serial import CallableStream
from procs.bridge.plant import BridgePlant
from procs.bridge.spi import CallableBoard
from procs.model.robot import Robot
from procs.runtime.commands import CommandPlayer
from procs.runtime.engine import Engine
from procs.runtime.plant_loop import PlantLoop
from procs.runtime.rollout import Rollout
from tools.stack import SPECS

hardware = pytest.importorskip("sim.emulators.hardware", reason="no emulated hardware here")


class InStep:
    """Sync within the process."""

    emulated = True

    def __init__(self, emulated):
        self.hardware = emulated

    def open(self):
        pass

    def begin(self, run, seq):
        self.hardware.tick(run, seq)
        return True

    def done(self):
        self.hardware.done()

    def close(self):
        self.hardware.stop()


class EmulatedLine(CallableLink):
    """One CAN bus of the emulated hardware."""

    def __init__(self, emulated, line):
        super().__init__(lambda frame: emulated.send(line, frame) or (), f"can{line}")
        self.hardware, self.line = emulated, line

    def receive(self, wait):
        self.waiting.extend(self.hardware.receive(self.line))
        return super().receive(wait)


def bridged(robot, emulated):
    if robot.description.bus.spine is not None:
        boards = [CallableBoard(lambda f, k=k: emulated.exchange(k, f)) for k in range(2)]
        drives = spine_drives(robot, boards)
    else:
        drives = can_drives(robot, [EmulatedLine(emulated, k) for k in range(4)], reply_timeout=0.0)
    return BridgePlant(robot, drives, imu_reader(robot, CallableStream(emulated.imu_bytes)), sync=InStep(emulated))


COMMANDS = [Command(t=0.0, mode="stand"), Command(t=1.0, mode="walk", gait="trot", vx=0.0), Command(t=1.4, vx=0.5)]


@pytest.mark.parametrize("protocol, drive", [("spine", ""), ("mit", "mini_cheetah"), ("cybergear", "CyberGear")])
def test_the_robot_trots_through_the_emulated_bus(can_robot, protocol, drive):
    robot = Robot(load_robot("mini_cheetah")) if protocol == "spine" else can_robot(protocol, drive)
    emulated = hardware.emulated(robot, PlantOptions(), 1)
    plant = bridged(robot, emulated)
    loop, modes = PlantLoop(plant, robot), []
    runner = Rollout(
        loop,
        [Engine(spec, robot) for spec in SPECS.values()],
        lambda channel, message: modes.append(message.mode) if channel is MODE_STATE else None,
    )
    player = CommandPlayer(COMMANDS, robot.dt)
    loop.start(1)
    jumps = []
    try:
        for _ in range(round(3.0 / robot.dt)):
            runner.tick(lambda: player.messages(loop.seq, loop.utime, loop.run))
            assert not loop.latched
            counts = plant.drives.counts.rejected
            jumps.append(counts.get("impossible jump", 0) + counts.get("impossible velocity", 0))
        truth = emulated.robot.truth
        assert modes[-1] == "walk" and plant.starter.state == "running"
        assert truth.position[2] == pytest.approx(0.3, abs=0.02)
        assert truth.position[0] > 0.4 and abs(truth.position[1]) < 0.1
        np.testing.assert_array_equal(jumps, 0)  # no good frame was refused
    finally:
        plant.stop()
