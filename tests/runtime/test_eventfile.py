"""Reading event logs: what LCM's own reader gives, and all that damage leaves."""

from __future__ import annotations

import lcm
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from procs.runtime import eventfile
from procs.runtime.eventfile import HEAD, SYNC, SYNC_BYTES, EventFile, LogError

NAMES = ("imu", "leg_state", "a channel of others")


def event(k: int, size: int) -> bytes:
    name = NAMES[k % 3].encode()
    data = bytes((7 * k + i) % 251 for i in range(size))
    return HEAD.pack(SYNC, k, 1_000_000 + 2000 * k, len(name), len(data)) + name + data


EVENTS = [event(k, 20 + 13 * (k % 5)) for k in range(60)]
STARTS = np.cumsum([0, *map(len, EVENTS)]).tolist()
WHOLE = b"".join(EVENTS)


def read(path, chunk=4 << 20):
    with EventFile(path, chunk) as log:
        got = []
        for block in log.blocks():
            for at, size, stamp, channel in zip(block.at, block.size, block.stamp, block.channel, strict=True):
                got.append((int(stamp), log.channels[channel], block.data[at : at + size]))
                assert log.read(int(block.base + at), int(size)) == got[-1][2]
        assert log.events == len(got)
        return got, log.damages, log.skipped


def expected(k: int) -> tuple[int, str, bytes]:
    _, _, stamp, name, size = HEAD.unpack_from(EVENTS[k])
    return stamp, EVENTS[k][HEAD.size : HEAD.size + name].decode(), EVENTS[k][-size:]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("logs") / "a.lcmlog"


@pytest.mark.parametrize("chunk", [1, 29, 64, 200, 1000, 4 << 20])
def test_gives_what_lcms_own_reader_gives_whatever_the_chunks(place, chunk):
    place.write_bytes(WHOLE)
    got, damages, skipped = read(place, chunk)
    assert got == [(e.timestamp, e.channel, bytes(e.data)) for e in lcm.EventLog(str(place))]
    assert (len(got), damages, skipped) == (60, [], 0)


def test_reads_what_lcm_writes(place):
    log = lcm.EventLog(str(place), "w", overwrite=True)
    for k in range(50):
        log.write_event(5 * k, f"channel {k % 4}", bytes(k))
    log.close()
    assert read(place)[0] == [(5 * k, f"channel {k % 4}", bytes(k)) for k in range(50)]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(1, len(WHOLE)), chunk=st.sampled_from([100, 4 << 20]))
def test_a_cut_off_log_gives_every_whole_event_and_says_where_it_ends(place, cut, chunk):
    place.write_bytes(WHOLE[:cut])
    whole = sum(end <= cut for end in STARTS[1:])
    if not whole:
        with pytest.raises(LogError, match="holds no LCM events"):
            read(place, chunk)
        return
    got, damages, skipped = read(place, chunk)
    assert got == [expected(k) for k in range(whole)]
    rest = cut - STARTS[whole]
    assert skipped == rest
    assert [(d.kind, d.at, d.event) for d in damages] == ([("cut off", STARTS[whole], whole)] if rest else [])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    at=st.integers(0, len(WHOLE) - 1),
    junk=st.binary(min_size=1, max_size=200),
    insert=st.booleans(),
    chunk=st.sampled_from([50, 333, 4 << 20]),
)
@example(at=STARTS[9] + 20, junk=b"\x00", insert=False, chunk=50)  # length of a name
@example(at=STARTS[9] + 24, junk=b"\x00\x00\x02\x00", insert=False, chunk=50)  # a message as long as ten
@example(at=STARTS[9] + 24, junk=b"\x7f\xff\xff\xff", insert=False, chunk=50)  # a message of 2 GB
@example(at=STARTS[9], junk=SYNC_BYTES * 20, insert=True, chunk=50)  # sync words that begin nothing
def test_damage_costs_only_the_events_it_touches(place, at, junk, insert, chunk):
    """Overwritten or inserted bytes: all other events are read, in order; what is skipped is counted."""
    broken = WHOLE[:at] + junk + WHOLE[at if insert else at + len(junk) :]
    place.write_bytes(broken)
    touched = range(at, at + 1) if insert else range(at, at + len(junk))
    good = [
        expected(k)
        for k in range(60)
        if STARTS[k + 1] <= touched.start or STARTS[k] >= touched.stop or (insert and STARTS[k] == at)
    ]
    try:
        got, damages, skipped = read(place, chunk)
    except LogError:
        assert not good
        return
    remaining = iter(got)
    assert all(event in remaining for event in good), "an untouched event is missing or out of order"
    assert len(got) <= len(good) + 3
    assert (skipped > 0) == bool(damages)
    assert all(0 <= d.at < len(broken) and d.skipped > 0 for d in damages)


def test_a_hole_is_reported_with_its_place_and_size(place):
    broken = bytearray(WHOLE)
    broken[STARTS[20] : STARTS[23]] = bytes(STARTS[23] - STARTS[20])
    place.write_bytes(broken)
    got, damages, skipped = read(place, 300)
    assert got == [expected(k) for k in range(60) if k not in (20, 21, 22)]
    assert [(d.kind, d.at, d.event, d.skipped) for d in damages] == [("damaged", STARTS[20], 20, skipped)]
    assert skipped == STARTS[23] - STARTS[20]


def test_a_length_beyond_belief_is_not_read_into_memory_unless_it_leads_on(place, monkeypatch):
    monkeypatch.setattr(eventfile, "BELIEVED", 1000)
    big = event(0, 5000)
    broken = bytearray(WHOLE)
    broken[STARTS[9] + 24 : STARTS[9] + 28] = (3000).to_bytes(4, "big")  # less than the file still has
    place.write_bytes(big + broken)
    got, damages, _ = read(place, 100)
    assert len(got[0][2]) == 5000
    assert got[1:] == [expected(k) for k in range(60) if k != 9]
    assert [d.at for d in damages] == [len(big) + STARTS[9]]


def test_one_message_larger_than_the_chunk_is_read_whole(place):
    big = event(0, 5000)
    place.write_bytes(big + WHOLE + big)
    got, damages, _ = read(place, 100)
    assert (len(got), len(got[0][2]), len(got[-1][2]), damages) == (62, 5000, 5000, [])


@pytest.mark.parametrize(
    ("content", "said"), [(b"", "is empty"), (b"a text, no log\n" * 100, "holds no LCM events"), (None, "no log at")]
)
def test_what_is_no_log_is_an_error_that_says_why(tmp_path, content, said):
    path = tmp_path / "b.lcmlog"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(LogError, match=said):
        read(path)
    with pytest.raises(LogError, match="is no file"):
        EventFile(tmp_path)
