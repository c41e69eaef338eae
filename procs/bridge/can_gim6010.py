"""GIM6010-8 over CAN: MIT control inside the ODrive-style frames, or Set_Input_Pos."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from config.bus import CanBus, JointWiring
from procs.bridge.can_mit import MitProtocol
from procs.bridge.can_protocol import NO_WRAP, Heard, Joints, Mask
from procs.bridge.joint_map import DriveCommand
from procs.bridge.raw import BusCounts, RawState
from procs.wire import gim6010
from procs.wire.decode import DecodeError, Fault, Reason
from procs.wire.frame import CanFrame
from procs.wire.gim6010_tables import AxisState, Heartbeat
from procs.wire.mit_motors import MOTORS

ESTIMATES = 0x09  # encoder estimates
POSITION_GAIN = 200.0  # 1/s: largest kp / kd of Set_Input_Pos
GAIN_STEP = 1e-3  # relative change of a gain that is sent


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
