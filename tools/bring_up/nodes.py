"""Who is on the CAN buses: frames in, nodes out, with what they say of themselves. Pure.

MIT-mode and CyberGear drives speak only when asked; GIM6010 send heartbeats and encoder estimates by themselves. The
most harmless question is the frame that switches a drive off: it is answered like any other.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from config.bus import CanBus
from procs.wire import cybergear, gim6010
from procs.wire.cybergear import CyberGearCodec
from procs.wire.cybergear_tables import Kind
from procs.wire.decode import DecodeError, Fault
from procs.wire.frame import CanFrame
from procs.wire.gim6010_tables import AxisState, Heartbeat
from procs.wire.mit_can import REPLY_LENGTHS, Special, ak_fault

TALKATIVE = ("gim6010",)  # protocols whose drives speak unasked
BEATS = 10.0  # heartbeats per second of one GIM6010
Node = tuple[int, int]  # line, id


@dataclass
class Heard:
    """One node, or a stranger on a bus."""

    line: int
    id: int
    answers: int = 0
    beats: int = 0
    last: float = 0.0  # s
    state: str = ""
    faults: list[str] = field(default_factory=list)


@dataclass
class Book:
    """Everything heard; `strangers`: ids of frames that are no reply of this protocol, by line."""

    can: CanBus
    nodes: dict[Node, Heard] = field(default_factory=dict)
    strangers: dict[tuple[int, int], int] = field(default_factory=dict)
    frames: int = 0

    def hear(self, now: float, line: int, frame: CanFrame) -> None:
        """Sort one frame."""
        self.frames += 1
        number, beat, answer, state, faults = _READERS[self.can.protocol](self.can, frame)
        if number is None:
            self.strangers[line, frame.can_id] = self.strangers.get((line, frame.can_id), 0) + 1
            return
        node = self.nodes.setdefault((line, number), Heard(line, number))
        node.last = now
        node.answers += answer
        node.beats += beat
        node.state = state or node.state
        if faults is not None:
            node.faults = [f"{f.name}: {f.advice}" for f in faults]


Reading = tuple[int | None, bool, bool, str, list[Fault] | None]
NOBODY: Reading = (None, False, False, "", None)


def _mit(can: CanBus, frame: CanFrame) -> Reading:
    if frame.extended or frame.remote or frame.can_id != can.host_id or len(frame.data) not in REPLY_LENGTHS:
        return NOBODY
    faults = [ak_fault(frame.data[7])] if len(frame.data) == 8 and frame.data[7] else []
    return frame.data[0], False, True, "answers", faults


def _gim6010(can: CanBus, frame: CanFrame) -> Reading:
    if frame.extended or frame.remote:
        return NOBODY
    try:
        message = gim6010.unpack(frame)
        if message.command.name != "heartbeat":
            return message.node, False, True, "", None
        status = gim6010.axis_status(frame, Heartbeat.FROM_5_13)
    except DecodeError:
        return NOBODY
    try:
        state = AxisState(status.axis_state).name.lower().replace("_", " ")
    except ValueError:
        state = f"state {status.axis_state}"
    return status.node, True, False, state, status.faults


def _cybergear(can: CanBus, frame: CanFrame) -> Reading:
    if not frame.extended or cybergear.split_id(frame.can_id)[0] not in (Kind.FEEDBACK, Kind.GET_ID, Kind.FAULTS):
        return NOBODY
    motor = cybergear.split_id(frame.can_id)[1] & 0xFF
    try:
        message = CyberGearCodec([motor]).unpack(frame)
    except DecodeError:
        return NOBODY
    if isinstance(message, cybergear.Feedback):
        return motor, False, True, message.state.name.lower(), message.faults
    if isinstance(message, cybergear.FaultReport):
        return motor, False, False, "fault", message.faults
    return motor, False, False, "", None


_READERS = {"mit": _mit, "gim6010": _gim6010, "cybergear": _cybergear}


def question(can: CanBus, number: int) -> CanFrame:
    """What makes a drive answer and moves nothing: it is switched off (GIM6010: asked for its encoder)."""
    if can.protocol == "mit":
        return CanFrame(number, Special.EXIT.value)
    if can.protocol == "gim6010":
        return gim6010.request(number, "get_encoder_estimates")
    return cybergear.stop(number, can.host_id)
