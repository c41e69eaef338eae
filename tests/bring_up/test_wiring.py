"""Wrong wiring, one thing at a time: found, named, put right by the overlay, and right when tried again."""

import pytest
import yaml

from config.bus import JointWiring
from config.load import load_robot
from procs.model.robot import Robot
from tests.bring_up.conftest import rewired
from tools.bring_up.report import overlay, read_overlay
from tools.bring_up.session import Verdict
from tools.bring_up.wiring import corrected


def wire(one, joint) -> JointWiring:
    return corrected(one.robot, one.session)[one.robot.joint_names.index(joint)]


def true_wire(one, joint) -> JointWiring:
    return one.hardware.bus.wiring[joint]


@pytest.mark.parametrize("kind", ["mit", "gim6010", "cybergear", "spine", "scotty"])
def test_right_wiring_passes_and_is_not_changed(lab, kind):
    one = lab(kind)
    records = one.run("step FR quantum FR zero")
    assert [r.words for r in records.values() if not r.passed and r.target.startswith("FR")] == []
    for joint in ("FR.abad", "FR.hip", "FR.knee"):
        ours, true = wire(one, joint), true_wire(one, joint)
        assert ours.offset == pytest.approx(true.offset, abs=2e-3)
        assert ours == true.model_copy(update={"offset": ours.offset})


@pytest.mark.parametrize("kind, joint", [("mit", "FR.abad"), ("spine", "RL.hip")])
def test_an_inverted_sign_is_found_and_put_right(lab, kind, joint):
    one = lab(kind, lambda r: rewired(r, **{joint.replace(".", "_"): {"sign": -wire_of(r, joint).sign}}))
    first = one.run(f"step {joint}")[joint]
    assert first.verdict is Verdict.SIGN and f"of {joint} must be {true_wire(one, joint).sign:+d}" in first.words
    assert wire(one, joint).sign == true_wire(one, joint).sign
    assert one.run(f"step {joint}")[joint].passed


def wire_of(robot, joint):
    return robot.description.bus.wiring[joint]


@pytest.mark.parametrize("ratio", [1.0, 1.3])
def test_a_wrong_ratio_is_found_and_put_right(lab, ratio):
    one = lab("mit", lambda r: rewired(r, FL_knee={"ratio": ratio}))
    first = one.run("step FL.knee")["FL.knee"]
    assert first.verdict is Verdict.RATIO and "wiring says 1.555" in first.words
    assert wire(one, "FL.knee").ratio == pytest.approx(ratio, rel=0.01)
    assert one.run("step FL.knee")["FL.knee"].passed


def test_an_angle_nobody_measured_leaves_the_ratio_alone(lab):
    one = lab("mit", lambda r: rewired(r, FL_knee={"ratio": 1.0}))
    one.person.measures = False
    assert "ratio not measured" in one.run("step FL.knee")["FL.knee"].words
    assert wire(one, "FL.knee").ratio == wire_of(one.robot, "FL.knee").ratio


def test_swapped_nodes_are_found_and_put_right(lab):
    def swap(r):
        return rewired(r, FR_hip={"id": 3}, FR_knee={"id": 2})

    one = lab("mit", swap)
    records = one.run("step FR.hip")
    assert records["FR.hip"].verdict is Verdict.SWAPPED and "moves FR.knee" in records["FR.hip"].words
    assert (wire(one, "FR.knee").id, wire(one, "FR.hip").id) == (2, 3)  # the rest follows: one node is left
    again = one.run("step FR.hip FR.knee")
    assert all(r.passed for r in again.values()), again
    assert all(wire(one, j) == true_wire(one, j) for j in ("FR.hip", "FR.knee"))


def test_swapped_legs_of_a_board_are_found_and_put_right(lab):
    def swap(r):
        front = {f"FR_{j}": {"id": 1} for j in ("abad", "hip", "knee")}
        return rewired(r, **front, **{f"FL_{j}": {"id": 0} for j in ("abad", "hip", "knee")})

    one = lab("spine", swap)
    records = one.run("step FR")
    assert records["FR.abad"].verdict is Verdict.SWAPPED and "moves FL.abad" in records["FR.abad"].words
    assert records["FR.hip"].passed and records["FR.knee"].passed  # a leg hangs together
    assert all(wire(one, f"FR.{j}").id == 1 and wire(one, f"FL.{j}").id == 0 for j in ("abad", "hip", "knee"))


