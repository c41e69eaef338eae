"""MIT mode, CyberGear and GIM6010 behind one interface: frames of all motors out, raw state in. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from typing import Protocol as Interface

import numpy as np
from numpy.typing import NDArray

from config.bus import CanBus, JointWiring
from procs.bridge.joint_map import DriveCommand
from procs.bridge.raw import BusCounts, RawState
from procs.wire import cybergear, gim6010
from procs.wire.cybergear import CyberGearCodec
from procs.wire.cybergear_tables import Kind, State
from procs.wire.decode import DecodeError, Fault, Reason
from procs.wire.frame import CanFrame
from procs.wire.gim6010_tables import AxisState, Heartbeat
from procs.wire.mit_can import MitCodec, Special, Temperature, ak_fault
from procs.wire.mit_motors import MOTORS

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Joints = Mapping[tuple[int, int], int]  # (line, motor id) -> joint
ESTIMATES = 0x09  # GIM6010: encoder estimates
POSITION_GAIN = 200.0  # 1/s: largest kp / kd of Set_Input_Pos
GAIN_STEP = 1e-3  # relative change of a gain that is sent
NO_WRAP = 1e6  # rad: half range of drives that do not wrap


class Heard:
    """Frames of one exchange by joint; the newest counts."""

    def __init__(self, joints: Joints, n: int) -> None:
        self.joints = joints
        self.frames: list[Any] = [None] * n  # frame or decoded message
        self.reasons: dict[int, str] = {}
        self.faults: dict[int, list[Fault]] = {}
        self.expected = [1] * n  # replies of each joint

    def put(self, joint: int, what: Any, counts: BusCounts) -> None:
        """A reply of a joint."""
        self.expected[joint] -= 1
        if self.expected[joint] < 0:
            counts.late += 1  # more replies than questions: the first belongs to an earlier command
        self.frames[joint] = what


class Protocol(Interface):
    """One protocol for all motors of a robot."""

    half_range: Array
    torque_measured: bool

    def begin(self) -> None:
        """A new run: what was sent before counts for nothing."""

    def zero(self, joint: int) -> list[CanFrame]:
        """Frames that make a motor's present position its zero."""

    def frames(self, command: DriveCommand, entering: Mask, leaving: Mask) -> list[list[CanFrame]]:
        """Frames per joint: enter or exit at an edge, else a command (with zero gains for a disabled drive)."""

    def answered(self, frame: CanFrame) -> bool:
        """Whether a drive answers this frame of ours."""

    def motor_of(self, frame: CanFrame) -> int:
        """Motor id that a frame of ours is for."""

    def edge(self, frame: CanFrame) -> int:
        """1: this frame of ours enables, -1: it disables, 0: neither."""

    def answers(self, line: int, frame: CanFrame, joints: Joints) -> int | None:
        """Joint whose reply this is."""

    def unasked(self, line: int, frame: CanFrame, joints: Joints, counts: BusCounts) -> bool:
        """A frame between two ticks: counts what is foreign; true if it is a reply that came too late."""

    def hear(self, heard: Heard, line: int, frame: CanFrame, counts: BusCounts) -> None:
        """Sort one frame."""

    def state(self, heard: Heard, counts: BusCounts) -> RawState:
        """Raw state of what was heard."""


class _Base:
    """Who answers, in words common to all."""

    torque_measured = True

    def begin(self) -> None:
        """Nothing is kept from one command to the next."""

    def answered(self, frame: CanFrame) -> bool:
        """Whether a drive answers this frame of ours."""
        return True

    def answers(self, line: int, frame: CanFrame, joints: Joints) -> int | None:
        """Joint whose reply this is."""
        raise NotImplementedError

    def _is_command(self, line: int, frame: CanFrame, joints: Joints) -> bool:
        """Somebody else's command to one of our motors."""
        raise NotImplementedError

    def unasked(self, line: int, frame: CanFrame, joints: Joints, counts: BusCounts) -> bool:
        """A frame between two ticks."""
        if self.answers(line, frame, joints) is not None:
            return True
        self._foreign(line, frame, joints, counts)
        return False

    def _foreign(self, line: int, frame: CanFrame, joints: Joints, counts: BusCounts) -> None:
        if self._is_command(line, frame, joints):
            counts.intruders += 1
        else:
            counts.foreign += 1


