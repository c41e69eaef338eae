"""Footfall patterns of made-up contacts."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from config.load import load_robot
from config.schema import Gait
from tools.report.gait import footfalls, hildebrand

DT = 0.002


def walk(gait: Gait, seconds: float = 4.0, chatter: bool = False):
    """A context of a robot that steps exactly as its gait says."""
    t = np.arange(0, seconds, DT)
    phase = (t[:, None] / gait.period - np.array(gait.offsets)) % 1.0
    felt = phase < gait.duty
    if chatter:
        felt[100::97] ^= True  # single ticks
    walking = np.ones(len(t), bool)
    signals = SimpleNamespace(walking=walking, busy=~walking, gait=np.full(len(t), "g", dtype=object))
    return SimpleNamespace(t=t, dt=DT, signals=signals, feet=SimpleNamespace(felt=felt, planned=None))


@pytest.mark.parametrize("chatter", [False, True])
@pytest.mark.parametrize("name", ["trot", "walk", "pace", "bound", "pronk"])
def test_period_duty_and_lags_are_those_of_the_gait(name, chatter):
    gait = load_robot("mini_cheetah").control.gaits[name]
    (found,) = footfalls(walk(gait, chatter=chatter), np.inf)
    assert found.period == pytest.approx(gait.period, abs=DT)
    assert found.duty == pytest.approx([gait.duty] * 4, abs=2 * DT / gait.period)
    for lag, offset in zip(found.lag, gait.offsets, strict=True):
        away = (lag - (offset - gait.offsets[0]) + 0.5) % 1.0 - 0.5
        assert abs(away) < 3 * DT / gait.period
    assert sum(found.support) == pytest.approx(1.0)
    if not chatter:
        assert sum(n * x for n, x in enumerate(found.support)) == pytest.approx(4 * gait.duty, abs=0.1)


def test_what_comes_after_the_end_does_not_count():
    gait = load_robot("mini_cheetah").control.gaits["trot"]
    (found,) = footfalls(walk(gait), 2.0)
    assert found.end < 2.0 and found.strides == pytest.approx(5, abs=1)
    assert footfalls(walk(gait), 0.5) == []


def test_the_diagram_has_a_bar_for_each_leg():
    gait = load_robot("mini_cheetah").control.gaits["trot"]
    (found,) = footfalls(walk(gait), np.inf)
    drawn = hildebrand(found, gait, ("FR", "FL", "RR", "<RL>"))
    assert drawn.count('class="felt"') >= 4 and drawn.count('class="plan"') >= 4
    assert "&lt;RL&gt;" in drawn
