"""Multi-turn angles, and the ranges that real pendulum logs reveal."""

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from procs.wire.fixed_point import FixedPoint
from procs.wire.mit_motors import MOTORS
from procs.wire.unwrap import rewrap, unwrap

P = 12.5


def follow(path: np.ndarray, valid: np.ndarray) -> np.ndarray:
    last, turns, out = np.full(1, np.nan), np.zeros(1, np.int64), []
    for angle, good in zip(path, valid, strict=True):
        wrapped = np.array([(angle + P) % (2 * P) - P])
        position, last, turns = unwrap(wrapped, last, turns, P, np.array([good]))
        out.append(position[0])
    return np.array(out)


@given(st.lists(st.floats(-0.9 * P, 0.9 * P), min_size=1, max_size=60), st.floats(-P, 0.999 * P))
def test_unwrapped_path_is_the_path(steps: list[float], start: float) -> None:
    path = start + np.concatenate([[0.0], np.cumsum(steps)])
    assert follow(path, np.ones(len(path), bool)) == pytest.approx(path, abs=1e-9)


def test_five_turns_as_in_the_torque_step_log_and_an_invalid_sample_between() -> None:
    path = np.linspace(0, 118, 200)
    valid = np.ones(200, bool)
    valid[50] = False
    back = follow(path, valid)
    assert np.isnan(back[50])
    assert back[valid] == pytest.approx(path[valid], abs=1e-9)


def test_targets_go_back_into_the_present_turn_or_are_marked() -> None:
    target, reachable = rewrap(np.array([118.0, 118.0, 13.0]), np.array([5, 4, 0]), P)
    assert target.tolist() == [-7, 18, 13]
    assert reachable.tolist() == [True, False, False]


def measured(recordings: Path) -> dict[str, np.ndarray]:
    columns: dict[str, list[float]] = {"position": [], "velocity": [], "torque": []}
    for path in sorted((recordings / "dfki_ak80_6").glob("*_measured.csv.gz")):
        with gzip.open(path, "rt", newline="") as file:
            for row in csv.DictReader(file):
                for name, column in columns.items():
                    column.append(float(row[name]))
    return {name: np.array(column) for name, column in columns.items()}


def test_quantum_test_tells_the_pendulums_firmware(recordings: Path) -> None:
    """The smallest step of each stream is the quantum of AK80-6 V1.0 and of no other AK80-6 firmware."""
    data = measured(recordings)
    for i, (name, bits) in enumerate((("position", 16), ("velocity", 12), ("torque", 12))):
        steps = np.diff(np.unique(np.round(data[name], 9)))
        quantum = steps[steps > 1e-6].min()
        motor = MOTORS["AK80-6_V1.0"]
        assert quantum == pytest.approx(motor.quanta[i], rel=1e-4)
        assert abs(quantum / MOTORS["AK80-6_V2"].quanta[i] - 1) > 0.1
        half = getattr(motor, name)
        grid = FixedPoint(-half, half, bits)
        raw = (data[name] + half) / grid.quantum
        assert np.abs(raw - np.round(raw)).max() < 1e-6
        assert np.array_equal(grid.encode(data[name]), np.round(raw))
