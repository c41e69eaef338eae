"""CyberGear: vectors C1 to C12, every kind of frame, saturation, faults."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from procs.wire.cybergear import (
    CyberGearCodec,
    FaultReport,
    Feedback,
    Identity,
    ParameterValue,
    can_id,
    enable,
    get_id,
    read_parameter,
    set_baud,
    set_can_id,
    set_zero,
    split_id,
    stop,
    write_parameter,
)
from procs.wire.cybergear_tables import PARAMETERS, RANGE, RANGE_4PI, State
from procs.wire.decode import DecodeError, Reason
from procs.wire.frame import CanFrame

ZEROS = "00" * 8
FRAMES = {
    "C1": (enable(0x7F, 0xFD), 0x0300FD7F, ZEROS),
    "C2 stop": (stop(11, 0xFD), 0x0400FD0B, ZEROS),
    "C2 clear": (stop(11, 0xFD, clear_faults=True), 0x0400FD0B, "01" + "00" * 7),
    "C3": (set_zero(11, 0xFD), 0x0600FD0B, "01" + "00" * 7),
    "C4": (set_can_id(0x7F, 0xFD, 11), 0x070BFD7F, "01" + "00" * 7),
    "C5": (write_parameter(11, 0xFD, "run_mode", 1), 0x1200FD0B, "0570000001000000"),
    "C6": (write_parameter(11, 0xFD, "loc_ref", 1.0), 0x1200FD0B, "167000000000803f"),
    "C7": (read_parameter(11, 0xFD, "VBUS"), 0x1100FD0B, "1c70000000000000"),
    "config": (read_parameter(11, 0xFD, "config.CAN_TIMEOUT"), 0x0800FD0B, "0c20000000000000"),
    "id": (get_id(11, 0xFD), 0x0000FD0B, ZEROS),
    "baud": (set_baud(11, 0xFD, 500_000), 0x1600FD0B, "02" + "00" * 7),
}
CONTROL = {
    "C8": (RANGE, 11, (0.5, -1, 100, 3, 2), 0x0195540B, "851e7bbb33339999"),
    "C8 4pi": (RANGE_4PI, 11, (0.5, -1, 100, 3, 2), 0x0195540B, "85177bbb33339999"),
    "C9": (RANGE, 63, (-12.5, 30, 500, 5, -12), 0x0100003F, "0000ffffffffffff"),
    "C10": (RANGE, 11, (0.35, 0, 10, 3, 9.25), 0x01E2A90B, "83947fff051e9999"),
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames_of_the_host(name: str) -> None:
    frame, identifier, data = FRAMES[name]
    assert frame == CanFrame(identifier, bytes.fromhex(data), extended=True)


@pytest.mark.parametrize("name", CONTROL)
def test_control_vectors(name: str) -> None:
    limits, motor, values, identifier, data = CONTROL[name]
    codec = CyberGearCodec([motor], limits)
    (frame,) = codec.control(*values)
    assert (frame.can_id, frame.data.hex(), frame.extended) == (identifier, data, True)
    assert codec.unpack_control(frame)[1:] == pytest.approx(values, abs=0.01)


def test_c11_and_c12_feedback() -> None:
    codec = CyberGearCodec([11, 61])
    c11 = codec.unpack(CanFrame(0x02800BFD, bytes.fromhex("851e7bbb9555014d"), True))
    assert isinstance(c11, Feedback)
    assert (c11.motor, c11.host, c11.state, c11.faults, c11.valid) == (11, 0xFD, State.RUN, [], True)
    numbers = (c11.position, c11.velocity, c11.torque, c11.temperature_c)
    assert numbers == pytest.approx((0.499924, -1.000229, 2.000092, 33.3), abs=1e-6)
    c12 = codec.unpack(CanFrame(0x02053DFD, bytes.fromhex("7fff7fff7fff0320"), True))
    assert isinstance(c12, Feedback)
    assert (c12.motor, c12.state, c12.temperature_c) == (61, State.RESET, 80.0)
    assert [f.name for f in c12.faults] == ["under-voltage", "over-temperature"]


def test_eighteen_motors_in_one_call() -> None:
    motors = [10 * leg + joint for leg in range(1, 7) for joint in (1, 2, 3)]
    codec = CyberGearCodec(motors)
    rng = np.random.default_rng(5)
    values = rng.uniform(-1, 1, (5, 18)) * np.array([12.5, 30, 500, 5, 12])[:, None]
    values[2:4] = np.abs(values[2:4])
    for i, frame in enumerate(codec.control(*values)):
        target, *back = codec.unpack_control(frame)
        assert target == motors[i]
        assert np.all(np.abs(np.array(back) - values[:, i]) <= codec.grid.quantum * (1 + 1e-9))


@given(st.integers(0, 2**64 - 1), st.integers(0, 0xFFFF), st.sampled_from([RANGE, RANGE_4PI]))
def test_every_raw_control_frame_encodes_to_itself(data: int, torque: int, limits: object) -> None:
    codec = CyberGearCodec([42], limits)
    frame = CanFrame(can_id(1, torque, 42), data.to_bytes(8, "big"), True)
    assert codec.control(*codec.unpack_control(frame)[1:]) == [frame]


@given(st.floats(-13, 13), st.floats(-31, 31), st.floats(-13, 13), st.floats(-10, 200), st.integers(0, 63))
def test_feedback_comes_back(p: float, v: float, t: float, temperature: float, faults: int) -> None:
    codec = CyberGearCodec([7])
    back = codec.unpack(codec.feedback(7, 0xFD, p, v, t, temperature, faults=faults))
    assert abs(back.position - min(max(p, -12.5), 12.5)) <= 25 / 65535
    assert abs(back.velocity - min(max(v, -30), 30)) <= 60 / 65535
    assert abs(back.torque - min(max(t, -12), 12)) <= 24 / 65535
    assert back.temperature_c == pytest.approx(max(temperature, 0), abs=0.0501)
    assert len(back.faults) == faults.bit_count()
    assert back.valid == (not any(back.saturated))
    if abs(p) >= 12.5:
        assert back.saturated[0]


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_there_and_back(name: str) -> None:
    parameter = PARAMETERS[name]
    value = min(max(1.5 if parameter.kind == "f" else 7, parameter.low), parameter.high)
    if parameter.writable:
        frame = write_parameter(3, 0, name, value)
        kind, _, target = split_id(frame.can_id)
        assert (kind, target) == (18 if parameter.index >= 0x3030 else 9, 3)
        answer = CyberGearCodec([3]).unpack(CanFrame(can_id(kind - 1, 3, 0), frame.data, True))
        assert isinstance(answer, ParameterValue)
        assert (answer.parameter, answer.value, answer.motor, answer.valid) == (parameter, value, 3, True)
    else:
        with pytest.raises(ValueError, match="writable=False"):
            write_parameter(3, 0, name, value)


def test_other_answers() -> None:
    codec = CyberGearCodec([1])
    report = codec.unpack(
        CanFrame(can_id(21, 1, 0), (1 << 16 | 1 << 9 | 1 << 30).to_bytes(4, "little") + b"\1\0\0\0", True)
    )
    assert isinstance(report, FaultReport)
    assert [f.name for f in report.faults] == ["overload, bit 9", "phase A over-current", "unknown bits 0x40000000"]
    assert all(f.advice for f in report.faults + report.warnings)
    assert codec.unpack(CanFrame(can_id(0, 1, 0xFE), b"12345678", True)) == Identity(1, b"12345678")
    nan = codec.unpack(CanFrame(can_id(17, 1, 0), bytes.fromhex("19700000") + b"\0\0\xc0\x7f", True))
    assert not nan.valid


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (CanFrame(0x0280, bytes(8)), Reason.IDENTIFIER),
        (CanFrame(0x02800BFD, bytes(7), True), Reason.LENGTH),
        (CanFrame(0x1F000000, bytes(8), True), Reason.UNKNOWN),
        (CanFrame(0x02800BFD, b"", True, remote=True), Reason.IDENTIFIER),
        (CanFrame(can_id(17, 1, 0), b"\x99\x99" + bytes(6), True), Reason.UNKNOWN),
    ],
)
def test_what_is_no_answer_is_rejected_with_its_reason(frame: CanFrame, reason: Reason) -> None:
    with pytest.raises(DecodeError) as info:
        CyberGearCodec([1]).unpack(frame)
    assert info.value.reason is reason


def test_refusals() -> None:
    with pytest.raises(ValueError, match=r"kp\[0\] = inf"):
        CyberGearCodec([1]).control(0, 0, math.inf, 0, 0)
    with pytest.raises(ValueError, match="limit_torque = 13"):
        write_parameter(1, 0, "limit_torque", 13)
    with pytest.raises(ValueError, match="whole number"):
        write_parameter(1, 0, "run_mode", 0.5)
    with pytest.raises(ValueError, match="too large"):
        write_parameter(1, 0, "loc_ref", 1e39)
    with pytest.raises(ValueError, match="want one of run_mode"):
        read_parameter(1, 0, "nonsense")
    with pytest.raises(ValueError, match="new=0"):
        set_can_id(1, 0, 0)
    with pytest.raises(ValueError, match="bits_per_second=9600"):
        set_baud(1, 0, 9600)
    with pytest.raises(ValueError, match="5, 16 and 8 bits"):
        enable(256, 0)
    with pytest.raises(ValueError, match="temperature_c"):
        CyberGearCodec([1]).feedback(1, 0, 0, 0, 0, math.nan)
