"""The motor model reproduces the motion of a real AK80-6 pendulum, and without friction it does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tools import motor_fit
from tools.motor_fit import RUNS, Pendulum, RecordingError, Windows, error, identify, read, report, simulate, windows

IDENTIFICATION, SLOW, ENERGY, ILQR = (run.name for run in RUNS)
# Most error in 0.6 s, as a fraction of the motion; reached: 0.043 0.391 0.035 0.051 and 0.058 0.071 0.026 0.055.
ONE_RUN = {IDENTIFICATION: 0.05, SLOW: 0.42, ENERGY: 0.045, ILQR: 0.06}
BOTH_RUNS = {IDENTIFICATION: 0.065, SLOW: 0.085, ENERGY: 0.032, ILQR: 0.062}


@pytest.fixture(scope="module")
def folder(recordings: Path) -> Path:
    path = recordings / "dfki_ak80_6"
    if not path.is_dir():
        pytest.skip(f"no AK80-6 recordings at {path}")
    return path


@pytest.fixture(scope="module")
def fitted(folder: Path) -> tuple[dict[str, Pendulum], dict[str, dict[str, float]]]:
    return report(folder)


def relative(errors: dict[str, dict[str, float]], label: str) -> dict[str, float]:
    return {name: row[label] / row["motion"] for name, row in errors.items()}


@pytest.mark.parametrize(("label", "bounds"), [("system identification", ONE_RUN), ("both PD runs", BOTH_RUNS)])
def test_identified_friction_and_inertia_reproduce_all_runs(fitted, label, bounds):
    reached = relative(fitted[1], label)
    assert all(reached[name] <= most for name, most in bounds.items()), reached


def test_without_friction_the_best_fit_breaks_every_bound(fitted):
    reached = relative(fitted[1], "both, frictionless")
    assert all(reached[name] > 1.25 * most for name, most in BOTH_RUNS.items()), reached


@pytest.mark.parametrize(
    ("field", "factor"), [("friction", 0), ("friction", 2), ("inertia", 0.8), ("inertia", 1.25), ("gravity", 0.85)]
)
def test_a_wrong_parameter_breaks_the_bounds_of_runs_that_were_not_fitted(fitted, folder, field, factor):
    right = fitted[0]["both PD runs"]
    wrong = replace(right, **{field: factor * getattr(right, field)})
    pieces = windows(read(folder, RUNS[2]), RUNS[2])
    assert error(right, pieces) / pieces.motion <= BOTH_RUNS[ENERGY]
    assert error(wrong, pieces) / pieces.motion > 1.5 * BOTH_RUNS[ENERGY]


def test_the_parameters_are_those_of_the_test_bench(fitted):
    """The arm is 0.5 m long; inertia and gravity are in the unit of the reported torque."""
    for label in ("system identification", "both PD runs"):
        pendulum = fitted[0][label]
        assert pendulum.length == pytest.approx(0.5, abs=0.02)
        assert pendulum.inertia == pytest.approx(0.18, abs=0.015)
        assert abs(pendulum.offset) < 0.05
    assert fitted[0]["both PD runs"].friction == pytest.approx(0.23, abs=0.03)
    assert fitted[0]["both PD runs"].damping < 0.02


def test_known_parameters_come_back_from_simulated_windows():
    true = Pendulum(0.18, 0.03, 0.2, 3.5, 0.0)
    rng = np.random.default_rng(5)
    torque = np.repeat(rng.uniform(-1.5, 1.5, (12, 30)), 10, axis=0)
    q, qd = rng.uniform(-1, 1, 30), rng.uniform(-4, 4, 30)
    blank = Windows(1 / 200, q, qd, torque, np.zeros(torque.shape), np.zeros(torque.shape))
    made = replace(blank, positions=simulate(true, blank))
    found = identify([made])
    for name in ("inertia", "damping", "friction", "gravity", "offset"):
        assert getattr(found, name) == pytest.approx(getattr(true, name), abs=2e-3), name
    assert error(identify([made], friction=False), made) > 20 * error(found, made)


def test_a_free_pendulum_swings_at_its_own_period():
    pendulum = Pendulum(0.18, 0.0, 0.0, 3.5, 0.0)
    steps = np.zeros((400, 1))
    w = Windows(1 / 200, np.array([0.05]), np.zeros(1), steps, steps, steps)
    q = simulate(pendulum, w)[:, 0]
    crossings = np.flatnonzero(np.diff(np.sign(q)))
    half = np.diff(crossings).mean() / 200
    assert half == pytest.approx(np.pi * np.sqrt(0.18 / 3.5), rel=0.01)


def test_the_tool_prints_both_tables(folder, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["motor_fit", str(folder)])
    monkeypatch.setenv("COLUMNS", "160")
    assert motor_fit.main() == 0
    out = capsys.readouterr().out
    assert all(run.name in out for run in RUNS)
    assert "friction N m" in out


def test_what_is_no_recording_is_an_error_that_names_it(tmp_path, capsys, monkeypatch):
    with pytest.raises(RecordingError, match="ilqr_measured"):
        read(tmp_path, RUNS[3])
    monkeypatch.setattr("sys.argv", ["motor_fit", str(tmp_path)])
    assert motor_fit.main() == 2
    assert "pd__system_identification" in capsys.readouterr().err
