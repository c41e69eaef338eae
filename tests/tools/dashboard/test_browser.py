"""The dashboard in a real browser, on a robot that runs: looking, driving, refusing, stopping, going stale."""

from __future__ import annotations

import time

import pytest

from tests.tools.dashboard.conftest import until

pytest.importorskip("viser", reason="viser is not installed (extra `dashboard`)")


@pytest.fixture
def dashboard(start, url, stack, browser):
    """The tool, and the page open in the browser; the robot is known from robot_config alone."""
    tool = start("tools.dashboard", "--port", "0", "--lcm-url", url, "--patience", "30")
    browser.open(tool.address())
    stack.until(lambda: stack.settled("ready"), "the robot is ready by itself")
    browser.until_text("MIT Mini Cheetah")
    return tool


def test_a_page_looks_takes_control_stands_and_stops_everything(dashboard, stack, browser):
    browser.until_text("This page only looks.")
    assert not browser.button("stand").is_enabled()
    assert stack.asked == [], "a page that only looks publishes nothing"

    browser.press("Take control")
    browser.until_text("You are in control.")
    browser.press("stand")
    stack.until(lambda: stack.settled("stand"), "standing")
    assert stack.asked[-1].source.startswith("dashboard:")
    browser.until_text("ready, recover, joint test: no way from stand")
    assert browser.button("walk").is_enabled()
    assert not browser.button("recover").is_enabled()

    browser.press("E-STOP")
    stack.until(lambda: stack.loop.latched, "the plant's own latch")
    stack.until(lambda: stack.mode().mode == "estop", "the controller's latch")
    browser.until_text("ESTOP pressed: E-STOP button")
    assert browser.button("E-STOP").is_enabled()
    assert stack.asked[-1].mode == "", "after an estop nothing is asked for any more"

    browser.press("Reset")
    stack.until(lambda: not stack.loop.latched and stack.settled("ready"), "released")
    box = browser.driver.execute_script("return arguments[0].getBoundingClientRect()", browser.button("E-STOP"))
    assert box["top"] >= 0 and box["bottom"] < 60 and box["width"] > 200, "E-STOP stands at the top, large"
    assert browser.errors() == []
    assert dashboard.end() == 0, dashboard.text()


def test_the_robot_stops_when_the_page_that_drives_it_is_closed(dashboard, stack, browser):
    browser.press("Take control")
    browser.press("walk")
    stack.until(lambda: stack.settled("walk"), "walking on the spot")
    browser.slide("forward m/s", 6)
    stack.until(lambda: stack.asked[-1].vx > 0.2, "a speed is asked for")
    browser.driver.get("about:blank")
    last = stack.until(lambda: stack.asked[-1].vx == 0.0 and len(stack.asked), "zero speed at once")
    time.sleep(1.0)
    assert len(stack.asked) <= last + 1, "then nothing is asked for any more"


def test_old_data_is_never_shown_as_live(dashboard, stack, browser):
    browser.until_text("live")
    browser.until_text("ready")
    stack.paused.set()
    browser.until_text("stale for")
    browser.until_text("mode unknown")
    browser.until_text("all that is shown is old")
    stack.paused.clear()
    until(lambda: "stale for" not in browser.text(), "live again")
    assert browser.errors() == []


def test_a_joint_is_moved_by_hand_without_any_bus(start, browser):
    tool = start("tools.dashboard", "--kinematic", "--robot", "tocatl", "--port", "0")
    browser.open(tool.address())
    browser.until_text("TOCATL hexapod")
    browser.until_text("within limits")
    browser.slide("FL.yaw", -110)
    browser.until_text("at or beyond a limit: FL.yaw")
    assert browser.errors() == []
    assert tool.end() == 0, tool.text()
