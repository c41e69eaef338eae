"""A robot, a toy process, a toy plant, and buses of their own for the runtime's tests."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from config.load import load_robot
from lcmtypes.channels import BODY_STATE, CONTACT_PLAN, IMU, JOINT_STATE, LEG_STATE, MOTION_COMMAND
from lcmtypes.generated import BodyState, ContactPlan, Imu, JointCommand, JointState, LegState, MotionCommand
from procs.model.robot import Robot
from procs.runtime.bus import Bus
from procs.runtime.plant_loop import PlantLoop
from procs.runtime.spec import ProcessSpec, latest, previous, same

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def robot():
    return Robot(load_robot("mini_cheetah"))


@pytest.fixture(scope="session")
def changed_safety(robot):
    """The robot with other safety values."""

    def change(**values):
        safety = robot.description.safety.model_copy(update=values)
        return Robot(robot.description.model_copy(update={"safety": safety}))

    return change


class ToyCore:
    """Counts its steps since the last reset into position[0]; keeps what it was given."""

    def __init__(self, robot):
        self.given, self.resets, self.wrong = [], 0, set()
        self.reset()

    def reset(self):
        self.resets += 1
        self.steps = 0

    def step(self, inputs):
        self.given.append(dict(inputs))
        self.steps += 1
        body, legs = BodyState(4), LegState(4, 12)
        body.position[0] = np.nan if inputs[JOINT_STATE].seq in self.wrong else self.steps
        return [body, legs]


@pytest.fixture
def toy():
    """Declaration of the toy process; `every` can be given."""

    def make(every=1):
        reads = (same(IMU), previous(CONTACT_PLAN), latest(MOTION_COMMAND))
        return ProcessSpec("toy", JOINT_STATE, reads, (BODY_STATE, LEG_STATE), ToyCore, every)

    return make


class ToyPlant:
    """A robot that stands still; keeps what it was told."""

    def __init__(self, robot):
        self.robot = robot
        self.written, self.started, self.stopped = [], [], 0
        self.change = lambda imu, joints: None

    def start(self, run):
        self.started.append(run)

    def read(self):
        imu, joints = Imu(), JointState(self.robot.num_joints)
        imu.valid, imu.quat[0], imu.accel[2] = 1, 1.0, 9.81
        joints.q[:] = self.robot.pose("stand")
        self.change(imu, joints)
        return imu, joints

    def extras(self):
        return []

    def work_ahead(self):
        pass

    def write(self, command):
        self.written.append(command)

    def stop(self):
        self.stopped += 1


@pytest.fixture
def toy_plant(robot):
    return ToyPlant(robot)


@pytest.fixture
def loop(toy_plant, robot):
    """A plant loop on the toy plant, started with run 7."""
    loop = PlantLoop(toy_plant, robot)
    loop.start(7)
    return loop


@pytest.fixture
def command(robot):
    """A joint_command that enables everything."""

    def make(run, seq, joints=None):
        message = JointCommand(joints or robot.num_joints)
        message.run, message.seq = run, seq
        message.enable[:] = 1
        message.kp[:] = 20.0
        return message

    return make


@pytest.fixture
def tick():
    """Messages of one tick by name of their type."""

    def make(kind, run, seq, *sizes):
        message = kind(*sizes)
        message.run, message.seq, message.utime = run, seq, 2000 * seq
        return message

    return make


@pytest.fixture
def sample(tick):
    """imu and joint_state of a tick, as pairs with their channels."""

    def make(run, seq, lock_step=1):
        joints = tick(JointState, run, seq, 12)
        joints.lock_step = lock_step
        return [(IMU, tick(Imu, run, seq)), (JOINT_STATE, joints)]

    return make


@pytest.fixture
def plan(tick):
    return lambda run, seq: tick(ContactPlan, run, seq, 4)


@pytest.fixture
def motion(tick):
    return lambda run, seq: tick(MotionCommand, run, seq)


@pytest.fixture
def memory_bus():
    """A bus within this process, on a URL nobody else has."""
    return Bus(f"memq://{next(_numbers)}")
