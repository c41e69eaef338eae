"""The joint page in a real browser, on a robot that hangs in its rig: enter, hold, let go, leave."""

from __future__ import annotations

import time

import pytest

from lcmtypes.channels import JOINT_STATE, JOINT_TEST, LEG_COMMAND
from tests.tools.dashboard.conftest import PATIENCE, Stack

pytest.importorskip("viser", reason="viser is not installed (extra `dashboard`)")


class Rig(Stack):
    """A suspended robot; keeps what joint_test says."""

    def __init__(self, robot, url):
        super().__init__(robot, url, suspended=True)
        self.tests = []
        self.bus.subscribe((JOINT_TEST,), self._hear_test)

    def _hear_test(self, channel, message):
        self.tests.append(message)
        self._operators.append((channel, message))

    def q(self, joint):
        return float(self.newest[JOINT_STATE].q[joint])

    def stiff(self):
        """Joints that are told an angle."""
        return [j for j, kp in enumerate(self.newest[LEG_COMMAND].kp_joint) if kp > 0]

    def limp(self):
        """No joint is told an angle, and the last message says so."""
        return self.stiff() == [] and self.tests[-1].hold == 0


@pytest.fixture
def rig(robot, url):
    rig = Rig(robot, url)
    rig.start()
    yield rig
    rig.ended.set()
    rig.join(PATIENCE)


def test_a_joint_is_held_moves_and_is_let_go_by_the_button_and_by_another_page(start, url, rig, browser):
    tool = start("tools.dashboard", "--port", "0", "--lcm-url", url, "--patience", "30")
    browser.open(tool.address())
    rig.until(lambda: rig.settled("ready"), "ready by itself")
    browser.tab("Joint test")
    browser.until_text("Only with the robot hanging in its rig")
    assert not browser.button("Hold to drive").is_enabled()
    browser.press("Enter joint_test")
    rig.until(lambda: rig.settled("joint_test"), "the mode")
    assert rig.tests == [] and rig.stiff() == [], "nothing is driven before it is held"

    browser.slide("position rad", -50)
    browser.until_text("FR.abad would go slowly to -0.50 rad")
    assert rig.q(0) > -0.1, "by its weight it hangs on the other side"
    held_until(rig, browser, lambda: rig.q(0) < -0.2, "FR.abad moves")
    held_until(rig, browser, lambda: "no joint has been held" not in browser.text(), "an error is measured")
    let_go(rig, browser, lambda: browser.press_if_there("LET GO"), "let go: the button was pressed")
    let_go(rig, browser, lambda: browser.tab("Health"), "let go: the page that held it was left")
    assert rig.settled("joint_test")
    browser.press("Leave to ready")
    rig.until(lambda: rig.settled("ready"), "ready")
    assert browser.errors() == []
    assert tool.end() == 0, tool.text()


def held_until(rig, browser, condition, what):
    """Hold until the joint is stiff and something is true; a machine too busy for 50 Hz lets go: hold again."""
    presses = []

    def look():
        if rig.stiff() == [0] and condition():
            return True
        rested = not presses or time.monotonic() - presses[-1] > 3.0  # the same button lets go
        if rested and len(presses) < 5 and browser.press_if_there("Hold to drive"):
            presses.append(time.monotonic())
        return False

    rig.until(look, what)


def let_go(rig, browser, act, words):
    """Hold, act, and the page says why it let go; again where the busy machine was first."""
    for _ in range(8):
        held_until(rig, browser, lambda: True, "held")
        act()
        rig.until(rig.limp, f"damped, and the controller was told: {words}")
        browser.tab("Joint test")
        browser.until_text("let go: ")
        if words in browser.text():
            return
    raise AssertionError(f"{words!r} not in:\n{browser.text()}")
