"""Before the processes end, the robot is asked to lie down; against the real controller's rules in test_stopping."""

from __future__ import annotations

from itertools import pairwise

import pytest

from lcmtypes.generated import ModeState
from tools.up.soft_stop import AGAIN, PATIENCE, PAUSE, REPEAT, SoftStop, needed


class FakeOperator:
    """Keeps what is sent."""

    def __init__(self):
        self.source, self.sent = "up:here:1", []

    def motion(self, message):
        self.sent.append((self.source, message.mode))


def mode(name, busy=0, target=None):
    state = ModeState()
    state.mode, state.busy, state.target = name, busy, target or name
    return state


@pytest.mark.parametrize(
    ("state", "wanted"),
    [
        (None, False), (mode("idle"), False), (mode("ready"), False), (mode("damping"), False), (mode("estop"), False),
        (mode("walk"), True), (mode("stand"), True), (mode("stand", 1), True), (mode("down"), True),
        (mode("recover", 1), True), (mode("joint_test"), True), (mode("shutdown", 1), True), (mode("shutdown"), False),
    ],
)  # fmt: skip
def test_it_is_needed_where_the_robot_would_collapse(state, wanted):
    assert needed(state) == wanted


def test_the_request_is_held_until_the_robot_is_limp():
    operator = FakeOperator()
    soft = SoftStop(operator, 0.0)
    for k in range(100):
        soft.look(mode("stand", 1, "shutdown"), True, 0.01 * k)
    assert set(operator.sent) == {("up:here:1", "shutdown")}
    assert 1.0 / REPEAT - 2 <= len(operator.sent) <= 1.0 / REPEAT + 1
    assert not soft.done
    soft.look(mode("shutdown"), True, 1.1)
    assert soft.done == "the robot has lain down"


def test_a_request_that_is_not_taken_is_made_again_under_another_name_after_a_silence():
    operator = FakeOperator()
    soft = SoftStop(operator, 0.0)
    times = []
    for k in range(500):
        before = len(operator.sent)
        soft.look(mode("walk"), True, 0.01 * k)
        times += [0.01 * k] * (len(operator.sent) - before)
    names = list(dict.fromkeys(source for source, _ in operator.sent))
    assert len(names) >= 3
    assert all(name.startswith("up:") for name in names)
    gaps = [b - a for a, b in pairwise(times)]
    assert max(gaps) >= PAUSE
    assert sum(gap > REPEAT + 0.02 for gap in gaps) == len(names) - 1
    assert AGAIN > 0.3


@pytest.mark.parametrize(
    ("state", "runs", "now", "why"),
    [
        (mode("walk"), False, 0.1, "the plant does not obey the controller any more"),
        (mode("damping"), True, 0.1, "the robot is in damping"),
        (None, True, 0.1, "the robot is in no mode"),
        (mode("walk"), True, PATIENCE + 0.1, f"has not lain down within {PATIENCE:g} s"),
    ],
)
def test_it_ends_when_waiting_makes_no_sense(state, runs, now, why):
    soft = SoftStop(FakeOperator(), 0.0)
    soft.look(state, runs, now)
    assert why in soft.done
