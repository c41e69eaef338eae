"""Sending for the joint page: one browser at a time, in a thread that ends when the joint is let go."""

from __future__ import annotations

import itertools
import threading
import time
from dataclasses import replace

import pytest

from lcmtypes.channels import JOINT_COMMAND, JOINT_STATE, JOINT_TEST, MODE_STATE
from lcmtypes.generated import JointCommand
from tests.tools.dashboard.conftest import until
from tools.dashboard.commands import Commands
from tools.dashboard.joint_hold import JointPageState
from tools.dashboard.joint_page import error_table, refused_to_enter, save
from tools.dashboard.joint_plots import joint_charts
from tools.dashboard.joint_presence import AWAY
from tools.dashboard.joint_presence import Presence as PagePresence
from tools.dashboard.joint_sender import BUTTON, JointSender
from tools.dashboard.state import State
from tools.joint_test.tracking import Tracking
from tools.operator import Operator

ME, OTHER = 1, 2


class Bus:
    """Keeps joint_test; fails when told to."""

    def __init__(self):
        self.tests, self.broken = [], False

    def publish(self, channel, message):
        if channel is JOINT_TEST:
            if self.broken:
                raise RuntimeError("broken")
            self.tests.append(message)


class Presence:
    """The page is shown until `shown` is cleared."""

    def __init__(self):
        self.shown, self.watched = True, []

    def __call__(self, client, now):
        return self.shown

    def watch(self, client, watched):
        self.watched.append(client)


class Bench:
    """A sender with all that belongs to it, and a robot that says all is well."""

    def __init__(self, robot, made):
        self.made, self.bus, self.presence, self.notes = made, Bus(), Presence(), []
        self.state, self.ticks = State(robot), itertools.count()  # never late, however busy the machine
        self.commands = Commands(Operator(self.bus, "dashboard"), robot.description.control)
        self.page = JointPageState(robot, self.commands.source)
        self.sender = JointSender(
            self.page, self.state, self.commands, Operator(self.bus, "dashboard"), self.presence,
            lambda level, text: self.notes.append((level, text)), lambda: 0.02 * next(self.ticks),
        )  # fmt: skip
        self.hear("joint_test")

    def hear(self, mode, now=1e6):
        """Mode and joints that stay fresh for all of the test."""
        self.state.put(MODE_STATE, self.made.mode(mode, source=self.commands.source), now)
        self.state.put(JOINT_STATE, self.made.joints(), now)

    def take(self, client=ME):
        self.commands.take(client)
        self.commands.ask_mode(client, "joint_test")

    def hold(self):
        self.take()
        assert self.sender.hold(ME) == ""
        until(lambda: len(self.bus.tests) >= 3, "messages")

    def ended(self):
        until(lambda: not any(t.name == "joint_test" for t in threading.enumerate()), "the thread's end")
        return not self.page.held


@pytest.fixture
def bench(robot, made):
    bench = Bench(robot, made)
    yield bench
    bench.sender.let_go("the test ends")
    assert bench.ended()


def test_held_it_sends_numbered_messages_and_one_farewell(bench):
    bench.hold()
    bench.sender.let_go(BUTTON)
    assert bench.ended()
    sent = bench.bus.tests
    assert [m.hold for m in sent] == [1] * (len(sent) - 1) + [0]
    assert [m.seq - sent[0].seq for m in sent] == list(range(len(sent)))
    assert bench.notes == [("info", "FR.abad is held"), ("info", f"the joint was let go: {BUTTON}")]
    assert bench.presence.watched == [ME]


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (lambda b: b.commands.estop("test"), "E-STOP"),
        (lambda b: b.commands.ask_mode(ME, "ready"), "another mode"),
        (lambda b: b.commands.release(ME, "the browser has gone"), "gave control back"),
        (lambda b: setattr(b.presence, "shown", False), "left, hidden or closed"),
        (lambda b: b.hear("damping"), "the controller is in damping"),
        (lambda b: b.hear("joint_test", -1e6), "no controller is heard"),
    ],
)
def test_what_happens_to_page_operator_or_robot_lets_go(bench, event, words):
    bench.hold()
    event(bench)
    assert bench.ended()
    assert words in bench.page.why
    assert bench.bus.tests[-1].hold == 0
    assert bench.notes[-1][0] == "warning"


def test_an_error_lets_go_and_ends_the_thread(bench):
    bench.hold()
    bench.bus.broken = True
    assert bench.ended()
    assert bench.page.why == "an error in the dashboard"


