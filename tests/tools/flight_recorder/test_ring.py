"""Bounded in time and in size."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tools.flight_recorder.ring import Block, Ring


def block(now, *sizes):
    return Block(now, int(1e6 * now), ["imu"] * len(sizes), [bytes(size) for size in sizes])


@given(st.lists(st.tuples(st.floats(0.0, 2.0), st.lists(st.integers(0, 500), max_size=5)), min_size=1, max_size=80))
def test_what_is_kept_is_the_newest_within_both_bounds_and_its_size_is_right(blocks):
    ring, now, all_ = Ring(5.0, 2000), 0.0, []
    for gap, sizes in blocks:
        now += gap
        all_.append(block(now, *sizes))
        ring.add(all_[-1])
        kept = list(ring.unsaved())
        assert kept == all_[len(all_) - len(kept) :]
        assert ring.size == sum(b.size for b in kept)
        if len(kept) > 1:
            assert kept[-1].now - kept[0].now <= 5.0
            assert ring.size <= 2000
        if len(kept) < len(all_):  # nothing was dropped without need
            before = all_[-len(kept) - 1]
            assert now - before.now > 5.0 or ring.size + before.size > 2000


def test_what_a_file_holds_is_not_given_again():
    ring = Ring()
    for k in range(4):
        ring.add(block(float(k), 10))
    for held in list(ring.unsaved())[:2]:
        held.saved = True
    assert [b.now for b in ring.unsaved()] == [2.0, 3.0]
