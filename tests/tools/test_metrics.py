"""Metrics on made-up recordings whose figures are known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from config.load import load_robot
from config.scenario import Command, Scenario
from lcmtypes.channels import BODY_STATE, GROUND_TRUTH, MODE_STATE
from lcmtypes.generated import BodyState, GroundTruth, ModeState
from procs.model.robot import Robot
from tools.metrics import GRAVITY, failures, lookup, metrics
from tools.recording import Recording

ROBOT = Robot(load_robot("mini_cheetah"))
NOMINAL = ROBOT.description.control.nominal_height
DT = ROBOT.dt


def turned(axis: int, angle: float) -> np.ndarray:
    quat = np.zeros(4)
    quat[0], quat[1 + axis] = math.cos(angle / 2), math.sin(angle / 2)
    return quat


def made_up(seconds: float = 4.0, mode: str = "stand", change=lambda t, truth, body, state: None) -> Recording:
    """A robot that stands still at its nominal height; `change` edits the messages of each tick."""
    recording = Recording()
    for seq in range(round(seconds / DT)):
        truth, body, state = GroundTruth(ROBOT.num_legs, ROBOT.num_joints), BodyState(ROBOT.num_legs), ModeState()
        for message in (truth, body, state):
            message.run, message.seq = 1, seq
        truth.quat[0] = body.quat[0] = 1.0
        truth.ground_normal[2] = 1.0
        truth.position[2] = NOMINAL
        state.mode = mode
        body.valid = 1
        change(seq * DT, truth, body, state)
        recording.add(GROUND_TRUTH, truth)
        recording.add(BODY_STATE, body)
        recording.add(MODE_STATE, state)
    return recording


def figures(recording: Recording, seconds: float = 4.0, commands: tuple[dict, ...] = ({"t": 0.0},)) -> dict:
    scenario = Scenario(name="made_up", duration=seconds, commands=[Command(**c) for c in commands])
    return metrics(scenario, ROBOT, recording)


def test_standing_still_is_no_fall_and_costs_nothing():
    values = figures(made_up())
    assert values["fell"] is False
    assert values["fall_time_s"] is None
    assert values["height_m"] == pytest.approx({"mean": NOMINAL, "std": 0, "min": NOMINAL, "max": NOMINAL})
    assert values["path_m"] == 0
    assert values["cost_of_transport"] is None
    assert values["missed_ticks"] == 0


@pytest.mark.parametrize(("degrees", "fell"), [(59.0, False), (61.0, True)])
@pytest.mark.parametrize("mode", ["stand", "down"])
def test_a_tilt_above_60_degrees_is_a_fall_in_every_mode(degrees, fell, mode):
    def tilt(t, truth, body, state):
        if t >= 2.0:
            truth.quat[:] = turned(0, math.radians(degrees))

    values = figures(made_up(mode=mode, change=tilt))
    assert values["fell"] is fell
    assert values["fall_time_s"] == (pytest.approx(2.0) if fell else None)


def test_the_tilt_is_against_the_ground_not_the_vertical():
    def on_a_wall(t, truth, body, state):
        truth.quat[:] = turned(0, math.radians(70))
        truth.ground_normal[:] = (0, -math.sin(math.radians(70)), math.cos(math.radians(70)))
        truth.position[2] = NOMINAL / math.cos(math.radians(70))

    values = figures(made_up(change=on_a_wall))
    assert values["fell"] is False
    assert values["roll_deg"]["max_abs"] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("mode", "busy", "of_nominal", "fell"),
    [
        ("stand", 0, 0.46, False), ("stand", 0, 0.44, True), ("walk", 0, 0.44, True),
        ("stand", 1, 0.44, False), ("down", 0, 0.2, False),
    ],
)  # fmt: skip
def test_low_is_a_fall_only_while_carrying(mode, busy, of_nominal, fell):
    def sink(t, truth, body, state):
        state.busy = busy
        if t >= 3.0:
            truth.position[2] = of_nominal * NOMINAL

    assert figures(made_up(mode=mode, change=sink))["fell"] is fell


def test_anything_not_finite_is_a_fall():
    def vanish(t, truth, body, state):
        if t >= 1.0:
            truth.position[2] = math.nan

    assert figures(made_up(1.5, mode="idle", change=vanish), 1.5)["fell"] is True


def test_slip_is_summed_per_stance_while_the_foot_carries_a_fifth_of_its_share():
    share = ROBOT.mass * GRAVITY / ROBOT.num_legs

    def slide(t, truth, body, state):
        tick = round(t / DT)
        truth.foot_slip[:, 0] = 1e-3
        if 1000 <= tick < 1010 or 1100 <= tick < 1120:
            truth.foot_force[0, 2] = 0.21 * share
        truth.foot_force[1, 2] = 0.19 * share  # too little: no stance
        if tick < 400:
            truth.foot_force[2, 2] = share  # before the statistics begin

    slip = figures(made_up(change=slide))["foot_slip_mm"]
    assert slip["max"] == pytest.approx(20)
    assert slip["mean"] == pytest.approx(15)  # one stance of 10 mm, one of 20


def test_statistics_begin_one_second_after_entering_a_mode():
    def late(t, truth, body, state):
        truth.position[2] = NOMINAL + (0.1 if t < 1.0 or 2.0 <= t < 3.0 else 0.0)
        state.mode = "stand" if t < 2.0 else "walk"

    height = figures(made_up(change=late))["height_m"]
    assert height["max"] == pytest.approx(NOMINAL)


def test_speeds_are_in_the_heading_frame():
    def sideways(t, truth, body, state):
        truth.quat[:] = turned(2, math.pi / 2)
        truth.v_world[:] = (0.1, 0.5, 0)  # facing +y: half a metre per second ahead, 0.1 to the right

    row = figures(made_up(change=sideways), commands=({"t": 0.0, "vx": 0.6, "vy": 0.0},))["segments"][0]
    assert (row["vx_mean"], row["vy_mean"]) == pytest.approx((0.5, -0.1))
    assert (row["vx_error"], row["vy_error"], row["vx_rmse"]) == pytest.approx((0.1, 0.1, 0.1))


def test_a_segment_counts_from_one_second_on_and_is_null_when_shorter():
    def accelerate(t, truth, body, state):
        truth.v_world[0] = 0.0 if t < 2.0 else 9.0 if t < 3.0 - DT / 2 else 0.5

    commands = ({"t": 0.0, "vx": 0.0}, {"t": 1.2, "yaw_rate": 0.2}, {"t": 2.0, "vx": 0.5})
    first, short, last = figures(made_up(change=accelerate), commands=commands)["segments"]
    assert first["vx_mean"] == 0.0
    assert short["vx_mean"] is None and short["vx_error"] is None and short["vx_rmse"] is None
    assert last["vx_mean"] == pytest.approx(0.5)
    assert (last["t0"], last["t1"]) == (2.0, 4.0)
    assert (last["vx"], last["yaw_rate"]) == (0.5, 0.2), "a command keeps the fields it does not name"


def test_after_a_fall_segments_are_null():
    def topple(t, truth, body, state):
        if t >= 3.5:
            truth.quat[:] = turned(1, 1.5)

    assert figures(made_up(change=topple))["segments"][0]["vx_mean"] is None


def test_path_drift_and_cost_of_a_straight_walk():
    def walk(t, truth, body, state):
        truth.position[0], truth.v_world[0] = 0.5 * t, 0.5
        body.position[0], body.v_world[0] = 0.505 * t, 0.52
        truth.work = 100 * t

    values = figures(made_up(mode="walk", change=walk))
    seconds = 3.0 - DT  # of statistics
    assert values["path_m"] == pytest.approx(0.5 * (seconds + DT))
    assert values["distance_m"] == pytest.approx(0.5 * (4 - DT))
    assert values["estimator"]["velocity_rmse"] == pytest.approx([0.02, 0, 0])
    assert values["estimator"]["drift_percent"] == pytest.approx(1.0, rel=1e-3)
    assert values["cost_of_transport"] == pytest.approx(100 / (ROBOT.mass * GRAVITY * 0.5), rel=1e-3)


def test_missing_ticks_are_counted():
    recording = made_up(2.0)
    del recording.messages[BODY_STATE][100:110]
    assert figures(recording, 2.0)["missed_ticks"] == 10


def test_a_null_metric_does_not_meet_an_expectation():
    scenario = Scenario(
        name="s", duration=1.0,
        expect={"a.0": {"max": 1.0}, "b": {"min": 2.0}, "c": False, "d.x": {"max": 1.0}, "e": {"max": 3.0}},
    )  # fmt: skip
    got = failures(scenario, {"a": [None], "b": 1.0, "c": True, "e": 3.0})
    assert [line.split()[0] for line in got] == ["a.0", "b", "c", "no"]
    assert lookup({"a": [1, {"b": 2}]}, "a.-1.b") == 2
