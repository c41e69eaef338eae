"""Steps listen and roll-call: who is on which bus, and not one frame more than was allowed."""

import pytest

from procs.wire.frame import CanFrame
from procs.wire.mit_can import Special
from tests.bring_up.conftest import KINDS, rewired
from tools.bring_up.session import Verdict


def named(records, *names):
    return [(records[name].verdict, records[name].words) for name in names]


@pytest.mark.parametrize("kind", KINDS)
def test_listening_and_leaving_transmits_nothing(lab, kind):
    one = lab(kind)
    records = one.run("listen")
    one.bench.close()
    assert one.tap.sent == [] and one.person.asked == []
    heard = Verdict.OK if kind == "gim6010" else Verdict.UNHEARD
    assert {r.verdict for r in records.values()} == {heard} and len(records) == 12
    if kind == "gim6010":
        assert records["FR.hip"].data["state"] == "idle" and records["FR.hip"].data["age"] <= 0.02


@pytest.mark.parametrize("kind", KINDS)
def test_roll_call_finds_every_motor_of_right_wiring(lab, kind):
    records = lab(kind).run("roll-call")
    assert len(records) == 12 and {r.verdict for r in records.values()} == {Verdict.OK}, records


def test_a_roll_call_that_was_not_allowed_sends_nothing(lab):
    one = lab()
    one.person.allow = False
    assert {r.verdict for r in one.run("roll-call").values()} == {Verdict.REFUSED}
    assert one.tap.sent == []


def test_a_roll_call_in_mit_mode_only_ever_sends_exit_frames(lab):
    one = lab()
    one.run("roll-call")
    assert {frame.data for _, frame in one.tap.sent} == {Special.EXIT.value}


@pytest.mark.parametrize("kind", ["mit", "gim6010", "cybergear"])
def test_a_missing_node_is_named(lab, kind):
    records = lab(kind, lambda r: rewired(r, FL_hip={"id": 60})).run("roll-call")
    verdict, words = named(records, "FL.hip")[0]
    assert verdict is Verdict.MISSING and "on can1" in words
    assert [n for n, r in records.items() if not r.passed and "." in n] == ["FL.hip"]


def test_a_drive_behind_a_board_that_never_answered_is_missing(lab):
    one = lab("spine", hung=False)
    one.bench.tick()
    one.hardware.boards[0].motors[4].receive = lambda frame: []
    one.hardware.boards[0]._state[4] = (0.0, 0.0, 0.0)
    records = one.run("roll-call")
    assert [n for n, r in records.items() if r.verdict is Verdict.MISSING] == ["FL.hip"]


@pytest.mark.parametrize("kind, words", [("mit", "roll-call"), ("cybergear", "roll-call"), ("gim6010", "listen")])
def test_a_duplicate_id_is_named(lab, kind, words):
    number = 2
    one = lab(kind, lambda r: rewired(r, FR_knee={"id": number}))
    records = one.run(words)
    (double, text), (missing, _) = named(records, "FR.hip", "FR.knee")
    assert double is Verdict.DUPLICATE and "two drives answer as node 2 on can0" in text
    assert missing is Verdict.MISSING
    if words == "roll-call":
        one.tap.sent.clear()
        refused = one.run("step FR.hip")["FR.hip"]
        assert refused.verdict is Verdict.REFUSED and "both would move" in refused.words and one.tap.sent == []


def test_a_node_on_another_bus_is_named(lab):
    records = lab("gim6010", lambda r: rewired(r, RL_abad={"line": 0})).run("roll-call")
    verdict, words = named(records, "RL.abad")[0]
    assert verdict is Verdict.WRONG_BUS and "node 10 is on can0, not on can3" in words
    ours = lab("mit", lambda r: rewired(r, RL_abad={"line": 0})).run("roll-call")
    assert ours["RL.abad"].verdict is Verdict.MISSING and "two answer as 1 on can0" in ours["RL.abad"].words


def test_a_faulty_drive_and_a_stranger_are_named(lab):
    one = lab("gim6010")
    one.hardware.drives[4].fail(0x1000)
    one.runner.bench.links[2].waiting.append(CanFrame(0x7FF, b"\1"))
    records = one.run("listen")
    assert records["FL.hip"].verdict is Verdict.ERROR and "motor" in records["FL.hip"].words
    assert records["can2:63"].verdict is Verdict.FOREIGN
