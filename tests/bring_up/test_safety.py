"""What stops a motor, what is asked before, what is left on the bus after; silence, and what follows from it."""

import math
import time

import numpy as np
import pybullet
import pytest

from procs.wire.frame import CanFrame
from procs.wire.mit_can import Special
from sim.emulators.can_motor import MitQuirks
from sim.emulators.gim6010 import GimQuirks
from tools.bring_up.gate import WORDS
from tools.bring_up.session import Session, Verdict


def kick(one, joint, angle, after=150):
    """Something throws the joint away while it is driven."""
    count, hold = [0], one.person.hold

    def before():
        hold()
        plant = one.hardware.robot.plant
        if one.hardware.robot.wanted[2, joint] > 0:
            count[0] += 1
            if count[0] == after:
                at = plant.q[joint] + angle
                pybullet.resetJointState(
                    plant.world.body, plant.world.joints[joint], at, 0.0, physicsClientId=plant.world.client
                )
                plant.q, plant.qd = plant.world.joint_states()

    one.tap.before_tick = before


@pytest.mark.parametrize("kind", ["mit", "spine"])
@pytest.mark.parametrize("angle, way", [(0.4, "the way it was sent"), (-0.5, "AGAINST")])
def test_over_travel_switches_the_motor_off(lab, kind, angle, way):
    one = lab(kind)
    kick(one, 0, angle)
    record = one.run("step FR.abad")["FR.abad"]
    assert record.verdict is Verdict.OVER_TRAVEL and way in record.words
    assert not one.hardware.robot.on.any()


def test_a_blocked_joint_is_given_up_before_it_is_pressed(lab):
    one = lab()
    world = one.hardware.robot.plant.world
    hold = one.person.hold

    def clamp():
        hold()
        pybullet.resetJointState(world.body, world.joints[1], 0.0, 0.0, physicsClientId=world.client)
        one.hardware.robot.plant.q, one.hardware.robot.plant.qd = world.joint_states()

    one.tap.before_tick = clamp
    record = one.run("step FR.hip")["FR.hip"]
    assert record.verdict is Verdict.OVER_TORQUE and "end stop" in record.words
    assert record.data["torque_most"] < 1.3 * 0.2 * one.robot.tau_max[1]


def test_each_motor_is_moved_only_after_a_yes_and_no_other_is_enabled(lab):
    one = lab()
    one.person.allow = False
    assert one.run("step FR.hip quantum FR.hip silence FR.hip")["FR.hip"].verdict is Verdict.REFUSED
    assert one.tap.sent == []
    one.person.allow = True
    one.run("step FR.hip")
    assert {(line, frame.can_id) for line, frame in one.tap.sent} == {(0, 2)}
    data = [frame.data for _, frame in one.tap.sent]
    assert data[1] == Special.ENTER.value  # after a command of zero gains: drives may run their last one again
    assert data[0][3] & 0xF == data[0][4] == data[0][5] == data[0][6] >> 4 == 0
    assert data[-1] != Special.ENTER.value and Special.EXIT.value in data[-4:]
    assert one.person.asked.count("step.FR.hip.transmit") == 2


def test_a_drive_that_says_nothing_is_an_error_with_advice(lab):
    one = lab()
    one.hardware.drives[1].motor = 77
    record = one.run("step FR.hip")["FR.hip"]
    assert record.verdict is Verdict.ERROR and "5 attempts" in record.words and "check its cable and id" in record.words


def test_a_fault_of_the_drive_stops_the_step_in_words(lab):
    one = lab("mit", mit=MitQuirks(reply_length=8))
    one.hardware.drives[1].fail(2)
    record = one.run("step FR.hip")["FR.hip"]
    assert record.verdict is Verdict.ERROR and "over-current" in record.words


