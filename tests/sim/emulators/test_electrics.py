"""Drives that protect themselves: hot windings, empty and pumped-up supplies, overload; by themselves and injected."""

from __future__ import annotations

import numpy as np
import pytest

from config.load import load_robot
from config.scenario import Fault
from procs.model.robot import Robot
from procs.wire import cybergear, gim6010
from procs.wire.cybergear import CyberGearCodec
from procs.wire.frame import CanFrame
from procs.wire.gim6010_tables import ErrorType, Heartbeat
from procs.wire.mit_can import MitCodec, Special
from procs.wire.mit_motors import MOTORS
from sim.emulators.can_motor import MitMotor, MitQuirks
from sim.emulators.condition import Condition
from sim.emulators.cybergear import CyberGear
from sim.emulators.electrics import ElectricQuirks
from sim.emulators.gim6010 import Gim6010
from sim.emulators.heat import HeatShape
from sim.emulators.supply import SupplyQuirks
from tests.sim.emulators.wiring import can_bus, spine_bus, with_bus

DT, HOST = 0.002, 0xFD
RNG = np.random.default_rng(1)


class Mit:
    """A newer AK drive: what it is told and what it says."""

    def __init__(self, bench, condition):
        quirks = MitQuirks(wrong_first_reply=False, reply_length=8)
        self.drive = MitMotor(bench, 2, MOTORS["AK10-9_V2.0"], DT, RNG, quirks, condition=condition)

    def on(self):
        self.drive.receive(CanFrame(2, Special.ENTER.value))

    def clear(self):
        pass

    def said(self, _frames):
        reply = MitCodec((MOTORS["AK10-9_V2.0"],)).unpack([self.drive._reply().data], [2])
        return {0: [], 1: ["hot"], 3: ["high"], 4: ["low"]}[int(reply.error[0])]


class Cyber:
    """A CyberGear."""

    def __init__(self, bench, condition):
        self.drive = CyberGear(bench, 2, DT, RNG, condition=condition)

    def on(self):
        self.drive.receive(cybergear.enable(2, HOST))

    def clear(self):
        self.drive.receive(cybergear.stop(2, HOST, clear_faults=True))

    def said(self, frames):
        names = {"motor over-temperature (80 C)": "hot", "under-voltage": "low", "over-voltage": "high"}
        reports = [CyberGearCodec([2]).unpack(f) for f in frames]
        return [names[f.name] for r in reports for f in r.faults]


class Gim:
    """A GIM6010."""

    def __init__(self, bench, condition):
        self.drive = Gim6010(bench, 2, DT, RNG, condition=condition)

    def on(self):
        self.drive.receive(gim6010.pack(2, "set_axis_state", state=8))

    def clear(self):
        self.drive.receive(gim6010.pack(2, "clear_errors"))

    def said(self, _frames):
        (answer,) = self.drive.receive(gim6010.request_error(2, ErrorType.MOTOR))
        names = {"motor over-temperature": "hot", "system level": "volts"}
        found = gim6010.errors_in_words(ErrorType.MOTOR, gim6010.unpack(answer).values["error"])
        return [names[f.name] for f in found]


LIMITS = [  # drive, what is wrong, what it says
    (Mit, {"temperature": 101.0}, "hot"), (Mit, {"voltage": 15.5}, "low"), (Mit, {"voltage": 57.0}, "high"),
    (Cyber, {"temperature": 80.1}, "hot"), (Cyber, {"voltage": 15.9}, "low"), (Cyber, {"voltage": 28.1}, "high"),
    (Gim, {"temperature": 121.0}, "hot"), (Gim, {"voltage": 7.9}, "volts"), (Gim, {"voltage": 60.0}, "volts"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "wrong", "says"), LIMITS)
def test_beyond_its_limits_a_drive_lets_go_says_why_and_comes_back_only_when_asked(bench, kind, wrong, says):
    condition = Condition()
    one = kind(bench, condition)
    one.on()
    assert one.said(one.drive.tick(1)) == []
    bench.command = (0.0,) * 5
    good = {name: getattr(condition, name) for name in wrong}
    for name, value in wrong.items():
        setattr(condition, name, value)
    frames = one.drive.tick(2)
    assert one.said([f for f in frames if kind is Cyber]) == [says]
    assert bench.command is None
    one.clear()
    one.on()
    one.drive.tick(3)
    assert bench.command is None  # the cause is still there
    for name, value in good.items():
        setattr(condition, name, value)
    one.drive.tick(4)
    assert bench.command is None  # nobody has asked yet
    one.clear()
    one.on()
    one.drive.tick(5)
    bench.command = (0.0,) * 5
    assert one.said(one.drive.tick(6)) == [] and bench.command is not None