class MitProtocol(_Base):
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


class GimProtocol(MitProtocol):
    """GIM6010 in MIT control (command 0x08): the axis state enables, heartbeats tell of faults."""

    def __init__(self, can: CanBus, wires: Sequence[JointWiring], layout: Heartbeat = Heartbeat.FROM_5_13) -> None:
        super().__init__(can, wires)
        self._layout = layout
        self._alarms: dict[int, list[Fault]] = {}  # by joint
        self._said: dict[int, set[Fault]] = {}  # by joint, of the newest heartbeat
        self._voltage = np.full(len(wires), np.nan)

    def frames(self, command: DriveCommand, entering: Mask, leaving: Mask) -> list[list[CanFrame]]:
        """Clear errors and close the loop at enable; idle at disable."""
        mask = command.enable.astype(float)
        data = self.codec.pack(
            command.position, command.velocity * mask, command.kp * mask, command.kd * mask, command.torque * mask
        )
        out = [[self._frame(motor, d)] for motor, d in zip(self._ids, data, strict=True)]
        for j in np.flatnonzero(entering).tolist():
            node = self._ids[j]
            out[j] = [
                gim6010.pack(node, "clear_errors"),
                gim6010.pack(node, "set_controller_mode", control_mode=3, input_mode=9),
                gim6010.pack(node, "set_axis_state", state=AxisState.CLOSED_LOOP),
                *out[j],
            ]
        for j in np.flatnonzero(leaving).tolist():
            out[j].append(gim6010.pack(self._ids[j], "set_axis_state", state=AxisState.IDLE))
        return out

    def zero(self, joint: int) -> list[CanFrame]:
        """Count 0; until the drive is switched off."""
        return [gim6010.pack(self._ids[joint], "set_linear_count", count=0)]

    def _frame(self, motor: int, data: bytes) -> CanFrame:
        return gim6010.mit_control(motor, data)

    def motor_of(self, frame: CanFrame) -> int:
        """The node."""
        return frame.can_id >> 5

    def edge(self, frame: CanFrame) -> int:
        """By the axis state."""
        if frame.can_id & 0x1F != 0x07:
            return 0
        return {AxisState.CLOSED_LOOP: 1, AxisState.IDLE: -1}.get(AxisState(frame.data[0]), 0)

    def answered(self, frame: CanFrame) -> bool:
        """Only MIT control is."""
        return frame.can_id & 0x1F == 0x08

    def _reply(self, frame: CanFrame) -> bytes | None:
        # Our own commands have the same id; a reply is shorter, or says its node in byte 0.
        if frame.extended or frame.remote or frame.can_id & 0x1F != 0x08 or not frame.data:
            return None
        return frame.data if frame.data[0] == frame.can_id >> 5 else None

    def _is_command(self, line: int, frame: CanFrame, joints: Joints) -> bool:
        return (
            not frame.extended
            and frame.can_id & 0x1F in (0x02, 0x07, 0x08, 0x0B, 0x0C, 0x0D, 0x0E)
            and ((line, frame.can_id >> 5) in joints)
        )

    def hear(self, heard: Heard, line: int, frame: CanFrame, counts: BusCounts) -> None:
        """Sort one frame. Heartbeats have no checksum of their own: what one says alone is not yet an alarm."""
        joint = heard.joints.get((line, frame.can_id >> 5)) if not frame.extended else None
        if joint is not None and frame.can_id & 0x1F == 0x01:
            try:
                faults = gim6010.axis_status(frame, self._layout).faults
                again = self._said.get(joint, set()).intersection(faults)
                self._said[joint] = set(faults)
                self._alarms[joint] = faults if again else []
            except DecodeError as error:
                counts.reject(str(error.reason))
        elif joint is not None and frame.can_id & 0x1F == 0x17:
            self._supply(joint, frame, counts)
        elif joint is None or self._reply(frame) is not None or self._is_command(line, frame, heard.joints):
            super().hear(heard, line, frame, counts)  # others of our nodes (encoder estimates ...) are not needed

    def _supply(self, joint: int, frame: CanFrame, counts: BusCounts) -> None:
        """Supply voltage, where a drive sends it."""
        try:
            message = gim6010.unpack(frame)
        except DecodeError as error:
            counts.reject(str(error.reason))
            return
        voltage = message.values.get("voltage")
        if message.valid and isinstance(voltage, float):
            self._voltage[joint] = voltage

    def unasked(self, line: int, frame: CanFrame, joints: Joints, counts: BusCounts) -> bool:
        """Heartbeats and other reports come at any time."""
        if frame.extended or (line, frame.can_id >> 5) not in joints or self._reply(frame) is not None:
            return super().unasked(line, frame, joints, counts)
        self.hear(Heard(joints, len(self._ids)), line, frame, counts)
        return False

    def state(self, heard: Heard, counts: BusCounts) -> RawState:
        """Replies and the faults of the newest heartbeats."""
        raw = super().state(heard, counts)
        raw.voltage = self._voltage
        for joint, faults in self._alarms.items():
            if faults:
                raw.faults[joint] = [*raw.faults.get(joint, []), *faults]
        return raw


