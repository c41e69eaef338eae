"""Ctrl-C at any moment, and SIGKILL of the launcher: nothing is left behind."""

from __future__ import annotations

import pytest

from lcmtypes.channels import JOINT_STATE
from procs.runtime.logs import read_log

PIPELINE = ["procs.controller", "procs.estimator", "procs.packer", "sim"]


@pytest.fixture
def walking(start, listen, scenario_file):
    """Start a tool and wait for a moment: the first child, all children, or the running robot."""

    def make(kind, moment, tmp_path):
        file = scenario_file()
        command = {
            "walk": ("tools.walk", "--scenario", file, "--out", tmp_path / "walk.lcmlog"),
            "scenario": ("tools.scenario", file, "--runner", "lcm"),
            "up": ("tools.up", "--scenario", file, "--record", tmp_path / "up.lcmlog"),
        }[kind]
        tool, ear = start(*command), listen()
        reached = {
            "first child": lambda: len(tool.names()) > 1,
            "all children": lambda: set(PIPELINE) <= set(tool.names()),
            "running": lambda: JOINT_STATE in ear.newest and ear.newest[JOINT_STATE].seq > 50,
        }[moment]
        ear.until(lambda: reached() or tool.process.poll() is not None, moment)
        assert tool.process.poll() is None, tool.text()
        return tool

    return make


@pytest.mark.parametrize(
    ("kind", "moment", "code"),
    [
        ("walk", "first child", 130),
        ("walk", "running", 130),
        ("scenario", "all children", 1),
        ("scenario", "running", 1),
        ("up", "first child", 0),
        ("up", "running", 0),
    ],
)
def test_ctrl_c_stops_every_process(walking, tmp_path, kind, moment, code):
    tool = walking(kind, moment, tmp_path)
    tool.interrupt()
    assert tool.wait() == code, tool.text()
    assert "Traceback" not in tool.text()
    tool.gone()


@pytest.mark.parametrize("moment", ["all children", "running"])
def test_nothing_outlives_a_launcher_that_was_killed(walking, tmp_path, moment):
    tool = walking("up", moment, tmp_path)
    tool.process.kill()
    tool.process.wait()
    tool.gone()
    if moment == "running":  # what led to it is kept
        (flight,) = (tmp_path / "logs").glob("flight_*_the_supervisor_died.lcmlog")
        assert max(e.message.seq for e in read_log(flight, {JOINT_STATE})) > 50


@pytest.fixture
def standing(start, listen):
    """`up` with a robot that an operator holds in stand."""

    def make():
        up, ear = start("tools.up"), listen()
        ear.until(lambda: ear.mode() == "ready", "ready")
        start("tools.command", "stand")
        ear.until(lambda: ear.settled("stand"), "stand")
        return up, ear

    return make


def test_ctrl_c_lets_a_standing_robot_lie_down_although_an_operator_holds_it_up(standing):
    up, ear = standing()
    up.interrupt()
    ear.until(lambda: up.process.poll() is not None, "the end")
    assert up.wait() == 0
    assert "the robot is in stand: it lies down first; Ctrl-C again stops at once" in up.text()
    assert "stopping all processes: the robot has lain down" in up.text()
    assert ear.modes[-1] == "shutdown"
    assert not any("damping" in mode for mode in ear.modes)


def test_a_second_ctrl_c_stops_at_once(standing):
    up, ear = standing()
    up.interrupt()
    ear.until(lambda: "lies down first" in up.text(), "the soft stop")
    up.interrupt()
    assert up.wait() == 0
    assert "stopping all processes: at once" in up.text()
