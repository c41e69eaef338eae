"""CyberGear over CAN: 29-bit identifiers, MIT control and feedback."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from config.bus import CanBus, JointWiring
from procs.bridge.can_protocol import NO_WRAP, Base, Heard, Joints, Mask
from procs.bridge.joint_map import DriveCommand
from procs.bridge.raw import BusCounts, RawState
from procs.wire import cybergear
from procs.wire.cybergear import CyberGearCodec
from procs.wire.cybergear_tables import Kind, State
from procs.wire.decode import DecodeError, Fault, Reason
from procs.wire.frame import CanFrame


class CyberGearProtocol(Base):
    """Xiaomi CyberGear: 29-bit ids, positions that saturate and must never be unwrapped."""

    def __init__(self, can: CanBus, wires: Sequence[JointWiring]) -> None:
        self._ids = [w.id for w in wires]
        self._host = can.host_id
        self.codec = CyberGearCodec(self._ids)
        self.half_range = np.full(len(wires), NO_WRAP)
        self.begin()

    def begin(self) -> None:
        """Fault frames say a fault once, when it arises: kept by joint until the drive runs again."""
        self._reported: dict[int, list[Fault]] = {}
        self._warned: dict[int, list[Fault]] = {}

    def frames(self, command: DriveCommand, entering: Mask, leaving: Mask) -> list[list[CanFrame]]:
        """Enable sets no gains, so a control frame with the measured position and zero gains follows it at once."""
        mask = command.enable.astype(float)
        control = self.codec.control(
            command.position, command.velocity * mask, command.kp * mask, command.kd * mask, command.torque * mask
        )
        out = [[frame] for frame in control]
        for j in np.flatnonzero(entering).tolist():
            out[j].insert(0, cybergear.enable(self._ids[j], self._host))
        for j in np.flatnonzero(leaving).tolist():
            out[j].append(cybergear.stop(self._ids[j], self._host))
        return out

    def zero(self, joint: int) -> list[CanFrame]:
        """Until the motor is switched off."""
        return [cybergear.set_zero(self._ids[joint], self._host)]

    def motor_of(self, frame: CanFrame) -> int:
        """The target."""
        return cybergear.split_id(frame.can_id)[2]

    def edge(self, frame: CanFrame) -> int:
        """By the message type."""
        return {Kind.ENABLE: 1, Kind.STOP: -1}.get(Kind(cybergear.split_id(frame.can_id)[0]), 0)

    def answers(self, line: int, frame: CanFrame, joints: Joints) -> int | None:
        """Joint of the id's middle."""
        if not frame.extended or frame.remote:
            return None
        kind, data2, target = cybergear.split_id(frame.can_id)
        return joints.get((line, data2 & 0xFF)) if kind == Kind.FEEDBACK and target == self._host else None

    def _is_command(self, line: int, frame: CanFrame, joints: Joints) -> bool:
        kind, _, target = cybergear.split_id(frame.can_id)
        return frame.extended and kind in (Kind.CONTROL, Kind.ENABLE, Kind.STOP) and (line, target) in joints

    def hear(self, heard: Heard, line: int, frame: CanFrame, counts: BusCounts) -> None:
        """Decode at once: feedback, or a fault frame."""
        try:
            message = self.codec.unpack(frame)
        except DecodeError as error:
            joint = self.answers(line, frame, heard.joints)
            if joint is None:
                self._foreign(line, frame, heard.joints, counts)
            else:
                heard.reasons[joint] = str(error.reason)
                counts.reject(str(error.reason))
            return
        joint = heard.joints.get((line, message.motor))
        if joint is None:
            self._foreign(line, frame, heard.joints, counts)
        elif isinstance(message, cybergear.Feedback):
            heard.put(joint, message, counts)
        elif isinstance(message, cybergear.FaultReport):
            self._reported[joint], self._warned[joint] = message.faults, message.warnings

    def unasked(self, line: int, frame: CanFrame, joints: Joints, counts: BusCounts) -> bool:
        """Fault frames come at any time."""
        if frame.extended and cybergear.split_id(frame.can_id)[0] == Kind.FAULTS:
            self.hear(Heard(joints, len(self._ids)), line, frame, counts)
            return False
        return super().unasked(line, frame, joints, counts)

    def state(self, heard: Heard, counts: BusCounts) -> RawState:
        """All feedback."""
        n = len(self._ids)
        raw = RawState.empty(n)
        raw.temperature, raw.faults = np.full(n, np.nan), heard.faults
        raw.why.update(heard.reasons)
        for j, feedback in enumerate(heard.frames):
            if feedback is None:
                continue
            raw.temperature[j] = feedback.temperature_c
            raw.position[j], raw.velocity[j], raw.torque[j] = feedback.position, feedback.velocity, feedback.torque
            raw.valid[j] = feedback.valid
            if not feedback.valid:
                raw.why[j] = str(Reason.SATURATED)
                counts.reject(str(Reason.SATURATED))
            if feedback.state == State.RUN:
                self._reported.pop(j, None)
            if feedback.faults:
                raw.faults[j] = [*raw.faults.get(j, []), *feedback.faults]
            if feedback.state == State.CALIBRATION:
                raw.notes[j] = "calibrating"
        for j, faults in self._reported.items():
            known = {fault.name for fault in raw.faults.get(j, [])}
            raw.faults[j] = [*raw.faults.get(j, []), *(f for f in faults if f.name not in known)]
        for j, warnings in self._warned.items():
            if warnings:
                raw.notes.setdefault(j, "; ".join(f"{w.name}: {w.advice}" for w in warnings))
        return raw
