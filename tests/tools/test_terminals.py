"""Teleop and spy as processes in a terminal: keys in, messages out; and what happens when they or the terminal die."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from lcmtypes.channels import ESTOP, IMU, MOTION_COMMAND
from lcmtypes.generated import Imu
from procs.runtime.bus import Bus
from tools.launch import private_url

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0  # s; generous: the machine may be busy
# The child takes the terminal as its own, so that closing it hangs up.
IN_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.executable, sys.argv[1:])"
)


class Terminal:
    """A tool in a terminal of 120 x 40, and a bus on its URL."""

    def __init__(self, *command):
        self.url = private_url()
        self.bus, self.heard = Bus(self.url), []
        self.bus.subscribe((MOTION_COMMAND, ESTOP), lambda channel, m: self.heard.append((channel, m)))
        self.master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (40, 120))
        environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}  # the terminal's own size
        line = [sys.executable, "-m", *command, "--lcm-url", self.url]
        self.process = subprocess.Popen(
            [sys.executable, "-c", IN_TERMINAL, *line], cwd=ROOT, stdin=slave, stdout=slave, stderr=slave,
            start_new_session=True, env={**environment, "TERM": "xterm-256color"},
        )  # fmt: skip
        os.close(slave)
        self.output = ""

    def look(self):
        """Take what the tool draws and sends."""
        while select.select((self.master,), (), (), 0.02)[0]:
            try:
                drawn = os.read(self.master, 65536)
            except OSError:  # the tool has gone
                break
            self.output += drawn.decode(errors="replace")
        self.bus.drain()

    def until(self, condition, what):
        """Look until it is so; an error with what was drawn after a generous time."""
        end = time.monotonic() + PATIENCE
        while not condition():
            self.look()
            assert time.monotonic() < end, f"not within {PATIENCE:g} s: {what}\n{self.text()[-2000:]}"
            assert self.process.poll() is None or "ended" in what, self.text()[-2000:]

    def text(self):
        """What was drawn, without escape sequences."""
        return re.sub(r"\x1b(\[[0-9;?<>=]*[a-zA-Z]|[()][A-Z0-9]|[=>])", "", self.output)

    def press(self, keys):
        """Keys, as a terminal sends them."""
        os.write(self.master, keys.encode())

    def hang_up(self):
        """Close the terminal."""
        os.close(self.master)
        self.master = -1

    def close(self):
        """Leave nothing behind."""
        self.process.kill()
        self.process.wait()
        if self.master >= 0:
            os.close(self.master)


@pytest.fixture
def terminal():
    """Start tools in terminals; they are killed in the end."""
    opened = []

    def start(*command):
        opened.append(Terminal(*command))
        return opened[-1]

    yield start
    for each in opened:
        each.close()


def motions(tool):
    return [m for channel, m in tool.heard if channel is MOTION_COMMAND]


def test_teleop_in_a_terminal(terminal):
    tool = terminal("tools.teleop", "--robot", "mini_cheetah")
    tool.until(lambda: len(motions(tool)) > 10, "commands from the start")
    assert not any(m.mode or m.vx for m in motions(tool))
    tool.until(lambda: "mini_cheetah" in tool.text(), "the robot's name on the screen")
    tool.press("w")
    tool.until(lambda: motions(tool)[-1].vx > 0, "forward")
    tool.until(lambda: motions(tool)[-1].vx == 0, "a tap ends by itself")
    tool.press(" ")
    tool.until(lambda: any(channel is ESTOP for channel, _ in tool.heard), "E-STOP")
    tool.press("x")
    tool.until(lambda: tool.process.poll() is not None, "ended")
    assert tool.process.returncode == 0


@pytest.mark.parametrize("end", ["hang up", "kill", "terminate"])
def test_teleop_says_nothing_more_when_it_or_its_terminal_dies(terminal, end):
    tool = terminal("tools.teleop", "--robot", "mini_cheetah")
    tool.until(lambda: len(motions(tool)) > 10, "commands")
    if end == "hang up":
        tool.hang_up()
    else:
        tool.process.send_signal(signal.SIGKILL if end == "kill" else signal.SIGTERM)
    assert tool.process.wait(PATIENCE) in (0, -signal.SIGHUP, -signal.SIGKILL)
    while tool.bus.wait(0.2):  # what was on its way
        pass
    before = len(motions(tool))
    assert not tool.bus.wait(0.5)
    assert len(motions(tool)) == before


def test_the_spy_in_a_terminal_lists_a_channel_opens_it_and_ends(terminal):
    tool = terminal("tools.spy_text")
    message = Imu()
    message.status = "a word to find"

    def shown(words):
        message.seq += 1
        tool.bus.publish(IMU, message)
        return words in tool.text()

    tool.until(lambda: shown("imu_t"), "the channel's type")
    tool.press("\r")
    tool.until(lambda: shown("a word to find"), "the field's text")
    assert motions(tool) == [], "a viewer sends nothing"
    tool.press("q")
    tool.until(lambda: tool.process.poll() is not None, "ended")
    assert tool.process.returncode == 0
