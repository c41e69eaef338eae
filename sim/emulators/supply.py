"""The robot's supply: power of all motors in, voltage at the drives out. Battery, or a bench supply that takes no
power back.

A battery sags under load and is pushed up by braking, V = V0 - r I. A source that cannot take power back leaves it to
the drives' capacitors, C V dV = -P dt, and the voltage climbs until something gives way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class SupplyQuirks:
    """Ours: a pack of six lithium cells with 2.5 mohm each, twelve drives with 470 uF each."""

    resistance: float = 0.015  # ohm, 0: an ideal source
    capacitance: float = 0.0056  # F
    sinks: bool = True  # takes power back


class Supply:
    """One supply for all drives."""

    def __init__(self, nominal: float, dt: float, quirks: SupplyQuirks = SupplyQuirks()) -> None:
        self.nominal, self.dt, self.quirks = nominal, dt, quirks
        self.voltage = nominal
        self.current = 0.0  # A out of the supply

    def step(self, power: float, source: float | None = None, blocked: bool = False) -> float:
        """V at the drives after a tick with `power` W into them; `source`: V without load, if not the nominal one."""
        v0, r = self.nominal if source is None else source, self.quirks.resistance
        if power < 0 and (blocked or not self.quirks.sinks):
            squared = max(self.voltage, v0) ** 2 - 2 * power * self.dt / self.quirks.capacitance
            self.voltage, self.current = math.sqrt(squared), 0.0
            return self.voltage
        charged = self.voltage**2 - 2 * power * self.dt / self.quirks.capacitance
        if (blocked or not self.quirks.sinks) and charged > v0**2:  # the capacitors feed the drives first
            self.voltage, self.current = math.sqrt(charged), 0.0
            return self.voltage
        # V^2 - V0 V + r P = 0; past the most that the source can give, half of its voltage is left.
        self.voltage = 0.5 * (v0 + math.sqrt(max(0.0, v0 * v0 - 4 * r * power)))
        self.current = power / self.voltage if self.voltage > 0 else 0.0
        return self.voltage
