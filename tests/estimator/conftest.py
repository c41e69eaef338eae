"""Synthetic motions with exact joints, torques and IMU for the estimator's tests."""

from __future__ import annotations

import numpy as np
import pytest

from config.load import load_robot
from config.schema import RobotDescription
from lcmtypes.channels import CONTACT_PLAN, IMU, JOINT_STATE
from lcmtypes.generated import ContactPlan, Imu, JointState
from procs.estimator.estimator import Estimator
from procs.model.legs import inverse_kinematics, joint_torques, leg_kinematics
from procs.model.robot import Robot
from procs.model.rotations import rpy_to_matrix, rpy_to_quat

G = 9.81


def with_values(description: RobotDescription, **sections) -> RobotDescription:
    """A description with fields of sections replaced: estimator={'filter': 'reference'}."""
    data = description.model_dump()
    for name, values in sections.items():
        data[name].update(values)
    return RobotDescription.model_validate(data)


@pytest.fixture(scope="session")
def description():
    return load_robot("mini_cheetah")


@pytest.fixture(scope="session")
def robot(description):
    return Robot(description)


@pytest.fixture(scope="session")
def six_legs(description):
    """The same robot with a third pair of legs in the middle."""
    data = description.model_dump()
    placed = data["legs"]["placed"]
    for name, like in (("MR", placed[0]), ("ML", placed[1])):
        middle = {**like, "name": name, "mount": {**like["mount"], "xyz": (0.0, like["mount"]["xyz"][1], 0.0)}}
        placed.append(middle)
    data["control"]["poses"] = {k: v if len(v) == 1 else [v[0]] for k, v in data["control"]["poses"].items()}
    return Robot(RobotDescription.model_validate(data))


class World:
    """Makes the inputs of a tick from a body pose, foot centres in the world, and what they carry."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.q = np.array(robot.pose("stand"))
        self.moving = np.zeros((robot.num_legs, 3))  # foot centres' velocities of the last tick, world, m/s

    def stand_feet(self) -> np.ndarray:
        """Foot centres (L, 3) in body axes in the stand pose."""
        return self.robot.chains.mount_position + self.robot.stand_feet

    def _rolling(self, J, axes, at, v_body, omega, up):
        """Velocity (3,) of a sphere's centre, body axes, that rolls: u = r (omega + A J^-1 (u - b)) x up."""
        S = -self.robot.foot_radius * np.array([[0, -up[2], up[1]], [up[2], 0, -up[0]], [-up[1], up[0], 0]])
        gain = axes.T @ np.linalg.inv(J)  # angular velocity of the shank per foot velocity
        b = v_body + np.cross(omega, at)
        return np.linalg.solve(np.eye(3) - S @ gain, S @ (omega - gain @ b))

    def inputs(
        self,
        k,
        position,
        feet,
        *,
        velocity=(0, 0, 0),
        foot_velocity=None,
        rpy=(0, 0, 0),
        omega=(0, 0, 0),
        accel=(0, 0, 0),
        loaded=None,
        planned=None,
        phase=0.5,
        yaw_imu=0.0,
        rolling=None,
    ):
        """Body at `position` m with omega (body axes), foot centres `feet` m (world) moving with `foot_velocity`.

        Legs marked in `rolling` roll on the ground instead; all velocities are left in `moving`.
        """
        robot, legs = self.robot, self.robot.num_legs
        R = rpy_to_matrix(np.array(rpy, dtype=float))
        loaded = np.ones(legs) if loaded is None else np.asarray(loaded, dtype=float)
        p = (feet - np.asarray(position)) @ R - robot.chains.mount_position
        wide = np.full(robot.num_joints, 10.0)
        self.q, error = inverse_kinematics(p, self.q, robot.chains, -wide, wide)
        assert error < 1e-9
        _p, J, axes = leg_kinematics(self.q, robot.chains)
        moving = np.zeros((legs, 3)) if foot_velocity is None else np.array(foot_velocity, dtype=float)
        for leg in np.flatnonzero(rolling) if rolling is not None else ():
            at = p[leg] + robot.chains.mount_position[leg]
            u = self._rolling(J[leg], axes[leg], at, R.T @ np.asarray(velocity), np.asarray(omega), R[2])
            moving[leg] = R @ u
        self.moving = moving
        relative = (moving - np.asarray(velocity)) @ R - np.cross(omega, p + robot.chains.mount_position)
        qd = np.concatenate([np.linalg.solve(J[leg], relative[leg]) for leg in range(legs)])
        weight = np.zeros((legs, 3))
        weight[:, 2] = -robot.mass * (G + accel[2]) * loaded / max(1.0, loaded.sum())
        joints, imu = JointState(robot.num_joints), Imu()
        joints.seq, joints.utime = k, round(1e6 * k * robot.dt)
        joints.q[:], joints.qd[:], joints.tau[:] = self.q, qd, joint_torques(J, weight @ R)
        imu.valid = 1
        imu.quat[:] = rpy_to_quat(np.array([rpy[0], rpy[1], rpy[2] + yaw_imu]))
        imu.gyro[:] = omega
        imu.accel[:] = R.T @ (np.asarray(accel) + [0, 0, G])
        plan = None
        if planned is not None:
            plan = ContactPlan(legs)
            plan.stance[:], plan.phase[:] = planned, phase
            plan.contact[:] = np.asarray(planned) * phase
        return {JOINT_STATE: joints, IMU: imu, CONTACT_PLAN: plan}


@pytest.fixture
def world(robot):
    return World(robot)


@pytest.fixture
def make_world():
    return World


@pytest.fixture
def estimator(robot):
    return Estimator(robot)


@pytest.fixture
def changed(description):
    """Estimator of the description with changed sections."""
    return lambda **sections: Estimator(Robot(with_values(description, **sections)))
