"""Who is in control, and what is published."""

from __future__ import annotations

import time

import pytest

from lcmtypes.channels import ESTOP, MOTION_COMMAND, RESET
from tools.dashboard.commands import PAD_HELD, Commands
from tools.dashboard.drive import MODES, refusal
from tools.operator import Operator

ME, OTHER = 1, 2


class FakeBus:
    """Keeps what is published."""

    def __init__(self):
        self.sent = []

    def publish(self, channel, message):
        self.sent.append((channel, message))
        return True

    def of(self, channel):
        return [m for c, m in self.sent if c is channel]


@pytest.fixture
def bus():
    return FakeBus()


@pytest.fixture
def commands(bus, robot):
    return Commands(Operator(bus, "dashboard"), robot.description.control)


def test_nothing_is_published_without_control(commands, bus):
    commands.ask_mode(ME, "walk")
    commands.set(ME, "vx", 1.0)
    assert not commands.publish(0.0)
    assert bus.sent == []


def test_control_begins_with_no_mode_and_no_speed_whatever_was_asked_before(commands, bus):
    commands.take(ME)
    commands.ask_mode(ME, "walk")
    commands.set(ME, "vx", 1.0)
    commands.release(ME, "given back")
    commands.take(OTHER)
    commands.publish(0.0)
    last = bus.of(MOTION_COMMAND)[-1]
    assert (last.mode, last.vx, last.height) == ("", 0.0, 0.0)
    assert last.source.startswith("dashboard:")


def test_one_browser_at_a_time_and_the_others_change_nothing(commands):
    assert commands.take(ME)
    assert not commands.take(OTHER)
    commands.set(OTHER, "vx", 1.0)
    commands.ask_mode(OTHER, "walk")
    commands.hold(OTHER, "vx", 1.0)
    commands.release(OTHER, "given back")
    assert commands.owns(ME)
    assert commands.message(0.0).vx == 0.0
    assert commands.wanted.mode == ""


def test_a_closed_browser_asks_for_zero_speed_once_and_then_is_silent(commands, bus):
    commands.take(ME)
    commands.ask_mode(ME, "walk")
    commands.set(ME, "vx", 0.5)
    commands.publish(0.0)
    commands.release(ME, "the browser has gone")
    assert [m.vx for m in bus.of(MOTION_COMMAND)] == [0.5, 0.0]
    assert not commands.publish(0.1)
    assert len(bus.of(MOTION_COMMAND)) == 2


def test_values_are_kept_within_the_limits_of_robot_and_gait(commands, robot):
    limits = robot.description.control.limits
    commands.take(ME)
    for name in ("vx", "vy", "yaw_rate", "height", "roll", "pitch"):
        commands.set(ME, name, 99.0)
    message = commands.message(0.0)
    for name in ("vx", "vy", "yaw_rate", "height", "roll", "pitch"):
        assert getattr(message, name) == getattr(limits, name)[1]


def test_a_pad_button_counts_only_while_it_is_held(commands):
    commands.take(ME)
    commands.set(ME, "vx", 0.2)
    commands.hold(ME, "vx", 0.6)
    now = time.monotonic()
    assert commands.message(now).vx == 0.6
    assert commands.message(now + 2 * PAD_HELD).vx == 0.2


def test_estop_needs_no_control_and_drops_what_was_asked_for(commands, bus):
    commands.estop("test")
    assert len(bus.of(ESTOP)) == 3
    commands.take(ME)
    commands.ask_mode(ME, "walk")
    commands.set(ME, "vx", 0.5)
    commands.estop("test")
    message = commands.message(0.0)
    assert (message.mode, message.vx) == ("", 0.0)


def test_reset_is_sent_after_a_command_that_asks_for_no_motion(commands, bus):
    commands.take(ME)
    commands.ask_mode(ME, "walk")
    commands.set(ME, "vx", 0.5)
    commands.reset("test")
    (_, motion), (channel, _) = bus.sent[-2:]
    assert channel is RESET
    assert (motion.mode, motion.vx) == ("", 0.0)


def test_the_thread_publishes_only_while_there_is_control(commands, bus):
    commands.start()
    try:
        commands.take(ME)
        end = time.monotonic() + 30
        while len(bus.of(MOTION_COMMAND)) < 4 and time.monotonic() < end:
            time.sleep(0.005)
    finally:
        commands.stop()
    sent = bus.of(MOTION_COMMAND)
    assert len(sent) >= 4
    assert len({m.seq for m in sent}) == len(sent)
    assert commands.owner is None


def test_mode_buttons_follow_what_the_controller_allows(made):
    state = made.mode("stand", allowed=["down", "walk", "shutdown"])
    assert {m for m in MODES if not refusal(m, state, owned=True)} == {"down", "walk", "shutdown"}
    assert refusal("ready", state, owned=True) == "no way from stand"
    assert refusal("walk", state, owned=False) == "take control first"
    assert refusal("walk", None, owned=True) == "no controller is heard"
    busy = made.mode("stand", busy=1, target="walk", allowed=["down", "walk", "shutdown"])
    assert {m for m in MODES if not refusal(m, busy, owned=True)} == {"shutdown"}
    assert refusal("down", busy, owned=True) == "busy: stand on the way to walk"
