"""Drive in closed form: slew, limits, zero when nothing is held; requests that are new, requests that are forgotten."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.load import load_robot, robot_names
from lcmtypes.generated import ModeState
from tools.teleop.drive import AGAIN, FORGET, LEVELS, LONGEST, PRESSED, Drive
from tools.teleop.envelope import SETTINGS, SPEEDS, Envelope

DT = 0.02


def robot(mode="walk", run=1, gait="trot"):
    state = ModeState()
    state.mode, state.run, state.gait = mode, run, gait
    return state


def drive_for(drive, seconds, begin=100.0):
    """Commands at 50 Hz."""
    return [drive.command(begin + k * DT) for k in range(1, round(seconds / DT) + 1)]


@pytest.fixture
def drive(envelope):
    drive = Drive(envelope)
    drive.command(100.0)
    return drive


def test_a_held_speed_grows_with_the_slew_to_the_level_of_the_limit(drive, envelope):
    drive.hold({"vx": 1.0})
    goal, slew = LEVELS[drive.level] * envelope.ranges["vx"][1], envelope.slews["vx"]
    for k, command in enumerate(drive_for(drive, 2.0), 1):
        assert command.vx == pytest.approx(min(goal, slew * k * DT))
        assert (command.vy, command.yaw_rate) == (0.0, 0.0)


def test_backward_is_the_other_limit(drive, envelope):
    drive.hold({"vx": -1.0})
    assert drive_for(drive, 3.0)[-1].vx == pytest.approx(LEVELS[drive.level] * envelope.ranges["vx"][0])


def test_let_go_is_zero_at_once_and_the_other_axis_goes_on(drive):
    drive.hold({"vx": 1.0, "yaw_rate": -0.5})
    before = drive_for(drive, 3.0)[-1]
    drive.hold({"yaw_rate": -0.5})
    after = drive.command(103.02)
    assert (after.vx, after.vy) == (0.0, 0.0)
    assert after.yaw_rate == before.yaw_rate != 0


def test_the_other_direction_begins_at_zero(drive, envelope):
    drive.hold({"vx": 1.0})
    drive_for(drive, 3.0)
    drive.hold({"vx": -1.0})
    assert drive.command(103.02).vx == pytest.approx(-envelope.slews["vx"] * DT)


def test_a_lower_level_is_reached_with_the_slew(drive, envelope):
    drive.hold({"vx": 1.0})
    fast = drive_for(drive, 3.0)[-1].vx
    drive.change_level(-1)
    assert drive.command(103.02).vx == pytest.approx(fast - envelope.slews["vx"] * DT)


def test_a_gap_between_commands_does_not_jump(drive, envelope):
    drive.hold({"vx": 1.0})
    assert drive.command(160.0).vx == pytest.approx(envelope.slews["vx"] * LONGEST)


def test_a_gait_with_a_narrower_range_narrows_the_speed(envelope):
    narrow = Envelope(**{**vars(envelope), "gaits": {**envelope.gaits, "walk": (-0.1, 0.2)}})
    drive = Drive(narrow)
    drive.hold({"vx": 1.0})
    assert drive.goal("vx") == pytest.approx(LEVELS[drive.level] * narrow.ranges["vx"][1])
    drive.follow(robot(gait="walk"), 0.0)
    assert drive.goal("vx") == pytest.approx(LEVELS[drive.level] * 0.2)
    drive.follow(robot(gait="trot"), 0.0)
    drive.gait = "walk"
    drive.hold({"vx": -1.0})
    assert drive.goal("vx") == pytest.approx(-LEVELS[drive.level] * 0.1)


def test_without_an_envelope_nothing_moves():
    drive = Drive()
    drive.hold({"vx": 1.0, "yaw_rate": 1.0})
    drive.change("height", 1)
    command = drive_for(drive, 1.0)[-1]
    assert all(getattr(command, name) == 0.0 for name in SPEEDS + SETTINGS)
    assert "not known" in drive.choose_gait(0)


@pytest.fixture(scope="module", params=robot_names())
def any_envelope(request):
    return Envelope.of(load_robot(request.param))


@settings(deadline=None, max_examples=50)
@given(st.data())
def test_whatever_is_done_the_command_is_finite_and_within_the_limits(any_envelope, data):
    envelope, t = any_envelope, 0.0
    drive = Drive(envelope)
    drive.command(t)
    last = dict.fromkeys(SPEEDS, 0.0)
    for _ in range(data.draw(st.integers(1, 30))):
        match data.draw(st.sampled_from(["hold", "level", "gait", "set", "nothing"])):
            case "hold":
                drive.hold({axis: data.draw(st.floats(-2, 2)) for axis in data.draw(st.sets(st.sampled_from(SPEEDS)))})
            case "level":
                drive.change_level(data.draw(st.integers(-9, 9)))
            case "gait":
                drive.next_gait(data.draw(st.sampled_from([-1, 1])))
            case "set":
                drive.change(data.draw(st.sampled_from(SETTINGS)), data.draw(st.integers(-30, 30)))
        dt = data.draw(st.floats(0.0, 0.5))
        t += dt
        command = drive.command(t)
        assert command.finite()
        for axis in SPEEDS:
            value, (low, high) = getattr(command, axis), envelope.ranges[axis]
            assert low <= value <= high
            assert (value != 0) <= (drive.held[axis] != 0), "moves though nothing is held"
            assert abs(value) <= abs(last[axis]) + envelope.slews[axis] * min(dt, LONGEST) + 1e-9
            last[axis] = value
        for name in SETTINGS:
            low, high = envelope.ranges[name]
            assert getattr(command, name) == 0.0 or low <= getattr(command, name) <= high


def test_height_starts_from_nominal_and_level_out_puts_all_back(drive, envelope):
    low, high = envelope.ranges["height"]
    drive.change("height", 1)
    drive.change("pitch", 2)
    command = drive.command(100.1)
    assert command.height == pytest.approx(envelope.nominal_height + (high - low) / 20)
    assert command.pitch == pytest.approx(2 * (envelope.ranges["pitch"][1] - envelope.ranges["pitch"][0]) / 20)
    drive.change("pitch", -2)
    assert drive.command(100.2).pitch == 0.0
    drive.level_out()
    assert drive.command(100.3).height == 0.0


def test_gaits_are_the_robots_in_its_order_without_standing(drive, description):
    walking = [name for name, gait in description.control.gaits.items() if gait.duty < 1]
    assert drive.choose_gait(1) == ""
    assert drive.command(100.1).gait == walking[1]
    drive.next_gait(1)
    assert drive.gait == walking[2]
    assert f"has {len(walking)}" in drive.choose_gait(8)
    drive.gait = walking[-1]
    drive.next_gait(1)
    assert drive.gait == walking[0]


def test_each_request_is_preceded_by_a_moment_without_one(drive):
    drive.follow(robot(), 100.0)
    drive.request("walk", 100.0)
    assert drive.command(100.0).mode == drive.command(100.0 + 0.9 * AGAIN).mode == ""
    assert drive.command(100.0 + 1.1 * AGAIN).mode == "walk"
    drive.request("walk", 101.0)
    assert drive.command(101.01).mode == ""
    assert drive.command(101.1).mode == "walk"


@pytest.mark.parametrize("state", [None, *(robot(mode) for mode in FORGET), robot(run=2)], ids=repr)
def test_a_robot_that_was_forced_or_lost_is_not_asked_again_by_itself(drive, state):
    drive.follow(robot(), 100.0)
    drive.request("walk", 100.0)
    drive.follow(robot(), 101.0)
    assert drive.command(101.0).mode == "walk"
    drive.follow(state, 101.02)
    assert drive.command(101.02).mode == ""
    drive.follow(robot(), 102.0)
    assert drive.command(102.0).mode == ""


def test_a_request_out_of_damping_stands_long_enough_to_be_heard(drive):
    drive.follow(robot("damping"), 100.0)
    drive.request("stand", 100.0)
    drive.follow(robot("damping"), 100.0 + PRESSED - DT)
    assert drive.command(100.0 + PRESSED - DT).mode == "stand"
    drive.follow(robot("damping"), 100.0 + PRESSED + DT)
    assert drive.command(100.0 + PRESSED + DT).mode == ""


def test_another_robot_gets_nothing_that_was_set_for_the_old_one(drive):
    drive.change("height", 2)
    drive.choose_gait(0)
    drive.request("walk", 100.0)
    other = Envelope.of(load_robot("tocatl"))
    drive.set_envelope(other)
    assert (drive.mode, drive.gait, drive.settings["height"]) == ("", "", 0.0)
    drive.hold({"vx": 1.0})
    drive.level = len(LEVELS) - 1
    assert drive_for(drive, 5.0)[-1].vx == pytest.approx(other.ranges["vx"][1])
    assert not math.isclose(other.ranges["vx"][1], 3.0)
