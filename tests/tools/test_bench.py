"""The bench runs and measures everything; how fast things are is not asserted here."""

from __future__ import annotations

import json

import pytest

from lcmtypes.channels import PIPELINE
from tools import bench
from tools.bench_figures import Figure, figures
from tools.bench_lcm import recorded
from tools.bench_rollout import timed_physics


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict:
    out = tmp_path_factory.mktemp("bench") / "sub" / "bench.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["bench", "--quick", "--json", str(out)])
        assert bench.main() == 0
    return json.loads(out.read_text())


def test_quick_measures_every_part(measured):
    assert list(measured) == ["machine", "settings", "figures", "raw"]
    assert list(measured["raw"]) == list(bench.PARTS)
    for key in ("cpu", "cores", "load_average", "revision", "python", "blas_threads"):
        assert measured["machine"][key] is not None
    assert measured["machine"]["blas_threads"] == "1"


def test_every_target_has_its_figure(measured):
    with_target = {(f["part"], f["sign"], f["target"]) for f in measured["figures"] if f["target"] is not None}
    assert with_target >= {
        ("rollout", "<=", 350), ("rollout", ">=", 3.0), ("lock step", ">=", 1.5), ("real time", "<=", 1.2),
        ("real time", "<=", 3.0), ("mpc", ">=", 10.0), ("mpc", "<=", 1.0), ("estimator", ">=", 10.0),
        ("bridge", "<=", 400), ("bridge", "<=", 800), ("bridge", ">=", 199), ("bridge", "<=", 50),
    }  # fmt: skip
    assert all(f["met"] is not None for f in measured["figures"] if f["target"] is not None)
    assert all(isinstance(f["value"], int | float) for f in measured["figures"])


def test_the_raw_values_hold_all_processes_and_channels(measured):
    raw = measured["raw"]
    assert {"estimator", "packer", "everything but physics"} <= set(raw["rollout"]["step_us"])
    assert set(raw["messages"]) == {c.name for c in PIPELINE}
    assert set(raw["real_time"]["losses"]) == {"ticks", "missed", "recorded", "lost", "lost_messages"}
    assert raw["real_time"]["losses"]["recorded"]["imu"] > 0
    assert set(raw["real_time"]["latency_ms"]) == {"p50", "p99", "p99_worst_second", "max"}
    times = raw["rollout"]["mean_us"]
    assert times["tick"] == pytest.approx(times["physics"] + times["rest"])


def test_a_figure_knows_whether_it_meets_its_target():
    assert Figure("p", "n", 3.0, "x", ">=", 3.0).met
    assert not Figure("p", "n", 351.0, "us", "<=", 350).met
    assert Figure("p", "n", 1.0).met is None
    assert figures({}) == []


def test_physics_is_timed_only_inside():
    import sim.world

    before = sim.world.p.stepSimulation
    with timed_physics() as physics:
        assert sim.world.p.stepSimulation is not before
        assert physics.total == 0.0
    assert sim.world.p.stepSimulation is before


def test_messages_missing_in_a_log_are_seen(tmp_path):
    from lcmtypes.channels import IMU
    from lcmtypes.generated import Imu
    from procs.runtime.logs import LogWriter

    with LogWriter(tmp_path / "gaps.lcmlog") as log:
        for seq in (0, 0, 1, 2, 5, 5, 6):  # 3 and 4 are lost; 0 and 5 were sent twice
            message = Imu()
            message.run, message.seq = 7, seq
            log.write(IMU, message, 1000 * seq)
    count = recorded(tmp_path / "gaps.lcmlog")
    assert count["imu"] == 5
    assert count["joint_state"] == 0
