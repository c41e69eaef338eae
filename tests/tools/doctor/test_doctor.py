"""The command: exit codes, what is printed, JSON, a check that breaks."""

from __future__ import annotations

import json

import pytest

from tools.doctor import __main__ as doctor
from tools.doctor.checks import CHECKS, Check
from tools.doctor.listen import Heard, LoopResult
from tools.doctor.machine import Machine, fail, ok, warn

GOOD = Check("software", "good", lambda machine: ok("all is [well]"))
POOR = Check("software", "poor", lambda machine: warn("not so well", "mend it with: x " + "y" * 200))
BAD = Check("buses", "bad", lambda machine: fail("broken", "replace it"))


@pytest.fixture
def checks(monkeypatch):
    return lambda *table: monkeypatch.setattr(doctor, "CHECKS", table)


@pytest.mark.parametrize(("table", "code"), [((GOOD,), 0), ((GOOD, POOR), 0), ((GOOD, BAD, POOR), 1)])
def test_only_a_failure_fails(command_line, checks, capsys, table, code):
    checks(*table)
    assert command_line(doctor.main) == code
    out = capsys.readouterr().out
    assert "all is [well]" in out
    assert ("mend it with: x " + "y" * 200 in out) == (POOR in table)  # not folded: it is copied
    assert f"{sum(c is GOOD for c in table)} ok" in out


def test_json(command_line, checks, capsys):
    checks(GOOD, BAD)
    assert command_line(doctor.main, "--json") == 1
    said = json.loads(capsys.readouterr().out)
    assert said["passed"] is False
    assert said["checks"][1] == {
        "group": "buses",
        "name": "bad",
        "status": "fail",
        "text": "broken",
        "mend": "replace it",
    }


def test_a_check_that_breaks_is_a_finding_and_the_others_go_on(command_line, checks, capsys):
    checks(Check("software", "odd", lambda machine: 1 / 0), GOOD)
    assert command_line(doctor.main) == 1
    out = capsys.readouterr().out
    assert "could not be checked: ZeroDivisionError: division by zero" in out
    assert "all is [well]" in out


def test_an_unknown_robot_is_a_usage_error(command_line, capsys):
    assert command_line(doctor.main, "--robot", "no_such_robot") == 2
    assert "no_such_robot" in capsys.readouterr().err


def test_interrupted_it_shows_what_is_there(command_line, checks, capsys):
    def interrupted(_machine):
        raise KeyboardInterrupt

    checks(GOOD, Check("software", "slow", interrupted), BAD)
    assert command_line(doctor.main) == 130
    out = capsys.readouterr()
    assert "all is [well]" in out.out
    assert "broken" not in out.out


def test_robot_and_url_reach_the_checks(command_line, checks):
    seen = []
    checks(Check("software", "look", lambda machine: seen.append((machine.robot.name, machine.url)) or ok("")))
    assert command_line(doctor.main, "--robot", "scotty", "--lcm-url", "udpm://239.1.1.1:5000?ttl=0") == 0
    assert seen == [("scotty", "udpm://239.1.1.1:5000?ttl=0")]


def test_the_table_is_complete_and_every_check_survives_a_machine_of_nothing(machine):
    assert len({check.name for check in CHECKS}) == len(CHECKS)
    for check in CHECKS:
        found = check(machine())
        assert "could not be checked" not in found.text, check.name
        assert found.text
        assert found.mend or found.status == "ok", check.name


def test_every_check_looks_at_the_real_machine_without_breaking():
    made = Machine(listen=lambda url: Heard(), loop_back=lambda: LoopResult(1, 1, 0.1))
    for check in CHECKS:
        assert "could not be checked" not in check(made).text, check.name
