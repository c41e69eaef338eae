"""What counts as something going wrong, each once."""

from __future__ import annotations

import pytest

from lcmtypes.channels import BUS_STATUS, ESTOP, MODE_STATE, PROC_HEALTH
from procs.controller.modes import DRIVEN
from tools.flight_recorder.ring import Block
from tools.flight_recorder.triggers import Triggers
from tools.up.supervisor import SILENT


@pytest.fixture
def look(block):
    """look(now, messages...) -> reason; one Triggers for the test."""
    triggers = Triggers()

    def look(now, *messages):
        return triggers.look(block(now, *messages))

    look.triggers = triggers
    return look


@pytest.mark.parametrize("mode", DRIVEN)
@pytest.mark.parametrize(
    ("forced", "reason", "said"),
    [
        ("damping", "fall: roll 70 deg, pitch 3 deg", "fall: roll 70 deg, pitch 3 deg"),
        ("damping", "no leg_state for 30 ms", "damping: no leg_state for 30 ms"),
        ("estop", "estop by keyboard: pressed", "estop by keyboard: pressed"),
    ],
)
def test_damping_out_of_a_driven_mode(look, msg, mode, forced, reason, said):
    assert look(0.0, msg(MODE_STATE, mode=mode)) == ""
    assert look(0.1, msg(MODE_STATE, mode=forced, reason=reason)) == said
    assert look(0.2, msg(MODE_STATE, mode=forced, reason=reason)) == "", "once"


@pytest.mark.parametrize("mode", ["idle", "ready", "estop"])
def test_damping_of_a_robot_that_was_not_driven_is_none(look, msg, mode):
    look(0.0, msg(MODE_STATE, mode=mode))
    assert look(0.1, msg(MODE_STATE, mode="damping", reason="estop released")) == ""


def test_the_newest_mode_of_a_block_counts(look, msg):
    look(0.0, msg(MODE_STATE, mode="stand"))
    assert look(0.1, msg(MODE_STATE, mode="stand"), msg(MODE_STATE, mode="damping", reason="x")) == "damping: x"


def test_each_estop_once_however_often_it_is_sent(look, msg):
    first = msg(ESTOP, source="gamepad", reason="pressed", seq=5, utime=5)
    assert look(0.0, first, first, first) == "estop by gamepad: pressed"
    assert look(0.1, first) == ""
    assert look(0.2, msg(ESTOP, source="gamepad", reason="again", seq=6, utime=6)) == "estop by gamepad: again"


def test_an_estop_by_up_is_called_by_the_death_that_it_is_for(look, msg):
    death = "packer was killed by SIGKILL (code -9) after 3.0 s"
    estop = msg(ESTOP, source="up:robot:7", reason=death, seq=1, utime=1)
    assert look(0.0, msg(PROC_HEALTH, name="up", state="running", last_error=death), estop) == death


def test_a_death_that_up_reports(look, msg):
    assert look(0.0, msg(PROC_HEALTH, name="up", state="running")) == ""
    death = "packer was killed by SIGKILL (code -9) after 3.0 s"
    assert look(1.0, msg(PROC_HEALTH, name="up", state="running", last_error=death)) == death
    assert look(2.0, msg(PROC_HEALTH, name="up", state="running", last_error=death)) == ""


def test_a_process_that_falls_silent_once_and_again_after_it_was_back(look, msg):
    health = msg(PROC_HEALTH, name="estimator", state="running")
    assert look(0.0, health) == ""
    assert look(SILENT - 0.1) == ""
    assert look(SILENT + 0.1) == "estimator is silent"
    assert look(SILENT + 5.0) == ""
    look(20.0, health)
    assert look(21.0 + SILENT) == "estimator is silent"


@pytest.mark.parametrize("state", ["starting", "stopping"])
def test_one_that_starts_or_has_ended_is_not_missed(look, msg, state):
    look(0.0, msg(PROC_HEALTH, name="sim", state=state))
    assert look(100.0) == ""


@pytest.mark.parametrize("state", ["damping", "latched", "lost"])
def test_a_plant_that_no_longer_obeys(look, msg, state):
    look(0.0, msg(PROC_HEALTH, name="bridge", state="running"))
    why = "damping at tick 7: no joint_command for 10 ticks"
    assert look(1.0, msg(PROC_HEALTH, name="bridge", state=state, last_error=why)) == f"bridge {state}: {why}"


def status(msg, state, *faults, reason=""):
    return msg(BUS_STATUS, state=state, reason=reason, fault=list(faults))


def test_a_fault_of_a_motor_that_lasts_once(look, msg):
    hot = status(msg, "running", "", "over-temperature")
    assert [look(0.1 * k, hot) for k in range(5)] == [""] * 5
    assert look(0.55, hot) == "motor fault: 1 over-temperature"
    assert look(1.0, hot) == ""
    look(1.1, status(msg, "running", "", ""))
    assert [look(1.2 + 0.6 * k, hot) for k in range(2)] == ["", "motor fault: 1 over-temperature"]


def test_a_fault_of_a_motor_that_passes_is_none(look, msg):
    for k in range(40):
        assert look(0.1 * k, status(msg, "running", "first reply after enable" if k % 4 else "", "")) == ""


def test_a_fault_of_the_bus_at_once(look, msg):
    lost = status(msg, "fault", "", "", reason="FR.hip lost")
    assert look(0.0, status(msg, "running", "", "")) == ""
    assert look(0.1, lost) == "bus fault: FR.hip lost"
    assert look(0.2, lost) == ""


def test_what_follows_the_begin_of_a_stop_is_no_fault(look, msg):
    look(0.0, msg(MODE_STATE, mode="walk"), msg(PROC_HEALTH, name="sim", state="running"))
    look(0.1, msg(PROC_HEALTH, name="up", state="stopping"))
    look(0.2, msg(PROC_HEALTH, name="sim", state="damping", last_error="x"))
    assert look(0.3, msg(MODE_STATE, mode="damping", reason="x")) == ""
    assert look(9.9) == ""
    assert look.triggers.stopping
    look(10.0, msg(PROC_HEALTH, name="up", state="running"))  # another one
    assert look(10.1, msg(ESTOP, source="a", seq=1, utime=1)) == "estop by a: "


def test_several_reasons_are_all_told_and_foreign_bytes_are_none(msg):
    triggers = Triggers()
    estop = msg(ESTOP, source="a", reason="b", seq=1, utime=1)[1].encode()
    bad = Block(0.0, 0, ["estop", "mode_state", "proc_health", "imu", "estop"], [b"", b"xyz", b"\0" * 99, b"", estop])
    assert triggers.look(bad) == "estop by a: b"
