"""Live runner on a bus in memory: which inputs a step takes, what is skipped, what health says."""

from __future__ import annotations

import threading
import time

import pytest

from lcmtypes.channels import BODY_STATE, CONTACT_PLAN, IMU, JOINT_STATE, LEG_STATE, PROC_HEALTH
from lcmtypes.generated import Estop
from procs.runtime import live
from procs.runtime.bus import Bus
from procs.runtime.live import LiveProcess
from tools.launch import private_url


@pytest.fixture
def process(toy, robot, memory_bus):
    """The toy process and what it sent."""
    process = LiveProcess(toy(), robot, memory_bus)
    process.sent = []
    memory_bus.subscribe((BODY_STATE, LEG_STATE, PROC_HEALTH), lambda c, m: process.sent.append((c, m)))
    return process


def give(process, *messages):
    """Publish, let the process read all that is there, and step it; what it sent."""
    for channel, message in messages:
        process.bus.publish(channel, message)
    while process.bus.drain():
        pass
    process.sent.clear()
    process.step()
    process.bus.drain()
    return [(channel, message.seq) for channel, message in process.sent]


def used(process):
    return process.sent[0][1].used


def test_a_trigger_with_its_inputs_is_stepped_at_once(process, sample):
    assert give(process, *sample(1, 0)) == [(BODY_STATE, 0), (LEG_STATE, 0)]
    assert process.step() is False


def test_lock_step_waits_for_the_message_of_the_tick_before(process, sample, plan):
    give(process, *sample(1, 0))
    assert give(process, *sample(1, 1)) == []
    assert give(process, (CONTACT_PLAN, plan(1, 0))) == [(BODY_STATE, 1), (LEG_STATE, 1)]
    assert used(process)[:2] == [1, 0]


def test_lock_step_does_not_wait_for_ever(process, sample, monkeypatch):
    monkeypatch.setattr(live, "PATIENCE", 0.02)
    give(process, *sample(1, 0))
    assert give(process, *sample(1, 1)) == []
    time.sleep(0.03)
    assert give(process) == [(BODY_STATE, 1), (LEG_STATE, 1)]
    assert used(process)[:2] == [1, -1]


def test_real_time_takes_the_newest_there_is(process, sample, plan):
    give(process, *sample(1, 0, 0), (CONTACT_PLAN, plan(1, 0)))
    assert give(process, *sample(1, 1, 0)) != []
    assert give(process, *sample(1, 2, 0)) != []
    assert used(process)[:2] == [2, 0]


def test_real_time_steps_without_a_lost_input_of_its_tick_although_new_triggers_come(process, sample, monkeypatch):
    monkeypatch.setattr(live, "REAL_TIME_PATIENCE", 0.01)
    give(process, *sample(1, 0, 0))
    assert give(process, sample(1, 1, 0)[1]) == []
    time.sleep(0.006)
    assert give(process, sample(1, 2, 0)[1]) == []
    time.sleep(0.006)
    assert give(process, sample(1, 3, 0)[1]) == [(BODY_STATE, 3), (LEG_STATE, 3)]
    assert used(process)[0] == 0  # the imu of tick 0, and it says so


def test_a_sample_sent_again_is_answered_again_without_a_step(process, sample):
    first = give(process, *sample(1, 0))
    assert give(process, *sample(1, 0)) == first
    assert process.engine.core.steps == 1


def test_of_a_burst_the_newest_is_stepped_and_the_others_are_counted_as_missed(process, sample):
    give(process, *sample(1, 0))
    burst = [pair for seq in range(1, 3001) for pair in sample(1, seq, 0)]
    assert give(process, *burst) == [(BODY_STATE, 3000), (LEG_STATE, 3000)]
    assert health(process).missed == 2999


def test_triggers_skipped_before_the_first_step_of_a_run_are_counted_too(process, sample):
    give(process, *[pair for seq in range(100) for pair in sample(1, seq, 0)])
    assert health(process).missed == 99
    give(process, *sample(1, 105, 0))
    assert health(process).missed == 104


def health(process):
    process.sent.clear()
    process.report()
    process.bus.drain()
    return process.sent[-1][1]


def test_health_counts_and_names_what_was_wrong(process, sample):
    for seq in (5, 5, 3):
        give(process, *sample(1, seq, 0))
    process.bus.publish_raw(IMU.name, Estop().encode())
    process.bus.drain()
    report = health(process)
    assert (report.name, report.ticks, report.repeated, report.old) == ("toy", 1, 1, 1)
    assert report.decode_errors == 1
    assert "imu" in report.last_error


def test_a_new_run_resets_the_core(process, sample):
    for seq in range(3):
        give(process, *sample(1, seq, 0))
    give(process, *sample(2, 0))
    assert process.engine.core.steps == 1


def test_a_core_that_can_is_warmed_up_before_the_first_trigger(toy, robot, memory_bus):
    process = LiveProcess(toy(), robot, memory_bus)
    seen = []
    process.engine.core.warm_up = lambda: (seen.append(process.health.state), process.stop())
    process.run()
    assert seen == ["starting"]


@pytest.fixture
def running(toy, robot):
    """A process running in a thread on UDP, and a bus beside it."""
    url = private_url()
    process = LiveProcess(toy(), robot, Bus(url))
    thread = threading.Thread(target=process.run)
    beside = Bus(url)
    seen = []
    beside.subscribe((PROC_HEALTH, LEG_STATE), lambda c, m: seen.append((c, m)))
    thread.start()
    yield process, beside, seen
    process.stop()
    thread.join(10)


def until(bus, condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        bus.wait(0.05)
    assert condition()


def test_health_comes_without_ticks_and_says_waiting(running):
    _process, beside, seen = running
    until(beside, lambda: sum(m.state == "waiting" for _, m in seen) >= 2)


def test_an_idle_process_hardly_wakes(running, monkeypatch):
    process, beside, seen = running
    until(beside, lambda: any(m.state == "waiting" for _, m in seen))
    wakes, wait = [], process.bus.wait
    monkeypatch.setattr(process.bus, "wait", lambda seconds: wakes.append(seconds) or wait(seconds))
    until(beside, lambda: sum(m.state == "waiting" for _, m in seen) >= 3)
    assert len(wakes) < 40


def test_a_running_process_survives_everything_that_can_be_wrong_on_a_channel(running, sample):
    _process, beside, seen = running
    until(beside, lambda: any(m.state == "waiting" for _, m in seen))
    for data in (b"", b"x", Estop().encode(), b"\0" * 5000):
        beside.publish_raw(JOINT_STATE.name, data)
    for pair in sample(1, 0):
        beside.publish(*pair)
    until(beside, lambda: any(c is LEG_STATE for c, _ in seen))
    until(beside, lambda: any(c is PROC_HEALTH and m.decode_errors == 4 for c, m in seen))
    assert "joint_state" in [m for c, m in seen if c is PROC_HEALTH][-1].last_error
