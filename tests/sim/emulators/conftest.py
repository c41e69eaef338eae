"""Robots with a bus section, whatever the YAML has, and emulated hardware that is closed again."""

from __future__ import annotations

import numpy as np
import pytest

from config.scenario import PlantOptions
from sim.emulators.hardware import EmulatedCan, EmulatedSpine
from tests.sim.emulators.wiring import can_bus, spine_bus, with_bus


@pytest.fixture(scope="session")
def on_bus():
    return with_bus


@pytest.fixture(scope="session")
def buses():
    return {"spine": spine_bus, "can": can_bus}


@pytest.fixture(scope="session")
def spine_robot():
    return with_bus(spine_bus())


@pytest.fixture
def hardware():
    """Emulated hardware with perfect sensors unless told otherwise, stopped after the test."""
    made = []

    def make(robot, kind=None, *, seed=1, options=None, **more):
        kind = kind or (EmulatedSpine if robot.description.bus.spine else EmulatedCan)
        out = kind(robot, options or PlantOptions(imu_noise=False, suspended=True), seed, **more)
        made.append(out)
        return out

    yield make
    for one in made:
        one.stop()


@pytest.fixture
def rng():
    return np.random.default_rng(7)


class Bench:
    """A shaft on a bench: records what a drive does with it."""

    def __init__(self):
        self.position = self.velocity = self.torque = 0.0
        self.command = None  # position, velocity, kp, kd, torque; None: limp
        self.slip = 0.0

    @property
    def output(self):
        """What a second encoder at the output sees."""
        return self.position + self.slip

    def drive(self, *command):
        self.command = command

    def limp(self):
        self.command = None


@pytest.fixture
def bench():
    return Bench()
