"""Statistics in closed form."""

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcmtypes.channels import CHANNELS, IMU, MOTION_COMMAND
from lcmtypes.generated import Imu, MotionCommand
from tools.spy_text.table import COLUMNS, as_data, header, is_bad, line, summary
from tools.spy_text.traffic import SELF_TEST, WINDOW, Traffic


def imu(seq=0, run=1):
    message = Imu()
    message.quat[0], message.run, message.seq = 1.0, run, seq
    return message.encode()


def feed(traffic, times, data=None, name="imu", sender="a"):
    for k, t in enumerate(times):
        traffic.add(t, sender, name, imu(k) if data is None else data)


def only(traffic, now, **options):
    (row,) = traffic.rows(now, **options)
    return row


def test_an_even_channel_has_its_rate_no_jitter_and_its_bandwidth():
    traffic = Traffic()
    feed(traffic, [100 + 0.002 * k for k in range(1001)])
    row = only(traffic, 102.0)
    assert row.rate == pytest.approx(500.0)
    assert row.jitter == pytest.approx(0.0, abs=1e-9)
    assert row.longest == pytest.approx(0.002)
    assert row.bandwidth == pytest.approx(500.0 * len(imu()))
    assert (row.total, row.lost, row.errors, row.senders) == (1001, 0, 0, 1)
    assert row.age == pytest.approx(0.0)
    assert row.type == "imu_t"


def test_jitter_is_the_deviation_of_the_intervals():
    times = 100 + np.cumsum([0.0, *([0.001, 0.003] * 500)])
    traffic = Traffic()
    feed(traffic, times)
    row = only(traffic, times[-1])
    assert row.rate == pytest.approx(500.0)
    assert row.jitter == pytest.approx(0.001)
    assert row.longest == pytest.approx(0.003)
    assert only(traffic, times[-1], exact=False).jitter is None


def test_only_the_window_counts():
    traffic = Traffic()
    feed(traffic, [100 + 0.01 * k for k in range(1000)])  # 10 s at 100 Hz
    feed(traffic, [110 + 0.1 * k for k in range(1, 101)])  # 10 s at 10 Hz
    row = only(traffic, 120.0)
    assert row.rate == pytest.approx(10.0)
    assert row.total == 1100
    assert len(traffic.channels["imu"].times) <= WINDOW * 10 + 2


def test_a_slow_channel_keeps_its_rate_between_messages_and_loses_it_when_it_falls_silent():
    traffic = Traffic()
    feed(traffic, [100.0, 101.0, 102.0])
    assert only(traffic, 102.9).rate == pytest.approx(1.0)
    assert only(traffic, 104.9).rate == pytest.approx(1.0)
    silent = only(traffic, 105.1)
    assert (silent.rate, silent.bandwidth, silent.jitter) == (0.0, 0.0, None)
    assert silent.age == pytest.approx(3.1)


def test_one_message_has_no_rate():
    traffic = Traffic()
    feed(traffic, [100.0])
    assert only(traffic, 100.0).rate == 0.0


@given(st.lists(st.integers(1, 5), min_size=1, max_size=50))
def test_holes_in_the_tick_are_losses(steps):
    traffic, seq = Traffic(), 7
    traffic.add(0.0, "a", "imu", imu(seq))
    for step in steps:
        seq += step
        traffic.add(0.0, "a", "imu", imu(seq))
    assert only(traffic, 0.0).lost == sum(step - 1 for step in steps)


def test_a_new_run_and_a_tick_sent_again_lose_nothing():
    traffic = Traffic()
    for run, seq in ((1, 100), (1, 101), (1, 101), (1, 100), (1, 102), (2, 0), (2, 1), (1, 900), (2, 2)):
        traffic.add(0.0, "a", "imu", imu(seq, run))
    assert only(traffic, 0.0).lost == 0


def test_channels_that_are_not_sent_every_tick_have_no_losses_to_count():
    traffic = Traffic()
    message = MotionCommand()
    for message.seq in (1, 500):
        traffic.add(0.0, "a", MOTION_COMMAND.name, message.encode())
    assert only(traffic, 0.0).lost is None


def test_a_wrong_type_on_one_of_our_channels_is_an_error():
    traffic = Traffic()
    feed(traffic, [0.0, 0.1, 0.2], MotionCommand().encode())
    row = only(traffic, 0.2)
    assert (row.errors, row.lost, row.type) == (3, 0, "motion_command_t")
    assert is_bad(row)
    assert "imu_t" in traffic.channels["imu"].error


def test_a_message_cut_off_is_found_when_it_is_looked_at_and_counted_once():
    traffic = Traffic()
    feed(traffic, [0.0], imu()[:-3])
    traffic.check()
    traffic.check()
    assert only(traffic, 0.0).errors == 1
    assert isinstance(traffic.channels["imu"].message(), str)


def test_an_unknown_type_is_named_by_its_fingerprint_and_is_no_error():
    traffic = Traffic()
    feed(traffic, [0.0], bytes.fromhex("0123456789abcdef55"), name="other")
    feed(traffic, [0.0], b"", name="nothing")
    traffic.check()
    rows = traffic.rows(0.0)
    assert [(r.name, r.type, r.errors) for r in rows] == [("nothing", "empty", 0), ("other", "0123456789abcdef", 0)]


def test_two_senders_on_a_channel_are_told():
    traffic = Traffic()
    feed(traffic, [0.0], sender=("127.0.0.1", 1))
    feed(traffic, [0.1], sender=("127.0.0.1", 2))
    assert only(traffic, 0.1).senders == 2


def test_words_filter_by_name_and_type():
    traffic = Traffic()
    for name in ("imu", "joint_state", "joint_command"):
        traffic.add(0.0, "a", name, CHANNELS[name].type(*[12] * (name != "imu")).encode())
    assert [r.name for r in traffic.rows(0.0, words="JOINT")] == ["joint_command", "joint_state"]
    assert [r.name for r in traffic.rows(0.0, words="joint state_t")] == ["joint_state"]
    assert traffic.rows(0.0, words="camera") == []


def test_lcms_test_of_itself_is_not_shown():
    traffic = Traffic()
    feed(traffic, [0.0], b"lcm self test", name=SELF_TEST)
    assert traffic.rows(0.0) == []


def test_the_table_is_as_wide_as_its_columns_whatever_stands_in_it():
    traffic = Traffic()
    feed(traffic, [100 + 0.002 * k for k in range(11)], name="a_name_that_is_much_too_long_for_its_column")
    row = only(traffic, 100.02)
    assert len(line(row)) == len(header()) == sum(c.width + 1 for c in COLUMNS) - 1
    assert "500" in line(row).split()
    assert "5 lost before us" in summary([row], 5, 0, 3.0)
    assert "dropped here" in summary([row], 0, 2, 3.0)


def test_json_has_numbers_or_null():
    traffic = Traffic()
    feed(traffic, [0.0])
    (channel,) = as_data([only(traffic, math.inf)], 1, 2, 3.0, "memq://")["channels"]
    assert channel["age"] is None and channel["jitter"] is None
    assert channel["total"] == 1


@given(st.binary(max_size=60), st.sampled_from(["imu", "anything"]))
def test_whatever_comes_nothing_raises(data, name):
    traffic = Traffic()
    for data_ in (data, struct.pack(">Q", IMU.type.FINGERPRINT) + data):
        traffic.add(0.0, None, name, data_)
        traffic.check()
    assert only(traffic, 0.0).total == 2
