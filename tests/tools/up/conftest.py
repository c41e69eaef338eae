"""A supervisor on children that exist only as return codes, with a clock that the test moves."""

from __future__ import annotations

import pytest

from lcmtypes.generated import ModeState, ProcHealth
from tools.launch import Child
from tools.processes import LISTENERS, PIPELINE, PLANTS, UP
from tools.up.supervisor import Supervisor


class FakeProcess:
    """What the supervisor asks of a Popen."""

    def __init__(self):
        self.returncode, self.pid = None, 4711

    def poll(self):
        return self.returncode

    def kill(self):
        self.returncode = -9

    def wait(self):
        return self.returncode


class FakeLauncher:
    """Starts nothing."""

    def __init__(self, directory, plant):
        self.directory, self.plant, self.children = directory, plant, {}

    def start(self, name, *options):
        output = self.directory / f"{name}.out"
        output.touch()
        self.children[name] = Child(name, ["python", "-m", name, *options], output, FakeProcess())

    def restart(self, name):
        self.start(name, *self.children[name].command[3:])

    def over(self):
        return self.children[self.plant].process.poll() is not None


class FakeWatch:
    """What a Watch has heard."""

    def __init__(self):
        self.health, self.heard, self.mode = {}, {}, None


class Stack:
    """The simulated processes and what was said of them."""

    def __init__(self, directory, plant="sim", restart=True, options=()):
        self.now, self.said, self.latched = 0.0, [], []
        self.launcher, self.watch = FakeLauncher(directory, PLANTS[plant][-1].name), FakeWatch()
        self.supervisor = Supervisor(self.launcher, self.watch, self.said.append, self.latched.append, restart)
        for process in (LISTENERS["flight_recorder"], *PLANTS[plant], *PIPELINE):
            self.launcher.start(process.name, *(options if process.name == self.launcher.plant else ()))
            self.supervisor.track(process, self.now)

    def die(self, name, code, words=""):
        child = self.launcher.children[name]
        child.output.write_text(words)
        child.process.returncode = code

    def drive(self, mode="walk"):
        self.watch.mode = ModeState()
        self.watch.mode.mode = mode

    def run(self, seconds, *, silent=(), step=0.25):
        """Time passes; all living processes but the silent ones report."""
        end = self.now + seconds
        while self.now < end - 1e-9:
            self.now += step
            for name in (UP, *self.launcher.children):
                child = self.launcher.children.get(name)
                if name not in silent and (child is None or child.process.poll() is None):
                    health = ProcHealth()
                    health.name, health.state = name, "running"
                    self.watch.health[name], self.watch.heard[name] = health, self.now
            self.supervisor.look(self.now)

    def text(self):
        return "\n".join(self.said)


@pytest.fixture
def stack(tmp_path):
    """make(plant=..., restart=..., options=...) -> a stack of which all processes have reported."""

    def make(**kind):
        stack = Stack(tmp_path, **kind)
        stack.run(1.0)
        return stack

    return make
