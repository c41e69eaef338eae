"""MIT mode over CAN: one command and one reply per motor and tick."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from config.bus import CanBus, JointWiring
from procs.bridge.can_protocol import Base, Heard, Joints, Mask
from procs.bridge.joint_map import DriveCommand
from procs.bridge.raw import BusCounts, RawState
from procs.wire.decode import Reason
from procs.wire.frame import CanFrame
from procs.wire.mit_can import MitCodec, Special, Temperature, ak_fault
from procs.wire.mit_motors import MOTORS


class MitProtocol(Base):
    """MIT mode: special frames at the edges; told apart by byte 0 of the reply."""

    def __init__(
        self, can: CanBus, wires: Sequence[JointWiring], temperature: Temperature = Temperature.MINUS_40
    ) -> None:
        motors = [MOTORS[w.drive] for w in wires]
        self.codec = MitCodec(motors)
        self.half_range = np.array([m.position for m in motors])
        self._ids = [w.id for w in wires]
        self._master, self._temperature = can.host_id, temperature

    def frames(self, command: DriveCommand, entering: Mask, leaving: Mask) -> list[list[CanFrame]]:
        """Enter alone; a zero command before exit, so that nothing is latched for the next enter."""
        mask = command.enable.astype(float)
        data = self.codec.pack(
            command.position, command.velocity * mask, command.kp * mask, command.kd * mask, command.torque * mask
        )
        out = [[self._frame(motor, d)] for motor, d in zip(self._ids, data, strict=True)]
        for j in np.flatnonzero(entering).tolist():
            out[j] = [self._frame(self._ids[j], Special.ENTER.value)]
        for j in np.flatnonzero(leaving).tolist():
            out[j].append(self._frame(self._ids[j], Special.EXIT.value))
        return out

    def zero(self, joint: int) -> list[CanFrame]:
        """The special frame."""
        return [self._frame(self._ids[joint], Special.ZERO.value)]

    def _frame(self, motor: int, data: bytes) -> CanFrame:
        return CanFrame(motor, data)

    def motor_of(self, frame: CanFrame) -> int:
        """The id."""
        return frame.can_id

    def edge(self, frame: CanFrame) -> int:
        """By the special frames."""
        return {Special.ENTER.value: 1, Special.EXIT.value: -1}.get(frame.data, 0)

    def _reply(self, frame: CanFrame) -> bytes | None:
        """Reply bytes, id first; None: no reply at all."""
        ours = frame.can_id == self._master and not frame.extended and not frame.remote and frame.data
        return frame.data if ours else None

    def answers(self, line: int, frame: CanFrame, joints: Joints) -> int | None:
        """Joint of byte 0."""
        data = self._reply(frame)
        return joints.get((line, data[0])) if data else None

    def _is_command(self, line: int, frame: CanFrame, joints: Joints) -> bool:
        return not frame.extended and frame.can_id != self._master and (line, frame.can_id) in joints

    def hear(self, heard: Heard, line: int, frame: CanFrame, counts: BusCounts) -> None:
        """Sort one frame."""
        joint = self.answers(line, frame, heard.joints)
        if joint is None:
            self._foreign(line, frame, heard.joints, counts)
        else:
            heard.put(joint, self._reply(frame), counts)

    def state(self, heard: Heard, counts: BusCounts) -> RawState:
        """All replies at once."""
        n = len(self._ids)
        replies = self.codec.unpack(heard.frames, self._ids)
        raw = RawState(
            replies.position, replies.velocity, np.where(replies.valid, replies.torque, 0.0), replies.valid,
            np.zeros(n, bool), np.zeros(n, bool), faults=heard.faults,
        )  # fmt: skip
        raw.why.update(heard.reasons)
        if not replies.valid.all():
            for j, reason in enumerate(replies.reasons):
                if reason is not None and reason is not Reason.MISSING:
                    raw.why[j] = str(reason)
                    counts.reject(str(reason))
        if (replies.temperature >= 0).any():
            raw.temperature = np.where(replies.temperature >= 0, self._temperature.celsius(replies.temperature), np.nan)
        for j in np.flatnonzero(replies.error > 0).tolist():
            raw.faults[j] = [ak_fault(int(replies.error[j]))]
        return raw
