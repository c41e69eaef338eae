"""Holding told from presses alone: a tap is small, holding has no gap, letting go is quick, curves go by two keys."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.teleop.keyhold import BETWEEN, CREEP, FIRST, KeyHold


def hold(keys, key, axis, begin, end, delay=0.5, gap=0.04):
    """What a terminal sends for a key that is down from begin to end; returns the time of the last press."""
    times = [begin]
    t = begin + delay
    while t < end:
        times.append(t)
        t += gap
    for t in times:
        keys.press(key, axis, 1.0, t)
    return times[-1]


def test_a_tap_creeps_for_the_first_time_and_ends():
    keys = KeyHold()
    keys.press("w", "vx", 1.0, 0.0)
    assert keys.fractions(0.0) == {"vx": CREEP}
    assert keys.fractions(FIRST) == {"vx": CREEP}
    assert keys.fractions(FIRST + 0.001) == {}


@pytest.mark.parametrize("delay", [0.2, 0.25, 0.5, 0.66])
@pytest.mark.parametrize("gap", [0.03, 0.04, 0.09])
def test_a_held_key_never_lets_go_and_is_soon_at_full_speed(delay, gap):
    keys = KeyHold()
    presses = [0.0, *(delay + k * gap for k in range(40))]
    seen = []
    for at, following in pairwise(presses):
        keys.press("w", "vx", 1.0, at)
        seen += [keys.fractions(at)["vx"], keys.fractions(following - 1e-6)["vx"]]
    assert seen == sorted(seen), "slower while held"
    assert keys.fractions(presses[-2]) == {"vx": 1.0}
    assert seen.index(1.0) <= 4  # with the second repeat


def test_letting_go_of_a_held_key_stops_within_the_time_between():
    keys = KeyHold()
    last = hold(keys, "w", "vx", 0.0, 2.0)
    assert keys.fractions(last + BETWEEN - 1e-6) == {"vx": 1.0}
    assert keys.fractions(last + BETWEEN + 1e-6) == {}


def test_two_quick_taps_stay_slow():
    keys = KeyHold()
    keys.press("w", "vx", 1.0, 0.0)
    keys.press("w", "vx", 1.0, 0.3)
    assert keys.fractions(0.3) == {"vx": CREEP}


def test_a_second_key_pressed_while_the_first_is_down_makes_a_curve():
    keys = KeyHold()
    last = hold(keys, "w", "vx", 0.0, 2.0)
    begin = last + 0.03  # within the rhythm of w
    keys.press("q", "yaw_rate", 1.0, begin)
    assert keys.fractions(begin) == {"vx": CREEP, "yaw_rate": CREEP}  # nothing fast without a sign of life
    last = hold(keys, "q", "yaw_rate", begin + 0.5, begin + 2.0, delay=0.04)
    assert keys.fractions(last) == {"vx": 1.0, "yaw_rate": 1.0}
    assert keys.fractions(last + BETWEEN + 1e-6) == {}, "both are let go together"


def test_a_key_let_go_before_the_next_is_pressed_is_not_carried_along():
    keys = KeyHold()
    last = hold(keys, "w", "vx", 0.0, 2.0)
    keys.press("q", "yaw_rate", 1.0, last + 0.1)  # w would have come again twice by then
    assert keys.fractions(last + 0.1) == {"yaw_rate": CREEP}


def test_a_tapped_key_is_not_carried_along():
    keys = KeyHold()
    keys.press("w", "vx", 1.0, 0.0)
    keys.press("q", "yaw_rate", 1.0, 0.05)
    assert keys.fractions(0.05) == {"yaw_rate": CREEP}


def test_of_two_directions_the_newer_counts():
    keys = KeyHold()
    last = hold(keys, "w", "vx", 0.0, 2.0)
    keys.press("s", "vx", -1.0, last + 0.02)
    assert keys.fractions(last + 0.02) == {"vx": -CREEP}


def test_a_carried_key_pressed_anew_begins_anew():
    keys = KeyHold()
    last = hold(keys, "w", "vx", 0.0, 2.0)
    last = hold(keys, "q", "yaw_rate", last + 0.02, last + 2.0)
    keys.press("w", "vx", 1.0, last + 0.02)
    assert keys.fractions(last + 0.02) == {"vx": CREEP, "yaw_rate": CREEP}


def test_release_lets_go_of_everything():
    keys = KeyHold()
    last = hold(keys, "w", "vx", 0.0, 2.0)
    keys.release()
    assert keys.fractions(last) == {}
    keys.press("w", "vx", 1.0, last)
    assert keys.fractions(last) == {"vx": CREEP}


KEYS = {"w": ("vx", 1.0), "s": ("vx", -1.0), "a": ("vy", 1.0), "q": ("yaw_rate", 1.0), "e": ("yaw_rate", -1.0)}
presses = st.lists(st.tuples(st.floats(0.0, 1.0), st.sampled_from(sorted(KEYS))), max_size=40)


@given(presses, st.floats(0.0, 2.0))
def test_whatever_is_pressed_full_speed_needs_a_recent_press_and_all_ends(steps, after):
    keys, t = KeyHold(), 0.0
    for wait, key in steps:
        t += wait
        keys.press(key, *KEYS[key], t)
        held = keys.fractions(t)
        assert held[KEYS[key][0]] * KEYS[key][1] > 0, "the key pressed last is held"
        assert all(abs(f) in (CREEP, 1.0) for f in held.values())
    held = keys.fractions(t + after)
    if after > BETWEEN + 1e-9:
        assert all(abs(f) <= CREEP for f in held.values())
    if after > FIRST + 1e-9:
        assert held == {}
