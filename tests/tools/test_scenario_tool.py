"""The scenario tool: exit codes, JSON, overrides, seeds, picture."""

from __future__ import annotations

import json

import pytest

from config.load import load_robot, load_scenario
from procs.model.robot import Robot
from tools import scenario
from tools.inputs import load, split_overrides
from tools.picture import draw
from tools.stack import rollout

PARTS = {
    "": "scenario robot runner seed passed failures sim_time_s wall_time_s real_time_factor fell fall_time_s",
    " ": "mode_final distance_m path_m torque_saturation cost_of_transport missed_ticks faults_rejected segments",
    "height_m": "mean std min max",
    "roll_deg": "mean mean_abs max_abs std",
    "pitch_deg": "mean mean_abs max_abs std",
    "foot_slip_mm": "mean p95 max",
    "torque_nm": "rms max",
    "estimator": "velocity_rmse height_rmse drift_percent rpy_rmse_deg",
    "mpc": "solves p50_ms p99_ms max_ms failures",
    "latency_ms": "p50 p99 max",
}
SEGMENT = "t0 t1 vx vy yaw_rate vx_mean vy_mean yaw_rate_mean vx_error vy_error yaw_rate_error vx_rmse"


def missing(values: dict) -> list[str]:
    """Keys of the contract that a result lacks."""
    out = [f"segments.{key}" for key in SEGMENT.split() if key not in values["segments"][0]]
    for part, keys in PARTS.items():
        inside = values[part] if part.strip() else values
        out += [f"{part}.{key}" for key in keys.split() if key not in inside]
    return out


def test_a_scenario_that_holds_exits_0_and_writes_all_metrics(tiny, tmp_path, command_line, capsys):
    out, log = tmp_path / "out.json", tmp_path / "out.lcmlog"
    assert command_line(scenario.main, tiny, "--json", out, "--log", log, "--seed", 3) == 0
    values = json.loads(out.read_text())
    assert missing(values) == []
    assert (values["seed"], values["passed"], values["failures"]) == (3, True, [])
    assert values["segments"][0]["vx_mean"] is None, "shorter than a second"
    assert log.stat().st_size > 100_000
    assert "passed" in capsys.readouterr().out


def test_an_expectation_that_does_not_hold_exits_1(tiny, command_line, capsys):
    assert command_line(scenario.main, tiny, "--set", "expect={torque_nm.max: {max: 0.1}}") == 1
    assert "torque_nm.max" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name: x\nduration: 1\ncomands: []\n", "commands"),
        ("name: x\nduration: -1\n", "duration"),
        ("name: [x\n", "line"),
        ("name: x\nduration: 1\nrobot: nobody\n", "nobody"),
        ("name: x\nduration: 1\nset: {control.mpc.horizn: 3}\n", "horizon"),
    ],
)
def test_a_bad_file_exits_2_and_says_what_is_wrong(tmp_path, command_line, capsys, text, says):
    bad = tmp_path / "bad.yaml"
    bad.write_text(text)
    assert command_line(scenario.main, bad) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["no_such_scenario"], ["TINY", "--robot", "no_such_robot"], ["TINY", "--set", "plant.frict=1"],
        ["TINY", "--seeds", "0"], ["TINY", "--seeds", "2", "--seed", "1"], ["TINY", "--seeds", "2", "--gui"],
        ["TINY", "--runner", "hardware"], [],
    ],
)  # fmt: skip
def test_bad_usage_exits_2(tiny, command_line, arguments):
    assert command_line(scenario.main, *(tiny if a == "TINY" else a for a in arguments)) == 2


def test_set_reaches_scenario_and_robot(tiny):
    overrides = ["plant.friction=0.4", "duration=5", "control.mpc.horizon=8", "sim.friction=0.5"]
    assert split_overrides(overrides) == (overrides[:2], overrides[2:])
    loaded, robot, for_robot = load(str(tiny), None, overrides)
    assert (loaded.plant.friction, loaded.duration) == (0.4, 5)
    assert (robot.control.mpc.horizon, robot.sim.friction) == (8, 0.5)
    assert for_robot == overrides[2:]


def test_a_scenarios_own_robot_overrides_come_first(tiny):
    tiny.write_text(tiny.read_text() + "set: {control.mpc.horizon: 7, sim.friction: 0.6}\n")
    _, robot, _ = load(str(tiny), None, ["sim.friction=0.7"])
    assert (robot.control.mpc.horizon, robot.sim.friction) == (7, 0.7)


def test_seeds_gives_one_result_per_seed(tiny, tmp_path, command_line, capsys):
    out = tmp_path / "seeds.json"
    assert command_line(scenario.main, tiny, "--seeds", 2, "--json", out) == 0
    assert [r["seed"] for r in json.loads(out.read_text())] == [1, 2]
    assert "2 of 2 seeds passed" in capsys.readouterr().out


def test_the_picture_is_drawn(tiny, tmp_path):
    robot = Robot(load_robot("mini_cheetah"))
    recording = rollout(load_scenario(tiny), robot, seed=1)
    picture = draw(recording, robot, "tiny", tmp_path / "folder" / "tiny.png")
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG") and len(data) > 20_000
