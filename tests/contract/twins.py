"""The plants that must be twins: simulator, and bridge over emulated SPIne boards and CAN drives, in one process."""

from __future__ import annotations

import numpy as np
import pytest

from config.scenario import PlantOptions
from lcmtypes.channels import GROUND_TRUTH
from lcmtypes.generated import JointCommand
from procs.model.robot import Robot
from sim.emulators.hardware import EmulatedCan, EmulatedSpine
from sim.plant import SimPlant
from tests.sim.emulators.wiring import can_bus, spine_bus, with_bus

KINDS = ("sim", "spine", "scotty", "can", "cybergear", "gim6010")
NO_BRIDGE = "procs.bridge is not there yet: only the simulator can be tested"
PERIODS_OLD = {
    "sim": 0,
    "spine": 2,
    "scotty": 1,
    "can": 0,
    "cybergear": 0,
    "gim6010": 0,
}  # ticks of a position when it is read


def robot_on(kind: str, **imu: object) -> Robot:
    """The Mini Cheetah with the bus of a kind."""
    if kind in ("spine", "scotty"):
        return with_bus(spine_bus("mit" if kind == "spine" else kind), **imu)
    return with_bus(None if kind == "sim" else can_bus("mit" if kind == "can" else kind), **imu)


class InStep:
    """Keeps bridge and emulated hardware in step without sockets."""

    emulated = True

    def __init__(self, hardware) -> None:
        self.hardware = hardware

    def open(self) -> None:
        """Nothing."""

    def begin(self, run: int, seq: int) -> bool:
        """The tick opens."""
        self.hardware.tick(run, seq)
        return True

    def done(self) -> None:
        """The tick closes."""
        self.hardware.done()

    def close(self) -> None:
        """Nothing."""


class MemoryLink:
    """One emulated CAN bus; like a real one it holds the frames that drives send by themselves."""

    def __init__(self, hardware: EmulatedCan, line: int) -> None:
        self.hardware, self.line, self.name = hardware, line, f"can{line}"
        self.errors, self.last_error = 0, ""
        self.waiting: list = []

    def open(self) -> None:
        """Nothing."""

    def send(self, frame) -> bool:
        """To all drives of the bus."""
        self.hardware.send(self.line, frame)
        return True

    def receive(self, wait: float):
        """The next frame."""
        self.waiting += self.hardware.receive(self.line)
        return self.waiting.pop(0) if self.waiting else None

    def close(self) -> None:
        """Nothing."""


def plant(kind: str, options: PlantOptions | None = None, *, seed: int = 1, pushes=(), faults=(), robot=None, **quirks):
    """(plant, robot, emulated hardware or None); skips where the bridge is not there."""
    options = options or PlantOptions(imu_noise=False, suspended=True)
    robot = robot or robot_on(kind)
    if kind == "sim":
        return SimPlant(robot, options, seed=seed, pushes=pushes, faults=faults), robot, None
    build = pytest.importorskip("procs.bridge.build", reason=NO_BRIDGE)
    bridge = pytest.importorskip("procs.bridge.plant", reason=NO_BRIDGE)
    from procs.bridge.imu_serial import CallableStream
    from procs.bridge.spi import CallableBoard

    on_boards = kind in ("spine", "scotty")
    made = EmulatedSpine if on_boards else EmulatedCan
    hardware = made(robot, options, seed, pushes=pushes, faults=faults, **quirks)
    if on_boards:
        boards = [
            CallableBoard(lambda tx, board=board: hardware.exchange(board, tx), f"spi{board}")
            for board in range(len(hardware.joints))
        ]
        drives = build.spine_drives(robot, boards)
    else:
        links = [MemoryLink(hardware, line) for line in range(len(hardware.can.buses))]
        drives = build.can_drives(robot, links, reply_timeout=0.0)
    reader = build.imu_reader(robot, CallableStream(hardware.imu_bytes))

    class WithTruth(bridge.BridgePlant):
        """As seen from outside, where somebody else measures the robot."""

        def extras(self):
            truth = hardware.robot.truth
            return [(GROUND_TRUTH, truth), *super().extras()]

        def stop(self):
            super().stop()
            hardware.stop()

    return WithTruth(robot, drives, reader, sync=InStep(hardware)), robot, hardware


def hold(robot: Robot, q, kp: float = 60.0, kd: float = 1.0) -> JointCommand:
    """A command that holds joint angles."""
    command = JointCommand(robot.num_joints)
    command.enable[:] = 1
    command.q_des[:] = q
    command.kp[:], command.kd[:] = kp, kd
    return command


def quanta(kind: str, robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Resolution of joint positions and velocities: of the description, or of the drive's frame over the ratio."""
    if kind in ("sim", "spine", "can"):
        drives = robot.actuators
        return robot.per_joint([d.position_quantum for d in drives]), robot.per_joint(
            [d.velocity_quantum for d in drives]
        )
    p, v = 25 / 65535, {"cybergear": 60 / 65535, "gim6010": 130 / 4095, "scotty": 100 / 4095}[kind]
    return np.full(robot.num_joints, p), np.full(robot.num_joints, v)
