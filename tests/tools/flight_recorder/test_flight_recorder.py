"""The recorder on a bus of its own, turned by hand; what it saved opens with the tools."""

from __future__ import annotations

import os
import time

import pytest

from config.load import load_robot
from config.scenario import Scenario
from lcmtypes.channels import ESTOP, JOINT_STATE, MODE_STATE, PROC_HEALTH
from lcmtypes.generated import Estop
from procs.model.robot import Robot
from procs.runtime.bus import Bus
from procs.runtime.logs import raw_events, read_log
from procs.runtime.replay import replay
from tools.flight_recorder.__main__ import FlightRecorder
from tools.flight_recorder.saving import AFTER
from tools.launch import private_url
from tools.record import robot_config
from tools.recording import Recording
from tools.stack import SPECS, rollout


class Clock:
    """time.monotonic of the recorder's module, moved by the test; the rest of time as it is."""

    def __init__(self):
        self.now = 1000.0

    def monotonic(self):
        return self.now

    def __getattr__(self, name):
        return getattr(time, name)


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("tools.flight_recorder.__main__.time", clock)
    return clock


@pytest.fixture(scope="module")
def config():
    return robot_config(load_robot("mini_cheetah"))


@pytest.fixture
def recorder(tmp_path, clock, config):
    """A recorder, and send(seconds, channel, message) which lets it take one message after some time."""

    def make(**options):
        recorder = FlightRecorder(tmp_path / "logs", private_url(), config, **options)
        sender = Bus(recorder.bus.url)

        def send(passed, channel, message):
            clock.now += passed
            sender.publish(channel, message)
            end = time.monotonic() + 20
            while channel.name not in recorder._names and time.monotonic() < end:
                recorder.bus.wait(0.01)
            assert channel.name in recorder._names  # not only what the recorder itself has sent
            recorder.turn()

        return recorder, send

    return make


def sample(seq, run=7):
    message = JOINT_STATE.type(12)
    message.run, message.seq, message.utime = run, seq, 2000 * seq
    return message


def press(seq):
    message = Estop()
    message.source, message.seq = "test", seq
    return message


def recorded(path):
    return [e.message.seq for e in read_log(path, {JOINT_STATE})]


def test_an_estop_saves_what_was_before_and_five_seconds_after(recorder):
    rec, send = recorder(seconds=10.0)
    for k in range(40):
        send(0.5, JOINT_STATE, sample(k))
    send(0.0, ESTOP, press(1))
    for k in range(40, 60):
        send(0.5, JOINT_STATE, sample(k))
    (path,) = rec.saved
    assert recorded(path) == list(range(19, 40 + round(AFTER / 0.5))), "10 s before, 5 s after"
    assert len(list(read_log(path, {ESTOP}))) == 1
    assert rec.said == f"saved {path} (estop by test: )"
    assert rec.flight is None


def test_what_is_told_is_heard_on_the_bus(recorder):
    rec, send = recorder()
    ear, heard = Bus(rec.bus.url), []
    ear.subscribe((PROC_HEALTH,), lambda _c, m: heard.append(m.last_error))
    send(0.0, ESTOP, press(1))
    rec.close()
    end = time.monotonic() + 20
    while not heard and time.monotonic() < end:
        ear.wait(0.05)
    assert heard == [rec.said]


def test_a_storm_of_faults_makes_one_file_and_none_holds_a_message_twice(recorder):
    rec, send = recorder()
    seen = []
    for k in range(100):  # 2.5 minutes with a fault every 1.5 s
        send(1.5, JOINT_STATE, sample(k))
        send(0.0, ESTOP, press(k))
    rec.close()
    assert len(rec.saved) == 2
    for path in rec.saved:
        seen += recorded(path)
    assert seen == list(range(100))


def test_a_pending_file_is_not_lost_when_the_recorder_is_stopped(recorder):
    rec, send = recorder()
    for k in range(5):
        send(0.1, JOINT_STATE, sample(k))
    send(0.0, ESTOP, press(1))
    send(0.1, JOINT_STATE, sample(5))
    rec.stop()
    rec.run()
    assert recorded(rec.saved[0]) == list(range(6))


def test_without_a_reason_nothing_is_saved(recorder, tmp_path):
    rec, send = recorder()
    send(0.1, JOINT_STATE, sample(0))
    rec.stop()
    rec.run()
    assert list((tmp_path / "logs").iterdir()) == []


def test_the_death_of_the_parent_is_a_reason(recorder):
    rec, send = recorder()
    send(0.1, JOINT_STATE, sample(0))
    rec.stop()
    rec.run(parent=1)
    assert rec.saved[0].name.endswith("the_supervisor_died.lcmlog")
    assert recorded(rec.saved[0]) == [0]


def test_it_records_everything_too_where_asked(recorder, tmp_path):
    rec, send = recorder(record=tmp_path / "all.lcmlog", seconds=1.0)
    for k in range(20):
        send(0.5, JOINT_STATE, sample(k))
    rec.close()
    assert recorded(tmp_path / "all.lcmlog") == list(range(20))


def test_old_files_make_room(recorder):
    rec, send = recorder(keep=(3, 10**9))
    for k in range(6):
        send(0.0, ESTOP, press(k))
        send(AFTER + 0.1, JOINT_STATE, sample(k))
        send(1.0, JOINT_STATE, sample(100 + k))
        os.utime(rec.saved[-1], (k, k))  # as if a minute lay between them
    assert len(rec.saved) == 6
    assert sorted(p.name for p in rec.folder.iterdir()) == sorted(p.name for p in rec.saved[3:])


def test_a_folder_that_cannot_be_written_is_told_and_the_recorder_goes_on(recorder, tmp_path):
    rec, send = recorder()
    rec.folder.rmdir()
    rec.folder.write_text("a file in its place")
    send(0.0, ESTOP, press(1))
    assert "cannot save the last 60 s (estop by test: )" in rec.said
    rec.folder.unlink()
    send(1.0, ESTOP, press(2))
    rec.close()
    assert len(rec.saved) == 1


def test_what_ends_in_an_estop_opens_with_recording_and_replays_bit_for_bit(recorder, tmp_path, clock):
    """The whole chain: a rollout's messages through the bus and the ring into a file."""
    robot, log = Robot(load_robot("mini_cheetah")), tmp_path / "walk.lcmlog"
    commands = [{"t": 0.0, "mode": "stand"}, {"t": 0.8, "estop": True}]
    rollout(Scenario(name="flight", duration=1.0, commands=commands), robot, seed=1, log=log)
    rec, _ = recorder()
    sender, sent = Bus(rec.bus.url), 0
    for _stamp, name, data in raw_events(log):
        sender.publish_raw(name, data)
        sent += 1
        if sent % 500 == 0:  # as fast as the kernel's buffer is taken
            while rec.bus.wait(0.02):
                pass
            clock.now += 0.1
            rec.turn()
    end = time.monotonic() + 20
    while rec.messages < sent and time.monotonic() < end:
        rec.bus.wait(0.02)
        rec.turn()
    clock.now += AFTER + 1
    rec.turn()
    rec.close()
    (path,) = rec.saved
    assert "estop" in path.name
    recording = Recording.from_log(path)
    assert len(recording.of(JOINT_STATE)) == 500
    assert recording.of(MODE_STATE)[-1].mode == "estop"
    for spec in SPECS.values():
        result = replay(path, spec)
        assert result.exact and result.tolerance == 0, f"{spec.name}: {result.first} {result.notes}"
