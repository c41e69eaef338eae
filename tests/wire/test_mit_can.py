"""MIT-mode CAN: vectors, the guard against special frames, saturation, replies of every length."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from procs.wire.decode import DecodeError, Reason
from procs.wire.mit_can import (
    MitCodec,
    Special,
    Temperature,
    ak_fault,
    pack_raw_commands,
    range_grid,
    special_of,
    unpack_raw_command,
)
from procs.wire.mit_motors import MOTORS

SAME = (0.5, -1, 25, 1, 2)
VECTORS = {
    "V1": ("AK10-9_V2.0", (0, 0, 0, 0, 0), (32767, 2047, 0, 0, 2047), "7fff7ff0000007ff"),
    "V2": ("AK10-9_V2.0", SAME, (34078, 2006, 204, 819, 2110), "851e7d60cc33383e"),
    "V3": ("AK10-9_V2.0", (-12.5, -50, 500, 5, -65), (0, 0, 4095, 4095, 0), "0000000ffffff000"),
    "V5": ("AK10-9_V2.0", (1.5708, 0, 2, 0.4, 1.5), (36885, 2047, 16, 327, 2094), "90157ff01014782e"),
    "V6": ("AK80-9_V2", SAME, (34078, 2006, 204, 819, 2275), "851e7d60cc3338e3"),
    "V7": ("AK80-6_V2", SAME, (34078, 2020, 204, 819, 2388), "851e7e40cc333954"),
    "V8": ("GIM6010-8", SAME, (34078, 2016, 204, 819, 2129), "851e7e00cc333851"),
    "zero": ("mini_cheetah", (0, 0, 0, 0, 0), (32767, 2047, 0, 0, 2047), "7fff7ff0000007ff"),
    "65/18": ("mini_cheetah", (1, -2, 50, 1, 3), None, "8a3c7c0199333954"),
    "45/18": ("mini_cheetah_v45", (1, -2, 50, 1, 3), None, "8a3c7a4199333954"),
    "50/65": ("AK10-9_V2.0", (1, -2, 50, 1, 3), None, "8a3c7ad19933385e"),
}


@pytest.mark.parametrize("name", VECTORS)
def test_command_vectors(name: str) -> None:
    motor, values, ints, data = VECTORS[name]
    (frame,) = MitCodec([MOTORS[motor]]).pack(*values)
    assert frame.hex() == data
    if ints:
        assert tuple(unpack_raw_command(frame).tolist()) == ints


def test_v4_all_ones_is_sent_with_kp_one_quantum_lower() -> None:
    codec = MitCodec([MOTORS["AK10-9_V2.0"]])
    (frame,) = codec.pack(12.5, 50, 500, 5, 65)
    assert frame.hex() == "fffffffffeffffff"
    back = codec.unpack_command(frame)
    assert back == pytest.approx([12.5, 50, 500 - 500 / 4095, 5, 65])


@given(st.sampled_from(sorted(MOTORS)), st.lists(st.integers(-3, 0), min_size=5, max_size=5))
def test_no_command_is_ever_a_special_frame(name: str, below: list[int]) -> None:
    raw = np.array([[65535, 4095, 4095, 4095, 4095]]) + below
    (frame,) = pack_raw_commands(raw)
    assert not frame.startswith(b"\xff" * 7)
    motor = MOTORS[name]
    (frame,) = MitCodec([motor]).pack(1e9, 1e9, 1e9, 1e9, motor.torque * (1 - 2e-4 * -below[0]))
    assert special_of(frame) is None


def test_special_frames() -> None:
    assert [s.value[-1] for s in (Special.ENTER, Special.EXIT, Special.ZERO)] == [0xFC, 0xFD, 0xFE]
    assert MitCodec([MOTORS["AK80-64"]]).unpack_command(b"\xff" * 7 + b"\xfe") is Special.ZERO
    assert special_of(b"\xff" * 8) is None


@pytest.mark.parametrize(
    ("data", "motor_id", "numbers", "temperature", "error"),
    [
        ("0185 1e7d683e", 1, (0.499924, -1.013431, 1.984127), -1, -1),
        ("027fff7ff7ff3c00", 2, (-0.000191, -0.012210, -0.015873), 0x3C, 0),
        ("027fff7ff7ff3c", 2, (-0.000191, -0.012210, -0.015873), 0x3C, -1),
    ],
    ids=["R1", "R2", "DLC 7"],
)
def test_reply_vectors(data: str, motor_id: int, numbers: Sequence[float], temperature: int, error: int) -> None:
    reply = MitCodec([MOTORS["AK10-9_V2.0"]]).unpack([bytes.fromhex(data)], ids=[motor_id])
    assert (reply.position[0], reply.velocity[0], reply.torque[0]) == pytest.approx(numbers, abs=1e-6)
    assert (reply.motor_id[0], reply.temperature[0], reply.error[0]) == (motor_id, temperature, error)
    assert reply.valid[0]
    assert reply.reasons == [None]


def test_r3_replies_of_the_real_robot() -> None:
    raw = [(0x7F53, 0x808), (0x7E63, 0x7FF), (0x8295, 0x827), (0x892A, 0x7EA), (0x7E60, 0x803), (0x826B, 0x81F)]
    frames = [
        bytes([i % 3 + 1]) + p.to_bytes(2, "big") + (v << 12 | 0x800).to_bytes(3, "big") + b"\x46\x00"
        for i, (p, v) in enumerate(raw)
    ]
    reply = MitCodec([MOTORS["AK10-9_V2.0"]] * 6).unpack(frames, ids=[1, 2, 3] * 2)
    assert reply.position[:2] == pytest.approx([-0.0658044815, -0.157359123], abs=1e-6)
    assert reply.position[[2, 5]] / 1.5 == pytest.approx([0.168230698, 0.157549545], abs=1e-6)
    assert reply.velocity[[0, 3]] == pytest.approx([0.207569122, -0.525032043], abs=2e-6)
    assert reply.velocity[[2, 5]] * 1.5 == pytest.approx([1.44688797, 1.15384483], abs=1e-5)  # the shipped firmware
    assert Temperature.MINUS_40.celsius(reply.temperature).tolist() == [30] * 6


@given(st.sampled_from(sorted(MOTORS)), st.lists(st.floats(-1, 1), min_size=5, max_size=5))
def test_commands_come_back_within_their_quantum(name: str, parts: list[float]) -> None:
    motor = MOTORS[name]
    top = np.array([motor.position, motor.velocity, motor.kp, motor.kd, motor.torque])
    values = np.array(parts) * top
    values[2:4] = np.abs(values[2:4])
    codec = MitCodec([motor])
    back = codec.unpack_command(codec.pack(*values)[0])
    quantum = codec.command_grid.quantum[0]
    assert np.all(np.abs(values - back - quantum / 2) <= quantum / 2 * (1 + 1e-6) + quantum * (top == values))
    assert codec.pack(*back) == codec.pack(*values)


@given(st.lists(st.binary(min_size=8, max_size=8), min_size=1, max_size=12))
def test_every_raw_command_encodes_to_itself(frames: list[bytes]) -> None:
    codec = MitCodec([MOTORS["AK80-6_V1.0"]] * len(frames))
    for i, frame in enumerate(frames):
        back = codec.unpack_command(frame, i)
        if isinstance(back, Special) or frame.startswith(b"\xff" * 7):
            continue
        assert codec.pack(*back)[i] == frame


def test_replies_of_mixed_motors_come_back() -> None:
    rng = np.random.default_rng(3)
    motors = [MOTORS[name] for name in sorted(MOTORS)]
    codec = MitCodec(motors)
    p, v, t = (rng.uniform(-0.99, 0.99, len(motors)) * [getattr(m, what) for m in motors]
               for what in ("position", "velocity", "torque"))  # fmt: skip
    for tail in (b"", b"\x50", b"\x50\x04"):
        reply = codec.unpack(codec.pack_replies(range(1, 16), p, v, t, tail), ids=range(1, 16))
        assert reply.valid.all()
        for mine, sent, i in ((reply.position, p, 0), (reply.velocity, v, 1), (reply.torque, t, 2)):
            assert np.all(np.abs(mine - sent) <= [m.quanta[i] for m in motors])
    assert ak_fault(int(reply.error[0])).name == "under-voltage"
    assert "unknown error 77" in ak_fault(77).name


def test_bad_replies_are_marked_one_by_one() -> None:
    codec = MitCodec([MOTORS["mini_cheetah"]] * 7)
    good = bytes.fromhex("01851e7d683e")
    frames = [good, None, b"", good[:5], bytes.fromhex("05ffff7ff7ff"), bytes.fromhex("067fff7ff000"), good]
    reply = codec.unpack(frames, ids=[1, 2, 3, 4, 5, 6, 7])
    assert reply.valid.tolist() == [True] + [False] * 6
    assert reply.reasons == [None, Reason.MISSING, Reason.LENGTH, Reason.LENGTH, Reason.SATURATED, Reason.SATURATED,
                             Reason.IDENTIFIER]  # fmt: skip
    assert np.isnan(reply.position).tolist() == [False, True, True, True, False, False, True]
    assert reply.saturated[4].tolist() == [True, False, False]
    assert reply.saturated[5].tolist() == [False, False, True]


def test_numbers_decoded_by_a_board_are_marked_at_the_end_of_the_motors_range() -> None:
    grid = range_grid(MOTORS["AK10-9_V2.0"])
    assert grid.at_end(np.float32([12.5, 0, 0])).tolist() == [[True, False, False]]
    assert grid.at_end(np.float32([12.499, 49.9, -65])).tolist() == [[False, False, True]]


def test_refusals() -> None:
    codec = MitCodec([MOTORS["AK60-6"]] * 2)
    with pytest.raises(ValueError, match=r"torque\[1\] = nan"):
        codec.pack(0, 0, 0, 0, [0, np.nan])
    with pytest.raises(DecodeError, match="7 bytes"):
        codec.unpack_command(bytes(7))
    with pytest.raises(ValueError, match="1 frames for 2 motors"):
        codec.unpack([b""])


def test_temperature_rules() -> None:
    assert [rule.celsius(255) for rule in Temperature] == [215, 255, 100]


def test_every_motor_states_its_source() -> None:
    assert all(motor.source and motor.gear > 0 for motor in MOTORS.values())
