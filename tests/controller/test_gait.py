"""Schedules of stance and swing, steady and through switches at any time."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.load import load_robot, robot_names
from procs.controller.gait import LEAD, NEVER, GaitSchedule

DT = 0.002
ROBOTS = {name: load_robot(name) for name in robot_names()}
CASES = [(r, g) for r, d in ROBOTS.items() for g in d.control.gaits]
MOVING = [(r, g) for r, g in CASES if ROBOTS[r].control.gaits[g].duty < 1.0]


def schedule(robot):
    description = ROBOTS[robot]
    return GaitSchedule(description.control.gaits, len(description.legs.placed))


def play(gait, until, start=0.0, switches=()):
    """Step to `until`, switching at (time, name); returns per leg the list of (stance, begin, end), complete ones."""
    phases = [[] for _ in gait.stance]
    waiting = sorted(switches)
    stance, began = gait.stance.copy(), gait.since.copy()
    for k in range(1, round((until - start) / DT) + 1):
        t = start + k * DT
        while waiting and waiting[0][0] <= t:
            gait.switch(waiting.pop(0)[1], t)
        gait.update(t)
        for leg in np.flatnonzero(gait.stance != stance):
            phases[leg].append((int(stance[leg]), float(began[leg]), float(gait.since[leg])))
        stance, began = gait.stance.copy(), gait.since.copy()
    return phases


@pytest.mark.parametrize(("robot", "name"), MOVING)
def test_a_steady_gait_has_the_times_and_offsets_of_its_description(robot, name):
    gait, spec = schedule(robot), ROBOTS[robot].control.gaits[name]
    gait.start(1.0, name)
    for leg, phases in enumerate(play(gait, 1.0 + 6 * spec.period, 1.0)):
        assert len(phases) > 6, "every leg takes part"
        for stance, begin, end in phases[2:]:
            length = spec.duty if stance else 1.0 - spec.duty
            assert end - begin == pytest.approx(length * spec.period, abs=1e-9)
        lift = phases[-1][2] if phases[-1][0] else phases[-1][1]
        turn = (lift - gait.origin) / spec.period - spec.offsets[leg] - spec.duty
        assert turn == pytest.approx(round(turn), abs=1e-6)


@pytest.mark.parametrize(("robot", "name"), CASES)
def test_it_begins_with_all_feet_down_and_time_to_shift_the_load(robot, name):
    gait = schedule(robot)
    gait.start(2.0, name)
    gait.update(2.0 + 0.9 * LEAD)
    assert gait.stance.all()


@pytest.mark.parametrize("robot", list(ROBOTS))
def test_the_gait_stand_puts_every_foot_down_and_leaves_it_there(robot):
    gait = schedule(robot)
    name = ROBOTS[robot].control.default_gait
    gait.start(0.0, name)
    play(gait, 1.1)
    gait.switch("stand", 1.1)
    play(gait, 5.0, 1.1)
    assert gait.stance.all()
    assert (gait.until >= NEVER).all()
    assert (gait.progress(5.0) == 0.5).all()


@st.composite
def walks(draw):
    robot = draw(st.sampled_from(list(ROBOTS)))
    names = [g for g in ROBOTS[robot].control.gaits if ROBOTS[robot].control.gaits[g].duty < 1.0]
    period = ROBOTS[robot].control.gaits[names[0]].period
    first = draw(st.sampled_from(names))
    steps = draw(st.lists(st.tuples(st.floats(0.05, 8.0), st.sampled_from(names)), min_size=1, max_size=5))
    times = itertools.accumulate(x * period for x, _ in steps)
    return robot, first, [(t, name) for t, (_, name) in zip(times, steps, strict=True)]


@settings(max_examples=80, deadline=None)
@given(walks())
def test_through_any_switches_legs_alternate_swings_are_whole_and_no_stance_is_endless(walk):
    robot, first, switches = walk
    gaits = ROBOTS[robot].control.gaits
    gait = schedule(robot)
    gait.start(0.0, first)
    longest = max(g.period for g in (gaits[first], *(gaits[n] for _, n in switches)))
    swings = {round((1 - g.duty) * g.period, 6) for g in gaits.values()}
    for phases in play(gait, switches[-1][0] + 4 * longest, 0.0, switches):
        assert phases
        assert all(a[0] != b[0] for a, b in itertools.pairwise(phases))
        for stance, begin, end in phases:
            if not stance:
                assert round(end - begin, 6) in swings
            else:
                last = max([begin, *(t for t, _ in switches if t < end)])  # what a switch may put off
                rest = 0.5 * min(longest, 0.3)  # the least a leg stands once it has landed
                assert end - last <= longest + rest + DT
                assert end - begin >= LEAD - 1e-9


@settings(max_examples=60, deadline=None)
@given(walks(), st.floats(0.01, 0.06), st.integers(2, 20))
def test_the_table_says_what_the_schedule_then_does(walk, step, horizon):
    robot, first, switches = walk
    gait = schedule(robot)
    gait.start(0.0, first)
    t = switches[-1][0] + 0.5 * step
    play(gait, t, 0.0, switches)
    t = round(t / DT) * DT
    contact, began = gait.table(t, step, horizon)
    assert (contact[0] == gait.stance).all()
    assert (began[0] == gait.since).all()
    for k in range(1, horizon):
        at = t + (k + 0.5) * step
        for _ in range(20):  # more than one event of a leg may lie in a stage
            gait.update(at)
        assert (contact[k] == gait.stance).all(), k
        np.testing.assert_allclose(began[k], gait.since, atol=1e-9)


def test_phase_and_progress_stay_within_their_ranges():
    gait = schedule("mini_cheetah")
    gait.start(0.3, "trot")
    for k in range(1000):
        t = 0.3 + k * DT
        gait.update(t)
        assert 0.0 <= gait.phase(t) < 1.0
        assert ((gait.progress(t) >= 0.0) & (gait.progress(t) <= 1.0)).all()
