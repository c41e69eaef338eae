"""The table of modes and the machine that walks it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from procs.controller.modes import EDGES, FORCED, TARGETS, ModeMachine, path


def at(mode: str) -> ModeMachine:
    machine = ModeMachine()
    machine.enter(mode, busy=False)
    machine.target = mode
    return machine


def test_every_mode_leads_only_to_modes_of_the_table():
    assert {following for edges in EDGES.values() for following in edges} <= set(EDGES)


@pytest.mark.parametrize(
    ("start", "target", "chain"),
    [
        ("idle", "stand", ["ready", "stand"]),
        ("ready", "walk", ["stand", "walk"]),
        ("down", "walk", ["stand", "walk"]),
        ("walk", "down", ["stand", "down"]),
        ("walk", "shutdown", ["stand", "shutdown"]),
        ("recover", "shutdown", ["shutdown"]),
        ("damping", "stand", ["ready", "stand"]),
        ("damping", "walk", ["ready", "stand", "walk"]),
        ("joint_test", "stand", ["ready", "stand"]),
        ("shutdown", "stand", ["idle", "ready", "stand"]),
        ("stand", "ready", []),  # only through a shutdown, which must be asked for
        ("estop", "stand", []),
        ("stand", "stand", []),
    ],
)
def test_the_way_to_a_target_is_the_shortest_chain_of_the_table(start, target, chain):
    assert path(start, target) == chain


def test_joint_test_and_recover_are_entered_only_from_ready():
    for mode in ("joint_test", "recover"):
        assert [m for m, edges in EDGES.items() if mode in edges] == ["ready"]


def test_after_damping_the_only_way_on_is_ready():
    assert EDGES["damping"] == ("ready",)


def test_a_refused_target_changes_nothing_but_the_reason():
    machine = at("stand")
    machine.ask("fly")
    assert (machine.mode, machine.target, machine.busy) == ("stand", "stand", False)
    assert "'fly' is not a mode" in machine.reason


def test_a_very_long_mode_is_shortened_in_the_reason():
    machine = at("stand")
    machine.ask("x" * 10_000)
    assert len(machine.reason) < 200


@pytest.mark.parametrize("mode", FORCED)
def test_forced_modes_cannot_be_asked_for(mode):
    machine = at("stand")
    machine.ask(mode)
    assert machine.target == "stand"
    assert machine.reason


def test_a_busy_machine_keeps_the_new_target_and_goes_there_when_it_is_done():
    machine = at("ready")
    machine.enter("stand", busy=True)
    machine.ask("down")
    assert machine.next() == "stand"
    machine.done()
    assert machine.next() == "down"


def test_a_busy_machine_obeys_shutdown_at_once():
    machine = at("ready")
    machine.enter("stand", busy=True)
    machine.ask("shutdown")
    assert machine.next() == "shutdown"


def test_a_busy_walk_slows_down_before_shutdown():
    machine = at("walk")
    machine.busy = True
    machine.ask("shutdown")
    assert machine.next() == "walk"


def test_what_was_asked_before_a_fault_does_not_count_after_it():
    machine = at("stand")
    machine.ask("walk")
    machine.force("damping", "fall")
    assert machine.next() == "damping"
    assert machine.reason == machine.cause == "fall"


REQUESTS = st.one_of(
    st.sampled_from([*EDGES, "", "fly"]).map(lambda m: ("ask", m)),
    st.sampled_from([("done", ""), ("fault", ""), ("estop", ""), ("refuse", ""), ("go", "")]),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(REQUESTS, max_size=60))
def test_only_edges_of_the_table_are_taken_and_estop_is_left_by_none(events):
    machine = ModeMachine()
    for kind, mode in events:
        before, busy = machine.mode, machine.busy
        if kind == "ask":
            machine.ask(mode)
            assert (machine.mode, machine.busy) == (before, busy), "a request alone moves nothing"
        elif kind == "done":
            machine.done()
        elif kind == "refuse":
            machine.refuse("guard")
        elif kind == "go":
            following = machine.next()
            if following != before:
                assert following in EDGES[before]
                assert not busy or machine.target == "shutdown"
                machine.enter(following, busy=True)
        elif before != "estop":
            machine.force("damping" if kind == "fault" else "estop", kind)
        if before == "estop":
            assert machine.mode == "estop"
        assert machine.target in TARGETS or machine.target == machine.mode
        assert set(machine.allowed()) == {m for m in TARGETS if m != machine.mode and path(machine.mode, m)}
