"""What is told of the robot: speeds in the heading frame, ages, warnings."""

import itertools
import math

import pytest

from lcmtypes.channels import BODY_STATE, MODE_STATE, PROC_HEALTH
from lcmtypes.generated import BodyState, ModeState, ProcHealth
from procs.runtime.bus import Bus
from tools.teleop.view import OLD, SHOWN, RobotView

_numbers = itertools.count(1)


@pytest.fixture
def bus():
    return Bus(f"memq://view{next(_numbers)}")


@pytest.fixture
def view(bus):
    return RobotView(bus)


def look(bus, view, t):
    bus.drain()
    view.look(t)


def test_speeds_are_told_in_the_heading_frame(bus, view):
    body, yaw = BodyState(4), 2.0
    body.valid, body.rpy[2], body.omega_world[2] = 1, yaw, 0.3
    body.v_world[:2] = 0.5 * math.cos(yaw) - 0.1 * math.sin(yaw), 0.5 * math.sin(yaw) + 0.1 * math.cos(yaw)
    bus.publish(BODY_STATE, body)
    look(bus, view, 1.0)
    assert view.speeds() == pytest.approx((0.5, 0.1, 0.3))


def test_what_is_old_is_not_believed(bus, view):
    bus.publish(MODE_STATE, ModeState())
    look(bus, view, 1.0)
    assert view.mode is not None and view.age(MODE_STATE) == 0.0
    look(bus, view, 1.0 + OLD)
    assert view.mode is not None
    look(bus, view, 1.1 + OLD)
    assert view.mode is None
    assert any("controller" in line for line in view.warnings())


def test_equal_messages_are_fresh_too(bus, view):
    for t in (1.0, 2.0):
        bus.publish(MODE_STATE, ModeState())
        look(bus, view, t)
    assert view.age(MODE_STATE) == 0.0


def test_bytes_of_another_revision_are_told(bus, view):
    bus.publish_raw(MODE_STATE.name, b"12345678 something else")
    look(bus, view, 1.0)
    assert view.mode is None
    assert any("same revision" in line for line in view.warnings())


def test_an_invalid_estimate_is_a_warning_with_its_reason(bus, view):
    body = BodyState(4)
    body.valid, body.reason = 0, "suspended"
    bus.publish(BODY_STATE, body)
    look(bus, view, 1.0)
    assert any("suspended" in line for line in view.warnings())


def test_a_new_error_of_a_process_is_shown_for_a_while_and_once(bus, view):
    for t, shown in ((1.0, True), (1.0 + SHOWN + 0.1, False)):
        health = ProcHealth()
        health.name, health.last_error = "sim", "watchdog"
        look(bus, view, t)
        bus.publish(PROC_HEALTH, health)
        look(bus, view, t)
        assert any("sim: watchdog" in line for line in view.warnings()) == shown
