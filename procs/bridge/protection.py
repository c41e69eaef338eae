"""Watches motors for heat, voltage and their own fault codes: readings in, words with advice out. Pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from config.bus import Bus
from procs.bridge.raw import RawState

Array = NDArray[np.float64]
WARN = 0.9  # of a limit: shown


class Protection:
    """Per motor: `ill` where it must not go on, `text` what is shown."""

    def __init__(self, bus: Bus, n: int, dt: float) -> None:
        self._bus, self._dt = bus, dt
        self.temperature, self.voltage = np.zeros(n), np.zeros(n)  # last known; 0: not reported
        self.heat = np.zeros(n)  # I^2 t model: 1 is the temperature that the continuous torque leads to
        self.text: list[str] = [""] * n
        self._none = np.zeros(n, bool)

    def step(self, raw: RawState, motor_torque: Array) -> NDArray[np.bool_]:
        """Motors at fault; `motor_torque` N m at the motors' outputs."""
        thermal = self._bus.thermal
        if thermal is not None:
            share = (motor_torque / thermal.continuous_torque) ** 2
            self.heat += (share - self.heat) * (self._dt / thermal.time_constant)
        self._keep(raw)
        if not (raw.faults or raw.notes or self._any_limit()):
            if any(self.text):
                self.text = [""] * len(self.text)
            return self._none
        said: list[list[str]] = [[] for _ in self.text]
        ill = self._limits(said)
        for j, faults in raw.faults.items():
            ill[j] = True
            said[j] += [f"{fault.name}: {fault.advice}" for fault in faults]
        for j, note in raw.notes.items():
            said[j].append(note)
        self.text = ["; ".join(words) for words in said]
        return ill

    def _keep(self, raw: RawState) -> None:
        for mine, theirs in ((self.temperature, raw.temperature), (self.voltage, raw.voltage)):
            if theirs is not None:
                known = np.isfinite(theirs)
                mine[known] = theirs[known]

    def _any_limit(self) -> bool:
        low, high = self._bus.voltage_range
        known = self.voltage > 0
        return bool(
            (self.temperature > WARN * self._bus.temperature_max).any()
            or (self.heat > WARN).any()
            or ((self.voltage < low) & known).any()
            or (self.voltage > high).any()
        )

    def _limits(self, said: list[list[str]]) -> NDArray[np.bool_]:
        bus = self._bus
        low, high = bus.voltage_range
        ill = np.zeros(len(said), bool)
        for j, words in enumerate(said):
            hot, volts, heat = self.temperature[j], self.voltage[j], self.heat[j]
            if hot > WARN * bus.temperature_max:
                ill[j] |= hot > bus.temperature_max
                words.append(f"{hot:.0f} C, limit {bus.temperature_max:.0f}: let the motor cool down, lower the load")
            if heat > WARN:
                ill[j] |= heat >= 1.0
                words.append(f"overload by I^2 t, {100 * heat:.0f} % of what it bears: lower the load")
            if volts > high:
                ill[j] = True
                words.append(f"over-voltage, {volts:.1f} V above {high:g}: braking pumps the supply up, fit a clamp")
            elif 0 < volts < low:
                ill[j] = True
                words.append(f"under-voltage, {volts:.1f} V below {low:g}: charge the battery, check its connectors")
        return ill
