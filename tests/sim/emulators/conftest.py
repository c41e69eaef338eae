"""Robots with a bus section, whatever the YAML has, and emulated hardware that is closed again."""

from __future__ import annotations

import math

import numpy as np
import pytest

from config.bus import Bus
from config.load import load_robot
from config.scenario import PlantOptions
from procs.model.robot import Robot
from sim.emulators.hardware import EmulatedCan, EmulatedSpine

RATIO = 14 / 9
LEGS = ("FR", "FL", "RR", "RL")
ABAD, HIP = (-1, -1, 1, 1), (-1, 1, -1, 1)  # mini_cheetah.md section 2


def spine_bus(variant="mit", drive="mini_cheetah"):
    """The Mini Cheetah's wiring: signs, offsets, the knee's belt."""
    wiring = {}
    for leg, name in enumerate(LEGS):
        place = {"line": leg // 2, "id": leg % 2, "drive": drive}
        wiring[f"{name}.abad"] = place | {"sign": ABAD[leg]}
        wiring[f"{name}.hip"] = place | {"sign": HIP[leg], "offset": -HIP[leg] * math.pi / 2}
        ratio = RATIO if variant == "mit" else 1.0
        wiring[f"{name}.knee"] = place | {"sign": HIP[leg], "offset": -HIP[leg] * 4.35, "ratio": ratio}
    boards = [{"device": "/dev/spidev2.0"}, {"device": "/dev/spidev2.1"}]
    return Bus(
        spine={"boards": boards, "variant": variant}, imu={"device": "/dev/ttyS0"}, wiring=wiring, source="test"
    )


def can_bus(protocol="mit", drive="mini_cheetah"):
    """A bus per leg, ids 1 to 3 (GIM6010: nodes 1 to 12)."""
    wiring = {}
    for leg, name in enumerate(LEGS):
        for j, joint in enumerate(("abad", "hip", "knee")):
            number = 1 + 3 * leg + j if protocol == "gim6010" else 1 + j
            sign = ABAD[leg] if joint == "abad" else HIP[leg]
            wiring[f"{name}.{joint}"] = {
                "line": leg, "id": number, "sign": sign, "drive": drive, "offset": 0.1 * leg,
                "ratio": RATIO if joint == "knee" else 1.0,
            }  # fmt: skip
    return Bus(
        can={"protocol": protocol, "buses": [{"channel": f"can{i}"} for i in range(4)]},
        imu={"device": "/dev/ttyS0"}, wiring=wiring, source="test",
    )  # fmt: skip


def with_bus(bus, robot=None, **imu):
    """The Mini Cheetah on a bus; `imu`: mount, noise."""
    description = load_robot("mini_cheetah") if robot is None else robot.description
    update = {"bus": bus}
    if imu:
        update["imu"] = description.imu.model_copy(update=imu)
    return Robot(description.model_copy(update=update))


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

    def drive(self, *command):
        self.command = command

    def limp(self):
        self.command = None


@pytest.fixture
def bench():
    return Bench()
