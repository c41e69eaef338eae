"""Operator: the one way in which a tool commands the robot. Names its source and numbers its messages."""

from __future__ import annotations

import os
import random
import socket
import time

from lcmtypes.channels import ESTOP, JOINT_TEST, MOTION_COMMAND, PARAMETER_REQUEST, RESET, Channel
from lcmtypes.generated import Estop, JointTest, MotionCommand, ParameterRequest, Reset
from procs.runtime.bus import Bus

REPEATS = 3  # of an estop: a single packet may be lost


def source_name(kind: str) -> str:
    """`kind:host:pid`: two tools of one kind are two sources; the priority is that of the kind (control.sources)."""
    return f"{kind}:{socket.gethostname()}:{os.getpid()}"


class Operator:
    """Publishes as one source. Its counter never repeats, also after a new start: a log finds each message by it."""

    def __init__(self, bus: Bus, kind: str) -> None:
        self.bus, self.source = bus, source_name(kind)
        self._counter = random.SystemRandom().getrandbits(40) << 20

    def motion(self, message: MotionCommand) -> None:
        """A held target; to be repeated at 20 Hz or more (command_timeout is 0.3 s)."""
        self._send(MOTION_COMMAND, message)

    def joint_test(self, message: JointTest) -> None:
        """One joint of a robot in a rig; to be repeated while it is held."""
        self._send(JOINT_TEST, message)

    def estop(self, reason: str) -> None:
        """Latched damping, at once."""
        message = Estop()
        message.reason = reason
        for _ in range(REPEATS):
            self._send(ESTOP, message)

    def reset(self, reason: str) -> None:
        """Release of the latch; a new run of the simulator. Once: every reset begins a run."""
        message = Reset()
        message.reason = reason
        self._send(RESET, message)

    def parameter(self, message: ParameterRequest) -> int:
        """Read or set a live parameter; returns the number by which the answer names this request."""
        self._send(PARAMETER_REQUEST, message)
        return self._counter

    def _send(self, channel: Channel, message: MotionCommand | JointTest | Estop | Reset | ParameterRequest) -> None:
        self._counter += 1
        message.source, message.seq, message.utime = self.source, self._counter, time.monotonic_ns() // 1000
        self.bus.publish(channel, message)
