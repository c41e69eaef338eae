"""The host's CAN controller: error counter, bus-off and back, full buffer; and what it says in SocketCAN's words."""

from __future__ import annotations

import numpy as np
import pytest

from config.scenario import Fault
from procs.wire.can_errors import BUS_OFF, ErrorClass, words
from procs.wire.frame import CanFrame
from procs.wire.mit_can import Special
from sim.emulators.can_controller import CanController
from sim.emulators.can_motor import MitQuirks
from sim.emulators.hardware import priority
from tests.sim.emulators.wiring import can_bus, with_bus

DT = 0.002
ENTER = CanFrame(2, Special.ENTER.value)


def never():
    return False


def always():
    return True


def said(controller):
    return [words(*error) for error in controller.said()]


def test_a_good_bus_takes_everything_and_says_nothing():
    one = CanController(DT)
    assert all(one.send(never) for _ in range(100)) and one.said() == [] and not one.off


def test_a_short_leads_through_warning_and_passive_to_bus_off_after_32_attempts():
    one = CanController(DT, restart=0.1)
    assert not one.send(always)
    assert one.destroyed == 32 and one.off and one.bus_offs == 1
    texts = said(one)
    order = [next(i for i, t in enumerate(texts) if part in t) for part in ("many errors", "error-passive", "bus-off")]
    assert order == sorted(order) and texts[-1] == BUS_OFF
    assert not one.send(never) and one.refused == 1  # nothing is taken until the restart


@pytest.mark.parametrize(("restart", "back"), [(0.1, 50), (0.02, 10), (0.0, None)])
def test_it_comes_back_after_its_restart_time_or_never(restart, back):
    one = CanController(DT, restart)
    one.tick(100)
    one.send(always)
    one.said()
    ticks = []
    for tick in range(101, 400):
        one.tick(tick)
        if not one.off:
            ticks.append(tick)
    assert ticks[:1] == ([100 + back] if back else [])
    if back:
        assert [kind for kind, _ in one.said()] == [ErrorClass.RESTARTED] and one.send(never)


def test_errors_are_forgiven_one_by_one():
    one, attempts = CanController(DT), iter([True] * 10 + [False] * 81)
    assert one.send(lambda: next(attempts))
    assert one.errors == 10 * 8 - 1
    for _ in range(79):
        one.send(never)
    assert one.errors == 0


def test_frames_destroyed_now_and_then_get_through_all_the_same():
    rng, one = np.random.default_rng(3), CanController(DT)
    assert all(one.send(lambda: rng.random() < 0.08) for _ in range(5000)) and one.destroyed > 300


def test_held_off_the_bus_it_stays_off_and_returns_with_the_hand_that_held_it():
    one = CanController(DT)
    for tick in range(20):
        one.tick(tick, held=tick in range(5, 9))
        assert one.off == (tick in range(5, 9))
    assert [kind for kind, _ in one.said()] == [ErrorClass.BUS_OFF, ErrorClass.RESTARTED]


def test_a_full_buffer_refuses_the_frame_and_says_so():
    one = CanController(DT)
    assert not one.send(never, full=True) and one.refused == 1 and "buffer full" in said(one)[0]
    assert one.send(never)


def on_bus(hardware, *faults, protocol="mit", **more):
    quirks = {"mit": MitQuirks(wrong_first_reply=False)} if protocol == "mit" else {}
    return hardware(with_bus(can_bus(protocol)), faults=faults, **quirks, **more)


def spoken(hw, line, ticks, first=0, frame=ENTER):
    """(sent, answers, words) of one question per tick."""
    sent, answers, texts = [], [], []
    for seq in range(first, first + ticks):
        hw.tick(1, seq)
        sent.append(hw.send(line, frame))
        answers.append(len(hw.receive(line)))
        texts += [words(*e) for e in hw.errors(line)]
        hw.done()
    return sent, answers, texts


def test_a_short_on_one_bus_takes_that_bus_off_again_and_again_and_no_other(hardware):
    hw = on_bus(hardware, Fault(t=0.0, duration=0.3, kind="error_frames", line=1), restart=0.05)
    sent, answers, texts = spoken(hw, 1, 200)
    assert not any(sent[:150]) and not any(answers[:150]) and texts.count(BUS_OFF) == 6
    assert all(sent[-20:]) and all(answers[-20:])
    assert all(spoken(hw, 0, 10, first=200)[0])


def test_noise_on_the_bus_costs_attempts_and_no_frame(hardware):
    hw = on_bus(hardware, Fault(t=0.0, kind="error_frames", probability=0.05))
    sent, answers, texts = spoken(hw, 1, 300)
    assert all(sent) and answers == [1] * 300 and len(texts) > 10
    assert hw.bus_faults.counts["error_frames"] > 10


def test_drives_keep_their_last_command_while_the_host_is_off_the_bus(hardware):
    hw = on_bus(hardware, Fault(t=0.02, duration=0.1, kind="bus_off"))
    sent, answers, texts = spoken(hw, 1, 80)
    assert [i for i, ok in enumerate(sent) if not ok] == list(range(10, 60))
    assert [i for i, n in enumerate(answers) if not n] == list(range(10, 60)) and BUS_OFF in texts
    assert hw.robot.on[4]


def test_a_full_buffer_loses_some_frames(hardware):
    hw = on_bus(hardware, Fault(t=0.0, kind="buffer_full", line=1, probability=0.3))
    sent, answers, texts = spoken(hw, 1, 200)
    assert 30 < sent.count(False) < 90 and answers == [int(ok) for ok in sent]
    assert any("buffer full" in t for t in texts)


@pytest.mark.parametrize("protocol", ["mit", "gim6010"])
def test_drives_at_another_bit_rate_are_nothing_but_errors(hardware, protocol):
    hw = on_bus(hardware, Fault(t=0.0, kind="wrong_bit_rate", line=1, value=500_000), protocol=protocol)
    texts, heard = [], 0
    for seq in range(100):  # only listening
        hw.tick(1, seq)
        heard += len(hw.receive(1))
        texts += [words(*e) for e in hw.errors(1)]
    assert heard == 0 and bool(texts) == (protocol == "gim6010")  # which speak by themselves
    assert all("wrong bit rate" in t for t in texts)
    assert not hw.send(1, ENTER) and BUS_OFF in [words(*e) for e in hw.errors(1)]
    hw = on_bus(hardware, Fault(t=0.0, kind="wrong_bit_rate", line=1, value=1_000_000))  # theirs is the host's
    assert spoken(hw, 1, 5)[1] == [1] * 5


def test_drives_that_want_the_bus_at_once_speak_in_the_order_of_their_ids(hardware):
    hw = on_bus(hardware, protocol="gim6010")
    waiting = []
    for seq in range(60):
        hw.tick(1, seq)
        waiting.append([f.can_id for f in hw.receive(1)])
    assert all(ids == sorted(ids) for ids in waiting) and max(map(len, waiting)) > 1


def test_the_lower_identifier_wins_and_a_standard_frame_before_an_extended_one():
    frames = [CanFrame(0x100), CanFrame(0x100, remote=True), CanFrame(0x100 << 18, extended=True),
              CanFrame(0x100 << 18 | 5, extended=True), CanFrame(0x101)]  # fmt: skip
    rng = np.random.default_rng(1)
    assert sorted([frames[i] for i in rng.permutation(5)], key=priority) == frames
