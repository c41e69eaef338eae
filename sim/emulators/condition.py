"""What one drive feels of its motor and supply."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Condition:
    """sim.emulators.electrics writes it, the drive reads it."""

    temperature: float = 30.0  # deg C of the winding
    load: float = 0.0  # I^2 t, 1: all that the motor bears
    voltage: float = 24.0  # V
    current: float = 0.0  # A from the supply
