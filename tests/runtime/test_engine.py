"""Engine: what a step means, whoever drives it."""

from __future__ import annotations

import pytest

from lcmtypes.channels import BODY_STATE, CONTACT_PLAN, IMU, JOINT_STATE, LEG_STATE, MOTION_COMMAND
from procs.runtime.engine import Engine


@pytest.fixture
def engine(toy, robot):
    return Engine(toy(), robot)


def inputs(sample, run, seq, plan=None, motion=None):
    return {**dict(sample(run, seq)), CONTACT_PLAN: plan, MOTION_COMMAND: motion}


def test_answers_carry_the_triggers_header_and_come_in_the_declared_order(engine, sample):
    sent = engine.step(inputs(sample, 3, 5))
    assert [channel for channel, _ in sent] == [BODY_STATE, LEG_STATE]
    assert all((m.run, m.seq, m.utime) == (3, 5, 10000) for _, m in sent)


def test_used_names_what_each_declared_read_gave(engine, sample, plan, motion):
    sent = engine.step(inputs(sample, 3, 5, plan(3, 4), motion(0, 812)))
    assert [m.used for _, m in sent] == [[5, 4, 812]] * 2
    given = inputs(sample, 3, 6)
    given[IMU] = None
    assert engine.step(given)[0][1].used == [-1, -1, -1]


def test_a_new_run_resets_the_core(engine, sample):
    for seq in range(3):
        engine.step(inputs(sample, 3, seq))
    assert engine.core.steps == 3
    sent = engine.step(inputs(sample, 2, 0))
    assert sent[0][1].position[0] == 1.0
    assert engine.counts.missed == 0


def test_a_trigger_seen_twice_gets_the_last_answer_again_without_a_step(engine, sample):
    first = engine.step(inputs(sample, 3, 0))
    again = engine.step(inputs(sample, 3, 0))
    assert [m.encode() for _, m in again] == [m.encode() for _, m in first]
    assert (engine.core.steps, engine.counts.ticks, engine.counts.repeated) == (1, 1, 1)


def test_a_lower_seq_of_the_same_run_is_ignored_and_counted(engine, sample):
    engine.step(inputs(sample, 3, 4))
    assert engine.step(inputs(sample, 3, 2)) == []
    assert (engine.core.steps, engine.counts.old) == (1, 1)


def test_ticks_that_never_came_are_counted_as_missed(engine, sample):
    for seq in (0, 1, 5):
        engine.step(inputs(sample, 3, seq))
    assert engine.counts.missed == 3


def test_a_result_that_is_not_finite_is_not_sent_but_counted_and_named(engine, sample):
    engine.core.wrong.add(1)
    engine.step(inputs(sample, 3, 0))
    sent = engine.step(inputs(sample, 3, 1))
    assert [channel for channel, _ in sent] == [LEG_STATE]
    assert engine.counts.not_finite == 1
    assert "body_state 1" in engine.counts.last_error


def test_a_slow_process_repeats_its_answer_with_the_new_seq_between_its_steps(toy, robot, sample):
    engine = Engine(toy(every=4), robot)
    sent = [engine.step(inputs(sample, 3, seq)) for seq in range(9)]
    assert [s[0][1].position[0] for s in sent] == [1, 1, 1, 1, 2, 2, 2, 2, 3]
    assert [s[0][1].seq for s in sent] == list(range(9))
    assert [s[0][1].utime for s in sent] == [2000 * k for k in range(9)]
    assert [s[0][1].used[0] for s in sent] == [0, 0, 0, 0, 4, 4, 4, 4, 8]


def test_a_slow_process_that_misses_its_tick_steps_at_the_next(toy, robot, sample):
    engine = Engine(toy(every=4), robot)
    answers = [engine.step(inputs(sample, 3, seq))[0][1] for seq in (0, 3, 5, 6, 7, 8)]
    assert [m.position[0] for m in answers] == [1, 1, 2, 2, 2, 3]


def test_a_slow_process_never_answers_a_new_run_with_the_old_ones_result(toy, robot, sample):
    engine = Engine(toy(every=4), robot)
    engine.step(inputs(sample, 3, 0))
    answer = engine.step(inputs(sample, 9, 1))[0][1]
    assert (answer.run, answer.seq, answer.used[0]) == (9, 1, 1)


def test_trigger_kinds_are_told_apart(engine, sample):
    def kind(run, seq):
        return engine.classify(dict(sample(run, seq))[JOINT_STATE])

    assert kind(3, 0) == "new"
    engine.step(inputs(sample, 3, 5))
    assert [kind(3, 5), kind(3, 4), kind(3, 6), kind(4, 0)] == ["repeated", "old", "new", "new"]
