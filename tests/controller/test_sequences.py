"""Any sequence of requests, faults and buttons keeps to the table of modes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcmtypes.generated import Estop, Reset
from procs.controller.controller import Controller
from procs.controller.modes import EDGES, FORCED, TARGETS
from procs.model.rotations import rpy_to_quat

LEVEL, FALLEN = np.array([1.0, 0, 0, 0]), rpy_to_quat(np.array([2.0, 0, 0]))
EVENTS = st.one_of(
    st.sampled_from(TARGETS).map(lambda m: ("ask", m)),
    st.sampled_from(TARGETS).map(lambda m: ("ask", m)),
    st.sampled_from(["estop", "reset", "fall", "rise", "unwell", "well", "silent", "lift", "set"]).map(
        lambda e: (e, "")
    ),
)
SECONDS = st.sampled_from([0.002, 0.05, 0.4, 1.0])


@pytest.fixture(scope="module")
def core(robot):
    return Controller(robot)


def happen(bench, kind, mode, count):
    bench.live = kind != "silent"
    if kind == "ask":
        bench.ask(mode, vx=0.3)
    elif kind in ("fall", "rise"):
        bench.quat = FALLEN if kind == "fall" else LEVEL
    elif kind in ("unwell", "well"):
        bench.invalid = "imu lost" if kind == "unwell" else ""
    elif kind in ("lift", "set"):
        bench.contact = float(kind == "set")
    elif kind in ("estop", "reset"):
        bench.press(Estop if kind == "estop" else Reset, seq=count)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(EVENTS, SECONDS), min_size=3, max_size=10))
def test_only_edges_of_the_table_are_taken(core, bench_of, events):
    bench = bench_of(core.robot, core)
    core.reset()
    bench.press(Reset, seq=-1)
    bench.quat = LEVEL
    bench.tick()
    before, came, entered = bench.tick().state, "", 0
    modes = bench.robot.description.control.modes
    shortest = {"stand": modes.stand_up, "down": modes.lie_down}
    for count, ((kind, mode), seconds) in enumerate(events):
        happen(bench, kind, mode, count)
        for _ in range(round(seconds / bench.robot.dt)):
            out = bench.tick()
            now = out.state
            if now.mode != before.mode:
                assert now.mode in EDGES[before.mode] or now.mode in FORCED, (before.mode, now.mode)
                if now.mode not in ("shutdown", *FORCED) and came != "walk":
                    assert bench.seq - entered >= shortest.get(before.mode, 0.0) / bench.robot.dt - 1, "busy"
                came, entered = before.mode, bench.seq
                if now.mode not in FORCED:
                    assert before.mode != "estop"
                if now.mode == "walk":
                    assert not bench.invalid
                    assert bench.quat is not FALLEN
            if bench.quat is FALLEN:
                assert now.mode not in ("stand", "walk", "down")
            if now.mode in ("ready", *FORCED):
                assert not out.command.kp_joint.any()
                assert not out.command.f_ff.any()
            assert now.target in (*TARGETS, now.mode)
            before = now
