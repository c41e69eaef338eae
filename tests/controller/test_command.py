"""What the operator asks for, clamped and slewed, and what counts as new."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcmtypes.generated import MotionCommand
from procs.controller.command import CommandFilter
from procs.controller.operators import MOST
from procs.model.robot import Robot

RUN = 1


def message(seq=0, source="test", run=RUN, **fields):
    command = MotionCommand()
    command.seq, command.source, command.run = seq, source, run
    for name, value in fields.items():
        setattr(command, name, value)
    return command


def play(command_filter, seconds, dt, fresh=True, moving=True, **fields):
    """Hold a command; its counter advances while it is fresh."""
    for k in range(round(seconds / dt)):
        wanted = command_filter.update(message(play.seq + fresh * (k + 1), **fields), RUN, moving)
    play.seq += fresh * (k + 1)
    return wanted


play.seq = 0


@pytest.fixture
def command_filter(robot):
    return CommandFilter(robot)


def test_speeds_are_reached_with_the_acceleration_of_the_description(command_filter, robot):
    lim = robot.description.control.limits
    wanted = play(command_filter, 0.25, robot.dt, vx=1.0)
    assert wanted.velocity[0] == pytest.approx(0.25 * lim.accel, rel=0.02)
    assert play(command_filter, 2.0, robot.dt, vx=1.0).velocity[0] == pytest.approx(1.0)


def test_a_command_without_a_new_counter_loses_its_speed_after_the_timeout(command_filter, robot):
    lim = robot.description.control.limits
    play(command_filter, 1.0, robot.dt, vx=0.5)
    before = play(command_filter, lim.command_timeout - 0.02, robot.dt, fresh=False, vx=0.5)
    assert before.velocity[0] == pytest.approx(0.5)
    after = play(command_filter, 0.04, robot.dt, fresh=False, vx=0.5)
    assert after.goal[0] == 0.0
    assert after.velocity[0] < 0.5
    assert not command_filter.lost()
    play(command_filter, lim.command_lost, robot.dt, fresh=False, vx=0.5)
    assert command_filter.lost()


def test_the_operators_clock_does_not_matter_only_the_counter(command_filter, robot):
    for k in range(1000):
        wanted = command_filter.update(message(k, utime=-(10**15), vx=0.5), RUN, True)
    assert wanted.age == 0.0
    assert wanted.velocity[0] == pytest.approx(0.5)


def test_operators_with_equal_counters_are_told_apart(command_filter, robot):
    for k in range(400):
        wanted = command_filter.update(message(k // 2, source="ab"[k % 2], vx=(0.2, -0.2)[k % 2]), RUN, True)
    assert wanted.source == "a"
    assert wanted.age <= robot.dt
    assert wanted.velocity[0] == pytest.approx(0.2)


def test_no_command_at_all_is_no_motion(command_filter, robot):
    for _ in range(100):
        wanted = command_filter.update(None, RUN, True)
    assert not wanted.velocity.any()
    assert wanted.request == ""
    assert command_filter.lost()


def test_commands_that_are_not_finite_are_no_commands_and_do_not_keep_the_old_one_alive(command_filter, robot):
    play(command_filter, 1.0, robot.dt, vx=0.5)
    wanted = play(command_filter, 2.5, robot.dt, vx=math.nan)
    assert not wanted.velocity.any()
    assert command_filter.lost()


def test_what_was_left_over_from_an_earlier_run_moves_nothing(command_filter, robot):
    old = message(3, run=RUN - 1, mode="walk", vx=1.0)
    for _ in range(200):
        wanted = command_filter.update(old, RUN, True)
        assert wanted.request == ""
    assert not wanted.velocity.any()
    assert command_filter.lost()
    assert command_filter.update(message(4, run=RUN - 1, mode="walk"), RUN, True).request == "walk"


def test_a_held_mode_is_one_request_and_who_is_not_obeyed_is_told_so(command_filter):
    requests = [
        command_filter.update(message(k, source="ab"[k % 2], mode=("walk", "stand")[k % 2]), RUN, True).request
        for k in range(100)
    ]
    assert [r for r in requests if r] == ["walk"]
    assert command_filter.wanted.complaint == "b is not obeyed: a is in control"


def test_who_asks_for_nothing_in_between_asks_anew(command_filter):
    modes = ["walk", "walk", "", "", "walk", "walk", "stand"]
    requests = [command_filter.update(message(k, mode=mode), RUN, True).request for k, mode in enumerate(modes)]
    assert requests == ["walk", "", "", "", "walk", "", "stand"]


def test_operators_without_number_are_not_remembered_for_ever(command_filter):
    for k in range(10 * MOST):
        command_filter.update(message(0, source=str(k), mode="stand"), RUN, True)
    assert len(command_filter._modes) <= MOST


def test_an_unknown_gait_is_named_and_the_old_one_kept(command_filter, robot):
    wanted = command_filter.update(message(1, gait="gallop"), RUN, True)
    assert wanted.gait == robot.description.control.default_gait
    assert "'gallop'" in wanted.complaint
    assert command_filter.update(message(2, gait="trot"), RUN, True).complaint == ""


def test_a_gait_with_its_own_speed_range_and_height_keeps_them(robot):
    control = robot.description.control
    slow = control.gaits["walk"].model_copy(update={"vx": (-0.1, 0.2), "height": 0.25})
    gaits = {**control.gaits, "walk": slow}
    changed = robot.description.model_copy(update={"control": control.model_copy(update={"gaits": gaits})})
    command_filter = CommandFilter(Robot(changed))
    wanted = play(command_filter, 3.0, robot.dt, gait="walk", vx=1.0)
    assert wanted.velocity[0] == pytest.approx(0.2)
    assert wanted.height == pytest.approx(0.25)
    assert play(command_filter, 3.0, robot.dt, gait="walk", vx=1.0, moving=False).height == control.nominal_height


NUMBER = st.floats(allow_nan=True, allow_infinity=True)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, st.booleans(), st.integers(0, 3)),
        min_size=1,
        max_size=40,
    )
)
def test_whatever_is_asked_the_wanted_motion_is_finite_limited_and_slewed(robot, commands):
    command_filter, lim, dt = CommandFilter(robot), robot.description.control.limits, robot.dt
    before = (0.0, 0.0, 0.0)
    for vx, vy, yaw_rate, height, roll, pitch, moving, seq in commands:
        fields = {"vx": vx, "vy": vy, "yaw_rate": yaw_rate, "height": height, "roll": roll, "pitch": pitch}
        with np.errstate(all="ignore"):
            w = command_filter.update(message(seq, **fields), RUN, moving)
        now = (*w.velocity, w.yaw_rate)
        assert all(map(math.isfinite, (*now, *w.goal, w.height, w.roll, w.pitch)))
        for value, limits in zip((*now, w.height, w.roll, w.pitch), LIMITS(lim), strict=True):
            assert limits[0] - 1e-9 <= value <= limits[1] + 1e-9
        assert math.hypot(now[0] - before[0], now[1] - before[1]) <= lim.accel * dt + 1e-9
        assert abs(now[2] - before[2]) <= lim.yaw_accel * dt + 1e-9
        before = now


def LIMITS(lim):  # noqa: N802 - a table
    return lim.vx, lim.vy, lim.yaw_rate, lim.height, lim.roll, lim.pitch
