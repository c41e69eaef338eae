"""A short walk and what is needed to run and change its logs."""

from __future__ import annotations

import sys

import pytest

from config.load import load_robot
from config.scenario import Scenario
from procs.model.robot import Robot
from procs.runtime.logs import LogWriter, read_log
from tools.stack import rollout


@pytest.fixture(scope="session")
def robot():
    return Robot(load_robot("mini_cheetah"))


@pytest.fixture(scope="session")
def walk():
    """Stand up, trot, stop by estop, be released: what `used` must tell apart."""
    commands = [
        {"t": 0.0, "mode": "stand"},
        {"t": 1.5, "mode": "walk", "gait": "trot", "vx": 0.3},
        {"t": 2.5, "parameters": {"control.gaits.trot.period": 0.36, "control.swing.kp.0": 600}},
        {"t": 3.6, "estop": True},
        {"t": 4.2, "reset": True, "mode": "ready", "vx": 0.0},
    ]
    return Scenario(name="replayed", duration=5.0, commands=commands)


@pytest.fixture(scope="session")
def rollout_log(robot, walk, tmp_path_factory):
    """Log of a rollout of the walk."""
    log = tmp_path_factory.mktemp("rollout") / "rollout.lcmlog"
    rollout(walk, robot, seed=1, log=log)
    return log


@pytest.fixture
def copy(tmp_path):
    """A copy of a log; `change(event)` returns the message to write in its place, or None to leave it out."""

    def make(source, change):
        path = tmp_path / "copy.lcmlog"
        with LogWriter(path) as log:
            for event in read_log(source):
                message = change(event)
                if message is not None:
                    log.write(event.channel, message, event.stamp)
        return path

    return make


@pytest.fixture
def tool(monkeypatch, capsys):
    """Run a tool's main with arguments; exit code and what it printed."""

    def run(main, *args):
        monkeypatch.setattr(sys, "argv", ["tool", *map(str, args)])
        code = main()
        out = capsys.readouterr()
        return code, out.out + out.err

    return run
