"""Injected faults: what sensors, drives and the plant's own channels do wrong, by tick and seed.

Sensor faults (encoder_spike, nan, imu_bias) change the sample first. Then the channel does (delay, packet_loss,
freeze): the message of the tick carries the values of an older sample, as a reader of a slow or lossy link sees them;
the header stays the tick's own. On joint_command, packet_loss drops a command and delay lets it act later.
`kill` is the launcher's and ignored here, and so are the faults of a bus: there is none (sim.emulators has them).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from config.scenario import BUS_KINDS, Fault
from lcmtypes.channels import IMU, JOINT_COMMAND, JOINT_STATE
from lcmtypes.generated import Imu, JointState
from procs.model.robot import Robot

SENSORS = (IMU.name, JOINT_STATE.name)
ALLOWED = {
    "nan": SENSORS,
    "freeze": SENSORS,
    "packet_loss": (*SENSORS, JOINT_COMMAND.name),
    "delay": (*SENSORS, JOINT_COMMAND.name),
}


class _Line:
    """Values of one sensor channel on their way: what was sent, and what arrived last."""

    def __init__(self, length: int) -> None:
        self.sent: deque[np.ndarray] = deque(maxlen=length)
        self.last: np.ndarray | None = None

    def pass_on(self, block: np.ndarray, delay: int, held: bool) -> None:
        """Replace the values in `block` by those that arrive now."""
        self.sent.append(block.copy())
        if delay:
            block[:] = self.sent[max(0, len(self.sent) - 1 - delay)]
        if held and self.last is not None:
            block[:] = self.last
        self.last = block.copy()


class Faults:
    """All faults of a run."""

    def __init__(self, robot: Robot, faults: Sequence[Fault], rng: np.random.Generator) -> None:
        self.rng = rng
        self.faults = [fault for fault in faults if fault.kind not in ("kill", *BUS_KINDS)]
        self.num_joints = robot.num_joints
        self.ticks = []  # first and one past the last tick of each
        self.joints = []  # joint number of each, -1: none
        for fault in self.faults:
            first = round(fault.t / robot.dt)
            ticks = np.inf if fault.duration is None else max(1, round(fault.duration / robot.dt))
            self.ticks.append((first, first + ticks))
            self.joints.append(_joint(robot, fault))
            if fault.channel is not None and fault.channel not in ALLOWED.get(fault.kind, ()):
                allowed = ", ".join(ALLOWED.get(fault.kind, ())) or "no channel"
                raise ValueError(f"fault {fault.kind} on channel {fault.channel!r}: the plant can do {allowed}")
        longest = max((fault.ticks or 0 for fault in self.faults), default=0)
        self.lines = {name: _Line(longest + 1) for name in SENSORS} if self.faults else {}

    def active(self, tick: int) -> list[tuple[Fault, int]]:
        """The faults in force at a tick, with their joint numbers."""
        rows = zip(self.faults, self.joints, self.ticks, strict=True)
        return [(fault, joint) for fault, joint, (first, end) in rows if first <= tick < end]

    def apply(self, tick: int, imu: Imu, joints: JointState) -> None:
        """Change a tick's sample in place; called once per tick."""
        if not self.faults:
            return
        active = self.active(tick)
        for fault, joint in active:
            _disturb(fault, joint, imu, joints)
        for name, block in zip(SENSORS, (imu.block, joints.block), strict=True):
            held = False
            delay = 0
            for fault, _joint_number in active:
                if fault.channel == name:
                    held |= fault.kind == "freeze" or self._lost(fault)
                    delay += (fault.ticks or 0) if fault.kind == "delay" else 0
            self.lines[name].pass_on(block, delay, held)

    def _lost(self, fault: Fault) -> bool:
        return fault.kind == "packet_loss" and bool(self.rng.random() < (fault.probability or 0.0))

    def motors_off(self, tick: int) -> list[int]:
        """Joints whose drive gives no torque from this tick to the next."""
        if not self.faults:
            return []
        return [joint for fault, joint in self.active(tick) if fault.kind == "motor_off"]

    def command(self, tick: int) -> int | None:
        """Extra ticks until the command of this tick acts; None: it is lost. Called once per command."""
        if not self.faults:
            return 0
        delay = 0
        for fault, _joint_number in self.active(tick):
            if fault.channel == JOINT_COMMAND.name:
                if self._lost(fault):
                    return None
                delay += (fault.ticks or 0) if fault.kind == "delay" else 0
        return delay


def _joint(robot: Robot, fault: Fault) -> int:
    if fault.joint is None:
        return -1
    if fault.joint not in robot.joint_names:
        raise ValueError(f"fault {fault.kind}: no joint {fault.joint!r}, there are {', '.join(robot.joint_names)}")
    return robot.joint_names.index(fault.joint)


def _disturb(fault: Fault, joint: int, imu: Imu, joints: JointState) -> None:
    if fault.kind == "encoder_spike":
        joints.q[joint] += fault.value
    elif fault.kind == "nan" and joint >= 0:
        joints.q[joint] = joints.qd[joint] = joints.tau[joint] = np.nan
    elif fault.kind == "nan" and fault.channel == IMU.name:
        imu.block[:] = np.nan
    elif fault.kind == "nan":
        joints.q[:] = joints.qd[:] = joints.tau[:] = np.nan
    elif fault.kind == "imu_bias":
        imu.gyro += fault.gyro or (0.0, 0.0, 0.0)
        imu.accel += fault.accel or (0.0, 0.0, 0.0)
