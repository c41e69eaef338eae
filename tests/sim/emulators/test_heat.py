"""Winding and housing: the manual's overload times, closed forms, injection."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.emulators.heat import HeatShape, MotorHeat

MANUAL = {12: 28, 11: 45, 10: 60, 9: 90, 8: 160, 7: 320, 6: 700, 5: 1800, 4.5: 2500}  # N m: s, CyberGear's manual


def until_full(torque, dt=0.25, most=4000.0):
    """s of a torque until a CyberGear bears no more."""
    heat = MotorHeat(np.array([4.0]), 25.0, dt)
    for k in range(round(most / dt)):
        if heat.load[0] >= 1.0:
            return k * dt
        heat.step(np.array([torque]))
    return np.inf


@pytest.mark.parametrize("torque", MANUAL)
def test_overload_times_are_the_manuals(torque):
    assert until_full(torque) == pytest.approx(MANUAL[torque], rel=0.2)


def test_the_lasting_torque_lasts_for_ever_and_leads_to_the_limit_at_25_degrees():
    heat = MotorHeat(np.array([4.0, np.inf]), 25.0, 1.0)
    for _ in range(30_000):
        heat.step(np.array([4.0, 400.0]))
    assert heat.load[0] == pytest.approx(1.0, abs=1e-5) and heat.winding[0] == pytest.approx(80.0, abs=1e-3)
    assert heat.winding[0] - heat.housing[0] == pytest.approx(55.0 * HeatShape().winding, abs=1e-3)
    assert heat.winding[1] == heat.housing[1] == 25.0  # a motor of which nothing is known


@given(st.floats(-12, 12), st.floats(1, 400), st.sampled_from([0.002, 0.5]))
def test_warming_up_is_two_exponentials_whatever_the_step(torque, seconds, dt):
    shape, heat = HeatShape(), MotorHeat(np.array([4.0]), 20.0, dt)
    steps = min(300, round(seconds / dt))
    for _ in range(steps):
        heat.step(np.array([torque]))
    a, b = (1 - np.exp(-steps * dt / tau) for tau in (shape.winding_time, shape.housing_time))
    x = (torque / 4.0) ** 2
    assert heat.load[0] == pytest.approx(x * (shape.winding * a + (1 - shape.winding) * b), abs=1e-9)
    assert heat.winding[0] == pytest.approx(20.0 + 55.0 * heat.load[0])


def test_a_winding_that_was_heated_up_cools_by_itself_and_is_no_overload():
    heat = MotorHeat(np.array([4.0, 4.0]), 25.0, 0.1)
    heat.heat_up(1, 125.0)
    heat.heat_up(1, 60.0)  # it is hotter already
    assert heat.winding.tolist() == [25.0, 125.0] and not heat.load.any()
    for _ in range(470):
        heat.step(np.zeros(2))
    assert heat.winding[1] == pytest.approx(25.0 + 100.0 * np.exp(-1.0), rel=1e-6)
