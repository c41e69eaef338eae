"""The plants that must be twins: simulator, and bridge over emulated SPIne boards and CAN drives, in one process."""

from __future__ import annotations

import numpy as np

from config.scenario import PlantOptions
from lcmtypes.generated import JointCommand
from procs.model.robot import Robot
from sim.emulators.hardware import EmulatedCan, EmulatedSpine
from sim.plant import SimPlant
from tests.sim.emulators.wiring import can_bus, spine_bus, with_bus
from tools.emulated_plant import EmulatedPlant

KINDS = ("sim", "spine", "scotty", "can", "cybergear", "gim6010")
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


def plant(kind: str, options: PlantOptions | None = None, *, seed: int = 1, pushes=(), faults=(), robot=None, **quirks):
    """(plant, robot, emulated hardware or None)."""
    options = options or PlantOptions(imu_noise=False, suspended=True)
    robot = robot or robot_on(kind)
    if kind == "sim":
        return SimPlant(robot, options, seed=seed, pushes=pushes, faults=faults), robot, None
    made = EmulatedSpine if kind in ("spine", "scotty") else EmulatedCan
    hardware = made(robot, options, seed, pushes=pushes, faults=faults, **quirks)
    return EmulatedPlant(robot, hardware), robot, hardware


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
