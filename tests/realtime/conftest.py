"""Running stacks as separate processes: started on a group of their own, found by it, never left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import yaml

from config.load import load_robot
from config.scenario import Scenario
from lcmtypes.channels import BODY_STATE, JOINT_STATE, MODE_STATE, MOTION_COMMAND, PROC_HEALTH, ROBOT_CONFIG
from procs.model.robot import Robot
from procs.runtime.bus import Bus
from tools.launch import private_url
from tools.stack import rollout

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0  # s; generous: the machine may be busy


@pytest.fixture(scope="session")
def robot():
    return Robot(load_robot("mini_cheetah"))


@pytest.fixture(scope="session", autouse=True)
def compiled(robot):
    """The kernels of a walk are compiled before anything runs against the clock."""
    commands = [{"t": 0.0, "mode": "stand"}, {"t": 1.5, "mode": "walk", "gait": "trot"}]
    rollout(Scenario(name="warm", duration=2.0, commands=commands), robot, seed=1)


@pytest.fixture
def url():
    """A multicast group of the test's own; whatever still runs on it is killed in the end."""
    url = private_url()
    yield url
    for process in processes(url):
        process.kill()


def processes(url):
    """Living processes with this URL on their command line."""
    found = []
    for process in psutil.process_iter():
        try:
            if url in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def until(condition, what, seconds=PATIENCE):
    """Poll; an error with `what` after a generous time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"not within {seconds:g} s: {what}")


@pytest.fixture
def poll():
    """poll(condition, what)"""
    return until


class Tool:
    """A tool started as a user would, on its own URL, its output in a file."""

    def __init__(self, url, output, *command):
        self.url, self.output = url, output
        with output.open("wb") as sink:
            self.process = subprocess.Popen(
                [sys.executable, "-m", *command, "--lcm-url", url],
                cwd=ROOT, stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT, start_new_session=True,
                env={**os.environ, "COLUMNS": "200"},
            )  # fmt: skip

    def text(self):
        return self.output.read_text(errors="replace")

    def names(self):
        """Module names of the running processes, the tool's own too."""
        lines = []
        for process in processes(self.url):
            try:
                line = process.cmdline()
            except psutil.Error:
                continue
            lines.append(line[line.index("-m") + 1])
        return sorted(lines)

    def child(self, module):
        """One of its children."""
        return next(p for p in psutil.Process(self.process.pid).children() if module in p.cmdline())

    def interrupt(self):
        """Ctrl-C."""
        self.process.send_signal(signal.SIGINT)

    def wait(self):
        return self.process.wait(PATIENCE)

    def gone(self):
        """Nothing of it is left."""
        until(lambda: not processes(self.url), f"still running: {self.names()}\n{self.text()}", 30)


@pytest.fixture
def start(url, tmp_path):
    """Start tools; they are killed in the end."""
    tools = []

    def make(*command):
        if command[0] == "tools.up" and "--logs" not in command:
            command = (*command, "--logs", tmp_path / "logs")
        tools.append(Tool(url, tmp_path / f"tool{len(tools)}.out", *map(str, command)))
        return tools[-1]

    yield make
    for tool in tools:
        tool.process.kill()
        tool.process.wait()


class Listener:
    """The newest message of each channel on a URL, and all modes seen."""

    def __init__(self, url):
        self.bus = Bus(url)
        self.newest, self.health, self.modes, self.runs, self.configs = {}, {}, [], [], []
        channels = (JOINT_STATE, MODE_STATE, BODY_STATE, MOTION_COMMAND, PROC_HEALTH, ROBOT_CONFIG)
        self.bus.subscribe(channels, self._on_message)

    def _on_message(self, channel, message):
        self.newest[channel] = message
        if channel is PROC_HEALTH:
            self.health[message.name] = message
        elif channel is MODE_STATE and self.modes[-1:] != [message.mode]:
            self.modes.append(message.mode)
        elif channel is JOINT_STATE and self.runs[-1:] != [message.run]:
            self.runs.append(message.run)
        elif channel is ROBOT_CONFIG:
            self.configs.append(message)

    def until(self, condition, what, seconds=PATIENCE):
        def look():
            self.bus.drain()
            return condition()

        return until(
            look, f"{what}; modes {self.modes}, health { {n: h.last_error for n, h in self.health.items()} }", seconds
        )

    def mode(self):
        return self.modes[-1] if self.modes else ""

    def settled(self, mode):
        message = self.newest.get(MODE_STATE)
        return message is not None and message.mode == mode and not message.busy

    def send(self, channel, **fields):
        message = channel.type()
        message.utime = message.seq = time.monotonic_ns() // 1000
        for name, value in fields.items():
            setattr(message, name, value)
        self.bus.publish(channel, message)


@pytest.fixture
def listen(url):
    return lambda: Listener(url)


@pytest.fixture
def scenario_file(tmp_path):
    """A scenario as a file; by default one that stands up and trots."""

    def make(duration=30.0, faults=(), commands=None):
        commands = commands or [
            {"t": 0.0, "mode": "stand"},
            {"t": 1.5, "mode": "walk", "gait": "trot", "vx": 0.2},
        ]
        path = tmp_path / "scenario.yaml"
        values = {"name": "test", "duration": duration, "commands": commands, "faults": list(faults)}
        path.write_text(yaml.safe_dump(values))
        return path

    return make
