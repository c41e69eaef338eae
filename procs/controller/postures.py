"""Modes on joint PD or damping: getting up, lying down, standing, self-righting, and those in which nothing moves."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from config.schema import Control
from lcmtypes.generated import BodyState, LegCommand, LegState
from procs.controller.command import Wanted
from procs.controller.modes import FORCED
from procs.controller.stand import JOINT_SPEED, Stand
from procs.model.robot import Robot
from procs.model.rotations import quat_to_matrix

HAND_OVER = 0.15  # s of settling on joint PD after walking
UPSIDE_DOWN = -0.2  # cosine of the tilt below which the robot lies on its back or side
ATTEMPTS = 3  # of self-righting
ON_PD = ("down", "stand", "recover", "shutdown")  # joints are held: what follows takes over with full gains


def smoothstep(x: float) -> float:
    """0..1 with zero slope at both ends."""
    x = min(max(x, 0.0), 1.0)
    return x * x * (3.0 - 2.0 * x)


def joint_command(robot: Robot, q: np.ndarray, kp: object, kd: object, gain: float = 1.0) -> LegCommand:
    """Joint PD towards q with gains per joint of a leg, the stiffness scaled by `gain`."""
    command = LegCommand(robot.num_legs, robot.num_joints)
    command.enable = 1
    command.q_des[:] = q
    command.kp_joint[:] = gain * robot.per_joint(kp)
    command.kd_joint[:] = robot.per_joint(kd)
    return command


class Motion:
    """A chain of joint poses, each reached by a smooth step in its time and held for `pause` s."""

    def __init__(self, start: np.ndarray, poses: list[tuple[np.ndarray, float]], pause: float = 0.0) -> None:
        self._poses, self._pause = [(start, 0.0), *poses], pause
        self.total = sum(time + pause for _, time in poses)

    def at(self, t: float) -> np.ndarray:
        """Joint angles at t s after the start."""
        for (start, _), (goal, time) in pairwise(self._poses):
            if t < time + self._pause:
                return start + smoothstep(t / time if time > 0 else 1.0) * (goal - start)
            t -= time + self._pause
        return self._poses[-1][0]


def stand_up(robot: Robot, q: np.ndarray) -> Motion:
    """Fold the legs under the body, then straighten them."""
    down = robot.pose("down")
    fold = 1.5 * float(np.abs(q - down).max()) / JOINT_SPEED  # a smooth step is 1.5 times as fast as its mean
    return Motion(q, [(down, fold), (robot.pose("stand"), robot.description.control.modes.stand_up)])


def lie_down(robot: Robot, q: np.ndarray) -> Motion:
    """Lower the body onto the folded legs."""
    return Motion(q, [(robot.pose("down"), robot.description.control.modes.lie_down)])


def right_itself(robot: Robot, q: np.ndarray, up: float) -> Motion:
    """Fold; on the back or side (`up`: cosine of the tilt) roll over with the description's poses, fold again."""
    plan = robot.description.control.recover
    down = robot.pose("down")
    if plan is None:
        return Motion(q, [(down, 1.0)])
    poses = [(down, plan.fold_time)]
    if up < UPSIDE_DOWN:
        roll = np.ravel([plan.roll[leg] for leg in robot.leg_names])
        poses += [(roll, plan.roll_time), (down, plan.fold_time)]
    return Motion(q, poses, plan.settle)


class Postures:
    """What the joints are told in every mode but walk and joint_test."""

    def __init__(self, robot: Robot) -> None:
        self._robot, self._control = robot, robot.description.control
        self._stand = Stand(robot)
        self.reset()

    def tune(self, control: Control) -> None:
        """Other live parameters."""
        self._control = control

    def reset(self) -> None:
        """A new run."""
        self._q = self._robot.pose("stand")  # last told
        self._motion: Motion | None = None
        self._came = ""
        self._attempts = 0

    def enter(self, mode: str, came: str, legs: LegState, body: BodyState | None) -> bool:
        """Go from mode `came` to `mode`; True if that takes time."""
        robot, self._came = self._robot, came
        q = self._q if came in ON_PD else legs.q.copy()
        self._motion, self._attempts = None, 0
        if mode == "stand" and came == "walk":
            self._stand.start(q, np.ones(robot.num_legs) if body is None else body.contact)
        elif mode == "stand":
            self._motion = stand_up(robot, q)
        elif mode in ("down", "shutdown"):
            self._motion = lie_down(robot, q)
        elif mode == "recover":
            self._motion = right_itself(robot, q, _up(body))
        return self._motion is not None or mode == "stand"

    def finished(self, mode: str, passed: float) -> bool:
        """Is the transition into the mode over `passed` s after it began?"""
        if self._motion is None:
            return passed >= HAND_OVER
        if passed < self._motion.total:
            return False
        if mode == "stand":
            self._stand.q = self._motion.at(passed).copy()
        return True

    def try_again(self, body: BodyState | None) -> bool:
        """Start self-righting once more; False after the last attempt."""
        self._attempts += 1
        if self._attempts >= ATTEMPTS:
            return False
        self._motion = right_itself(self._robot, self._q, _up(body))
        return True

    def command(
        self, mode: str, busy: bool, passed: float, legs: LegState | None, body: BodyState | None, wanted: Wanted
    ) -> LegCommand:
        """Leg command of this tick, `passed` s after the mode was entered."""
        robot = self._robot
        if mode == "idle" or (mode == "shutdown" and not busy):
            return LegCommand(robot.num_legs, robot.num_joints)
        if mode in ("ready", *FORCED) or legs is None:
            q = np.zeros(robot.num_joints) if legs is None else legs.q
            return joint_command(robot, q, (0, 0, 0), self._control.damping)
        if self._motion is not None and (busy or mode != "stand"):
            return self._move(self._motion, mode, passed, legs, body)
        gains = self._control.stand
        self._q = self._stand.pose(wanted)
        command = joint_command(robot, self._q, gains.kp, gains.kd)
        if body is not None:
            command.f_ff[:] = self._stand.weight(legs, body)
        return command

    def _move(self, motion: Motion, mode: str, passed: float, legs: LegState, body: BodyState | None) -> LegCommand:
        """On the way: gains rise unless the joints were held before; the weight's forces come and go smoothly."""
        gains = self._control.stand
        ramp = 1.0 if self._came in ON_PD else smoothstep(passed / self._control.modes.gain_ramp)
        self._q = motion.at(passed)
        command = joint_command(self._robot, self._q, gains.kp, gains.kd, ramp)
        share = smoothstep(passed / motion.total)
        if mode != "stand":
            share = 1.0 - share if self._came == "stand" else 0.0
        if body is not None and share > 0.0:
            command.f_ff[:] = share * self._stand.weight(legs, body)
        return command


def _up(body: BodyState | None) -> float:
    """Cosine of the tilt; 1 if it is not known."""
    return 1.0 if body is None else float(quat_to_matrix(body.quat)[2, 2])
