"""Waits grow, and end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tools.up.restarts import FIRST, LIMIT, LONGEST, WINDOW, Restarts


def test_waits_double_and_then_there_is_no_more():
    restarts = Restarts()
    waits = [restarts.wait(10.0 + k) for k in range(LIMIT + 1)]
    assert waits == [0.5, 1.0, 2.0, 4.0, 8.0, None]
    assert restarts.total == LIMIT


def test_one_that_lived_long_begins_with_the_shortest_wait_again():
    restarts = Restarts()
    assert [restarts.wait(t) for t in (0.0, 1.0, 2.0)] == [0.5, 1.0, 2.0]
    assert restarts.wait(2.5 + WINDOW) == FIRST


@given(st.lists(st.floats(0.0, 30.0), max_size=60))
def test_never_more_than_the_limit_within_the_window(gaps):
    restarts, now, starts = Restarts(), 0.0, []
    for gap in gaps:
        now += gap
        wait = restarts.wait(now)
        if wait is None:
            break
        assert FIRST <= wait <= LONGEST
        starts.append(now)
        assert sum(now - t < WINDOW for t in starts) == restarts.within <= LIMIT
