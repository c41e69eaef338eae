"""Every scenario file holds with its own seed, in rollout; the seed sweeps are `make seeds`."""

import pytest

from config.load import scenario_names
from tools.scenario import run_one

VARIANTS = [(name, ()) for name in scenario_names()] + [
    ("trot_1_0", ("plant.delay_ticks=1", "duration=14")),  # one more tick of delay than the pipeline's own
    ("push", ("commands.2.vx=0.0",)),  # trotting on the spot
    ("trot_forward", ("estimator.orientation=complementary", "duration=14")),  # raw gyro and accelerometer
]


@pytest.mark.parametrize(("name", "overrides"), VARIANTS, ids=lambda v: v if isinstance(v, str) else ",".join(v))
def test_scenario_holds(name, overrides):
    result = run_one(name, None, list(overrides), None, None)

    assert result["passed"], result["failures"]


def test_an_expectation_that_is_not_met_fails_the_run():
    result = run_one("stand", None, ["expect={height_m.std: {max: 0.0}}", "duration=4"], None, None)

    assert not result["passed"]
    assert any("height_m.std" in failure for failure in result["failures"])
