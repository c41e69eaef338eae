"""Standing on joint PD with commanded height and attitude, and the weight as feed-forward."""

from __future__ import annotations

import numpy as np

from lcmtypes.generated import BodyState, LegState
from procs.controller.command import Wanted
from procs.model.legs import Chains, leg_kinematics, solve3
from procs.model.robot import Robot
from procs.model.rotations import rpy_to_matrix

GRAVITY = 9.81
JOINT_SPEED = 4.0  # rad/s, largest joint speed on the way to a pose
NEAR = 1e-9  # rad, a step so small is the last
LOAD_TIME = 0.1  # s, so that a foot losing its hold makes no step in the forces


class Stand:
    """The pose of the commanded height, roll and pitch, and the forces of the weight.

    Joint PD and not the MPC, so that a robot hung in a rig keeps its legs where they belong.
    """

    def __init__(self, robot: Robot) -> None:
        self._robot, self._chains = robot, robot.chains
        self._mass, self._com, _ = robot.composite(robot.pose("stand"))
        self._rest = robot.stand_feet + robot.chains.mount_position
        self.start(robot.pose("stand"), np.zeros(robot.num_legs))

    def start(self, q: np.ndarray, load: np.ndarray) -> None:
        """From the joint angles (num_joints,) of the last posture and the load (L,) 0..1 on the feet."""
        self.q = q.copy()
        self._load = load.copy()

    def pose(self, wanted: Wanted) -> np.ndarray:
        """Joint angles for the commanded posture, approached by Gauss-Newton steps of limited speed."""
        height = wanted.height - self._robot.description.control.nominal_height
        R = rpy_to_matrix(np.array([wanted.roll, wanted.pitch, 0.0]))
        feet = self._rest.copy()
        feet[:, 2] -= height
        target = feet @ R - self._chains.mount_position  # the feet stay where they are in the level frame
        q, most = self.q, JOINT_SPEED * self._robot.dt
        for _ in range(3):
            before, q = q, _newton(q, target, self._chains, self._robot.q_lower, self._robot.q_upper)
            if np.abs(q - before).max() < NEAR:
                break
        self.q = self.q + np.clip(q - self.q, -most, most)
        return self.q

    def weight(self, legs: LegState, body: BodyState) -> np.ndarray:
        """Forces (L, 3) N by the feet on the ground, body axes: the weight shared by the loaded feet.

        Least-norm vertical forces with the moment of the centre of mass.
        """
        self._load += min(1.0, self._robot.dt / LOAD_TIME) * (body.contact - self._load)
        feet = legs.p + self._chains.mount_position - self._com
        A = np.stack((np.ones(len(feet)), feet[:, 0], feet[:, 1])) * self._load
        b = np.array([self._mass * GRAVITY * float(self._load.mean()), 0.0, 0.0])
        f = A.T @ np.linalg.solve(A @ A.T + 1e-3 * np.eye(3), b) * self._load
        down = np.array([0.0, 0.0, -1.0])
        roll, pitch = body.rpy[0], body.rpy[1]
        return np.clip(f, 0.0, None)[:, None] * (down @ rpy_to_matrix(np.array([roll, pitch, 0.0])))


def _newton(q: np.ndarray, target: np.ndarray, chains: Chains, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    p, J, _ = leg_kinematics(q, chains)
    step = np.concatenate([solve3(J[leg], target[leg] - p[leg], 1e-3) for leg in range(len(target))])
    return np.clip(q + np.clip(step, -0.05, 0.05), lower, upper)
