"""LCM's packets by their bytes, fragments in any order, and what the senders' numbers say of losses."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from procs.runtime.bus import Bus, BusError
from tools.launch import private_url
from tools.spy_text.packets import MOST_OPEN, Assembler, Numbers
from tools.spy_text.sources import BusSource, SocketSource, open_source
from tools.spy_text.traffic import SELF_TEST

ONE, TWO = ("127.0.0.1", 5001), ("127.0.0.1", 5002)


def short(number, name="imu", data=b"abc"):
    return b"LC02" + struct.pack(">I", number) + name.encode() + b"\0" + data


def fragments(number, data, size, name="big"):
    """As LCM cuts a message: the channel stands before the first part."""
    parts = [data[i : i + size] for i in range(0, len(data), size)]
    head = struct.Struct(">IIIHH")
    return [
        b"LC03"
        + head.pack(number, len(data), i * size, i, len(parts))
        + (name.encode() + b"\0" if i == 0 else b"")
        + part
        for i, part in enumerate(parts)
    ]


def test_a_short_message():
    assert Assembler().feed(bytes.fromhex("4c433032 00000007 696d7500 010203"), ONE) == ("imu", b"\1\2\3")


@given(st.binary(min_size=1, max_size=200), st.integers(1, 50), st.randoms(use_true_random=False))
def test_fragments_make_the_message_in_whatever_order_they_come(data, size, random):
    packets, assembler = fragments(3, data, size), Assembler()
    random.shuffle(packets)
    got = [assembler.feed(p, ONE) for p in packets]
    assert got[:-1] == [None] * (len(packets) - 1)
    assert got[-1] == ("big", data)
    assert assembler.lost == 0


def test_fragments_of_two_senders_do_not_mix():
    assembler = Assembler()
    a, b = fragments(3, b"aaaa", 2), fragments(3, b"bbbb", 2)
    assert [assembler.feed(p, s) for p, s in ((a[0], ONE), (b[0], TWO), (b[1], TWO), (a[1], ONE))] == [
        None, None, ("big", b"bbbb"), ("big", b"aaaa"),
    ]  # fmt: skip


def test_messages_that_are_never_complete_are_not_kept_for_ever():
    assembler = Assembler()
    for number in range(10 * MOST_OPEN):
        assembler.feed(fragments(number, b"abcdef", 2)[0], ONE)
    assert len(assembler._open) == MOST_OPEN


@given(
    st.one_of(
        st.binary(max_size=60), st.binary(max_size=60).map(lambda b: b"LC03" + b), st.binary().map(b"LC02".__add__)
    )
)
def test_foreign_bytes_are_no_error(packet):
    assembler = Assembler()
    assembler.feed(packet, ONE)
    assert assembler.foreign in (0, 1)


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 5), max_size=50))
def test_holes_in_the_numbers_are_counted_over_the_end_of_32_bits_too(first, holes):
    numbers, number = Numbers(first), first
    for hole in holes:
        number = (number + 1 + hole) & 0xFFFFFFFF
        numbers.take(number)
    assert numbers.lost == sum(holes)


def test_a_late_packet_is_not_lost_and_a_new_program_begins_anew():
    numbers = Numbers(10)
    for number in (11, 13, 12, 14):
        numbers.take(number)
    assert numbers.lost == 0
    numbers = Numbers(500_000)
    for number in (3, 4, 6):
        numbers.take(number)
    assert numbers.lost == 1


def test_each_sender_has_numbers_of_its_own():
    assembler = Assembler()
    for number, sender in ((5, ONE), (900, TWO), (6, ONE), (902, TWO)):
        assembler.feed(short(number), sender)
    assert assembler.lost == 1


def test_the_socket_reads_what_lcm_sends():
    url = private_url()
    source, bus = open_source(url), Bus(url)
    assert isinstance(source, SocketSource)
    sent = [("imu", b"\1\2\3"), ("empty", b""), ("big", bytes(range(256)) * 800), ("imu", b"\4")]
    got = []
    for name, data in sent:
        bus.publish_raw(name, data)
        for _ in range(1000):
            got += [a for a in source.read() if a.name != SELF_TEST]
            if len(got) and got[-1][2:] == (name, data):
                break
    source.close()
    assert [arrival[2:] for arrival in got] == sent
    assert [a.t for a in got] == sorted(a.t for a in got)
    assert len({a.sender for a in got}) == 1
    assert source.lost() == source.dropped == 0


def test_other_urls_are_read_through_lcm():
    source = open_source("memq://spy")
    assert isinstance(source, BusSource) and not source.exact
    source.bus.publish_raw("imu", b"abc")
    assert [a[2:] for a in source.read()] == [("imu", b"abc")]
    assert source.read() == []


@pytest.mark.parametrize("url", ["udpm://nowhere", "udpm://1.2.3.4:99999", "udpm://10.0.0.1:7667"])
def test_a_url_that_cannot_be_joined_is_a_bus_error(url):
    with pytest.raises(BusError):
        open_source(url)
