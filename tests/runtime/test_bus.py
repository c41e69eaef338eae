"""Bus over memq and over real UDP: what is lost, foreign, broken or not finite."""

from __future__ import annotations

import time

import numpy as np
import pytest

from lcmtypes.channels import BODY_STATE, ESTOP, IMU, JOINT_STATE, RESET
from lcmtypes.generated import Estop, Imu, JointState, Reset
from procs.runtime.bus import MOST_AT_ONCE, Bus, BusError
from procs.runtime.packet_filter import ALL, LOAD, NONE, RETURN, program
from tools.launch import private_url

BURST = 5000


@pytest.fixture(params=["memq", "udpm"])
def pair(request, memory_bus):
    """Sender and receiver."""
    if request.param == "memq":
        return memory_bus, memory_bus
    url = private_url()
    return Bus(url), Bus(url)


def receive(bus, got, count, seconds=5.0):
    """Handle messages until there are `count` or the time is over."""
    end = time.monotonic() + seconds
    while len(got) < count and time.monotonic() < end:
        bus.wait(0.05)
    return got


def imu(seq):
    message = Imu()
    message.run, message.seq = 1, seq
    return message


def test_messages_arrive_as_they_were_sent(pair):
    sender, receiver = pair
    got = []
    receiver.subscribe((IMU,), lambda channel, message: got.append((channel, message)))
    sender.publish(IMU, imu(4))
    assert receive(receiver, got, 1) == [(IMU, imu(4))]


def test_a_burst_of_thousands_is_not_lost(pair):
    sender, receiver = pair
    got = []
    receiver.subscribe((IMU,), lambda channel, message: got.append(message.seq))
    for seq in range(BURST):
        sender.publish(IMU, imu(seq))
    assert receive(receiver, got, BURST) == list(range(BURST))


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (Estop().encode(), "fingerprint"),
        (Imu().encode()[:-3], "bytes"),
        (Imu().encode() + b"\0", "bytes"),
        (b"", "fingerprint"),
        (b"hello", "fingerprint"),
        (Imu().encode()[:8] + b"\xff" * 60, "num_used"),
    ],
    ids=["foreign", "truncated", "too long", "empty", "garbage", "absurd length"],
)
def test_what_cannot_be_decoded_is_counted_named_and_never_passed_on(pair, data, what):
    sender, receiver = pair
    got = []
    receiver.subscribe((IMU,), lambda channel, message: got.append(message))
    sender.publish_raw(IMU.name, data)
    sender.publish(IMU, imu(1))
    assert receive(receiver, got, 1) == [imu(1)]
    assert receiver.counts["decode_errors"] == 1
    assert "imu" in receiver.last_error and what in receiver.last_error


def test_a_reset_is_never_taken_for_an_estop(pair):
    sender, receiver = pair
    got = []
    receiver.subscribe((ESTOP, RESET), lambda channel, message: got.append(channel))
    sender.publish_raw(ESTOP.name, Reset().encode())
    sender.publish(RESET, Reset())
    assert receive(receiver, got, 1) == [RESET]
    assert receiver.counts["decode_errors"] == 1


def test_what_is_not_finite_is_neither_sent_nor_taken(pair):
    sender, receiver = pair
    got = []
    receiver.subscribe((JOINT_STATE,), lambda channel, message: got.append(message.seq))
    bad = JointState(12)
    bad.q[3] = np.nan
    assert sender.publish(JOINT_STATE, bad) is False
    assert sender.counts["not_sent"] == 1
    sender.publish_raw(JOINT_STATE.name, bad.encode())
    good = JointState(12)
    good.seq = 1
    sender.publish(JOINT_STATE, good)
    assert receive(receiver, got, 1) == [1]
    assert receiver.counts["not_finite"] == 1
    assert "joint_state" in receiver.last_error


def test_after_unsubscribing_nothing_comes_any_more(pair):
    sender, receiver = pair
    got, other = [], []
    handles = receiver.subscribe((IMU,), lambda channel, message: got.append(message))
    receiver.subscribe((ESTOP,), lambda channel, message: other.append(message))
    receiver.unsubscribe(handles)
    sender.publish(IMU, imu(1))
    sender.publish(ESTOP, Estop())
    assert len(receive(receiver, other, 1)) == 1
    assert got == []


