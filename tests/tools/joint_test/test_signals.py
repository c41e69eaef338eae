"""Waves of the joint test: within their limits, from where the joint is, closed form."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.load import load_robot
from procs.model.robot import Robot
from tools.joint_test.signals import APPROACH, WAVES, Motion, Settings


@pytest.fixture(scope="module")
def robot():
    return Robot(load_robot("mini_cheetah"))


HIP = 1


def test_the_centre_is_gone_to_slowly_and_the_wave_begins_there():
    motion = Motion(Settings(HIP, "sine", centre=-0.8, amplitude=0.1, period=2.0), q=-0.3)
    assert motion.approach == pytest.approx(0.5 / APPROACH)
    assert motion.at(0.0) == (-0.3, -APPROACH)
    assert motion.at(motion.approach)[0] == pytest.approx(-0.8)
    assert motion.at(motion.approach + 0.5) == (pytest.approx(-0.7), pytest.approx(0.0, abs=1e-12))
    assert motion.at(motion.approach + 1.0)[1] == pytest.approx(-0.1 * math.pi)


def test_a_step_is_up_then_down():
    motion = Motion(Settings(HIP, "step", centre=0.0, amplitude=0.05, period=1.0), q=0.0)
    assert [motion.at(t)[0] for t in (0.1, 0.4, 0.6, 0.9, 1.1)] == [0.05, 0.05, -0.05, -0.05, 0.05]


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(WAVES)), st.floats(-1, 0), st.floats(0, 0.3), st.floats(0.3, 5), st.floats(-2, 1),
    st.lists(st.floats(0, 20), min_size=2, max_size=30),
)  # fmt: skip
def test_what_is_wanted_stays_between_start_and_reach_and_speed_is_the_slope(wave, centre, amplitude, period, q, times):
    motion = Motion(Settings(HIP, wave, centre, amplitude, period), q)
    low, high = min(q, centre - amplitude), max(q, centre + amplitude)
    for t in times:
        angle, speed = motion.at(t)
        assert low - 1e-9 <= angle <= high + 1e-9
        if wave != "step" and not t < motion.approach < t + 1e-5:
            assert speed == pytest.approx((motion.at(t + 1e-6)[0] - angle) / 1e-6, abs=1e-3)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"centre": 2.95, "amplitude": 0.1}, "FR.hip would go 2.850 to 3.050 rad: its limits are -3.5 to 3"),
        ({"amplitude": 2.0, "period": 0.5}, "would turn at 25.13 rad/s"),
        ({"tau_limit": 20.0}, "torque limit 20 N m: FR.hip wants 0 to 17"),
        ({"tau_limit": 0.0}, "torque limit"),
        ({"kp": -1.0}, "must not be negative"),
        ({"wave": "square"}, "want one of hold, sine, step"),
        ({"period": 0.0}, "period 0 s: want at least 0.1"),
        ({"period": math.nan}, "period nan: want a finite number"),
        ({"kp": math.inf}, "kp inf: want a finite number"),
        ({"kp": 170.0}, "kp 170: FR.hip wants 0 to 160"),
        ({"kd": 3.0}, "kd 3: FR.hip wants 0 to 2"),
        ({"wave": "step", "amplitude": 0.4}, "FR.hip would jump 0.8 rad: want at most 0.6"),
    ],
)
def test_what_a_joint_cannot_do_is_named(robot, change, words):
    given = {"joint": HIP, "wave": "sine", "centre": -0.8, "amplitude": 0.1, **change}
    assert any(words in problem for problem in Settings(**given).problems(robot))


def test_where_nothing_waves_the_amplitude_is_no_matter(robot):
    assert Settings(HIP, "hold", centre=float(robot.q_upper[HIP]), amplitude=0.5).problems(robot) == []


def test_the_defaults_are_fine_for_every_joint(robot):
    for joint in range(robot.num_joints):
        assert not Settings(joint, "sine", float(robot.pose("stand")[joint]), 0.1).problems(robot)
        assert np.isfinite(Motion(Settings(joint), 0.0).at(1.0)).all()
