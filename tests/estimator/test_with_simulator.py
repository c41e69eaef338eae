"""The estimator against the simulator's truth, standing with noisy sensors."""

from __future__ import annotations

import numpy as np
import pytest

from config.scenario import PlantOptions
from lcmtypes.channels import CONTACT_PLAN, IMU, JOINT_STATE
from lcmtypes.generated import JointCommand
from procs.estimator.estimator import Estimator
from procs.model.robot import Robot

plant_module = pytest.importorskip("sim.plant")


def test_standing_up_in_the_simulator(description):
    height = description.control.nominal_height + 0.01
    start = description.sim.start.model_copy(update={"pose": "stand", "height": height})
    settings = description.sim.model_copy(update={"start": start})
    robot = Robot(description.model_copy(update={"sim": settings}))
    plant = plant_module.SimPlant(robot, PlantOptions(), seed=1)
    plant.start(1)
    command, estimator = JointCommand(robot.num_joints), Estimator(robot)
    command.enable[:] = 1
    command.q_des[:] = robot.pose("stand")
    command.kp[:] = robot.per_joint(robot.description.control.stand.kp)
    command.kd[:] = robot.per_joint(robot.description.control.stand.kd)
    try:
        for k in range(1000):
            imu, joints = plant.read()
            joints.utime = imu.utime = round(1e6 * k * robot.dt)
            body, legs = estimator.step({IMU: imu, JOINT_STATE: joints, CONTACT_PLAN: None})
            plant.write(command)
        truth = plant.truth
    finally:
        plant.stop()
    assert body.valid and (body.contact > 0.8).all()
    assert np.abs(body.v_world - truth.v_world).max() < 0.02
    assert abs(body.position[2] - truth.position[2]) < 0.02  # it starts a little above the ground
    lift = legs.foot_force[:, 2].sum()
    assert lift == pytest.approx(robot.mass * 9.81, rel=0.15)
