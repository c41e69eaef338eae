"""Logs: stamps that let a player run at true speed, and files that are cut off or foreign."""

from __future__ import annotations

import pytest

from lcmtypes.channels import IMU, JOINT_COMMAND, JOINT_STATE, MOTION_COMMAND, PROC_HEALTH
from lcmtypes.generated import Imu
from procs.runtime.logs import LogError, LogWriter, raw_events, read_log

START = 1_000_000_000  # us, wall clock


@pytest.fixture
def write(tmp_path):
    """A log of (channel, run, seq, wall clock us); returns its path."""

    def make(events):
        path = tmp_path / "a.lcmlog"
        with LogWriter(path) as log:
            for channel, run, seq, wall in events:
                message = channel.type(12) if channel in (JOINT_STATE, JOINT_COMMAND) else channel.type()
                message.run, message.seq, message.utime = run, seq, 2000 * seq
                log.write(channel, message, wall)
        return path

    return make


def stamps(path):
    return [stamp for stamp, _, _ in raw_events(path)]


@pytest.mark.parametrize("wall_per_tick", [200, 2000, 9000], ids=["fast", "real time", "slow"])
def test_a_log_spans_the_runs_time_however_fast_it_was_run(write, wall_per_tick):
    events = []
    for k in range(5000):
        wall = START + k * wall_per_tick
        events += [(IMU, 5, k, wall), (JOINT_STATE, 5, k, wall), (JOINT_COMMAND, 5, k, wall)]
    times = stamps(write(events))
    assert times[-1] - times[0] == 4999 * 2000
    assert times == sorted(times)


def test_operators_and_health_do_not_disturb_the_time_of_the_run(write):
    events = []
    for k in range(1000):
        wall = START + k * 9000
        events += [(IMU, 5, k, wall), (MOTION_COMMAND, 0, 123_456 + k, wall), (PROC_HEALTH, 0, k, wall)]
    times = stamps(write(events))
    assert times[-1] - times[0] == 999 * 2000
    assert times == sorted(times)


def test_late_messages_of_an_earlier_run_do_not_begin_a_new_one(write):
    events = [(IMU, 5, k, START + 500 * k) for k in range(100)]
    for k in range(100):
        events += [(IMU, 6, k, START + 500 * (100 + k)), (JOINT_COMMAND, 5, 90, START + 500 * (100 + k))]
    times = stamps(write(events))
    assert times[-1] - times[0] == pytest.approx(198 * 2000, abs=4000)
    assert times == sorted(times)


def test_before_the_first_run_the_wall_clock_counts(write):
    times = stamps(write([(PROC_HEALTH, 0, 0, START), (PROC_HEALTH, 0, 1, START + 7), (IMU, 5, 0, START + 90)]))
    assert times == [START, START + 7, START + 90]


def test_a_log_that_is_cut_off_is_read_up_to_the_cut(write):
    path = write([(IMU, 5, k, START) for k in range(100)])
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2 + 3])
    seqs = [event.message.seq for event in read_log(path)]
    assert seqs == list(range(len(seqs)))
    assert 40 < len(seqs) < 60


def test_what_cannot_be_decoded_is_skipped(tmp_path):
    path = tmp_path / "b.lcmlog"
    with LogWriter(path) as log:
        log.write_raw("imu", b"nonsense", START)
        log.write_raw("no channel of ours", b"nonsense", START)
        log.write(IMU, Imu(), START)
    assert [event.channel for event in read_log(path)] == [IMU]


def test_a_log_that_is_not_there_is_an_error_that_names_it(tmp_path):
    with pytest.raises(LogError, match=r"nothing\.lcmlog"):
        list(raw_events(tmp_path / "nothing.lcmlog"))


def test_a_place_that_cannot_be_written_is_an_error_that_names_it(tmp_path):
    folder = tmp_path / "folder.lcmlog"
    folder.mkdir()
    with pytest.raises(LogError, match=r"folder\.lcmlog"):
        LogWriter(folder)
