"""The table of rules names only what is there, and each rule says what it means."""

from __future__ import annotations

import inspect

import pytest

from tools.report import bounds, sources, words
from tools.report.anomalies import GROUPS, Anomaly, first_cause, rules
from tools.report.context import Context

NAMES = [rule.name for rule in rules()]


@pytest.mark.parametrize("rule", rules(), ids=NAMES)
def test_a_rule_names_what_there_is(rule):
    assert callable(getattr(sources, rule.signal))
    for bound in (rule.high, rule.low):
        assert not isinstance(bound, str) or callable(getattr(bounds, bound))
    assert rule.high is not None or rule.low is not None
    assert rule.words is None or callable(getattr(words, rule.words))
    assert set(rule.explains) <= set(NAMES)
    assert rule.group in GROUPS
    assert rule.normal.format(high=1, low=0)
    assert len(rule.means) > 20 and len(rule.look) > 15
    assert rule.means.endswith(".") and rule.look.endswith(".")


def test_names_are_given_once_and_masks_exist():
    assert len(set(NAMES)) == len(NAMES)
    source = inspect.getsource(Context.mask)
    for when in {rule.when for rule in rules()}:
        assert f'"{when}"' in source or hasattr(__import__("tools.report.signals").report.signals.Signals, when)


def story(*spans: tuple[float, float, bool]) -> list[Anomaly]:
    kinds = {note: next(r for r in rules() if r.note is note) for note in (True, False)}
    return [Anomaly(kinds[n], 0, a, b, [f"{a}"], 1.0, "", "") for a, b, n in spans]


def test_the_cause_is_the_first_of_the_chain_that_reaches_the_stop():
    found = story((0.5, 0.6, False), (4.0, 4.4, False), (5.0, 5.2, False), (5.3, 9.0, False))
    cause = first_cause(found, 5.5)
    assert cause is not None and cause.begin == 4.0, "0.5 s is over long before; 4.0 leads to 5.0 leads to the stop"
    assert first_cause(found, None) is found[0]


def test_notes_are_no_causes():
    found = story((1.0, 1.1, True), (1.2, 1.3, False))
    assert first_cause(found, 1.4) is found[1]
    assert first_cause(story((1.0, 1.1, True)), 1.4) is None


def test_what_begins_after_the_stop_is_no_cause():
    assert first_cause(story((2.0, 3.0, False)), 1.0) is None
