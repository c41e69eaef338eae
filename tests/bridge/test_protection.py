"""Heat, supply and overload while running: warned of, damped, switched off, from the bytes that drives send."""

from __future__ import annotations

import math

import numpy as np
import pytest

from config.bus import Thermal
from config.scenario import Fault
from procs.runtime.plant_loop import PlantLoop
from sim.emulators.can_motor import MitQuirks
from sim.emulators.gim6010 import GimQuirks
from tests.contract.twins import hold, plant

AT = 0.8  # s of the fault, in ticks of the run
JOINT = 4  # FL.hip
QUIRKS = {
    "can": {"mit": MitQuirks(reply_length=8)},  # newer AK firmware: temperature and error
    "gim6010": {"gim6010": GimQuirks(supply_report=0.02)},  # a setting of the drive
}


class Run:
    """The bridge on emulated drives, holding a pose; what the operator sees and what the motors get."""

    def __init__(self, kind, *faults):
        self.plant, self.robot, self.hardware = plant(kind, faults=faults, **QUIRKS.get(kind, {}))
        self.loop, self.command = PlantLoop(self.plant, self.robot), None
        self.loop.start(1)
        self.command = hold(self.robot, self.robot.pose("down"))
        self.tick = 0

    def until(self, time):
        """Go on to this time, s; the last sample."""
        while self.tick * self.robot.dt < time:
            joints = self.loop.sample()[-1][1]
            self.command.run, self.command.seq = self.loop.run, self.loop.seq
            self.loop.accept(self.command)
            self.loop.act()
            self.tick += 1
        return joints

    @property
    def stiffness(self):
        """Of every drive, as it arrived."""
        return self.hardware.robot.wanted[2]

    @property
    def damping(self):
        return self.hardware.robot.wanted[3]


@pytest.fixture
def run():
    made = []

    def make(kind, *faults):
        made.append(Run(kind, *faults))
        return made[-1]

    yield make
    for one in made:
        one.plant.stop()


def is_damped_and_then_off(one, begin, words, joints):
    """From a fault at `begin` s: damping on the wire, the reason by joint, everything off half a second later."""
    robot = one.robot
    damped = begin + robot.description.safety.reject_time + 3 * robot.dt
    assert not one.loop.latched
    one.until(damped)
    status = one.plant.status()
    assert one.loop.latched and status.state == "fault"
    others = [j for j in range(robot.num_joints) if j not in joints]
    assert all(words in status.fault[j] for j in joints) and not any(status.fault[j] for j in others)
    assert words in status.reason and all(robot.joint_names[j] in status.reason for j in joints)
    assert not one.stiffness[others].any() and one.damping[others].all()
    one.until(damped + robot.description.safety.after_time + 0.02)
    assert one.plant.starter.state == "disabled" and not one.hardware.robot.on.any()
    assert words in one.plant.status().reason  # still said


def heated(celsius):
    return Fault(t=AT, kind="motor_heat", joint="FL.hip", value=celsius)


@pytest.mark.parametrize("kind", ["can", "cybergear"])
def test_a_warm_motor_is_shown_and_goes_on(run, kind):
    one = run(kind, heated(78.0))
    one.until(AT - 0.1)
    assert not any(one.plant.status().fault) and 15 < one.plant.status().temperature[JOINT] < 40
    assert not one.until(AT + 0.3).fault.any() and not one.loop.latched
    status = one.plant.status()
    assert "78 C, limit 85: let the motor cool down" in status.fault[JOINT]
    assert [bool(text) for text in status.fault] == [j == JOINT for j in range(12)]
    assert status.temperature[JOINT] == pytest.approx(78.0, abs=1.0) and one.stiffness[JOINT] > 0


def test_an_ak_drive_that_is_too_hot_is_damped_and_then_off(run):
    one = run("can", heated(90.0))  # the drive's own limit is 100
    one.until(AT)
    is_damped_and_then_off(one, AT, "90 C, limit 85", [JOINT])


def test_a_cybergear_that_is_too_hot_says_so_itself(run):
    one = run("cybergear", heated(90.0))
    one.until(AT)
    is_damped_and_then_off(one, AT, "over-temperature", [JOINT])


def supply(volts):
    return Fault(t=AT, kind="supply_voltage", value=volts)


@pytest.mark.parametrize(
    ("volts", "words"), [(31.0, "over-voltage, 31.0 V above 30"), (17.0, "under-voltage, 17.0 V below 18")]
)
def test_a_supply_beyond_its_range_is_damped_and_then_off(run, volts, words):
    one = run("gim6010", supply(volts))
    one.until(AT)
    assert one.plant.status().voltage.min() > 20
    told = next(k for k in range(200) if one.until(AT + k * one.robot.dt + 1e-9).fault.any())  # sent now and then
    is_damped_and_then_off(one, AT + told * one.robot.dt, words, range(12))


def test_a_drive_that_reports_no_voltage_says_over_voltage_by_its_own_code(run):
    one = run("can", supply(60.0))
    one.until(AT)
    is_damped_and_then_off(one, AT, "over-voltage", range(12))


def test_overload_is_counted_from_reported_torques(running, can_robot, changed):
    """First order in the torque's square: 1 - exp(-t / T) of (torque / continuous torque)^2."""
    limit, time = Thermal(continuous_torque=4.0, time_constant=0.5, source="made up"), 0.5
    bench = running(changed(can_robot("cybergear", "CyberGear"), thermal=limit))
    state, torque = bench.side._state, 6.0
    bench.side._state = lambda joint: (*state(joint)[:2], torque if joint == JOINT else 0.0)
    share = (torque / limit.continuous_torque) ** 2
    warned, ill = (-time * math.log(1 - level / share) / bench.robot.dt for level in (0.9, 1.0))
    texts, faults = [], []
    for _ in range(round(ill) + 5):
        joints = bench.run(1)
        texts.append(bench.plant.status().fault[JOINT])
        faults.append(bool(joints.fault[JOINT]))
        assert not np.delete(joints.fault, JOINT).any()
    assert next(k for k, text in enumerate(texts) if "I^2 t" in text) == pytest.approx(warned, abs=3)
    assert faults.index(True) == pytest.approx(ill, abs=3)
    assert not bench.loop.latched
    bench.run(round(bench.robot.description.safety.reject_time / bench.robot.dt))
    assert bench.loop.latched and "FL.hip: overload by I^2 t" in bench.plant.status().reason
    bench.run(round(bench.robot.description.safety.after_time / bench.robot.dt) + 3)
    assert bench.plant.starter.state == "disabled" and not bench.shafts.on.any()
