"""Error frames of SocketCAN in words: the classes of include/uapi/linux/can/error.h."""

import pytest

from procs.wire.can_errors import ControllerState, ErrorClass, Violation, error_frame, words


@pytest.mark.parametrize(
    ("can_id", "data", "says"),
    [
        (0x40, "0000000000000000", "bus-off"),
        (0x20000040, "0000000000000000", "bus-off"),  # with the kernel's flag of error frames
        (0x44, "0010000000000000", "bus-off"),  # the gravest first
        (0x04, "0004000000000000", "many errors"),
        (0x04, "0030000000000000", "error-passive"),
        (0x04, "0002000000000000", "transmit buffer full"),
        (0x04, "0001000000000000", "receive buffer full"),
        (0x8C, "0000041900000000", "wrong bit rate"),
        (0x88, "0000000000000000", "wrong bit rate"),
        (0x20, "0000000000000000", "nobody acknowledges"),
        (0x02, "0500000000000000", "arbitration"),
        (0x200, "0000000000000000", "error frames"),
    ],
)
def test_what_a_controller_says_is_named_with_advice(can_id, data, says):
    assert says in words(can_id, bytes.fromhex(data))


def test_a_controller_that_is_back_has_nothing_to_complain_of():
    assert words(0x100, bytes(8)) == words(0x04, bytes([0, 0x40, 0, 0, 0, 0, 0, 0])) == ""


def test_short_data_is_borne():
    assert words(0x04, b"") and words(0x40, b"")


def test_frames_that_are_made_are_those_that_are_read():
    can_id, data = error_frame(ErrorClass.PROTOCOL, wrong=Violation.STUFF)
    assert (can_id, data) == (0x08, bytes([0, 0, 4, 0, 0, 0, 0, 0])) and "wrong bit rate" in words(can_id, data)
    assert "passive" in words(*error_frame(ErrorClass.CONTROLLER, ControllerState.TX_PASSIVE))
