"""GIM6010-8 / ODrive-style CAN: vectors O1 to O12, the whole table, heartbeats, errors, units."""

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from procs.wire.decode import DecodeError, Reason
from procs.wire.frame import CanFrame
from procs.wire.gim6010 import (
    axis_status,
    errors_in_words,
    mit_control,
    output_rad,
    output_torque,
    pack,
    request,
    request_error,
    rotor_torque,
    rotor_turns,
    sdo,
    sdo_value,
    unpack,
)
from procs.wire.gim6010_tables import COMMANDS, AxisState, ErrorType, Heartbeat, Way
from procs.wire.mit_can import MitCodec
from procs.wire.mit_motors import MOTORS

SINGLE = st.floats(width=32, allow_nan=False, allow_infinity=False)
VECTORS = {
    "O1": (5, "set_axis_state", {"state": 8}, 0x0A7, "0800000000000000"),
    "O2": (5, "set_controller_mode", {"control_mode": 3, "input_mode": 3}, 0x0AB, "0300000003000000"),
    "O3": (5, "set_input_pos", {"position": 3.14, "velocity_ff": 1, "torque_ff": 5}, 0x0AC, "c3f54840e8038813"),
    "O4": (3, "set_input_pos", {"position": -1.5, "velocity_ff": -0.25, "torque_ff": -0.1}, 0x06C, "0000c0bf06ff9cff"),
    "O5": (12, "set_input_vel", {"velocity": 10, "torque_ff": 0}, 0x18D, "0000204100000000"),
    "O6": (7, "get_encoder_estimates", {"position": 2.2, "velocity": -0.5}, 0x0E9, "cdcc0c40000000bf"),
    "O7": (7, "heartbeat", {"axis_error": 0x40, "axis_state": 1, "flags": b"\1\0\0"}, 0x0E1, "4000000001010000"),
    "O8": (7, "heartbeat", {"axis_error": 0x40, "axis_state": 1, "flags": b"\1\0\x2a"}, 0x0E1, "400000000101002a"),
    "O9": (7, "get_iq", {"setpoint": 1.25, "measured": 1.125}, 0x0F4, "0000a03f0000903f"),
    "O10": (7, "get_bus_voltage_current", {"voltage": 24, "current": 3.5}, 0x0F7, "0000c04100006040"),
    "O11": (1, "set_limits", {"velocity": 16, "current": 10}, 0x02F, "0000804100002041"),
    "O12": (1, "set_input_torque", {"torque": 0}, 0x02E, "0000000000000000"),
}


@pytest.mark.parametrize("name", VECTORS)
def test_vectors(name: str) -> None:
    node, command, values, identifier, data = VECTORS[name]
    frame = pack(node, command, **values)
    assert frame == CanFrame(identifier, bytes.fromhex(data))
    message = unpack(frame)
    assert (message.node, message.command.name, message.valid) == (node, command, True)
    for field, value in values.items():
        assert message.values[field] == (value if isinstance(value, bytes) else pytest.approx(value, rel=1e-6))


def test_the_whole_table_is_there() -> None:
    assert sorted(COMMANDS) == list(range(0x01, 0x20))
    assert all(struct.calcsize("<" + "".join(f.kind for f in c.fields)) <= 8 for c in COMMANDS.values())


@given(st.sampled_from(sorted(COMMANDS)), st.integers(0, 63), st.data())
def test_every_command_comes_back(number: int, node: int, data: st.DataObject) -> None:
    command = COMMANDS[number]
    values = {}
    for field in command.fields:
        size = struct.calcsize("<" + field.kind)
        if field.kind == "f":
            values[field.name] = data.draw(SINGLE)
        elif field.kind.endswith("s"):
            values[field.name] = data.draw(st.binary(min_size=size, max_size=size))
        elif field.scale != 1:
            values[field.name] = data.draw(st.integers(-32766, 32766)) * field.scale
        else:
            signed = field.kind.islower()
            values[field.name] = data.draw(st.integers(*((-(2 ** (8 * size - 1)), 2 ** (8 * size - 1) - 1) if signed
                                                         else (0, 2 ** (8 * size) - 1))))  # fmt: skip
    frame = pack(node, command.name, **values)
    message = unpack(frame)
    assert (message.node, message.command, message.values, message.valid) == (node, command, values, True)
    assert pack(node, command.name, **message.values) == frame


@given(st.floats(-40, 40), st.floats(-40, 40))
def test_feed_forwards_are_rounded_to_a_thousandth_and_clamped(velocity: float, torque: float) -> None:
    message = unpack(pack(1, "set_input_pos", position=0, velocity_ff=velocity, torque_ff=torque))
    for name, sent in (("velocity_ff", velocity), ("torque_ff", torque)):
        assert abs(message.values[name] - min(max(sent, -32.767), 32.767)) <= 0.0005 + 1e-12
        assert (name in message.saturated) == (abs(sent) > 32.7665)
    assert message.valid == (not message.saturated)


