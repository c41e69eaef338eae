"""MIT-mode drive on a bench: frames in, frames out; every quirk on and off."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from procs.wire.frame import CanFrame
from procs.wire.mit_can import MitCodec, Special
from procs.wire.mit_motors import MOTORS
from sim.emulators.can_motor import MitMotor, MitQuirks, pack_command, pack_reply, unpack_command, unpack_reply

NAMES = sorted(MOTORS)
DT = 0.002
ENTER, EXIT, ZERO = (s.value for s in (Special.ENTER, Special.EXIT, Special.ZERO))
CLEAN = MitQuirks(wrong_first_reply=False)


def motor(bench, name="AK10-9_V2.0", quirks=CLEAN, seed=3):
    return MitMotor(bench, 2, MOTORS[name], DT, np.random.default_rng(seed), quirks)


def ask(drive, data):
    """The reply's data to a frame; None: no answer."""
    replies = drive.receive(CanFrame(2, data))
    return replies[0].data if replies else None


def read(data, name="AK10-9_V2.0"):
    return MitCodec((MOTORS[name],)).unpack([data], [2])


@given(st.sampled_from(NAMES), *[st.floats(-200, 200)] * 3, st.floats(-10, 600), st.floats(-1, 6))
def test_own_coding_agrees_with_the_wire_module(name, p, v, t, kp, kd):
    limits, codec = MOTORS[name], MitCodec((MOTORS[name],))
    ours, theirs = pack_command(limits, p, v, kp, kd, t), codec.pack([p], [v], [kp], [kd], [t])[0]
    if ours[:7] != b"\xff" * 7:
        assert ours == theirs
        np.testing.assert_allclose(unpack_command(limits, theirs), codec.unpack_command(theirs), atol=1e-12)
    assert pack_reply(limits, 5, p, v, t) == codec.pack_replies([5], [p], [v], [t])[0]
    got = codec.unpack([pack_reply(limits, 5, p, v, t)])
    np.testing.assert_allclose(
        unpack_reply(limits, pack_reply(limits, 5, p, v, t)), (got.position[0], got.velocity[0], got.torque[0])
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_command_acts_only_in_motor_mode_and_the_state_comes_back_within_a_quantum(bench, name):
    drive, limits = motor(bench, name), MOTORS[name]
    command = pack_command(limits, 0.4, -0.5, 30.0, 1.0, 2.0)
    ask(drive, command)
    assert bench.command is None
    ask(drive, ENTER)
    ask(drive, command)
    assert np.all(np.abs(np.subtract(bench.command, (0.4, -0.5, 30.0, 1.0, 2.0))) <= (
        *np.array(limits.quanta[:2]), limits.kp / 4095, limits.kd / 4095, limits.quanta[2]))  # fmt: skip
    bench.position, bench.velocity, bench.torque = 1.2345, -2.5, 3.3
    reply = read(ask(drive, command), name)
    assert reply.valid[0] and reply.temperature[0] == -1
    for got, true, quantum in zip(
        (reply.position[0], reply.velocity[0], reply.torque[0]), (1.2345, -2.5, 3.3), limits.quanta, strict=True
    ):
        assert 0 <= true - got <= quantum * (1 + 1e-6)
    ask(drive, EXIT)
    assert bench.command is None


def test_frames_for_others_and_of_another_length_are_not_answered(bench):
    drive = motor(bench)
    for frame in (CanFrame(1, ENTER), CanFrame(2, ENTER[:7]), CanFrame(2, ENTER, True), CanFrame(2, b"", False, True)):
        assert drive.receive(frame) == []


def test_the_first_reply_after_power_on_and_after_enter_is_nonsense_and_seeded(bench):
    def replies(quirks, seed=3):
        drive = motor(bench, quirks=quirks, seed=seed)
        return [ask(drive, data) for data in (EXIT, EXIT, ENTER, bytes.fromhex("7fff7ff0000007ff"))]

    bench.position = 0.5
    good = replies(CLEAN)
    assert len(set(good)) == 1
    wrong = replies(MitQuirks())
    assert wrong[0] != good[0] and wrong[1] == good[0] and wrong[2] != good[0] and wrong[3] == good[0]
    assert wrong == replies(MitQuirks()) != replies(MitQuirks(), seed=4)


def test_set_zero_silences_the_drive_for_its_real_time(bench):
    drive = motor(bench)
    bench.position = 0.7
    assert ask(drive, ZERO) is None
    answered = None
    for tick in range(1, 1000):
        frames = drive.tick(tick)
        if frames:
            answered = tick * DT
            break
        assert ask(drive, EXIT) is None
    assert 1.0 <= answered <= 1.5
    assert abs(read(frames[0].data).position[0]) < 4e-4
    assert abs(read(ask(drive, EXIT)).position[0]) < 4e-4


def test_position_wraps_at_the_ends_and_the_pd_works_in_the_same_turn(bench):
    drive = motor(bench)
    ask(drive, ENTER)
    bench.position = 13.0  # P is 12.5
    command = pack_command(drive.limits, -12.0, 0.0, 10.0, 0.0, 0.0)
    assert read(ask(drive, command)).position[0] == pytest.approx(-12.0, abs=4e-4)
    assert bench.command[0] == pytest.approx(13.0, abs=1e-3)  # no kick of a whole turn
    drive = motor(bench, quirks=MitQuirks(wrong_first_reply=False, wraps=False))
    ask(drive, ENTER)
    assert read(ask(drive, command)).saturated[0, 0]


def test_a_drive_without_watchdog_keeps_the_last_command_for_ever_and_re_runs_it_at_the_next_enter(bench):
    drive = motor(bench)
    ask(drive, ENTER)
    ask(drive, pack_command(drive.limits, 1.0, 0.0, 10.0, 1.0, 0.0))
    held = bench.command
    drive.tick(5000)
    assert bench.command == held
    ask(drive, EXIT)
    ask(drive, ENTER)
    assert bench.command == held
    drive = motor(bench, quirks=MitQuirks(wrong_first_reply=False, keeps_command=False, watchdog=0.1))
    ask(drive, ENTER)
    ask(drive, pack_command(drive.limits, 1.0, 0.0, 10.0, 1.0, 0.0))
    drive.tick(49)
    assert bench.command is not None
    drive.tick(51)
    assert bench.command is None
    ask(drive, ENTER)
    assert bench.command[2] == 0.0


def test_eight_byte_replies_carry_temperature_and_error_and_a_faulty_drive_is_limp(bench):
    drive = motor(bench, quirks=MitQuirks(wrong_first_reply=False, reply_length=8))
    ask(drive, ENTER)
    drive.fail(1)
    assert bench.command is None
    reply = read(ask(drive, ENTER))
    assert (reply.temperature[0], reply.error[0]) == (70, 1)
    assert bench.command is None
    drive.fail(0)
    assert read(ask(drive, ENTER)).error[0] == 0
    assert bench.command is not None


def test_reported_torque_can_be_off_by_a_factor_as_on_ak_drives(bench):
    bench.torque = 10.0
    drive = motor(bench, quirks=MitQuirks(wrong_first_reply=False, torque_factor=0.59))
    assert read(ask(drive, EXIT)).torque[0] == pytest.approx(5.9, abs=0.04)


def test_a_saturated_command_that_looks_like_a_special_frame_is_taken_as_one(bench):
    """Quirk 7: why the host must not send it (procs.wire.mit_can lowers kp by one quantum)."""
    drive = motor(bench)
    ask(drive, ENTER)
    ask(drive, b"\xff" * 7 + b"\xfd")
    assert bench.command is None
