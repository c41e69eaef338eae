"""GIM6010 drive on a bench, driven and read with procs.wire."""

from __future__ import annotations

import math

import numpy as np
import pytest

from procs.wire import gim6010 as wire
from procs.wire.gim6010_tables import COMMANDS, AxisState, ControlMode, ErrorType, Heartbeat, InputMode, Way
from procs.wire.mit_can import MitCodec
from procs.wire.mit_motors import MOTORS
from sim.emulators.gim6010 import Gim6010, GimQuirks

NODE, DT, GEAR = 5, 0.002, 8
MIT = MitCodec((MOTORS["GIM6010-8"],))


def drive_on(bench, **quirks):
    return Gim6010(bench, NODE, DT, np.random.default_rng(1), GimQuirks(**quirks))


def close_loop(drive):
    drive.receive(wire.pack(NODE, "set_axis_state", state=8))


def states(drive, ticks, layout=Heartbeat.FROM_5_13, first=1):
    """Heartbeats in words, and encoder estimates, of some ticks."""
    beats, estimates = [], []
    for tick in range(first, first + ticks):
        for frame in drive.tick(tick):
            if frame.can_id & 0x1F == 0x01:
                beats.append(wire.axis_status(frame, layout))
            else:
                estimates.append(wire.unpack(frame))
    return beats, estimates


def test_it_speaks_by_itself_at_its_two_rates(bench):
    bench.position, bench.velocity = 2 * math.pi / GEAR, -0.5
    beats, estimates = states(drive_on(bench), 500)  # 1 s
    assert (len(beats), len(estimates)) == (10, 100)
    assert [beat.life for beat in beats] == list(range(1, 11))
    assert estimates[0].values["position"] == pytest.approx(1.0)
    assert estimates[0].values["velocity"] == pytest.approx(-0.5 * GEAR / (2 * math.pi))


@pytest.mark.parametrize("layout", list(Heartbeat))
def test_heartbeats_of_every_firmware_show_the_motors_error(bench, layout):
    drive = drive_on(bench, layout=layout)
    close_loop(drive)
    drive.fail(0x1000)
    beats, _ = states(drive, 60, layout)
    assert beats[0].axis_state == AxisState.IDLE and beats[0].motor_error and not beats[0].encoder_error
    assert [f.name for f in beats[0].faults] == ["motor failed"]
    (answer,) = drive.receive(wire.request_error(NODE, ErrorType.MOTOR))
    assert [f.name for f in wire.errors_in_words(ErrorType.MOTOR, wire.unpack(answer).values["error"])] == [
        "current limit violation"
    ]


def test_mit_control_is_in_output_units_and_answered(bench):
    drive = drive_on(bench)
    bench.position, bench.velocity, bench.torque = 0.4, 1.0, -2.0
    frame = wire.mit_control(NODE, MIT.pack([0.5], [-1], [25], [1], [2])[0])
    drive.receive(frame)
    assert bench.command is None
    close_loop(drive)
    (answer,) = drive.receive(frame)
    np.testing.assert_allclose(bench.command, (0.5, -1, 25, 1, 2), atol=0.13)
    reply = MIT.unpack([wire.unpack(answer).values["data"]], [NODE])
    assert reply.valid[0] and reply.position[0] == pytest.approx(0.4, abs=4e-4)
    assert drive_on(bench, mit_control=False).receive(frame) == []


def test_set_input_pos_is_in_rotor_turns_with_integer_feed_forwards(bench):
    drive = drive_on(bench)
    close_loop(drive)
    turns = float(wire.rotor_turns(0.8, GEAR))
    drive.receive(wire.pack(NODE, "set_input_pos", position=turns, velocity_ff=1.0, torque_ff=0.5))
    p, v, kp, kd, t = bench.command
    assert p == pytest.approx(0.8, abs=1e-6)
    assert v == pytest.approx(2 * math.pi / GEAR)
    assert t == pytest.approx(0.5 * GEAR)
    # 1 rad at the output is 8/2pi turns; times 20 1/s, times 0.1 N m/(turn/s), times the gear
    assert kp == pytest.approx(GEAR / (2 * math.pi) * 20 * 0.1 * GEAR)
    assert kd == pytest.approx(GEAR / (2 * math.pi) * 0.1 * GEAR)


def test_inputs_of_another_mode_or_while_idle_are_ignored_silently(bench):
    drive = drive_on(bench)
    torque = wire.pack(NODE, "set_input_torque", torque=1.0)
    assert drive.receive(torque) == [] and bench.command is None
    close_loop(drive)
    before = bench.command
    drive.receive(torque)
    assert bench.command == before  # position mode
    drive.receive(wire.pack(NODE, "set_controller_mode", control_mode=ControlMode.TORQUE, input_mode=InputMode.DIRECT))
    drive.receive(torque)
    assert bench.command == (0.0, 0.0, 0.0, 0.0, 8.0)
    drive.receive(
        wire.pack(NODE, "set_controller_mode", control_mode=ControlMode.VELOCITY, input_mode=InputMode.DIRECT)
    )
    drive.receive(wire.pack(NODE, "set_input_vel", velocity=100.0, torque_ff=0.0))
    assert bench.command[1] == pytest.approx(30 * 2 * math.pi / GEAR)  # the drive's own limit


