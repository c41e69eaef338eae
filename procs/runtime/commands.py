"""Plays a scenario's commands: motion_command where it changes and every 10 ticks, the others as they come."""

from __future__ import annotations

from collections import deque

from config.live import changed_by
from config.scenario import Command
from lcmtypes.channels import ESTOP, MOTION_COMMAND, PARAMETER_REQUEST, RESET
from lcmtypes.generated import Estop, MotionCommand, ParameterRequest, Reset
from procs.runtime.engine import Sent

REPEAT = 10  # ticks between two motion_commands that say the same: well within the command time-out
FIELDS = ("mode", "gait", "vx", "vy", "yaw_rate", "height", "roll", "pitch")


class CommandPlayer:
    """Turns a list of commands into messages by plant tick. Each command changes only the fields it names.

    A scenario's reset releases the latch as on hardware; the run goes on, or the scenario would never end.
    """

    def __init__(self, commands: list[Command], dt: float, source: str = "scenario") -> None:
        self._dt, self._source = dt, source
        self._commands = commands
        self.reset()

    def reset(self) -> None:
        """A new run: from the first command again."""
        self._next = 0
        self._fields: dict[str, str | float] = {}
        self._parameters: deque[tuple[str, float]] = deque()

    def messages(self, seq: int, utime: int, run: int) -> Sent:
        """Messages of tick `seq`, to be sent before its sample."""
        sent: Sent = []
        changed = False
        while self._next < len(self._commands) and self._commands[self._next].t <= (seq + 0.5) * self._dt:
            command = self._commands[self._next]
            self._next += 1
            changed = True
            self._fields.update({f: v for f in FIELDS if (v := getattr(command, f)) is not None})
            if command.estop:
                estop = Estop()
                estop.utime, estop.run, estop.seq = utime, run, seq
                estop.source, estop.reason = self._source, "scenario"
                sent.append((ESTOP, estop))
            if command.reset:
                reset = Reset()
                reset.utime, reset.run, reset.seq = utime, run, seq
                reset.source, reset.reason = self._source, "scenario"
                sent.append((RESET, reset))
            self._parameters.extend(command.parameters.items())
        if self._parameters:  # a process reads the newest only: one a tick
            parameter, number = self._parameters.popleft()
            request = ParameterRequest()
            request.utime, request.run, request.seq, request.source = utime, run, seq, self._source
            request.process, request.name = changed_by(parameter) or "", parameter
            request.set, request.value = 1, number
            sent.append((PARAMETER_REQUEST, request))
        if not self._fields or not (changed or seq % REPEAT == 0):
            return sent
        motion = MotionCommand()
        motion.utime, motion.run, motion.seq, motion.source = utime, run, seq, self._source
        for name, value in self._fields.items():
            setattr(motion, name, value)
        return [(MOTION_COMMAND, motion), *sent]