def test_one_browser_holds_and_another_can_only_let_go(bench):
    bench.hold()
    before = bench.page.settings
    assert bench.sender.hold(OTHER) == "another browser holds it"
    assert not bench.sender.edit(OTHER, replace(before, centre=0.5))
    assert bench.page.settings == before
    bench.sender.let_go(BUTTON)
    assert bench.ended()
    assert "left, hidden or closed, or gave control back" in bench.sender.hold(OTHER)
    assert not bench.page.held


def test_without_control_settings_can_be_prepared_but_nothing_is_held(bench):
    assert bench.sender.edit(OTHER, replace(bench.page.settings, kp=12.0))
    assert bench.page.settings.kp == 12.0
    assert bench.sender.hold(OTHER) != ""
    assert bench.bus.tests == []
    assert bench.sender.refusal(0.0) == "", "that nobody has control is no fault"


def test_the_mode_is_entered_only_from_where_the_controller_lets(made):
    own = "dashboard:host:1"
    ready = made.mode("ready", allowed=["down", "stand", "joint_test"])
    assert refused_to_enter(ready, own, asked=False) == ""
    assert refused_to_enter(None, own, asked=False) == "no controller is heard"
    assert "no way from stand to joint_test" in refused_to_enter(made.mode("stand"), own, asked=False)
    assert refused_to_enter(made.mode("ready", source="teleop:h:1"), own, False).startswith("teleop:h:1 is obeyed")
    inside = made.mode("joint_test", source=own)
    assert [refused_to_enter(inside, own, asked) for asked in (True, False)] == ["that is the mode", ""]


class Gui:
    """Keeps the HTML; a client whose localStorage says what the test wants."""

    def __init__(self):
        self.gui = self.local_storage = self
        self.html, self.mark = "", "1"

    def add_html(self, html):
        self.html = html

    def get_clients(self):
        return {ME: self}

    def get_item(self, key, timeout):
        if self.mark is None:
            raise TimeoutError
        return self.mark


@pytest.mark.parametrize("mark", [AWAY, None, "1"])
def test_a_page_that_says_it_goes_or_leaves_no_new_mark_counts_as_left(mark):
    server = Gui()
    presence = PagePresence(server, patience=0.15)
    assert "onerror=" in server.html and AWAY in server.html
    now = time.monotonic()
    assert not presence(ME, now)
    watched = threading.Event()
    watched.set()
    presence.watch(ME, watched.is_set)
    assert presence(ME, now) and not presence(OTHER, now)
    server.mark = mark
    until(lambda: not presence(ME, time.monotonic()), "gone")
    watched.clear()
    until(lambda: not any(t.name == "presence" for t in threading.enumerate()), "the thread's end")


def told(made, robot, q_des, kp):
    command = JointCommand(robot.num_joints)
    joints = made.joints(qd=0.0, tau=0.7)
    command.run, command.seq = joints.run, joints.seq - 1
    command.enable[:], command.kp[1], command.q_des[1] = 1, kp, q_des
    command.kd[1], command.tau_ff[1] = 2.0, 0.25
    return command, joints


def test_the_wanted_torque_is_what_the_drive_makes_of_its_command(made, robot):
    command, joints = told(made, robot, q_des=float(robot.pose("stand")[1]) + 0.1, kp=10.0)
    joints.qd[1] = 0.5
    wanted, measured = (line.field for line in joint_charts(1)[2].lines)
    messages = {JOINT_COMMAND: command, JOINT_STATE: joints}
    assert wanted.value(messages) == pytest.approx(0.25 + 10.0 * 0.1 - 2.0 * 0.5)
    assert measured.value(messages) == 0.7
    command.enable[:] = 0
    assert wanted.value(messages) != wanted.value(messages), "NaN: nothing is wanted"


def test_the_table_and_its_file_say_the_error_by_joint_and_class(made, robot, tmp_path):
    tracking = Tracking(robot)
    assert "no joint has been held" in error_table(tracking.by_joint(), tracking.by_class())
    command, joints = told(made, robot, q_des=float(robot.pose("stand")[1]) + 0.02, kp=10.0)
    tracking.command(command)
    tracking.state(joints, 1, 10.0)
    text = error_table(tracking.by_joint(), tracking.by_class())
    assert "FR.hip" in text and "class hip" in text and ">20.0<" in text
    level, said = save(tmp_path / "logs" / "errors.csv", tracking)
    assert (level, said.split()[0]) == ("info", "saved")
    rows = (tmp_path / "logs" / "errors.csv").read_text().splitlines()
    assert rows[0] == "joint,mean_rad,sigma_rad,max_rad,ticks"
    assert [row.split(",")[0] for row in rows[1:]] == ["FR.hip", "hip"]
    (tmp_path / "file").write_text("")
    level, said = save(tmp_path / "file" / "errors.csv", tracking)
    assert level == "error" and "cannot write" in said