def test_the_watchdog_makes_the_axis_idle_until_errors_are_cleared(bench):
    drive = drive_on(bench, watchdog=0.1)
    close_loop(drive)
    states(drive, 50)
    assert bench.command is not None
    beats, _ = states(drive, 60, first=51)
    assert bench.command is None
    assert [f.name for f in beats[-1].faults] == ["watchdog expired"]
    close_loop(drive)
    assert bench.command is None  # not before clear_errors
    drive.receive(wire.pack(NODE, "clear_errors"))
    close_loop(drive)
    assert bench.command is not None
    drive = drive_on(bench)  # off as it leaves the factory
    close_loop(drive)
    states(drive, 5000)
    assert bench.command is not None


def test_estop_idles_with_its_own_error(bench):
    drive = drive_on(bench)
    close_loop(drive)
    drive.receive(wire.pack(NODE, "estop"))
    assert bench.command is None
    assert states(drive, 60)[0][0].faults[0].name == "e-stop requested"


@pytest.mark.parametrize("number", sorted(COMMANDS))
def test_every_command_of_the_table_is_taken_and_every_get_is_answered(bench, number):
    command, drive = COMMANDS[number], drive_on(bench)
    if command.way is Way.FROM_DRIVE and command.name not in ("heartbeat", "tx_sdo"):
        for remote in (True, False):
            (answer,) = drive.receive(wire.request(NODE, command.name, remote))
            assert wire.unpack(answer).command.name == command.name
        assert drive_on(bench, answers_data=False).receive(wire.request(NODE, command.name, False)) == []
        assert drive_on(bench, answers_remote=False).receive(wire.request(NODE, command.name, True)) == []
    elif command.way is Way.TO_DRIVE:
        values = {f.name: bytes(int(f.kind[:-1])) if f.kind[-1] == "s" else 1 for f in command.fields}
        drive.receive(wire.pack(NODE, command.name, **values))
    assert drive.receive(wire.pack(NODE + 1, "clear_errors")) == []


def test_after_a_reboot_the_output_may_be_off_by_part_of_a_turn(bench):
    drive = drive_on(bench, boot_turns=0.1425)
    (answer,) = drive.receive(wire.request(NODE, "get_encoder_estimates"))
    assert wire.unpack(answer).values["position"] == pytest.approx(0.1425 * GEAR)


def test_disable_can_silences_it_for_good(bench):
    drive = drive_on(bench)
    drive.receive(wire.pack(NODE, "disable_can"))
    assert states(drive, 200) == ([], [])
    assert drive.receive(wire.request(NODE, "get_encoder_estimates")) == []


@pytest.mark.parametrize("frame", [wire.request(NODE, "get_iq"), wire.pack(NODE, "set_pos_gain", gain=20.0)])
def test_every_frame_to_the_node_feeds_its_watchdog(bench, frame):
    drive = drive_on(bench, watchdog=0.1)
    close_loop(drive)
    for begin in range(1, 400, 40):
        states(drive, 40, first=begin)
        drive.receive(frame)
    assert bench.command is not None
    states(drive, 60, first=401)
    assert bench.command is None


@pytest.mark.parametrize("state", [AxisState.FULL_CALIBRATION, AxisState.MOTOR_CALIBRATION, AxisState.HOMING])
def test_calibration_is_refused_with_its_own_error(bench, state):
    drive = drive_on(bench)
    drive.receive(wire.pack(NODE, "set_axis_state", state=state))
    assert [f.name for f in states(drive, 60)[0][0].faults] == ["invalid state"]


@pytest.mark.parametrize("name", ["reboot", "save_configuration"])
def test_a_reboot_idles_the_axis_and_forgets_zero_and_gains(bench, name):
    drive = drive_on(bench)
    bench.position = 1.0
    drive.receive(wire.pack(NODE, "set_linear_count", count=0))
    drive.receive(wire.pack(NODE, "set_vel_gains", gain=0.5, integrator=0.0))
    close_loop(drive)
    drive.receive(wire.pack(NODE, name))
    assert bench.command is None and drive.vel_gain == pytest.approx(0.1)
    (answer,) = drive.receive(wire.request(NODE, "get_encoder_estimates"))
    assert wire.unpack(answer).values["position"] == pytest.approx(GEAR / (2 * math.pi))


@pytest.mark.parametrize("bandwidth", [10.0, 100.0])
def test_the_position_filter_follows_a_ramp_late_by_two_over_its_bandwidth(bench, bandwidth):
    """Why the stack uses direct input: at the factory's 10 1/s a leg is 0.2 s behind."""
    drive = drive_on(bench, input_filter=bandwidth)
    kind = {"control_mode": ControlMode.POSITION, "input_mode": InputMode.POSITION_FILTER}
    drive.receive(wire.pack(NODE, "set_controller_mode", **kind))
    close_loop(drive)
    speed = 0.5  # turn/s
    for tick in range(1, 1500):
        drive.receive(wire.pack(NODE, "set_input_pos", position=speed * tick * DT, velocity_ff=0.0, torque_ff=0.0))
        drive.tick(tick)
    late = (speed * 1499 * DT - bench.command[0] * GEAR / (2 * math.pi)) / speed
    assert late == pytest.approx(2 / bandwidth, abs=2 * DT)


def test_the_supply_is_reported_unasked_where_it_is_set_so(bench):
    drive = drive_on(bench, supply_report=0.1)
    drive.condition.voltage, drive.condition.current = 23.5, 1.25
    volts = [wire.unpack(f).values for t in range(1, 501) for f in drive.tick(t) if f.can_id & 0x1F == 0x17]
    assert len(volts) == 10 and volts[0]["voltage"] == 23.5 and volts[0]["current"] == 1.25
    assert not [f for t in range(501, 600) for f in drive_on(bench).tick(t) if f.can_id & 0x1F == 0x17]