@pytest.mark.parametrize(
    ("layout", "flags", "wanted"),
    [
        (Heartbeat.ODRIVE_0_5_6, (1, 0, 0x80), (True, False, False, False, True, None)),
        (Heartbeat.ODRIVE_0_5_6, (0, 1, 0x01), (False, True, True, False, False, None)),
        (Heartbeat.UP_TO_5_11, (0, 0, 0x09), (False, False, True, False, True, None)),
        (Heartbeat.FIRMWARE_5_12, (0x83, 0, 0), (True, True, False, False, True, None)),
        (Heartbeat.FROM_5_13, (0x0C, 0, 0x2A), (False, False, True, True, False, 0x2A)),
    ],
)
def test_heartbeat_layouts(layout: Heartbeat, flags: tuple[int, ...], wanted: tuple[object, ...]) -> None:
    status = axis_status(pack(9, "heartbeat", axis_error=0x840, axis_state=8, flags=bytes(flags)), layout)
    assert [f.name for f in status.faults] == ["motor failed", "watchdog expired"]
    assert (status.node, status.axis_state) == (9, AxisState.CLOSED_LOOP)
    assert (status.motor_error, status.encoder_error, status.controller_error, status.system_error,
            status.trajectory_done, status.life) == wanted  # fmt: skip


def test_requests_both_ways_of_asking() -> None:
    assert request(7, "get_iq") == CanFrame(0x0F4, remote=True)
    assert request(7, "get_iq", remote=False) == CanFrame(0x0F4, bytes(8))
    assert unpack(request(7, "get_iq")).values == {}
    assert request_error(7, ErrorType.CONTROLLER) == CanFrame(0x0E3, b"\x03" + bytes(7))
    with pytest.raises(ValueError, match="not a value to ask for"):
        request(7, "set_limits")
    assert COMMANDS[0x09].way is Way.FROM_DRIVE


@pytest.mark.parametrize("size", [4, 8])
def test_error_words_of_both_widths(size: int) -> None:
    value = unpack(CanFrame(0x0E3, (0x1008).to_bytes(size, "little"))).values["error"]
    faults = errors_in_words(ErrorType.MOTOR, value)
    assert [f.name for f in faults] == ["gate driver (DRV)", "current limit violation"]
    assert all(f.advice for f in faults)
    assert errors_in_words(ErrorType.SENSORLESS, 4)[0].name == "unknown bits 0x4"


def test_sdo_there_and_back() -> None:
    frame = sdo(2, 0x123, write=True, value=0.5)
    assert frame == CanFrame(0x044, bytes.fromhex("01230100") + struct.pack("<f", 0.5))
    answer = unpack(CanFrame(0x045, frame.data))
    assert sdo_value(answer, "f") == 0.5
    assert answer.values["endpoint"] == 0x123
    with pytest.raises(DecodeError):
        sdo_value(unpack(pack(2, "get_iq", setpoint=0, measured=0)), "f")


def test_mit_control_is_the_mit_frame_in_output_units() -> None:
    codec = MitCodec([MOTORS["GIM6010-8"]])
    frame = mit_control(6, codec.pack(0.5, -1, 25, 1, 2)[0])
    assert frame == CanFrame(6 << 5 | 8, bytes.fromhex("851e7e00cc333851"))
    reply = unpack(CanFrame(6 << 5 | 8, codec.pack_replies([6], 0.5, -1, 2)[0]))
    back = codec.unpack([reply.values["data"]], ids=[6])
    assert back.valid[0]
    assert back.position[0] == pytest.approx(0.5, abs=4e-4)


def test_units() -> None:
    assert rotor_turns(0.8, 8) == pytest.approx(1.0185916)
    assert output_rad(rotor_turns(-1.3, 8), 8) == pytest.approx(-1.3)
    assert output_torque(rotor_torque(5.0, 8), 8) == pytest.approx(5.0)
    assert rotor_torque(5.0, 8) * rotor_turns(1.0, 8) * 2 * math.pi == pytest.approx(5.0)  # power does not change


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (CanFrame(0x0E0, bytes(8)), Reason.UNKNOWN),
        (CanFrame(0x0E9, bytes(7)), Reason.LENGTH),
        (CanFrame(0x0E1, b""), Reason.LENGTH),
        (CanFrame(0x800, bytes(8)), Reason.IDENTIFIER),
        (CanFrame(0x0E9, bytes(8), extended=True), Reason.IDENTIFIER),
    ],
)
def test_bad_frames_are_rejected_with_their_reason(frame: CanFrame, reason: Reason) -> None:
    with pytest.raises(DecodeError) as info:
        unpack(frame)
    assert info.value.reason is reason


def test_a_nan_from_a_drive_is_marked() -> None:
    assert not unpack(CanFrame(0x0E9, struct.pack("<ff", math.nan, 1.0))).valid


def test_refusals() -> None:
    with pytest.raises(ValueError, match="position = nan"):
        pack(1, "set_input_pos", position=math.nan, velocity_ff=0, torque_ff=0)
    with pytest.raises(ValueError, match="too large"):
        pack(1, "set_input_torque", torque=1e39)
    with pytest.raises(ValueError, match="want \\['velocity', 'current'\\]"):
        pack(1, "set_limits", velocity=1)
    with pytest.raises(ValueError, match="does not fit"):
        pack(1, "set_axis_state", state=-1)
    with pytest.raises(ValueError, match="node=64"):
        pack(64, "reboot")
    with pytest.raises(ValueError, match="want one of heartbeat"):
        pack(1, "nonsense")
    with pytest.raises(ValueError, match="want 8"):
        mit_control(1, b"")
    with pytest.raises(DecodeError):
        axis_status(pack(1, "reboot"), Heartbeat.FROM_5_13)
