"""Error frames of a CAN controller as SocketCAN reports them: class bits in the id, details in the data. Pure.

Source: Linux, include/uapi/linux/can/error.h.
"""

from __future__ import annotations

from enum import IntFlag

ID_MASK = 0x1FFFFFFF


class ErrorClass(IntFlag):
    """Bits of the id."""

    LOST_ARBITRATION = 0x02
    CONTROLLER = 0x04  # byte 1 says what
    PROTOCOL = 0x08  # byte 2 says what, byte 3 where
    ACK = 0x20
    BUS_OFF = 0x40
    BUS_ERROR = 0x80
    RESTARTED = 0x100


class ControllerState(IntFlag):
    """Byte 1 of CONTROLLER."""

    RX_OVERFLOW = 0x01
    TX_OVERFLOW = 0x02
    RX_WARNING = 0x04  # error counter at 96
    TX_WARNING = 0x08
    RX_PASSIVE = 0x10  # error counter at 128
    TX_PASSIVE = 0x20
    ACTIVE = 0x40


class Violation(IntFlag):
    """Byte 2 of PROTOCOL."""

    BIT = 0x01
    FORM = 0x02
    STUFF = 0x04


BUS_OFF = "bus-off, the controller has left the bus: look for a short or a wrong bit rate, set restart-ms 100"
NO_ACK = "nobody acknowledges: is any drive powered and on this bus, is the bit rate theirs"
WRONG_SIGNALS = "bits that make no frame: wrong bit rate, termination, or a shorted cable"
_STATES = (
    (ControllerState.TX_OVERFLOW, "transmit buffer full: more is sent than the bus carries"),
    (ControllerState.RX_OVERFLOW, "receive buffer full: frames are lost, read faster"),
    (ControllerState.RX_PASSIVE | ControllerState.TX_PASSIVE, "error-passive, bus-off is next: cable, termination"),
    (ControllerState.RX_WARNING | ControllerState.TX_WARNING, "many errors on the bus: termination, cable, bit rate"),
)  # fmt: skip
_CLASSES = (
    (ErrorClass.BUS_OFF, BUS_OFF),
    (ErrorClass.ACK, NO_ACK),
    (ErrorClass.PROTOCOL | ErrorClass.BUS_ERROR, WRONG_SIGNALS),
    (ErrorClass.LOST_ARBITRATION, "lost arbitration: another node sends too"),
)


def words(can_id: int, data: bytes) -> str:
    """What an error frame says, the gravest thing first, with advice; empty when the controller has come back."""
    kind = ErrorClass(can_id & ID_MASK & 0x1FF)
    if kind & ErrorClass.BUS_OFF:
        return BUS_OFF
    if kind & ErrorClass.CONTROLLER and len(data) > 1:
        for state, text in _STATES:
            if data[1] & state:
                return text
        if data[1] & ControllerState.ACTIVE:
            return ""
    for cls, text in _CLASSES:
        if kind & cls:
            return text
    return "" if kind & ErrorClass.RESTARTED else "error frames on the bus: termination, bit rate or a shorted cable"


def error_frame(kind: int, state: int = 0, wrong: int = 0) -> tuple[int, bytes]:
    """(id, data) of an error frame: ErrorClass, ControllerState, Violation."""
    return int(kind), bytes([0, state, wrong, 0, 0, 0, 0, 0])