def test_motors_swapped_within_a_leg_of_a_board_are_found_and_written_as_slots(lab, tmp_path):
    one = lab("spine", lambda r: rewired(r, FR_hip={"slot": 2}, FR_knee={"slot": 1}))
    first = one.run("step FR.knee")["FR.knee"]
    assert first.verdict is Verdict.SWAPPED and "moves FR.hip" in first.words and "slots" in first.words
    assert (wire(one, "FR.hip").slot, wire(one, "FR.knee").slot, wire(one, "FR.abad").slot) == (2, 1, None)
    again = one.run("step FR.hip FR.knee")
    assert all(r.passed for r in again.values()), again
    one.run("step FR.abad zero report")
    description = load_robot("mini_cheetah", read_overlay(tmp_path / "mini_cheetah_overlay.yaml"))
    for joint in ("FR.abad", "FR.hip", "FR.knee"):
        ours, true = description.bus.wiring[joint], true_wire(one, joint)
        assert ours.offset == pytest.approx(true.offset, abs=3e-3)
        assert ours == true.model_copy(update={"offset": ours.offset})


def test_a_motor_that_hangs_in_another_leg_of_another_board_is_put_right(lab):
    """FR.hip's and RL.knee's motors: two boards, two legs, two slots."""

    def swap(r):
        fr, rl = r.description.bus.wiring["FR.hip"], r.description.bus.wiring["RL.knee"]
        there, here = {"line": rl.line, "id": rl.id, "slot": 2}, {"line": fr.line, "id": fr.id, "slot": 1}
        return rewired(r, FR_hip=there, RL_knee=here)

    one = lab("spine", swap)
    one.run("step RL.knee")  # moves FR.hip; of FR.hip's, RL.knee is at its end stop
    assert all(r.passed for r in one.run("step FR.hip RL.knee FR.knee RL.hip").values())
    assert wire(one, "FR.hip").place(1) == (1, 1, 2) and wire(one, "RL.knee").place(11) == (0, 0, 1)


@pytest.mark.parametrize("kind", ["mit", "spine"])
def test_a_wrong_velocity_range_is_found_and_the_firmware_named(lab, kind):
    one = lab(kind, lambda r: rewired(r, RR_hip={"drive": "mini_cheetah_v45"}))
    record = one.run(f"{'step' if kind == 'mit' else 'quantum'} RR.hip")["RR.hip"]
    assert record.verdict is Verdict.RANGE and "mini_cheetah_v45" in record.words, record.words
    assert one.run("quantum RR.abad")["RR.abad"].passed
    if kind == "mit":
        assert one.run("quantum RR.hip")["RR.hip"].verdict in (Verdict.RANGE, Verdict.OK)


def test_a_drive_with_a_much_larger_position_range_is_stopped(lab):
    one = lab("mit", lambda r: rewired(r, RR_hip={"drive": "AK80-6_V1.0"}))
    record = one.run("step RR.hip")["RR.hip"]
    assert record.verdict is Verdict.RANGE and "AK80-6_V1.0" in record.words, record.words
    assert abs(one.hardware.robot.plant.q[one.robot.joint_names.index("RR.hip")]) < 0.8
    assert not one.hardware.robot.on.any()


def test_offsets_are_those_of_the_straight_legs(lab):
    one = lab("mit", lambda r: rewired(r, FL_hip={"offset": 0.3}, FL_abad={"offset": -0.2}))
    assert one.run("zero")["FL.hip"].verdict is Verdict.REFUSED  # not before sign and ratio are known
    records = one.run("step FL zero")
    assert wire(one, "FL.hip").offset == pytest.approx(0.3, abs=2e-3), records["FL.hip"]
    assert wire(one, "FL.abad").offset == pytest.approx(-0.2, abs=2e-3)
    assert "far from it" in records["FL.hip"].words


def test_the_overlay_loads_and_corrects_the_wiring(lab, tmp_path):
    one = lab("spine", lambda r: rewired(r, FR_hip={"sign": 1, "offset": -0.4}, RL_knee={"ratio": 1.0}))
    one.run("step FR RL step FR.hip RL.knee zero silence FR.hip report")
    path = tmp_path / "mini_cheetah_overlay.yaml"
    assert yaml.safe_load(path.read_text())["bus.start.drive_watchdog"] is False
    for description in (
        load_robot("mini_cheetah", read_overlay(path)),
        load_robot(tmp_path / "mini_cheetah_brought_up.yaml"),
    ):
        wiring = Robot(description).description.bus.wiring
        assert wiring["FR.hip"].sign == 1 and wiring["FR.hip"].offset == pytest.approx(-0.4, abs=3e-3)
        assert wiring["RL.knee"].ratio == 1.0 and not description.bus.start.drive_watchdog
    page = (tmp_path / "mini_cheetah_report.html").read_text()
    assert "A. Tester" in page and "FR.hip: sign -1 -&gt; 1" in page and "inverted sign" in page and "<svg" in page
    assert "http" not in page and "src=" not in page
    assert overlay(one.robot, one.session)["bus.wiring"]["FL.abad"]["sign"] == -1
