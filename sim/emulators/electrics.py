"""Heat and supply of all drives of an emulated robot, tick by tick, from the description's motor data.

Rotor current I = torque / (gear Kt); loss R I^2; power into a drive = loss + torque times speed (negative when it
brakes). The voltage acts back on what the motors can do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sim.emulators.bus_faults import BusFaults
from sim.emulators.condition import Condition
from sim.emulators.heat import HeatShape, MotorHeat
from sim.emulators.robot import EmulatedRobot
from sim.emulators.supply import Supply, SupplyQuirks

Array = NDArray[np.float64]
# N m at the output that a motor bears for ever, where the description says nothing: CyberGear's manual, Scotty's
# paper, LimitX's page, Katz et al. 2019.
CONTINUOUS = {"CyberGear": 4.0, "AK10-9_V2.0": 18.0, "GIM6010-8": 5.0, "mini_cheetah": 6.9}


SHAPE, SUPPLY = HeatShape(), SupplyQuirks()


@dataclass(frozen=True)
class ElectricQuirks:
    """Everything can be switched off: `heat` False leaves motors at ambient, a resistance of 0 the supply as it is."""

    heat: bool = True
    ambient: tuple[float, float] = (20.0, 30.0)  # deg C, drawn for each run
    shape: HeatShape = SHAPE
    supply: SupplyQuirks = SUPPLY


class Electrics:
    """All drives; `inner`: turns of a motor's output per turn of what the wiring calls it (belts in boards)."""

    def __init__(
        self, robot: EmulatedRobot, inner: Array, rng: np.random.Generator, quirks: ElectricQuirks = ElectricQuirks()
    ) -> None:
        self.robot, self.inner, self.quirks = robot, inner, quirks
        dt, model = robot.robot.dt, robot.plant.drives
        self._nominal = np.array(robot.robot.per_joint([a.voltage for a in robot.robot.actuators]))
        self.heat = MotorHeat(self._continuous(), float(rng.uniform(*quirks.ambient)), dt, quirks.shape)
        self.supply = Supply(float(self._nominal.max()), dt, quirks.supply)
        self._ampere = 1.0 / (model.gear * model.torque_constant)  # A per N m at the joint
        self._resistance = model.resistance
        self.conditions = [Condition(self.heat.ambient, 0.0, self.supply.nominal) for _ in self.inner]
        self._feed(self.supply.nominal)

    def _continuous(self) -> Array:
        bus, n = self.robot.bus, len(self.inner)
        if not self.quirks.heat:
            return np.full(n, np.inf)
        if bus.thermal is not None:
            return np.full(n, bus.thermal.continuous_torque)
        return np.array([CONTINUOUS.get(w.drive, np.inf) for w in self.robot.wires])

    def tick(self, faults: BusFaults, seq: int) -> None:
        """One tick, after the robot has been sensed."""
        plant = self.robot.plant
        loss = self._resistance * (plant.active * self._ampere) ** 2
        power = loss + plant.active * plant.qd
        self.heat.step(plant.active / (self.robot.turn * self.inner))  # the true torque, not what sensors say
        for fault, joint in faults.of("motor_heat", seq):
            self.heat.heat_up(joint, fault.value or 0.0)
        source = next((fault.value for fault, _ in faults.of("supply_voltage", seq)), None)
        voltage = self.supply.step(float(power.sum()), source, bool(faults.of("supply_blocked", seq)))
        self._feed(voltage)
        rows = zip(self.conditions, self.heat.winding.tolist(), self.heat.load.tolist(), power.tolist(), strict=True)
        for condition, temperature, load, watts in rows:
            condition.temperature, condition.load, condition.voltage = temperature, load, voltage
            condition.current = watts / voltage

    def _feed(self, voltage: float) -> None:
        """What the motor model has to work with; constants there are read-only arrays, so a new one."""
        volts = self._nominal * (voltage / self.supply.nominal)
        volts.flags.writeable = False
        self.robot.plant.drives = self.robot.plant.drives._replace(voltage=volts)
