"""Inbox: which message a step is given."""

from __future__ import annotations

import pytest

from lcmtypes.channels import CONTACT_PLAN, IMU, JOINT_STATE, MOTION_COMMAND
from procs.runtime.inbox import KEPT, Inbox


@pytest.fixture
def inbox(toy):
    return Inbox(toy())


def put(inbox, messages):
    for channel, message in messages:
        inbox.put(channel, message)


def test_same_and_previous_are_found_by_run_and_seq(inbox, sample, plan):
    put(inbox, [*sample(3, 5), (CONTACT_PLAN, plan(3, 4)), (CONTACT_PLAN, plan(3, 5)), (CONTACT_PLAN, plan(2, 4))])
    found, missing = inbox.inputs(inbox.trigger)
    assert (found[IMU].seq, found[CONTACT_PLAN].run, found[CONTACT_PLAN].seq) == (5, 3, 4)
    assert missing == []


def test_what_is_not_there_is_named_in_the_declared_order(inbox, sample):
    put(inbox, sample(3, 5)[1:])
    found, missing = inbox.inputs(inbox.trigger)
    assert missing == [IMU, CONTACT_PLAN]
    assert found[IMU] is None


def test_the_first_tick_has_no_previous_and_misses_none(inbox, sample):
    put(inbox, sample(3, 0))
    assert inbox.inputs(inbox.trigger)[1] == []


def test_an_operators_message_is_held_until_a_newer_one_comes(inbox, sample, motion):
    put(inbox, [(MOTION_COMMAND, motion(0, 10)), *sample(3, 0)])
    assert inbox.inputs(inbox.trigger)[0][MOTION_COMMAND].seq == 10
    put(inbox, sample(4, 0))
    assert inbox.inputs(inbox.trigger)[0][MOTION_COMMAND].seq == 10
    put(inbox, [(MOTION_COMMAND, motion(0, 3))])
    assert inbox.inputs(inbox.trigger)[0][MOTION_COMMAND].seq == 3


def test_the_newest_trigger_wins_and_the_others_are_counted(inbox, sample):
    for seq in range(100):
        put(inbox, sample(3, seq))
    assert (inbox.trigger.seq, inbox.skipped) == (99, 99)
    assert inbox.inputs(inbox.trigger)[0][IMU].seq == 99


def test_an_older_trigger_does_not_replace_a_newer_one(inbox, sample):
    put(inbox, [*sample(3, 5), *sample(3, 4), *sample(3, 5)])
    assert (inbox.trigger.seq, inbox.skipped, inbox.old) == (5, 0, 1)


def test_a_trigger_of_a_new_run_replaces_one_of_the_old(inbox, sample):
    put(inbox, [*sample(3, 900), *sample(4, 0)])
    assert (inbox.trigger.run, inbox.trigger.seq, inbox.skipped) == (4, 0, 1)


def test_memory_does_not_grow(inbox, sample, plan):
    for seq in range(1000):
        put(inbox, [*sample(3, seq), (CONTACT_PLAN, plan(3, seq))])
    assert {channel: len(ticks) for channel, ticks in inbox._ticks.items()} == {IMU: KEPT, CONTACT_PLAN: KEPT}


def test_newest_of_a_channel_is_of_the_run_asked_for(inbox, plan):
    put(inbox, [(CONTACT_PLAN, plan(3, 7)), (CONTACT_PLAN, plan(3, 6)), (CONTACT_PLAN, plan(4, 1))])
    assert inbox.newest(CONTACT_PLAN, 3).seq == 7
    assert inbox.newest(CONTACT_PLAN, 5) is None


def test_the_trigger_is_not_kept_as_an_input(inbox, sample):
    put(inbox, sample(3, 0))
    assert inbox.inputs(inbox.trigger)[0][JOINT_STATE] is inbox.trigger
