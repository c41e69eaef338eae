"""The smallest step of a stream, as single precision brings it."""

import numpy as np
import pytest

from procs.wire.mit_motors import MOTORS
from tools.bring_up.quantum import smallest_step
from tools.bring_up.wiring import fitting_drives


@pytest.mark.parametrize("quantum", MOTORS["AK10-9_V2.0"].quanta)
@pytest.mark.parametrize("centre", [0.0, 4.35])
def test_the_grid_of_a_stream_is_found(quantum, centre):
    rng = np.random.default_rng(3)
    raw = np.cumsum(rng.integers(-3, 4, 400)) + round(centre / quantum)
    values = np.float32(raw * quantum).astype(float)
    assert smallest_step(values) == pytest.approx(quantum, rel=2e-3)


def test_a_stream_that_stands_still_says_nothing():
    assert smallest_step(np.full(50, 0.3)) is None and smallest_step(np.array([])) is None


def test_drives_are_named_by_what_velocities_add_up_to():
    assert "mini_cheetah_v45" in fitting_drives("mini_cheetah", 65 / 45)
    assert fitting_drives("AK80-6_V2", (95.5 / 45) / (12.5 / 76), 95.5 / 12.5) == ["AK80-6_V1.0"]
    assert fitting_drives("CyberGear", 1.5) == []
