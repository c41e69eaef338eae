"""The plant's tick: one loop for simulator and bridge, without clock or bus.

Owns headers, watchdog, estop latch, run check and the rejection of bad samples (design sections 6, 8, 11). The live
and the rollout runner call `sample` and `command` in turn; times are counted in plant ticks.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from lcmtypes.channels import ESTOP, IMU, JOINT_STATE, RESET, Channel
from lcmtypes.generated import JointCommand
from lcmtypes.message import Message
from procs.model.robot import Robot
from procs.runtime.engine import Sent
from procs.runtime.plant import Plant
from procs.runtime.samples import SampleCheck

LOG = logging.getLogger(__name__)


@dataclass
class PlantCounts:
    """What the loop counted since its start."""

    accepted: int = 0
    missed: int = 0  # ticks between accepted commands that got none
    refused: int = 0  # commands of another run, of the future, too old or not finite
    damped: int = 0  # ticks in damping by the watchdog, the latch or bad samples
    estops: int = 0
    rejected_samples: int = 0
    last_error: str = ""


class PlantLoop:
    """One plant, tick by tick: sample() -> messages out; accept() for each joint_command; act() at the tick's end."""

    def __init__(self, plant: Plant, robot: Robot) -> None:
        safety, control = robot.description.safety, robot.description.control
        self.plant, self.robot = plant, robot
        self.counts = PlantCounts()
        self.period_us = round(1e6 * robot.dt)
        self._watchdog = max(1, round(safety.watchdog / robot.dt))
        self._after = round(safety.after_time / robot.dt)
        self._disable = safety.after == "disable"
        self._damping = robot.per_joint(control.damping)
        self._check = SampleCheck(robot)
        self._start(run=0)

    def _start(self, run: int) -> None:
        self.run, self.seq, self.utime = run, -1, 0
        self.latched = ""  # why damping is latched, empty if not
        self.why = ""  # the plant is in damping, in words; empty if not
        self._command: JointCommand | None = None
        self._newest = -1  # seq of the newest accepted command
        self._check.reset()
        self.state = "waiting"

    def start(self, run: int) -> None:
        """Begin a run; releases the latch."""
        self._start(run)
        self.plant.start(run)

    def sample(self, utime: int | None = None) -> Sent:
        """Read the next tick; messages to send in order, the trigger last. utime: hardware's clock, us."""
        imu, joints = self.plant.read()
        self.seq += 1
        self.utime = self.seq * self.period_us if utime is None else utime
        rejected = self._check.check(imu, joints)
        if rejected:
            self.counts.rejected_samples += rejected
        sent: Sent = [(IMU, imu), *self.plant.extras(), (JOINT_STATE, joints)]
        for _, message in sent:
            self.stamp(message)
        return sent

    def stamp(self, message: Message) -> None:
        """Fill the header of a message of this tick."""
        message.utime, message.run, message.seq = self.utime, self.run, self.seq

    def accept(self, command: JointCommand) -> bool:
        """Take a joint_command for this tick's end. False: refused and counted."""
        reason = ""
        if command.run != self.run:
            reason = f"joint_command of run {command.run:x}, this is {self.run:x}"
        elif not self._newest < command.seq <= self.seq:
            if command.seq == self._newest:
                return True  # repeated answer
            reason = f"joint_command of tick {command.seq} at tick {self.seq}, newest {self._newest}"
        elif command.num_joints != self.robot.num_joints:
            reason = f"joint_command for {command.num_joints} joints, this robot has {self.robot.num_joints}"
        elif not command.finite():
            reason = "joint_command is not finite"
        elif self.seq - command.seq >= self._watchdog:
            reason = f"joint_command {self.seq - command.seq} ticks old"
        if reason:
            self.counts.refused += 1
            self.counts.last_error = reason
            return False
        self.counts.missed += command.seq - self._newest - 1
        self._command, self._newest = command, command.seq
        self.counts.accepted += 1
        return True

    def latch(self, reason: str) -> None:
        """Latch damping; only a new run or `release` ends it."""
        if not self.latched:
            self.counts.estops += 1
            LOG.warning("damping latched: %s", reason)
        self.latched = self.latched or reason

    def release(self) -> None:
        """Release the latch (a `reset` on hardware; the controller starts from ready with ramped gains)."""
        self.latched = ""
        self._check.fatal = ""  # said again at the next sample if it still holds

    def obey(self, channel: Channel, message: Message) -> None:
        """The scenario's own estop or reset of this tick; other channels mean nothing here."""
        if channel is ESTOP:
            self.latch(f"estop by {message.source}: {message.reason}")  # type: ignore[attr-defined]
        elif channel is RESET:
            self.release()

    def act(self) -> None:
        """End of tick: give the plant the accepted command, or damping if there is a reason for it."""
        age = self.seq - self._newest
        if self._check.fatal:
            self.latch(self._check.fatal)
        if self._newest < 0 and not self.latched:
            self.state = "waiting"
            self.plant.write(JointCommand(self.robot.num_joints))  # disabled
        elif self.latched or age >= self._watchdog:
            self.counts.damped += 1
            if self.state not in ("damping", "latched"):
                self.why = f"damping at tick {self.seq}: {self.latched or f'no joint_command for {age} ticks'}"
                LOG.warning(self.why)
            self.state = "latched" if self.latched else "damping"
            self.plant.write(self._damp(age))
        else:
            assert self._command is not None
            self.state, self.why = "running", ""
            self.plant.write(self._command)

    def _damp(self, age: int) -> JointCommand:
        damp = JointCommand(self.robot.num_joints)
        self.stamp(damp)
        damp.reason = self.latched or "watchdog"
        if not (self._disable and age >= self._watchdog + self._after):
            damp.enable[:] = 1
            damp.kd[:] = self._damping
        return damp

    def age(self) -> int:
        """Ticks since the newest accepted command's sample."""
        return self.seq - self._newest
