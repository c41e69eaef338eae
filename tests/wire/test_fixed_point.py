"""The shared fixed-point rule."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from procs.wire.fixed_point import FixedPoint, require_finite
from procs.wire.mit_motors import MOTORS

GRIDS = {
    **{f"{name}.{what}": (getattr(m, what), bits) for name, m in MOTORS.items() for what, bits in
       (("position", 16), ("velocity", 12), ("torque", 12))},
    "cybergear.position": (12.5, 16), "cybergear.position_4pi": (4 * math.pi, 16), "cybergear.velocity": (30.0, 16),
}  # fmt: skip


@pytest.mark.parametrize("name", GRIDS)
def test_every_raw_value_encodes_to_itself_again(name: str) -> None:
    half, bits = GRIDS[name]
    grid = FixedPoint(-half, half, bits)
    raw = np.arange(2**bits)
    assert np.array_equal(grid.encode(grid.decode(raw)), raw)


@pytest.mark.parametrize("top", [500.0, 5.0])
def test_every_raw_gain_encodes_to_itself_again(top: float) -> None:
    grid = FixedPoint(0.0, top, 12)
    raw = np.arange(4096)
    assert np.array_equal(grid.encode(grid.decode(raw)), raw)
    assert [grid.encode_one(x) for x in grid.decode(raw)[::37].tolist()] == raw[::37].tolist()


@given(st.sampled_from(sorted(GRIDS)), st.floats(-1, 1))
def test_round_trip_is_below_and_within_one_quantum_and_half_off_in_the_middle(name: str, part: float) -> None:
    """Truncation: the decoded value lies 0..1 quantum below, i.e. within half a quantum of the middle of its step."""
    half, bits = GRIDS[name]
    grid = FixedPoint(-half, half, bits)
    value = part * half
    back = grid.decode(grid.encode_one(value))
    assert abs(value - (back + 0.5 * grid.quantum)) <= 0.5 * grid.quantum * (1 + 1e-6) + 1e-12


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_clamped_before_scaling(value: float) -> None:
    grid = FixedPoint(-12.5, 12.5, 16)
    raw = grid.encode_one(value)
    assert 0 <= raw <= 65535
    assert raw == int(grid.encode(value))
    if abs(value) >= 12.5:
        assert raw == (65535 if value > 0 else 0)


def test_zero_becomes_half_a_quantum_below_zero() -> None:
    rest = [FixedPoint(-a, a, bits).decode(FixedPoint(-a, a, bits).encode_one(0.0))
            for a, bits in ((12.5, 16), (65, 12), (50, 12), (18, 12))]  # fmt: skip
    assert rest == pytest.approx([-0.000190738, -0.015873, -0.012210, -0.0043956], rel=1e-4)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_not_finite_is_refused_with_name_and_value(bad: float) -> None:
    grid = FixedPoint([-1.0, 0.0], [1.0, 5.0], 12, ("position", "kd"))
    with pytest.raises(ValueError, match=rf"kd\[1\] = {bad}"):
        grid.encode([[0, 0], [0, bad]])
    with pytest.raises(ValueError, match=f"tau = {bad}"):
        FixedPoint(-1.0, 1.0, 12, "tau").encode_one(bad)
    with pytest.raises(ValueError, match=r"q\[2\]"):
        require_finite("q", [0, 1, bad])


def test_ends_are_saturated_raw_or_decoded() -> None:
    grid = FixedPoint(-12.5, 12.5, 16)
    assert grid.saturated(np.array([0, 1, 65534, 65535])).tolist() == [True, False, False, True]
    numbers = grid.decode(np.array([0, 1, 65534, 65535])).astype(np.float32)
    assert grid.at_end(numbers).tolist() == [True, False, False, True]


def test_a_range_upside_down_is_refused() -> None:
    with pytest.raises(ValueError, match="must be below"):
        FixedPoint(1.0, -1.0, 12)
