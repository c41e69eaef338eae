"""The joint page's state: what is sent, and what makes it let go."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcmtypes.generated import ModeState
from tools.dashboard.joint_controls import ranges
from tools.dashboard.joint_hold import LATE, JointPageState, Seen, first_settings
from tools.joint_test.signals import APPROACH, WAVES, Settings, gain_limits

OWN = "dashboard:host:1"
HIP = 1


@pytest.fixture
def seen(made, robot):
    """All is as it must be, at 10 s."""
    return Seen(10.0, True, True, made.mode("joint_test", source=OWN), robot.pose("stand").copy())


@pytest.fixture
def page(robot):
    page = JointPageState(robot, OWN)
    page.edit(first_settings(robot, HIP, None))
    return page


def at(seen, t, **fields):
    return replace(seen, t=t, **fields)


def test_nothing_is_sent_before_it_is_held_and_then_the_joint_goes_slowly_to_its_position(page, seen, robot):
    assert page.step(seen) is None
    start = float(seen.q[HIP])
    page.edit(replace(page.settings, centre=start + 0.2))
    assert page.hold(seen) == ""
    sent = [page.step(at(seen, 10.0 + 0.02 * k)) for k in range(50)]
    assert all((m.joint, m.hold, m.kp) == (HIP, 1, page.settings.kp) for m in sent)
    assert sent[0].q_des == pytest.approx(start)
    assert sent[10].q_des == pytest.approx(start + 0.2 * APPROACH)
    assert (sent[49].q_des, sent[49].qd_des) == (pytest.approx(start + 0.2), 0.0)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"connected": False}, "left, hidden or closed"),
        ({"asked": False}, "E-STOP, reset or another mode"),
        ({"mode": None}, "no controller is heard"),
        ({"mode": ("estop", "pressed")}, "the controller is in estop: pressed"),
        ({"mode": ("ready", "")}, "the controller is in ready"),
        ({"source": "teleop:host:2"}, "teleop:host:2 is obeyed"),
        ({"q": None}, "no angles are heard"),
        ({"q": np.zeros(3)}, "no angles are heard"),
        ({"q": np.full(12, np.nan)}, "no angles are heard"),
        ({"t": 10.02 + LATE + 0.1}, "late by 0.4 s"),
    ],
)
def test_whatever_is_not_as_it_must_be_lets_go_at_once_and_for_good(page, seen, made, fields, words):
    assert page.hold(seen) == ""
    assert page.step(at(seen, 10.02)) is not None
    if isinstance(fields.get("mode"), tuple):
        mode, reason = fields["mode"]
        fields = {"mode": made.mode(mode, reason=reason, source=OWN)}
    if "source" in fields:
        fields = {"mode": made.mode("joint_test", source=fields["source"])}
    assert page.step(replace(at(seen, 10.04), **fields)) is None
    assert words in page.why
    assert page.step(at(seen, 10.06)) is None, "only another press holds it again"
    last = page.farewell()
    assert (last.joint, last.hold, last.kp, last.kd, last.tau_limit) == (HIP, 0, 0.0, 0.0, 0.0)


def test_what_cannot_be_done_is_said_before_anything_moves(page, seen):
    page.edit(replace(page.settings, wave="sine", amplitude=1.0, period=0.2))
    assert "would turn at" in page.hold(seen)
    assert page.step(seen) is None


def test_while_held_settings_with_a_problem_change_nothing(page, seen):
    assert page.hold(seen) == ""
    good = page.settings
    page.edit(replace(good, centre=99.0, kp=1e6))
    assert len(page.problems) == 2
    message = page.step(at(seen, 10.02))
    assert (message.q_des, message.kp) == (pytest.approx(good.centre), good.kp)


def test_another_position_begins_where_the_joint_was_told_to_be(page, seen):
    assert page.hold(seen) == ""
    page.edit(replace(page.settings, wave="sine", amplitude=0.2, period=2.0))
    told = [page.step(at(seen, 10.0 + 0.02 * k)).q_des for k in range(1, 30)]
    page.edit(replace(page.settings, wave="hold", centre=page.settings.centre - 0.3))
    told += [page.step(at(seen, 10.0 + 0.02 * k)).q_des for k in range(30, 120)]
    assert np.abs(np.diff(told)).max() < 0.02 * 0.2 * math.pi + 1e-9, "no jump: the sine's own speed at most"
    assert told[-1] == pytest.approx(page.settings.centre)


def test_gains_change_without_a_break_in_the_wave_and_another_joint_lets_go(page, seen):
    page.edit(replace(page.settings, wave="sine", amplitude=0.2, period=2.0))
    assert page.hold(seen) == ""
    before = [page.step(at(seen, 10.0 + 0.02 * k)) for k in range(1, 10)][-1]
    page.edit(replace(page.settings, kp=2 * page.settings.kp))
    after = page.step(at(seen, 10.2))
    assert after.kp == 2 * before.kp
    assert 0 < after.q_des - before.q_des < 0.02
    page.edit(replace(page.settings, joint=HIP + 1))
    assert page.step(at(seen, 10.22)) is None
    assert page.why == "another joint was chosen"


def test_the_error_counts_once_the_joint_has_come_to_its_position(page, seen):
    page.edit(replace(page.settings, centre=float(seen.q[HIP]) + 0.1))
    page.hold(seen)
    assert page.tracked(10.0 + 0.9 * 0.1 / APPROACH) is None
    assert page.tracked(10.0 + 1.1 * 0.1 / APPROACH) == (HIP, page.settings.kp)


def test_every_joint_begins_where_it_is_without_a_problem_and_sliders_keep_within_limits(robot):
    for joint in range(robot.num_joints):
        for q in (None, robot.q_lower - 0.3, robot.q_upper + 0.3):
            first = first_settings(robot, joint, q)
            assert first.problems(robot) == []
            assert first.kp <= gain_limits(robot, joint)[0] / 8
        for name, (low, high, step) in ranges(robot, joint).items():
            assert low <= getattr(first, name) <= high and 0 < step < high - low
            if name in ("kp", "kd", "tau_limit", "centre"):
                for value in (low, high):
                    assert replace(first, **{name: value}).problems(robot) == []


numbers = st.one_of(st.floats(-8, 8), st.floats(allow_nan=True, allow_infinity=True), st.floats(0, 200))
edits = st.builds(
    Settings, st.sampled_from([HIP, HIP, HIP, 2]), st.sampled_from(sorted(WAVES)), st.one_of(st.floats(-3, 3), numbers),
    st.one_of(st.floats(0, 1), numbers), st.one_of(st.floats(0.2, 5), numbers), st.one_of(st.floats(0, 160), numbers),
    st.one_of(st.floats(0, 2), numbers), st.one_of(st.floats(0.1, 17), numbers),
)  # fmt: skip
steps = st.tuples(
    st.sampled_from(["edit", "hold", "hold", "go", "go", "let go", "lost"]), edits, st.floats(0.001, 0.25)
)


@settings(max_examples=150, deadline=None)
@given(st.lists(steps, min_size=3, max_size=25), st.floats(-4, 4))
def test_never_a_message_beyond_limits_and_none_while_nothing_is_held(robot, events, q):
    """Any settings in any order: sent angles, speeds, gains and torques keep the joint's limits."""
    page, t = JointPageState(robot, OWN), 0.0
    mode = ModeState()
    mode.mode, mode.source = "joint_test", OWN
    angles = np.full(robot.num_joints, q)
    for what, wanted, dt in events:
        t += dt
        now = Seen(t, what != "lost", True, mode, angles)
        if what == "edit":
            page.edit(wanted)
        elif what == "hold":
            page.hold(now)
        elif what == "let go":
            page.let_go("test")
        held = page.held
        message = page.step(now)
        assert (message is None) == (not page.held)
        if message is None:
            assert not held or what == "lost"
            continue
        j = message.joint
        kp, kd = gain_limits(robot, j)
        assert message.hold == 1 and message.finite()
        assert robot.q_lower[j] <= message.q_des <= robot.q_upper[j]
        assert abs(message.qd_des) <= robot.qd_max[j]
        assert 0 <= message.kp <= kp and 0 <= message.kd <= kd
        assert 0 < message.tau_limit <= robot.tau_max[j]
