"""Live parameters: range, answer, ramp, and what they change in the controller."""

import numpy as np
import pytest

from config.load import load_robot
from config.scenario import Scenario
from lcmtypes.channels import LEG_COMMAND, PARAMETER_RESPONSE
from procs.model.robot import Robot

KP = "control.stand.kp.1"


def test_a_parameter_is_read_and_set_and_answered_with_the_value_in_force(bench):
    answer = bench.tune(KP).answer
    assert (answer.ok, answer.value, answer.name, answer.request) == (1, 80.0, KP, bench.request.seq)
    answer = bench.tune(KP, 120.0).answer
    assert (answer.ok, answer.value) == (1, 120.0)
    assert bench.tick().answer is None, "a held request is answered once"
    assert bench.tune(KP).answer.value == 120.0


@pytest.mark.parametrize("value", [9.9, 200.1, -1e300, np.inf, np.nan])
def test_what_is_out_of_range_changes_nothing_and_says_why(bench, value):
    answer = bench.tune(KP, value).answer
    assert (answer.ok, answer.value) == (0, 80.0)
    assert "is not within 10 to 200" in answer.reason


@pytest.mark.parametrize("name", ["control.rate", "control.stand.kp", "control.stand.kp.7", "nothing", ""])
def test_what_is_not_marked_live_cannot_be_changed(bench, name):
    answer = bench.tune(name, 1.0).answer
    assert not answer.ok
    assert "not marked live" in answer.reason


def test_another_processs_request_is_not_answered(bench):
    assert bench.tune(KP, 100.0, process="estimator").answer is None
    assert bench.tune(KP).answer.value == 80.0


def test_gains_ramp(bench, robot):
    bench.ask("stand")
    bench.until("stand")
    bench.tick(1.0)
    first = bench.tune(KP, 120.0)
    gains = [first.command.kp_joint[1], *(bench.tick().command.kp_joint[1] for _ in range(round(0.6 / robot.dt)))]
    steps = np.diff([80.0, *gains])
    assert steps.max() <= 40.0 * robot.dt / 0.5 + 1e-9
    assert gains[len(gains) // 2] == pytest.approx(80 + 40 * 0.3 / 0.5, abs=0.5)
    assert gains[-1] == 120.0
    assert bench.core.parameters.description.control.stand.kp == (80.0, 120.0, 80.0)


def test_a_new_run_begins_with_the_description(bench):
    bench.tune(KP, 120.0)
    bench.tick(1.0)
    bench.run += 1
    bench.seq = -1
    bench.core.reset()
    bench.request.run = bench.run - 1
    assert bench.tick().answer is None, "the request is left over from the run before"
    assert bench.tune(KP).answer.value == 80.0


def test_body_height_is_slewed(bench, robot):
    bench.ask("stand")
    bench.until("stand")
    bench.tick(1.0)
    bench.tune("control.nominal_height", 0.25)
    bench.tick(1.0)
    assert bench.core.filter.wanted.height == pytest.approx(0.25)


def test_while_trotting_gait_weights_and_gains_change_and_it_goes_on(robot):
    from tools.metrics import metrics
    from tools.stack import rollout

    parameters = {
        "control.gaits.trot.period": 0.4,
        "control.gaits.trot.duty": 0.6,
        "control.mpc.weights.5": 80,
        "control.swing.kp.0": 500,
        "control.foothold.swing_height": 0.08,
        "control.nominal_height": 0.28,
    }
    commands = [
        {"t": 0.0, "mode": "stand"},
        {"t": 1.3, "mode": "walk", "gait": "trot", "vx": 0.3},
        {"t": 2.5, "parameters": parameters},
    ]
    scenario = Scenario(name="tuned", duration=5.0, commands=commands)
    recording = rollout(scenario, robot, seed=1)
    answers = recording.of(PARAMETER_RESPONSE)
    assert [(a.name, a.ok) for a in answers] == [(name, 1) for name in parameters]
    values = metrics(scenario, robot, recording)
    assert not values["fell"]
    assert values["segments"][2]["vx_error"] < 0.03
    late = recording.of(LEG_COMMAND)[-400:]
    kp = {float(x) for c in late for x in c.kp_cartesian[:, 0]}
    assert kp == {0.0, 500.0}
    swings = np.array([c.kp_cartesian[0, 0] > 0 for c in late])
    lifts = np.flatnonzero(np.diff(swings.astype(int)) == 1)
    assert np.diff(lifts) * robot.dt == pytest.approx(0.4, abs=0.01)
    assert swings.mean() == pytest.approx(0.4, abs=0.03)


def test_a_robot_without_live_parameters_changes_nothing(bench_of):
    bench = bench_of(Robot(load_robot("mini_cheetah", ["live={}"])))
    assert "not marked live" in bench.tune(KP, 100.0).answer.reason
