"""Runner of processes that only look on: every tick, in order, with its own inputs, however they come."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from lcmtypes.channels import BODY_STATE, CONTACT_PLAN, GROUND_TRUTH, IMU, JOINT_STATE, LEG_STATE
from lcmtypes.generated import GroundTruth
from procs.runtime.onlooker import KEPT, PATIENCE, LiveOnlooker
from procs.runtime.spec import ProcessSpec, latest, previous, same


@pytest.fixture
def looks_on(toy, robot, memory_bus):
    """An onlooker on the toy core that reads ground_truth besides, and the ticks it published."""
    spec = toy()
    spec = ProcessSpec("toy", JOINT_STATE, (same(IMU), latest(GROUND_TRUTH)), spec.writes, spec.core)
    process = LiveOnlooker(spec, robot, memory_bus, gather=0.0)
    process.seen = []
    memory_bus.subscribe((LEG_STATE,), lambda _c, m: process.seen.append(m.seq))
    return process


def give(process, *messages):
    """Publish, read, step; the ticks it published."""
    for channel, message in messages:
        process.bus.publish(channel, message)
    while process.bus.drain():
        pass
    process.seen.clear()
    process.step()
    process.bus.drain()
    return list(process.seen)


def test_all_ticks_that_came_meanwhile_are_stepped_in_order(looks_on, sample):
    ticks = [m for k in range(7) for m in sample(1, k)]
    assert give(looks_on, *ticks) == [0, 1, 2, 3, 4, 5, 6]
    assert looks_on.engine.counts.missed == 0
    assert looks_on.step() is False


def test_a_tick_waits_for_its_input_and_the_later_ones_behind_it(looks_on, sample):
    imu, joints = sample(1, 0)
    assert give(looks_on, joints) == []
    assert give(looks_on, *sample(1, 1)) == []
    assert give(looks_on, imu) == [0, 1]
    assert looks_on.engine.core.given[0][IMU].seq == 0


def test_what_never_comes_is_given_up_after_some_newer_ticks(looks_on, sample):
    give(looks_on, *sample(1, 0))
    assert give(looks_on, sample(1, 1)[1]) == []
    assert give(looks_on, *[m for k in range(2, 1 + PATIENCE) for m in sample(1, k)]) == []
    assert give(looks_on, *sample(1, 1 + PATIENCE)) == [1, 2, 3, 4, 5]
    assert looks_on.engine.core.given[1][IMU] is None


def test_a_latest_input_is_the_one_of_the_tick_and_is_not_waited_for(looks_on, sample, tick):
    first = [*sample(1, 0), (GROUND_TRUTH, tick(GroundTruth, 1, 0, 4, 12))]
    ahead = (GROUND_TRUTH, tick(GroundTruth, 1, 2, 4, 12))
    assert give(looks_on, *first, *sample(1, 1), ahead) == [0, 1]
    assert looks_on.engine.core.given[0][GROUND_TRUTH].seq == 0
    assert looks_on.engine.core.given[1][GROUND_TRUTH] is None


def test_ticks_without_trigger_do_not_heap_up(looks_on, sample):
    give(looks_on, *[sample(1, k)[0] for k in range(5 * KEPT)])
    assert len(looks_on._ticks) <= KEPT
    assert give(looks_on, *sample(1, 5 * KEPT)) == [5 * KEPT]


def test_a_trigger_that_is_sent_again_gives_nothing_again(looks_on, sample):
    assert give(looks_on, *sample(1, 0), *sample(1, 1)) == [0, 1]
    assert give(looks_on, sample(1, 1)[1], sample(1, 0)[1]) == []
    assert give(looks_on, *sample(1, 2)) == [2]
    assert looks_on.engine.counts.repeated == 2


def test_what_is_not_finite_is_not_sent(looks_on, sample):
    looks_on.engine.core.wrong.add(1)
    seen = []
    looks_on.bus.subscribe((BODY_STATE,), lambda _c, m: seen.append(m.seq))
    give(looks_on, *[m for k in range(3) for m in sample(1, k)])
    assert seen == [0, 2]


def test_a_read_of_the_tick_before_is_refused(toy, robot, memory_bus):
    spec = ProcessSpec("toy", JOINT_STATE, (previous(CONTACT_PLAN),), (BODY_STATE, LEG_STATE), toy().core)
    with pytest.raises(ValueError, match="tick before"):
        LiveOnlooker(spec, robot, memory_bus)


def test_standing_back_ends_real_time_scheduling_and_is_nice():
    code = (
        "import os; from procs.runtime.onlooker import stand_back; stand_back();"
        "print(os.sched_getscheduler(0) == os.SCHED_BATCH, os.nice(0))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    batch, nice = done.stdout.split()
    assert batch == "True"
    assert int(nice) == min(19, os.nice(0) + 5)
