"""Robots, plants that are closed again, and commands for the simulator's tests."""

from __future__ import annotations

import numpy as np
import pytest

from config.load import load_robot, robot_names
from config.scenario import PlantOptions
from lcmtypes.generated import JointCommand
from procs.model.robot import Robot
from sim.plant import SimPlant


@pytest.fixture(scope="session")
def robot():
    return Robot(load_robot("mini_cheetah"))


@pytest.fixture(scope="session", params=robot_names())
def any_robot(request):
    return Robot(load_robot(request.param))


@pytest.fixture
def make_plant():
    """Plants with perfect sensors unless told otherwise, started, stopped after the test."""
    plants = []

    def make(robot, *, seed=1, pushes=(), faults=(), **options):
        options.setdefault("imu_noise", False)
        plant = SimPlant(robot, PlantOptions(**options), seed=seed, pushes=pushes, faults=faults)
        plants.append(plant)
        plant.start(1)
        return plant

    yield make
    for plant in plants:
        plant.stop()


@pytest.fixture(scope="session")
def hold():
    """Command that holds joint angles with the description's standing gains."""

    def make(robot, q, scale=1.0):
        command = JointCommand(robot.num_joints)
        command.enable[:] = 1
        command.q_des[:] = q
        command.kp[:] = scale * robot.per_joint(robot.description.control.stand.kp)
        command.kd[:] = robot.per_joint(robot.description.control.stand.kd)
        return command

    return make


@pytest.fixture(scope="session")
def with_start():
    """The robot with another start: pose and height."""

    def make(robot, **changes):
        sim = robot.description.sim
        changed = sim.model_copy(update={"start": sim.start.model_copy(update=changes)})
        return Robot(robot.description.model_copy(update={"sim": changed}))

    return make


@pytest.fixture(scope="session")
def standing(with_start):
    """The robot starting in its stand pose, feet on the ground."""

    def make(robot):
        feet = robot.chains.mount_position + robot.stand_feet
        return with_start(robot, pose="stand", height=float(robot.foot_radius - feet[:, 2].min()))

    return make


@pytest.fixture(scope="session")
def play():
    """Ticks with one command; returns lists of imu, joint_state, ground_truth."""

    def run(plant, command, ticks):
        samples = []
        for _ in range(ticks):
            imu, joints = plant.read()
            samples.append((imu, joints, plant.extras()[0][1]))
            plant.work_ahead()
            if command is not None:
                plant.write(command)
        return [list(column) for column in zip(*samples, strict=True)]

    return run


@pytest.fixture
def rng():
    return np.random.default_rng(7)