@pytest.mark.parametrize("kind", ["mit", "gim6010", "cybergear", "spine"])
def test_ctrl_c_in_a_step_sends_exit_frames_and_loses_nothing(lab, kind, tmp_path):
    one = lab(kind)
    one.run("step FR.hip")
    hold, count = one.person.hold, [0]

    def press():
        hold()
        count[0] += 1
        if count[0] == 200:
            raise KeyboardInterrupt

    one.tap.before_tick = press
    with pytest.raises(KeyboardInterrupt):
        one.run("step FR.knee")
    assert not one.hardware.robot.on.any()
    if kind == "mit":
        assert Special.EXIT.value in {frame.data for _, frame in one.tap.sent[-4:]}
    kept = Session(tmp_path / "session.json", one.robot.name)
    assert kept.passed("step", "FR.hip") and kept.latest("step", "FR.knee")[0].verdict is Verdict.INTERRUPTED
    assert kept.run == one.session.run


def test_close_switches_off_what_is_on(lab):
    one = lab()
    for _ in range(5):
        one.bench.exchange(4, True, math.nan)
    assert one.hardware.robot.on[4]
    one.bench.close()
    assert not one.hardware.robot.on.any()


@pytest.mark.parametrize("kind", ["mit", "cybergear", "spine", "scotty"])
def test_a_drive_that_goes_on_in_silence_has_no_watchdog(lab, kind):
    record = lab(kind).run("silence FR.hip")["FR.hip"]
    assert record.verdict is Verdict.NO_WATCHDOG, record.words


@pytest.mark.parametrize(
    "kind, quirks", [("mit", {"mit": MitQuirks(watchdog=0.1)}), ("gim6010", {"gim6010": GimQuirks(watchdog=0.1)})]
)
def test_a_drives_watchdog_is_found_and_timed(lab, kind, quirks):
    record = lab(kind, **quirks).run("silence FR.hip")["FR.hip"]
    assert record.verdict is Verdict.OK and 0.05 < record.data["stopped_after"] < 0.2, record.words


@pytest.fixture
def ready(lab, monkeypatch):
    """A robot of which everything has passed, as far as the gates look."""

    def make(**quirks):
        one = lab("mit", **quirks)
        monkeypatch.setattr(
            "tools.bring_up.gate.missing", lambda robot, session: [] if session.latest("silence") else ["silence"]
        )
        return one

    return make


def test_without_a_watchdog_the_ground_needs_so_many_words(ready):
    one = ready()
    assert one.run("rig")["robot"].verdict is Verdict.REFUSED
    one.run("silence FR.hip")
    for words in ("", "yes", WORDS.upper()):
        one.person.words = {"ground.words": words}
        refused = one.run("ground")["robot"]
        assert refused.verdict is Verdict.REFUSED and "in so many words" in refused.words
    one.person.words = {"ground.words": WORDS}
    assert one.run("ground")["robot"].passed and one.session.latest("words")[0].data["words"] == WORDS


def test_with_a_watchdog_nobody_is_asked_for_words(ready):
    one = ready(mit=MitQuirks(watchdog=0.1))
    one.run("silence FR.hip")
    assert one.run("ground")["robot"].passed and "ground.words" not in one.person.asked


def test_the_ground_is_refused_until_every_step_has_passed(lab):
    one = lab()
    refused = one.run("ground")["robot"]
    for step in ("roll-call", "step", "zero", "quantum", "silence"):
        assert step in refused.words
    assert np.all([r.verdict is Verdict.REFUSED for r in one.run("rig").values()])


def test_a_whole_robot_passes_from_the_first_listening_to_the_ground(lab):
    one = lab("mit", mit=MitQuirks(watchdog=0.1))
    for words in ("roll-call", "step all", "zero", "quantum all", "silence FR.hip", "ground", "report"):
        assert [r.words for r in one.run(words).values() if not r.passed] == [], words
    assert one.session.latest("report")[0].data["signed_by"] == "A. Tester"


def test_on_real_hardware_time_is_the_clocks_and_frames_from_before_are_old(lab):
    one = lab("gim6010")
    one.tap.emulated = False
    time.sleep(0.1)  # a person is asked
    one.bench.links[0].waiting += [CanFrame(0x21, bytes(8))] * 50
    began = time.monotonic()
    heard = list(one.bench.hear(0.06))
    assert 0.055 < time.monotonic() - began < 0.5
    assert 0 < sum(line == 0 for _, line, _ in heard) < 50