def test_a_pattern_gives_the_bytes_of_all_channels(pair):
    sender, receiver = pair
    got = []
    receiver.subscribe((ESTOP,), lambda channel, message: None)
    receiver.subscribe_raw(".*", lambda name, data: got.append((name, data)))
    sender.publish(IMU, imu(1))
    sender.publish_raw("unknown", b"abc")
    assert receive(receiver, got, 2) == [("imu", imu(1).encode()), ("unknown", b"abc")]


def test_the_newest_bytes_are_kept_and_the_others_forgotten(pair):
    sender, receiver = pair
    newest = {}
    receiver.subscribe_newest((IMU,), newest)
    for seq in range(100):
        sender.publish(IMU, imu(seq))
    end = time.monotonic() + 5.0
    while newest.get(IMU) != imu(99).encode() and time.monotonic() < end:
        receiver.wait(0.05)
    assert newest == {IMU: imu(99).encode()}


def test_waiting_for_nothing_ends_with_false(pair):
    assert pair[1].wait(0.01) is False


def test_a_flood_does_not_keep_the_reader_from_its_work(pair):
    sender, receiver = pair
    got = []

    def flood(_channel, message):
        got.append(message.seq)
        sender.publish(IMU, imu(len(got)))  # always one more

    receiver.subscribe((IMU,), flood)
    sender.publish(IMU, imu(0))
    end = time.monotonic() + 20
    while not got and time.monotonic() < end:
        receiver.wait(0.05)
    assert 0 < len(got) <= MOST_AT_ONCE + 1


def test_an_url_that_cannot_be_used_is_an_error_with_advice():
    with pytest.raises(BusError, match="multicast route"):
        Bus("udpm://not-an-address:1")


def test_packets_of_other_channels_do_not_wake_the_receiver():
    url = private_url()
    sender, receiver = Bus(url), Bus(url)
    got = []
    receiver.subscribe((ESTOP,), lambda channel, message: got.append(channel))
    assert receiver._filter.set([ESTOP.name]) is True, "LCM's socket was not found"
    body = BODY_STATE.type(4)
    for _ in range(50):
        sender.publish(BODY_STATE, body)
    sender.publish(ESTOP, Estop())
    assert receive(receiver, got, 1) == [ESTOP]


def accepts(code, packet):
    """Run a filter program on a UDP packet as the kernel does."""
    data, at, value = b"\0" * 8 + packet, 0, 0
    while True:
        op, yes, no, k = code[at]
        at += 1
        if op == RETURN:
            return k != NONE
        if op in LOAD.values():
            size = next(s for s, c in LOAD.items() if c == op)
            if k + size > len(data):
                return False
            value = int.from_bytes(data[k : k + size], "big")
        else:
            at += yes if value == k else no


@pytest.mark.parametrize("name", ["imu", "leg_state", "joint_command", "a", "motion_command"])
def test_the_filter_passes_its_channels_and_nothing_that_only_begins_like_them(name):
    code = program(["imu", "leg_state", "joint_command", "a", "motion_command"])
    head = b"LC02" + b"\0\0\0\7"
    assert accepts(code, head + name.encode() + b"\0" + b"x" * 20)
    for other in (name + "s", name[:-1], "leg_stats", "b", ""):
        if other not in ("imu", "leg_state", "joint_command", "a", "motion_command"):
            assert not accepts(code, head + other.encode() + b"\0" + b"x" * 20)
    assert accepts(code, b"LC03" + b"\0" * 40)  # a fragment: LCM must see it
    assert ALL > 65536


def test_a_network_that_is_down_is_counted_and_said_but_ends_no_process(monkeypatch):
    class Down:
        def publish(self, _name, _data):
            raise OSError(101, "Network is unreachable")

    bus = Bus("memq://")
    lcm = bus._lcm
    monkeypatch.setattr(bus, "_lcm", Down())
    assert not bus.publish(IMU, imu(7))
    assert bus.counts["unreachable"] == 1
    assert bus.last_error == "imu 7: not sent: [Errno 101] Network is unreachable"
    monkeypatch.setattr(bus, "_lcm", lcm)
    assert bus.publish(IMU, imu(8))


def test_a_port_that_another_program_has_is_an_error_that_says_so():
    import socket

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("", 0))
        port = other.getsockname()[1]
        with pytest.raises(BusError, match="another program has this port"):
            Bus(f"udpm://239.255.12.34:{port}?ttl=0")
