"""Scotty's flags: torques, soft-stop codes, control mode, the knee of the shipped firmware."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from procs.wire.decode import DecodeError, Reason
from procs.wire.spine import pack_commands, unpack_command
from procs.wire.spine_scotty import (
    ScottyData,
    SoftStop,
    check_command_flags,
    knee_for_legacy_firmware,
    knee_from_legacy_firmware,
    pack_command_flags,
    pack_scotty_data,
    pack_torques,
    unpack_command_flags,
    unpack_scotty_data,
    unpack_torques,
)

QUANTUM = 140 / 1023
REAL_WORDS = (  # L rows 400, 401, struct order
    "80c486bd 6027653f c02221be c04e22be ab442c3e ab54213e 008d543e 806806bf 001048bc 000aaf3d a033b93f 30b1933f"
    "10f85f80 dcd75f80"
)


@pytest.mark.parametrize(
    ("tau", "stop", "flags"),
    [
        ((0, 0, 0), 0, 0x80200800),
        ((1.5, -2, 0.25), 1, 0x805F1829),
        ((-70, 70, 0), 3, 0x803FF003),
        ((100, -100, 18), 2, 0xA0C00FFE),
    ],
)
def test_torque_flags(tau: tuple[float, ...], stop: int, flags: int) -> None:
    assert int(pack_torques(tau, stop)) == flags
    back, code, valid = unpack_torques(flags)
    assert back == pytest.approx(np.clip(tau, -70, 70), abs=QUANTUM / 2 + 1e-9)
    assert code == stop
    assert valid.tolist() == [abs(t) < 70 for t in tau]


def test_torque_flags_decode_to_the_published_numbers() -> None:
    assert unpack_torques(0x805F1829)[0] == pytest.approx([1.43695, -1.98436, 0.205279], abs=1e-5)
    assert unpack_torques(0)[0].tolist() == [-70, -70, -70]
    assert not unpack_torques(0)[2].any()
    assert SoftStop(int(unpack_torques(0x803FF003)[1])) is SoftStop.KNEE_OR_ABAD_AND_HIP


def test_every_raw_torque_comes_back() -> None:
    raw = np.arange(1024)
    flags = (raw << 2) | (raw[::-1] << 12) | (raw << 22)
    assert pack_torques(unpack_torques(flags)[0]).tolist() == flags.tolist()


@given(st.lists(st.floats(-70, 70), min_size=3, max_size=3), st.integers(0, 3))
def test_torque_round_trip_within_half_a_quantum(tau: list[float], stop: int) -> None:
    back, code, _ = unpack_torques(pack_torques(tau, stop))
    assert np.abs(back - tau).max() <= QUANTUM / 2 + 1e-9
    assert code == stop


def test_real_reply_of_the_robot() -> None:
    body = bytes.fromhex(REAL_WORDS.replace(" ", "")) + (0x8272CD3C).to_bytes(4, "little")
    frame = np.frombuffer(body, "<u2").byteswap().tobytes().ljust(132, b"\0")
    data = unpack_scotty_data(frame)
    assert data.q[0] == pytest.approx([-0.0658044815, -0.157359123, 0.168230698], abs=1e-8)
    assert data.q[1] == pytest.approx([0.895132065, -0.158503532, 0.157549545], abs=1e-8)
    assert data.tau[0] == pytest.approx([0.615835786, -0.0684261993, 0.20527859], abs=1e-7)
    assert data.valid.all()
    assert data.torque_valid.all()
    assert pack_scotty_data(data) == frame


def test_golden_command() -> None:
    q = np.array([[0.1, 0.9, -1.8], [-0.1, 0.9, -1.8]])
    flags = pack_command_flags([1, 1], 1)
    frame = pack_commands(q, np.zeros((2, 3)), np.full((2, 3), 25), np.ones((2, 3)), np.zeros((2, 3)), flags)[0]
    assert flags.tolist() == [0x00010001] * 2
    assert frame.startswith(bytes.fromhex("cccd3dcccccdbdcc"))
    assert frame[-4:] == bytes.fromhex("00008000")  # 0x80000000 swapped
    low, mode = unpack_command_flags(unpack_command(frame).flags)
    assert (low.tolist(), mode.tolist()) == ([1, 1], [1, 1])


def test_first_packets_have_torques_that_are_not_valid() -> None:
    data = ScottyData(np.full((2, 3), 0.1), np.zeros((2, 3)), np.full((2, 3), -70.0), np.zeros(2, int), None, None)
    assert not unpack_scotty_data(pack_scotty_data(data)).torque_valid.any()


def test_both_legs_must_have_plausible_flags_except_for_the_shipped_firmware() -> None:
    flags = pack_command_flags([1, 4], 6)
    check_command_flags(pack_command_flags([1, 3], 6))
    check_command_flags(flags, legacy=True)
    with pytest.raises(DecodeError) as info:
        check_command_flags(flags)
    assert info.value.reason is Reason.FLAGS


def test_knee_of_the_shipped_firmware_there_and_back() -> None:
    """Firmware: velocity and torque of the knee go out as v/r, t r and come back as v r, t/r; gains are not scaled."""
    ratio, qd, tau, kp, kd = 1.5, 0.7, 3.0, 20.0, 0.5
    v, t, p, d = knee_for_legacy_firmware(qd, tau, kp, kd, ratio)
    motor_v, motor_t = v / ratio, t * ratio
    assert (motor_v, motor_t) == pytest.approx((qd * ratio, tau / ratio))
    assert (p * ratio**2, d * ratio**2) == pytest.approx((kp, kd))
    assert knee_from_legacy_firmware(motor_v * ratio, motor_t / ratio, ratio) == pytest.approx((qd, tau))


def test_refusals() -> None:
    with pytest.raises(ValueError, match="soft-stop code"):
        pack_torques([0, 0, 0], 4)
    with pytest.raises(ValueError, match=r"want 0\.\.65535"):
        pack_command_flags(1, 65536)
    with pytest.raises(ValueError, match="tau"):
        pack_torques([0, np.nan, 0])
