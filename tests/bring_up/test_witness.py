"""A drive's second encoder beside the first: agreement, wrong gears, another range, couplings that slip."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.scenario import Fault
from sim.emulators.cybergear import CyberGearQuirks
from sim.emulators.gim6010 import GimQuirks
from tests.bring_up.conftest import robot_on
from tools.bring_up.session import Verdict
from tools.bring_up.witness import Pairs


@pytest.mark.parametrize("kind, source", [("cybergear", "mechPos"), ("gim6010", "encoder estimates")])
def test_two_encoders_that_agree_are_mentioned(lab, kind, source):
    record = lab(kind).run("step FR.hip")["FR.hip"]
    assert record.passed and f"{source} agrees" in record.words
    (p0, w0), (p1, w1), (p2, w2) = record.data["pairs"]
    assert abs(p1 - p0) > 0.1 and abs((w1 - w0) - (p1 - p0)) < 2e-3 and abs((w2 - w0) - (p2 - p0)) < 2e-3


@pytest.mark.parametrize("kind", ["mit", "spine"])
def test_drives_without_a_second_encoder_are_not_asked(lab, kind):
    record = lab(kind).run("step FR.hip")["FR.hip"]
    assert record.passed and record.data["pairs"] == [] and "agrees" not in record.words


@pytest.mark.parametrize(
    "kind, quirks, scale",
    [("cybergear", {"cybergear": CyberGearQuirks(output_ratio=1.25)}, "1.250"),
     ("gim6010", {"gim6010": GimQuirks(gear=6.0)}, "0.750")],
)  # fmt: skip
def test_a_wrong_gear_between_the_two_is_named(lab, kind, quirks, scale):
    record = lab(kind, **quirks).run("step FR.hip")["FR.hip"]
    assert record.verdict is Verdict.RATIO and "gear" in record.words, record.words
    assert f"goes {scale[:4]}" in record.words


def test_a_cybergear_with_the_manuals_range_is_told_from_the_usual_one(lab):
    record = lab("cybergear", cybergear=CyberGearQuirks(four_pi=True)).run("step FR.hip")["FR.hip"]
    assert record.verdict is Verdict.RANGE and "4 pi" in record.words, record.words


@pytest.mark.parametrize("kind", ["cybergear", "gim6010"])
def test_a_coupling_that_slips_on_the_way_is_named(lab, kind):
    """It slips once, in the middle of the hold, by 0.06 rad."""
    one = lab(kind)
    joint = one.robot.joint_names.index("FR.hip")
    hold, count = one.person.hold, [0]

    def slip():
        hold()
        count[0] += bool(one.hardware.robot.wanted[2, joint] > 0)
        if count[0] == 100:
            one.hardware.bus_faults.faults.append(Fault(t=0.0, kind="coupling_slips", joint="FR.hip", value=0.06))
            one.hardware.bus_faults.joints.append(joint)
            one.hardware.bus_faults.spans.append((0, math.inf))

    one.tap.before_tick = slip
    record = one.run("step FR.hip")["FR.hip"]
    assert record.verdict is Verdict.SLIP and "0.06" in record.words, record.words
    assert abs(record.data["pairs"][2][1] - record.data["pairs"][0][1]) < 0.1


def test_a_witness_that_does_not_answer_says_nothing(lab):
    one = lab("gim6010", gim6010=GimQuirks(answers_remote=False, answers_data=False, encoder=0.0))
    record = one.run("step FR.hip")["FR.hip"]
    assert record.passed and record.data["pairs"] == []


@given(st.floats(-10, 10), st.floats(-10, 10), st.floats(0.06, 1.0), st.floats(0.5, 2.0), st.floats(-0.3, 0.3))
def test_scale_and_slip_are_told_apart_whatever_the_zeros(p, w, way, scale, slip):
    pairs = Pairs("x")
    for k, gone in enumerate((0.0, way, 0.0)):
        pairs.add(p + gone, w + scale * gone + (slip if k == 2 else 0.0))
    found = pairs.judge("gear")
    if abs(slip) > 0.021:
        assert found is not None and found[0] is Verdict.SLIP
    elif abs(slip) < 0.019 and abs(scale - 1) > 0.021:
        assert found is not None and found[0] is Verdict.RATIO
    elif abs(slip) < 0.019 and abs(scale - 1) < 0.019:
        assert found is None


def test_too_little_motion_says_nothing():
    pairs = Pairs("x")
    for p, w in ((0.0, 0.0), (0.04, 0.08), (0.0, 0.0)):
        pairs.add(p, w)
    assert pairs.judge("gear") is None and Pairs("x", [(0.0, 0.0)]).judge("gear") is None
    pairs.add(math.nan, 1.0)
    pairs.add(1.0, None)
    assert len(pairs.at) == 3


def test_every_protocol_is_known_to_have_a_second_encoder_or_none():
    from procs.bridge.can_protocols import PROTOCOLS

    assert set(PROTOCOLS) == {"mit", "gim6010", "cybergear"} == {robot_on(k).description.bus.can.protocol
                                                                 for k in ("mit", "gim6010", "cybergear")}  # fmt: skip
