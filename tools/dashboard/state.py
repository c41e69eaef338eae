"""State: messages in; what scene and panels show out. No viser and no clock: the time is given."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from lcmtypes.channels import (
    BODY_STATE,
    CONTACT_PLAN,
    GROUND_TRUTH,
    JOINT_STATE,
    LEG_STATE,
    MODE_STATE,
    MOTION_COMMAND,
    MPC_DEBUG,
    PROC_HEALTH,
    Channel,
)
from lcmtypes.generated import ProcHealth
from lcmtypes.message import Message
from procs.model.legs import leg_kinematics
from procs.model.robot import Robot
from procs.model.rotations import quat_to_matrix

STALE = 0.5  # s without anything new after which nothing is shown as live
SILENT = 2.5  # s without proc_health
HISTORY = 10.0  # s kept for plots
FELT = 0.5  # contact probability above which a foot counts as carrying
NOT_A_PLAN = ("damping", "estop", "idle", "ready", "shutdown", "joint_test")  # modes in which no contact is planned

Contact = Literal["swing", "planned", "felt", "stance", "unknown"]


@dataclass(frozen=True)
class Pose:
    """Where the robot is drawn, and whether that is old."""

    position: np.ndarray  # (3,) m, world
    quat: np.ndarray  # (4,)
    q: np.ndarray  # (num_joints,) rad
    stale: bool


@dataclass(frozen=True)
class Connection:
    """What is heard of the plant."""

    kind: Literal["none", "stale", "live"]
    age: float  # s since the last new sample


@dataclass(frozen=True)
class Snapshot:
    """The newest messages of one look, for plots."""

    t: float
    messages: dict[Channel, Any]


class State:
    """Newest message of each channel with the time it was new."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.messages: dict[Channel, Any] = {}
        self.heard: dict[Channel, float] = {}
        self.health: dict[str, ProcHealth] = {}
        self.health_heard: dict[str, float] = {}
        self.rates: dict[str, float] = {}  # ticks per second of each process
        self.history: deque[Snapshot] = deque()

    def put(self, channel: Channel, message: Message, now: float) -> None:
        """A message that is no other than the last one (a paused plant repeats itself) is not new."""
        if channel is PROC_HEALTH:
            self._put_health(message, now)
        last = self.messages.get(channel)
        if last is not None and (last.run, last.seq, last.utime) == (message.run, message.seq, message.utime):
            return
        if not self._fits(message):
            return
        self.messages[channel], self.heard[channel] = message, now

    def _fits(self, message: Any) -> bool:
        """Another robot's messages are not drawn with this one's legs."""
        legs, joints = getattr(message, "num_legs", None), getattr(message, "num_joints", None)
        return legs in (None, self.robot.num_legs) and joints in (None, self.robot.num_joints)

    def _put_health(self, health: Any, now: float) -> None:
        last = self.health.get(health.name)
        if last is not None and last.instance == health.instance and health.utime > last.utime:
            self.rates[health.name] = max(0, health.ticks - last.ticks) / (1e-6 * (health.utime - last.utime))
        self.health[health.name], self.health_heard[health.name] = health, now

    def remember(self, now: float) -> None:
        """Keep this look for the plots; what is not fresh leaves a gap."""
        fresh = {c: m for c, m in self.messages.items() if self.age(c, now) < STALE}
        self.history.append(Snapshot(now, fresh))
        while self.history and self.history[0].t < now - HISTORY:
            self.history.popleft()

    def age(self, channel: Channel, now: float) -> float:
        """s since something new was heard on a channel; inf if never."""
        return now - self.heard.get(channel, -math.inf)

    def fresh(self, channel: Channel, now: float) -> Any | None:
        """The newest message unless it is stale."""
        return self.messages.get(channel) if self.age(channel, now) < STALE else None

    def connection(self, now: float) -> Connection:
        """Judged by the plant's samples."""
        age = min(self.age(JOINT_STATE, now), self.age(LEG_STATE, now))
        return Connection("none" if math.isinf(age) else "stale" if age >= STALE else "live", age)

    def mode(self, now: float) -> Any | None:
        """Fresh mode_state or None: an old mode is never shown as the present one."""
        return self.fresh(MODE_STATE, now)

    def silent(self, name: str, now: float) -> float:
        """s for which a process has said nothing, 0 while it reports (a process that said `stopping` has ended)."""
        age = now - self.health_heard.get(name, now)
        return age if age > SILENT else 0.0

    # -- for the scene ------------------------------------------------------------------------------------------------

    def pose(self, now: float) -> Pose | None:
        """Estimated body pose with the measured joints; None before the first joints."""
        body = self.messages.get(BODY_STATE)
        joints = min((JOINT_STATE, LEG_STATE), key=lambda c: self.age(c, now))
        if joints not in self.messages:
            return None
        q = self.messages[joints].q
        stale = self.age(joints, now) >= STALE or (body is not None and self.age(BODY_STATE, now) >= STALE)
        if body is None or not np.any(body.quat):
            height = self.robot.description.control.nominal_height
            return Pose(np.array([0.0, 0.0, height]), np.array([1.0, 0, 0, 0]), q, stale)
        return Pose(body.position, body.quat, q, stale)

    def truth(self, now: float) -> tuple[np.ndarray, np.ndarray] | None:
        """True position (3,) m and quaternion (4,), where the plant knows them."""
        truth = self.fresh(GROUND_TRUTH, now)
        return None if truth is None else (truth.position, truth.quat)

    def feet(self, pose: Pose) -> np.ndarray:
        """Foot centres (L, 3) m, world."""
        return feet_in_body(self.robot, pose.q) @ quat_to_matrix(np.asarray(pose.quat)).T + pose.position

    def ground(self, pose: Pose) -> float:
        """Height of the lowest foot's contact point, m, world: paths of the body are drawn on the ground there."""
        return float(self.feet(pose)[:, 2].min()) - self.robot.foot_radius

    def contacts(self, now: float) -> list[Contact]:
        """Planned against felt, per leg."""
        plan, body, mode = self.fresh(CONTACT_PLAN, now), self.fresh(BODY_STATE, now), self.mode(now)
        if body is None:
            return ["unknown"] * self.robot.num_legs
        felt = [bool(p > FELT) for p in body.contact]
        if plan is None or mode is None or mode.mode in NOT_A_PLAN:
            return ["stance" if f else "swing" for f in felt]
        table: dict[tuple[bool, bool], Contact] = {
            (False, False): "swing", (True, False): "planned", (False, True): "felt", (True, True): "stance",
        }  # fmt: skip
        return [table[bool(p), f] for p, f in zip(plan.stance, felt, strict=True)]

    def forces(self, now: float, pose: Pose) -> tuple[np.ndarray, np.ndarray]:
        """Points (L, 3) m and ground forces on the feet (L, 3) N, world: true ones where known, else estimated."""
        truth, legs = self.fresh(GROUND_TRUTH, now), self.fresh(LEG_STATE, now)
        if truth is not None:
            return truth.foot_position, truth.foot_force
        if legs is not None:
            R_wb = quat_to_matrix(np.asarray(pose.quat))
            return self.feet(pose), legs.foot_force @ R_wb.T
        return np.zeros((0, 3)), np.zeros((0, 3))

    def prediction(self, now: float) -> tuple[np.ndarray, np.ndarray] | None:
        """The MPC's path (h, 3) m and the planned footsteps (L, 3) m, world; only while it walks."""
        debug, mode = self.fresh(MPC_DEBUG, now), self.mode(now)
        if debug is None or mode is None or mode.mode != "walk" or not debug.horizon:
            return None
        return debug.path, debug.footsteps

    def wanted_velocity(self, now: float) -> tuple[float, float, float] | None:
        """vx, vy m/s (heading frame), yaw rate rad/s that are asked for."""
        command = self.fresh(MOTION_COMMAND, now)
        return None if command is None else (command.vx, command.vy, command.yaw_rate)


def feet_in_body(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Foot centres (L, 3) m in the body frame."""
    return leg_kinematics(np.ascontiguousarray(q, dtype=float), robot.chains)[0] + robot.chains.mount_position
