"""CyberGear drive on a bench, driven and read with procs.wire."""

from __future__ import annotations

import math

import numpy as np
import pytest

from procs.wire import cybergear as wire
from procs.wire.cybergear_tables import PARAMETERS, RANGE_4PI, State
from procs.wire.frame import CanFrame
from sim.emulators.cybergear import CyberGear, CyberGearQuirks

ID, HOST, DT = 11, 0xFD, 0.002
CODEC = wire.CyberGearCodec([ID])


def drive_on(bench, quirks=None):
    return CyberGear(bench, ID, DT, np.random.default_rng(1), quirks or CyberGearQuirks())


def ask(drive, frame):
    return [CODEC.unpack(reply) for reply in drive.receive(frame)]


def control(p=0.5, v=-1.0, kp=100.0, kd=3.0, t=2.0, codec=CODEC):
    return codec.control([p], [v], [kp], [kd], [t])[0]


def test_control_acts_after_enable_and_is_answered_by_feedback(bench):
    drive = drive_on(bench)
    (feedback,) = ask(drive, control())
    assert bench.command is None and feedback.state is State.RESET
    ask(drive, wire.enable(ID, HOST))
    bench.position, bench.velocity, bench.torque = 0.25, 1.5, -2.5
    (feedback,) = ask(drive, control())
    np.testing.assert_allclose(bench.command, (0.5, -1.0, 100.0, 3.0, 2.0), atol=8e-3)
    assert (feedback.motor, feedback.host, feedback.state, feedback.valid) == (ID, HOST, State.RUN, True)
    assert feedback.position == pytest.approx(0.25, abs=25 / 65535)
    assert feedback.velocity == pytest.approx(1.5, abs=60 / 65535)
    assert feedback.torque == pytest.approx(-2.5, abs=24 / 65535)
    assert feedback.temperature_c == pytest.approx(30.0)
    ask(drive, wire.stop(ID, HOST))
    assert bench.command is None


def test_it_answers_the_host_that_asked_and_nobody_else_hears_it(bench):
    drive = drive_on(bench)
    (feedback,) = ask(drive, wire.enable(ID, 0x05))
    assert feedback.host == 0x05
    assert drive.receive(wire.enable(ID + 1, HOST)) == []
    assert drive.receive(CanFrame(wire.enable(ID, HOST).can_id & 0x7FF, bytes(8))) == []
    assert all(drive.tick(tick) == [] for tick in range(2000))


def test_position_saturates_but_the_parameter_counts_all_turns(bench):
    drive = drive_on(bench)
    bench.position = 20.0
    (feedback,) = ask(drive, wire.enable(ID, HOST))
    assert feedback.saturated[0] and not feedback.valid
    (value,) = ask(drive, wire.read_parameter(ID, HOST, "mechPos"))
    assert value.value == pytest.approx(20.0)
    drive = drive_on(bench, CyberGearQuirks(saturates=False))
    (feedback,) = ask(drive, wire.enable(ID, HOST))
    assert feedback.position == pytest.approx(20.0 - 25.0, abs=1e-3)


def test_the_two_ranges_of_the_manual_differ_by_half_a_percent(bench):
    drive = drive_on(bench, CyberGearQuirks(four_pi=True))
    bench.position = 4.0
    frame = drive.receive(wire.enable(ID, HOST))[0]
    assert wire.CyberGearCodec([ID], RANGE_4PI).unpack(frame).position == pytest.approx(4.0, abs=1e-3)
    assert CODEC.unpack(frame).position == pytest.approx(4.0 * 12.5 / (4 * math.pi), abs=1e-3)


def test_zero_id_and_identity(bench):
    drive = drive_on(bench)
    bench.position = 1.0
    (feedback,) = ask(drive, wire.set_zero(ID, HOST))
    assert feedback.position == pytest.approx(0.0, abs=4e-4)
    (identity,) = ask(drive, wire.get_id(ID, HOST))
    assert identity.motor == ID and len(identity.uid) == 8
    ask(drive, wire.set_can_id(ID, HOST, 12))
    assert drive.receive(wire.enable(ID, HOST)) == [] and drive.receive(wire.enable(12, HOST)) != []


def test_it_keeps_the_last_command_and_ignores_a_time_out_written_over_can(bench):
    def silent(quirks):
        drive = drive_on(bench, quirks)
        ask(drive, wire.write_parameter(ID, HOST, "config.CAN_TIMEOUT", 100))
        ask(drive, wire.enable(ID, HOST))
        ask(drive, control())
        drive.tick(10_000)
        return bench.command

    assert silent(CyberGearQuirks()) is not None
    assert silent(CyberGearQuirks(ignores_timeout=False)) is None


def test_faults_stop_it_and_only_a_clearing_stop_lets_it_run_again(bench):
    drive = drive_on(bench)
    ask(drive, wire.enable(ID, HOST))
    ask(drive, control())
    drive.fail(0b000101)
    assert bench.command is None
    (feedback,) = ask(drive, wire.enable(ID, HOST))
    assert [f.name for f in feedback.faults] == ["under-voltage", "over-temperature"]
    assert feedback.state is State.RESET
    ask(drive, wire.stop(ID, HOST, clear_faults=True))
    (feedback,) = ask(drive, wire.enable(ID, HOST))
    assert feedback.state is State.RUN and not feedback.faults


@pytest.mark.parametrize("name", sorted(PARAMETERS))
def test_every_parameter_can_be_asked_for(bench, name):
    (value,) = ask(drive_on(bench), wire.read_parameter(ID, HOST, name))
    assert value.parameter.name == name and value.valid


def test_modes_change_only_while_stopped_and_each_moves_the_shaft(bench):
    drive = drive_on(bench)
    ask(drive, wire.write_parameter(ID, HOST, "run_mode", 1))
    ask(drive, wire.enable(ID, HOST))
    ask(drive, wire.write_parameter(ID, HOST, "loc_ref", 1.0))
    assert bench.command[:1] == (1.0,) and bench.command[2] == 30.0
    ask(drive, wire.write_parameter(ID, HOST, "run_mode", 2))
    assert drive.parameters["run_mode"] == 1
    ask(drive, wire.stop(ID, HOST))
    ask(drive, wire.write_parameter(ID, HOST, "run_mode", 2))
    ask(drive, wire.enable(ID, HOST))
    ask(drive, wire.write_parameter(ID, HOST, "spd_ref", 2.0))
    assert bench.command[1:3] == (2.0, 0.0)