def test_a_cybergear_warns_at_75_degrees_once_and_goes_on(bench):
    condition = Condition()
    drive = CyberGear(bench, 2, DT, RNG, condition=condition)
    drive.receive(cybergear.enable(2, HOST))
    condition.temperature = 76.0
    (frame,) = drive.tick(1)
    report = CyberGearCodec([2]).unpack(frame)
    assert [w.name for w in report.warnings] == ["motor warm (75 C)"] and not report.faults
    assert drive.tick(2) == [] and drive.running
    feedback = CyberGearCodec([2]).unpack(drive.receive(cybergear.enable(2, HOST))[0])
    assert feedback.temperature_c == 76.0 and not feedback.faults


def test_a_cybergears_temperature_limit_is_a_parameter(bench):
    drive = CyberGear(bench, 2, DT, RNG, condition=Condition(temperature=71.0))
    assert drive.tick(1) == []
    drive.parameters["config.motorOverTemp"] = 700
    assert drive.fault_word == 0 and CyberGearCodec([2]).unpack(drive.tick(2)[0]).faults


def test_heartbeats_of_new_gim_firmware_mark_a_system_error(bench):
    drive = Gim6010(bench, 2, DT, RNG, condition=Condition(voltage=6.0))
    beat = next(f for t in range(1, 60) for f in drive.tick(t) if f.can_id & 0x1F == 1)
    assert beat.data[5] & 1 << Heartbeat.FROM_5_13.value.system[1]
    assert gim6010.axis_status(beat, Heartbeat.FROM_5_13).motor_error


# All drives of a robot, on the physics.
FAST = ElectricQuirks(shape=HeatShape(winding_time=0.4, housing_time=2.0))


def blocked(hw, ticks, torque):
    """Ticks of a robot in the air whose CyberGears push with a torque against what they hang on; frames by type."""
    codec = CyberGearCodec([1, 2, 3])
    out = []
    for seq in range(ticks):
        hw.tick(1, seq)
        if seq == 0:
            for line in range(4):
                for motor in (1, 2, 3):
                    hw.send(line, cybergear.enable(motor, HOST))
        for line in range(4):
            for frame in codec.control([0] * 3, [0] * 3, [0] * 3, [2.0] * 3, [torque] * 3):
                hw.send(line, frame)
            out += [codec.unpack(f) for f in hw.receive(line)]
        hw.done()
    return out


def test_load_that_lasts_too_long_ends_in_the_overload_bit_by_itself(hardware):
    cold = ElectricQuirks(ambient=(0.0, 0.0), shape=FAST.shape)
    hw = hardware(with_bus(can_bus("cybergear")), electric=cold)
    reports = [m for m in blocked(hw, 400, 12.0) if isinstance(m, cybergear.FaultReport) and m.faults]
    assert {f.name for r in reports for f in r.faults} == {"overload, bit 8"}
    assert hw.electrics.heat.load.max() > 0.9 and not all(d.running for d in hw.drives)


def test_in_a_hot_room_the_same_load_ends_in_over_temperature_first(hardware):
    hw = hardware(with_bus(can_bus("cybergear")), electric=ElectricQuirks(ambient=(45.0, 45.0), shape=FAST.shape))
    messages = blocked(hw, 400, 12.0)
    reports = [m for m in messages if isinstance(m, cybergear.FaultReport) and m.faults]
    assert {f.name for r in reports for f in r.faults} == {"motor over-temperature (80 C)"}
    assert any(f.name == "over-temperature" for m in messages if isinstance(m, cybergear.Feedback) for f in m.faults)


def test_without_heat_motors_stay_at_ambient_which_is_seeded(hardware):
    def temperatures(seed, heat):
        hw = hardware(with_bus(can_bus("cybergear")), seed=seed, electric=ElectricQuirks(heat=heat, shape=FAST.shape))
        blocked(hw, 100, 6.0)
        return hw.electrics.heat.ambient, [c.temperature for c in hw.electrics.conditions]

    ambient, cold = temperatures(1, False)
    assert 20.0 <= ambient <= 30.0 and cold == [ambient] * 12
    again, warm = temperatures(1, True)
    assert again == ambient and min(warm) > ambient
    assert temperatures(2, False)[0] != ambient


