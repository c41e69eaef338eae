"""Joint-space behaviour: getting up, lying down, standing with commanded height and attitude, self-righting."""

from __future__ import annotations

import numpy as np

from lcmtypes.generated import BodyState, LegCommand, LegState
from procs.controller.command import Wanted
from procs.model.legs import Chains, leg_kinematics, solve3
from procs.model.robot import Robot
from procs.model.rotations import rpy_to_matrix

GRAVITY = 9.81
FOLD_SPEED = 4.0  # rad/s, largest joint speed on the way to the folded pose
UPSIDE_DOWN = -0.2  # cosine of the tilt below which the robot lies on its back or side


def smoothstep(x: float) -> float:
    """0..1 with zero slope at both ends."""
    x = min(max(x, 0.0), 1.0)
    return x * x * (3.0 - 2.0 * x)


def joint_command(robot: Robot, q: np.ndarray, kp: object, kd: object, gain: float = 1.0) -> LegCommand:
    """Joint PD towards q with gains per joint of a leg, scaled by `gain`."""
    command = LegCommand(robot.num_legs, robot.num_joints)
    command.enable = 1
    command.q_des[:] = q
    command.kp_joint[:] = gain * robot.per_joint(kp)
    command.kd_joint[:] = robot.per_joint(kd)
    return command


class Motion:
    """A chain of joint poses, each reached by a smooth step in its time; starts where the joints are."""

    def __init__(self, start: np.ndarray, poses: list[tuple[np.ndarray, float]], pause: float = 0.0) -> None:
        self._starts = [start, *[q for q, _ in poses[:-1]]]
        self._poses, self._pause = poses, pause
        self.total = sum(time + pause for _, time in poses)

    def at(self, t: float) -> np.ndarray:
        """Joint angles at t s after the start."""
        for start, (goal, time) in zip(self._starts, self._poses, strict=True):
            if t < time + self._pause:
                return start + smoothstep(t / time if time > 0 else 1.0) * (goal - start)
            t -= time + self._pause
        return self._poses[-1][0]


class Stand:
    """Standing on joint PD at the pose of the commanded height, roll and pitch, with the weight as feed-forward.

    Joint PD and not the MPC, so that a robot hung in a rig keeps its legs where they belong.
    """

    def __init__(self, robot: Robot) -> None:
        self._robot, self._chains = robot, robot.chains
        self._mass, self._com, _ = robot.composite(robot.pose("stand"))
        self._rest = robot.stand_feet + robot.chains.mount_position
        self._nominal = float(-self._rest[:, 2].mean()) + robot.foot_radius
        self.q = robot.pose("stand").copy()
        self._load = np.zeros(robot.num_legs)

    def start(self, q: np.ndarray) -> None:
        """From the joint angles of the last posture."""
        self.q = q.copy()
        self._load = np.zeros(self._robot.num_legs)

    def pose(self, wanted: Wanted) -> np.ndarray:
        """Joint angles for the commanded posture, tracked by Gauss-Newton steps (the command is slewed)."""
        height = wanted.height - self._robot.description.control.nominal_height
        R = rpy_to_matrix(np.array([wanted.roll, wanted.pitch, 0.0]))
        feet = self._rest.copy()
        feet[:, 2] -= height
        target = feet @ R - self._chains.mount_position  # the feet stay where they are in the level frame
        for _ in range(3):
            self.q = _newton(self.q, target, self._chains, self._robot.q_lower, self._robot.q_upper)
        return self.q

    def weight(self, legs: LegState, body: BodyState) -> np.ndarray:
        """Forces (L, 3) N by the feet on the ground, body axes: the weight shared by the loaded feet.

        Least-norm vertical forces with the moment of the centre of mass; filtered, so that a foot losing its hold
        makes no step.
        """
        k = self._robot.dt / 0.1
        self._load += min(1.0, k) * (body.contact - self._load)
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


def stand_up(robot: Robot, q: np.ndarray) -> Motion:
    """Fold the legs under the body, then straighten them."""
    down = robot.pose("down")
    fold = float(np.abs(q - down).max()) / FOLD_SPEED
    return Motion(
        q,
        [(down, 1.5 * fold if fold > 0.05 else fold), (robot.pose("stand"), robot.description.control.modes.stand_up)],
    )


def lie_down(robot: Robot, q: np.ndarray) -> Motion:
    """Lower the body onto the folded legs."""
    return Motion(q, [(robot.pose("down"), robot.description.control.modes.lie_down)])


def recover(robot: Robot, q: np.ndarray, up: float) -> Motion:
    """Self-righting: fold; on the back or side roll over with the poses of the description, fold again."""
    plan = robot.description.control.recover
    down = robot.pose("down")
    if plan is None:
        return Motion(q, [(down, 1.0)])
    poses = [(down, plan.fold_time)]
    if up < UPSIDE_DOWN:
        roll = np.ravel([plan.roll[leg] for leg in robot.leg_names])
        poses += [(roll, plan.roll_time), (down, plan.fold_time)]
    return Motion(q, poses, plan.settle)