class GimPositionProtocol(GimProtocol):
    """GIM6010 by Set_Input_Pos, for firmware without Mit_Control: float32 position, int16 feed-forwards.

    The drive's gains follow the command: vel_gain is kd, pos_gain kp / kd (it has no stiffness without damping, so
    kd is at least kp / POSITION_GAIN). The encoder estimates are asked for in every tick; torque is not reported.
    """

    torque_measured = False

    def __init__(self, can: CanBus, wires: Sequence[JointWiring], layout: Heartbeat = Heartbeat.FROM_5_13) -> None:
        super().__init__(can, wires, layout)
        self.half_range = np.full(len(wires), NO_WRAP)
        self._gear = np.array([MOTORS[w.drive].gear for w in wires])
        self.begin()

    def begin(self) -> None:
        """The drives' gains are unknown."""
        self._gains = np.full((2, len(self._ids)), np.nan)  # pos_gain, vel_gain sent last

    def frames(self, command: DriveCommand, entering: Mask, leaving: Mask) -> list[list[CanFrame]]:
        """Gains where they change, position with feed-forwards, request for the estimates."""
        mask = command.enable.astype(float)
        kp = command.kp * mask
        kd = np.maximum(command.kd * mask, kp / POSITION_GAIN)
        gains = np.array(
            [np.divide(kp, kd, out=np.zeros_like(kp), where=kd > 0), gim6010.rotor_damping(kd, self._gear)]
        )
        position = gim6010.rotor_turns(command.position, self._gear)
        velocity = gim6010.rotor_turns(command.velocity * mask, self._gear)
        torque = gim6010.rotor_torque(command.torque * mask, self._gear)
        changed = ~(np.abs(gains - self._gains) <= GAIN_STEP * np.abs(gains)).all(axis=0)
        self._gains = np.where(changed, gains, self._gains)
        out = []
        for j, node in enumerate(self._ids):
            frames = []
            if entering[j]:
                frames.append(gim6010.pack(node, "clear_errors"))
                frames.append(gim6010.pack(node, "set_controller_mode", control_mode=3, input_mode=1))
            if changed[j] or entering[j]:
                frames.append(gim6010.pack(node, "set_pos_gain", gain=float(gains[0, j])))
                frames.append(gim6010.pack(node, "set_vel_gains", gain=float(gains[1, j]), integrator=0.0))
            if entering[j]:
                frames.append(gim6010.pack(node, "set_axis_state", state=AxisState.CLOSED_LOOP))
            frames.append(gim6010.input_position(node, position[j], velocity[j], torque[j]))
            if leaving[j]:
                frames.append(gim6010.pack(node, "set_axis_state", state=AxisState.IDLE))
            frames.append(CanFrame(node << 5 | ESTIMATES, remote=True, length=0))
            out.append(frames)
        return out

    def answered(self, frame: CanFrame) -> bool:
        """Only the request is."""
        return frame.remote

    def _reply(self, frame: CanFrame) -> bytes | None:
        return frame.data if frame.can_id & 0x1F == ESTIMATES and not (frame.extended or frame.remote) else None

    def answers(self, line: int, frame: CanFrame, joints: Joints) -> int | None:
        """Joint of the node."""
        return joints.get((line, frame.can_id >> 5)) if self._reply(frame) is not None else None

    def unasked(self, line: int, frame: CanFrame, joints: Joints, counts: BusCounts) -> bool:
        """Estimates come by themselves too: never late, only old."""
        if self.answers(line, frame, joints) is None:
            super().unasked(line, frame, joints, counts)
        return False

    def hear(self, heard: Heard, line: int, frame: CanFrame, counts: BusCounts) -> None:
        """The newest estimate counts."""
        joint = self.answers(line, frame, heard.joints)
        if joint is None:
            super().hear(heard, line, frame, counts)
        else:
            heard.frames[joint] = frame

    def state(self, heard: Heard, counts: BusCounts) -> RawState:
        """Estimates at the output."""
        raw = RawState.empty(len(self._ids))
        raw.faults, raw.voltage = heard.faults, self._voltage
        for j, frame in enumerate(heard.frames):
            if frame is None:
                continue
            try:
                message = gim6010.unpack(frame)
            except DecodeError as error:
                raw.why[j] = str(error.reason)
                counts.reject(str(error.reason))
                continue
            if not message.valid:
                raw.why[j] = str(Reason.NOT_FINITE)
                counts.reject(str(Reason.NOT_FINITE))
                continue
            raw.position[j], raw.velocity[j] = message.values["position"], message.values["velocity"]
            raw.valid[j] = True
        raw.position = gim6010.output_rad(raw.position, self._gear)
        raw.velocity = gim6010.output_rad(raw.velocity, self._gear)
        for joint, faults in self._alarms.items():
            if faults:
                raw.faults[joint] = list(faults)
        return raw


class CyberGearProtocol(_Base):
    """Xiaomi CyberGear: 29-bit ids, positions that saturate and must never be unwrapped."""

    def __init__(self, can: CanBus, wires: Sequence[JointWiring]) -> None:
        self._ids = [w.id for w in wires]
        self._host = can.host_id
        self.codec = CyberGearCodec(self._ids)
        self.half_range = np.full(len(wires), NO_WRAP)

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
        elif isinstance(message, cybergear.FaultReport) and message.faults:
            heard.faults[joint] = message.faults

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
            if feedback.faults:
                raw.faults[j] = [*raw.faults.get(j, []), *feedback.faults]
            if feedback.state == State.CALIBRATION:
                raw.notes[j] = "calibrating"
        return raw


def _gim(can: CanBus, wires: Sequence[JointWiring]) -> GimProtocol:
    return (GimPositionProtocol if can.gim_input == "position" else GimProtocol)(can, wires)


PROTOCOLS: dict[str, Callable[[CanBus, Sequence[JointWiring]], Protocol]] = {
    "mit": MitProtocol, "gim6010": _gim, "cybergear": CyberGearProtocol,
}  # fmt: skip
