"""The array filter against filterpy, and what must hold of any covariance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from procs.estimator.kalman import new_feet, new_filter, reference_step, relative_step, start
from procs.estimator.reference import ReferenceFilter, phase_trust
from tools.bench_estimator import DT, MIT_NOISES, walking

NOISES = np.array(MIT_NOISES)


@pytest.mark.parametrize("legs", [4, 6])
@pytest.mark.parametrize("ground", [0.0, 0.02])
def test_the_array_filter_is_the_reference_filter(legs, ground):
    array, reference = new_filter(legs), ReferenceFilter(legs, MIT_NOISES, ground)
    for feet, accel in walking(3000, legs):
        reference.step(feet.offset.T, feet.velocity.T, feet.trust, accel, DT)
        reference_step(array, NOISES, feet.block, accel, DT, ground)
        assert np.abs(array.x.T.ravel() - reference.kf.x).max() < 1e-8
    assert np.abs(array.Pxy - reference.kf.P[0::3, 0::3]).max() < 1e-8
    assert np.abs(array.Pz - reference.kf.P[2::3, 2::3]).max() < 1e-8


def test_axes_are_independent_in_the_reference():
    reference = ReferenceFilter(4, MIT_NOISES)
    for feet, accel in walking(200):
        reference.step(feet.offset.T, feet.velocity.T, feet.trust, accel, DT)
    assert np.abs(reference.kf.P[0::3, 2::3]).max() < 1e-12


def test_trust_rises_and_falls_at_the_ends_of_stance():
    phase = np.array([0.0, 0.1, 0.5, 0.9, 1.0])
    assert np.allclose(phase_trust(phase, 0.2), [0, 0.5, 1, 0.5, 0])


ticks = st.lists(
    st.tuples(st.lists(st.floats(0, 1), min_size=4, max_size=4), st.floats(0.0005, 0.1), st.booleans(), st.booleans()),
    min_size=1, max_size=60,
)  # fmt: skip


@settings(max_examples=60, deadline=None, derandomize=True)
@given(ticks)
def test_covariances_stay_symmetric_and_positive(sequence):
    f, feet = new_filter(4), new_feet(4)
    feet.offset[:] = [[0.2, 0.2, -0.2, -0.2], [-0.1, 0.1, -0.1, 0.1], [-0.3] * 4]
    start(f, feet.offset, 0.02, 1e-8, 0.01, 1e-3)
    for contacts, dt, hangs, doubtful in sequence:
        feet.trust[:] = np.clip((np.array(contacts) - 0.5) / 0.4, 0, 1)
        feet.free[:] = np.array(contacts) < 0.35
        relative_step(f, NOISES, feet.block, np.zeros(3), dt, 0.3 if hangs else 0.0, doubtful)
        for C in (f.Pxy, f.Pz):
            assert np.array_equal(C, C.T)
            assert np.linalg.eigvalsh(C).min() > 0


def test_a_free_foot_tells_nothing():
    f, feet = new_filter(4), new_feet(4)
    start(f, feet.offset, 0.0, 1e-8, 0.01, 1e-3)
    f.x[:, 1] = 1.0
    feet.velocity[:] = 5.0
    for _ in range(100):
        relative_step(f, NOISES, feet.block, np.zeros(3), DT, 0.0, False)
    assert np.array_equal(f.x[:, 1], np.ones(3))
    assert np.allclose(f.x[:, 0], f.x[:, 2])


def test_the_bench_compares_filters_that_agree():
    from tools.bench_estimator import bench_estimator

    result = bench_estimator(ticks=1000)
    assert result["largest_difference"] < 1e-8
    assert result["speed_up"] > 0  # `make bench` states it: times are not asserted here
