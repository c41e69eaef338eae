"""Who is obeyed: priority, freshness, and no speed that nobody asked for when one operator drops out."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcmtypes.generated import MotionCommand
from procs.controller.command import CommandFilter
from procs.controller.operators import MOST, Operators

RUN = 1


class Stage:
    """Operators who speak at 50 Hz, each with a speed of its own."""

    def __init__(self, robot):
        self.filter = CommandFilter(robot)
        self.timeout = robot.description.control.limits.command_timeout
        self.dt, self.tick = robot.dt, 0

    def play(self, seconds, **speeds):
        """`kind=vx` for each that speaks; the newest message is held, as on the bus."""
        held = None
        for _ in range(round(seconds / self.dt)):
            for place, (kind, vx) in enumerate(speeds.items()):
                if self.tick % 10 == place:
                    held = MotionCommand()
                    held.source, held.seq, held.run, held.vx = f"{kind}:host:1", self.tick, RUN, vx
            self.held = held or getattr(self, "held", None)
            wanted = self.filter.update(self.held, RUN, True)
            self.tick += 1
        return wanted


@pytest.fixture
def stage(robot):
    return Stage(robot)


def test_the_higher_priority_takes_over_at_once(stage):
    assert stage.play(1.0, scenario=0.4).goal[0] == pytest.approx(0.4)
    wanted = stage.play(0.1, scenario=0.4, keyboard=-0.2)
    assert (wanted.source, wanted.goal[0]) == ("keyboard:host:1", pytest.approx(-0.2))
    wanted = stage.play(0.1, scenario=0.4, keyboard=-0.2, gamepad=0.1)
    assert (wanted.source, wanted.goal[0]) == ("gamepad:host:1", pytest.approx(0.1))


def test_a_lower_priority_moves_nothing(stage):
    stage.play(1.0, keyboard=0.0)
    wanted = stage.play(1.0, keyboard=0.0, command=0.5)
    assert wanted.source == "keyboard:host:1"
    assert not wanted.velocity.any()


def test_a_dead_source_is_dropped_in_its_time_and_the_robot_stops(stage):
    stage.play(1.0, scenario=0.4)
    stage.play(1.0, scenario=0.4, keyboard=0.3)
    before = stage.play(stage.timeout - 0.05, scenario=0.4)
    assert (before.source, before.goal[0]) == ("keyboard:host:1", pytest.approx(0.3))
    after = stage.play(0.1, scenario=0.4)
    assert (after.source, after.goal[0]) == ("scenario:host:1", 0.0)
    assert stage.play(3.0, scenario=0.4).goal[0] == 0.0  # it goes on asking for what it asked while it was overruled
    assert stage.play(0.1, scenario=0.0).goal[0] == 0.0
    assert stage.play(0.1, scenario=0.4).goal[0] == pytest.approx(0.4)


def test_who_begins_after_the_other_has_gone_is_obeyed_at_once(stage):
    stage.play(1.0, keyboard=0.3)
    stage.play(stage.timeout + 0.1)
    assert stage.play(0.1, command=0.4).goal[0] == pytest.approx(0.4)


def test_of_equals_the_one_that_is_obeyed_goes_on(stage):
    stage.play(0.5, a=0.1)
    assert stage.play(0.5, a=0.1, b=0.2).source == "a:host:1"
    stage.play(stage.timeout + 0.1, b=0.2)
    assert stage.play(0.1, b=0.2).source == "b:host:1"


def test_without_anyone_nobody_is_named(stage):
    assert stage.play(0.1).source == ""
    stage.play(0.5, keyboard=0.3)
    assert stage.play(stage.timeout + 0.1).source == ""


SPEECH = st.lists(st.tuples(st.sampled_from(["gamepad", "keyboard", "command", "x"]), st.integers(0, 400)), max_size=60)


@settings(max_examples=60, deadline=None)
@given(SPEECH)
def test_who_is_obeyed_is_the_highest_of_the_fresh(robot, speech):
    operators, last = Operators(robot), {}
    control, t = robot.description.control, 0
    held = None
    for seq, (kind, pause) in enumerate(speech):
        for k in range(pause + 1):
            if k == pause:
                held = MotionCommand()
                held.source, held.seq, held.run = kind, seq, RUN
                last[kind] = t
            operators.update(held, RUN)
            fresh = {n for n, at in last.items() if (t - at) * robot.dt <= control.limits.command_timeout + 1e-9}
            edge = any(abs((t - at) * robot.dt - control.limits.command_timeout) < robot.dt for at in last.values())
            if fresh and not edge:
                assert operators.chosen.name == max(fresh, key=lambda n: control.sources.get(n, 0))
            t += 1
    assert len(operators._sources) <= MOST
    assert operators.age == math.inf or operators.chosen is not None
