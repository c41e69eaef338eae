"""Voltage of a supply that sags, is pushed up by braking, or cannot take power back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.emulators.supply import Supply, SupplyQuirks

DT = 0.002


@given(st.floats(-2000, 5000), st.floats(12, 50), st.floats(0.001, 0.02))
def test_a_battery_gives_and_takes_its_power_through_its_resistance(power, source, resistance):
    supply = Supply(24.0, DT, SupplyQuirks(resistance=resistance))
    v = supply.step(power, source)
    most = source**2 / (4 * resistance)
    if power <= most:
        assert v == pytest.approx(source - resistance * power / v)
        assert v * supply.current == pytest.approx(power)
    else:
        assert v == pytest.approx(source / 2)  # all it can give
    assert (v < source) == (power > 1e-9) or v == pytest.approx(source)


def test_an_ideal_source_stays_where_it_is():
    supply = Supply(24.0, DT, SupplyQuirks(resistance=0.0))
    assert [supply.step(p) for p in (0.0, 3000.0, -3000.0)] == [24.0] * 3


@pytest.mark.parametrize("blocked", [True, False])
def test_braking_into_a_source_that_takes_nothing_charges_the_capacitors(blocked):
    quirks = SupplyQuirks(sinks=blocked, capacitance=0.005)  # blocked by a fault, or by its nature
    supply = Supply(24.0, DT, quirks)
    for _ in range(10):
        v = supply.step(-100.0, None, blocked)
    assert 0.5 * 0.005 * (v**2 - 24.0**2) == pytest.approx(100.0 * 10 * DT)  # all energy is in there
    assert supply.current == 0.0
    before = v
    v = supply.step(50.0, None, blocked)
    assert 0.5 * 0.005 * (before**2 - v**2) == pytest.approx(50.0 * DT)  # and feeds the drives first
    for _ in range(100):
        v = supply.step(50.0, None, blocked)
    assert v == pytest.approx(24.0 - 0.015 * 50.0 / v)