def test_losses_are_i_squared_r_and_the_supply_feels_them(hardware):
    hw = hardware(with_bus(can_bus("cybergear")), electric=ElectricQuirks(supply=SupplyQuirks(resistance=0.1)))
    blocked(hw, 20, 10.0)
    plant, actuators = hw.robot.plant, hw.robot.robot.actuators
    current = plant.active / np.array([a.gear * a.torque_constant for a in actuators] * 4)
    power = np.array([a.resistance for a in actuators] * 4) * current**2 + plant.active * plant.qd
    hw.electrics.tick(hw.bus_faults, 30)
    volts = hw.electrics.supply.voltage
    assert volts == pytest.approx(24.0 - 0.1 * power.sum() / volts) and volts < 23.97
    assert [c.voltage for c in hw.electrics.conditions] == [volts] * 12
    np.testing.assert_allclose(hw.robot.plant.drives.voltage, volts)
    answer = next(f for d in hw.drives[:1] for f in d.receive(cybergear.read_parameter(1, HOST, "VBUS")))
    assert CyberGearCodec([1]).unpack(answer).value == pytest.approx(volts, rel=1e-6)


def test_braking_into_a_supply_that_takes_nothing_ends_in_over_voltage(hardware):
    """Legs that fall against damping give their energy to the capacitors."""
    fault = Fault(t=0.0, kind="supply_blocked")
    hw = hardware(with_bus(can_bus("cybergear")), faults=[fault], electric=ElectricQuirks(
        supply=SupplyQuirks(capacitance=2e-4)))  # fmt: skip
    reports = []
    codec = CyberGearCodec([1, 2, 3])
    for seq in range(400):
        hw.tick(1, seq)
        for line in range(4):
            if seq == 0:
                for motor in (1, 2, 3):
                    hw.send(line, cybergear.enable(motor, HOST))
            speed = 8.0 if seq < 60 else 0.0
            for frame in codec.control([0] * 3, [speed] * 3, [0] * 3, [1.0] * 3, [0] * 3):
                hw.send(line, frame)
            reports += [codec.unpack(f) for f in hw.receive(line) if cybergear.split_id(f.can_id)[0] == 21]
        hw.done()
    assert {f.name for r in reports for f in r.faults} == {"over-voltage"}
    assert hw.electrics.supply.voltage > 28.0


def test_injected_heat_and_supply_come_and_go_with_their_spans(hardware):
    faults = [Fault(t=0.02, duration=0.02, kind="motor_heat", joint="FR.hip", value=70.0),
              Fault(t=0.06, duration=0.02, kind="supply_voltage", value=18.0)]  # fmt: skip
    hw = hardware(with_bus(can_bus()), faults=faults)
    seen = []
    for seq in range(50):
        hw.tick(1, seq)
        seen.append((hw.electrics.conditions[1].temperature, hw.electrics.supply.voltage))
        hw.done()
    temperature, voltage = np.array(seen).T
    ambient = hw.electrics.heat.ambient
    assert np.all(temperature[:10] == ambient) and np.all(temperature[10:20] == pytest.approx(70.0))
    assert np.all(np.diff(temperature[20:]) < 0)  # cools by itself
    assert np.all(voltage[30:40] == 18.0) and np.all(voltage[:30] == 24.0) and np.all(voltage[40:] == 24.0)


def test_a_drive_behind_scottys_belt_feels_the_torque_of_its_own_output(hardware):
    """The board hides the belt, so 18 N m at the knee are 12 at the motor."""
    hw = hardware(with_bus(spine_bus("scotty")))
    hw.tick(1, 0)
    assert hw.electrics.inner.tolist() == [1.0, 1.0, 1.5] * 4
    hw.robot.plant.active[:] = 18.0
    for _ in range(100):
        hw.electrics.tick(hw.bus_faults, 0)
    warm = hw.electrics.heat.winding - hw.electrics.heat.ambient
    assert warm[0] == pytest.approx(2.25 * warm[2])


def test_what_motors_bear_is_in_the_description_or_else_known_by_their_type(hardware):
    robot = Robot(load_robot("scotty"))
    hw = hardware(robot)
    hw.tick(1, 0)
    assert set(hw.electrics.heat.continuous) == {18.0}
    bus = can_bus("gim6010").model_copy(update={"thermal": None})
    hw = hardware(with_bus(bus))
    hw.tick(1, 0)
    assert set(hw.electrics.heat.continuous) == {5.0}
