"""Scenarios on emulated hardware in one process: chosen where a bus has faults, and the same every time."""

from __future__ import annotations

import json

import pytest

from config.load import load_robot, load_scenario, scenario_names
from lcmtypes.channels import BUS_STATUS, GROUND_TRUTH, JOINT_STATE
from procs.model.robot import Robot
from tools import scenario
from tools.stack import plant_of, rollout

FAULTY = """
name: faulty
duration: 0.8
commands:
  - {t: 0.0, mode: stand}
faults:
  - {t: 0.6, duration: 0.004, kind: bus_silent, line: 1}
expect: {fell: false, faults_rejected: {min: 1}}
"""


@pytest.fixture
def faulty(tmp_path):
    path = tmp_path / "faulty.yaml"
    path.write_text(FAULTY)
    return path


def test_a_scenario_with_bus_faults_runs_on_emulated_hardware_by_itself(faulty, tmp_path, command_line, capsys):
    out = tmp_path / "out.json"
    assert command_line(scenario.main, faulty, "--json", out) == 0
    values = json.loads(out.read_text())
    assert values["runner"] == "rollout, emulated" and values["faults_rejected"] >= 1
    assert "rollout, emulated" in capsys.readouterr().out


def test_the_simulator_is_refused_what_only_a_bus_can_do(faulty, command_line, capsys):
    assert command_line(scenario.main, faulty, "--plant", "sim") == 2
    assert "bus_silent" in (said := capsys.readouterr().err) and "--plant emulated" in said


def test_faults_of_a_bus_that_the_robot_has_not_are_bad_usage(faulty, command_line, capsys):
    assert command_line(scenario.main, faulty, "--set", "faults=[{t: 0.1, kind: bus_off}]") == 2
    assert "has no CAN bus" in capsys.readouterr().err
    assert command_line(scenario.main, faulty, "--robot", "tocatl") == 2
    assert "no bus section" in capsys.readouterr().err


def test_equal_seeds_give_equal_messages(faulty):
    def run(seed):
        recording = rollout(load_scenario(faulty), Robot(load_robot("mini_cheetah")), seed=seed)
        assert recording.of(BUS_STATUS)
        return [m.block.tobytes() for channel in (JOINT_STATE, GROUND_TRUTH) for m in recording.of(channel)]

    first = run(1)
    assert first == run(1) != run(2)


def test_scenarios_of_bus_faults_are_among_the_files_and_know_what_they_need():
    found = {name for name in scenario_names() if plant_of(load_scenario(name)) == "emulated"}
    assert found >= {"bus_faults_spine", "bus_faults_can", "bus_lost"}
    assert plant_of(load_scenario("stand")) == plant_of(load_scenario("sensor_faults")) == "sim"
