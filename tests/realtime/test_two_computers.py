"""Plant and control on one computer, operator on another whose clock is an hour ahead: two network namespaces joined by
a cable (veth), the second with clocks of its own (time namespace)."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EAR = Path(__file__).with_name("ear.py")
HOUR = 3600


def _run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _lacks():
    """What this machine lacks; empty if two computers can be made here."""
    if os.geteuid() != 0:
        return "not root"
    lacking = [name for name in ("ip", "unshare") if shutil.which(name) is None]
    if lacking:
        return f"no {lacking[0]}"
    probe = f"probe{uuid.uuid4().hex[:6]}"
    made = _run("ip", "netns", "add", probe)
    _run("ip", "netns", "del", probe)
    if made.returncode:
        return f"no network namespaces: {made.stderr.strip()}"
    made = _run("unshare", "-T", "--monotonic", str(HOUR), "true")
    return f"no time namespaces: {made.stderr.strip()}" if made.returncode else ""


class Computer:
    """A network namespace; what is started in it is found and killed in the end."""

    def __init__(self, name, address, ahead):
        self.name, self.ahead = name, ahead
        self.device = f"{name[-6:]}-e"
        self.address = address
        self.started = []

    def start(self, output, *command):
        clock = ["unshare", "-T", "--monotonic", str(self.ahead), "--boottime", str(self.ahead)] if self.ahead else []
        with output.open("wb") as sink:
            process = subprocess.Popen(
                ["ip", "netns", "exec", self.name, *clock, sys.executable, *map(str, command)],
                cwd=ROOT, stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        self.started.append(process)
        return process

    def ip(self, *command):
        done = _run("ip", "-n", self.name, *command)
        assert done.returncode == 0, f"{command}: {done.stderr}"

    def connect(self):
        """As TWO_COMPUTERS.md says: a route for LCM's groups on the named interface."""
        self.ip("link", "set", self.device, "up", "multicast", "on")
        self.ip("route", "replace", "239.255.0.0/16", "dev", self.device)


@pytest.fixture
def computers():
    """Robot and desk."""
    lacking = _lacks()
    if lacking:
        pytest.skip(lacking)
    tag = uuid.uuid4().hex[:5]
    both = [Computer(f"r{tag}", "10.77.0.1/24", 0), Computer(f"d{tag}", "10.77.0.2/24", HOUR)]
    robot, desk = both
    try:
        for computer in both:
            assert _run("ip", "netns", "add", computer.name).returncode == 0
        assert _run(
            "ip", "link", "add", robot.device, "netns", robot.name, "type", "veth", "peer", "name", desk.device,
            "netns", desk.name,
        ).returncode == 0  # fmt: skip
        for computer in both:
            computer.ip("link", "set", "lo", "up")
            computer.ip("addr", "add", computer.address, "dev", computer.device)
            computer.connect()
        yield both
    finally:
        for computer in both:
            for pid in _run("ip", "netns", "pids", computer.name).stdout.split():
                os.kill(int(pid), signal.SIGKILL)
            for process in computer.started:
                process.wait()
            _run("ip", "netns", "del", computer.name)


def test_an_operator_on_another_computer_whose_clock_is_an_hour_ahead_makes_the_robot_stand(
    computers, url, tmp_path, poll
):
    robot, desk = computers
    url = url.replace("ttl=0", "ttl=1")
    up = robot.start(tmp_path / "up.out", "-m", "tools.up", "--lcm-url", url, "--logs", tmp_path / "logs")
    ear = desk.start(tmp_path / "ear.out", EAR, url)

    def heard():
        assert up.poll() is None, (tmp_path / "up.out").read_text()
        return (tmp_path / "ear.out").read_text().splitlines()

    poll(lambda: "mode ready" in heard(), "the desk hears the robot")
    stand = desk.start(tmp_path / "stand.out", "-m", "tools.command", "stand", "--lcm-url", url)
    poll(lambda: "mode stand" in heard(), "the robot stands on the desk's command")

    # The robot's interface is taken away under it: nothing is lost but what was sent meanwhile.
    robot.ip("link", "set", robot.device, "down")
    poll(lambda: "nothing is heard" in (tmp_path / "up.out").read_text(), "up says what is wrong")
    robot.connect()
    damped = {"mode damping", "mode estop"}  # the latter where `up` had to take a process for hung
    poll(lambda: damped & set(heard()), "the robot is damped, and heard again")
    stand.terminate()
    assert stand.wait(20) == 0, (tmp_path / "stand.out").read_text()
    reset = desk.start(tmp_path / "reset.out", "-m", "tools.command", "reset", "--lcm-url", url)
    assert reset.wait(60) == 0
    before = len(heard())
    stand = desk.start(tmp_path / "stand.out", "-m", "tools.command", "stand", "--lcm-url", url)
    poll(lambda: "mode stand" in heard()[before:], "the robot stands again")
    up.terminate()
    assert up.wait(60) == 0
    assert "the robot has lain down" in (tmp_path / "up.out").read_text()
    ear.kill()
    ear.wait()


def test_the_clocks_of_the_desk_are_an_hour_ahead(computers, tmp_path):
    """The test above means something."""
    told = []
    for computer in computers:
        output = tmp_path / f"{computer.name}.out"
        assert computer.start(output, "-c", "import time; print(time.monotonic())").wait(30) == 0
        told.append(float(output.read_text()))
    assert told[1] - told[0] == pytest.approx(HOUR, abs=60)


def test_what_is_sent_with_ttl_0_stays_on_its_computer(computers, url, tmp_path, poll):
    robot, desk = computers
    here = robot.start(tmp_path / "here.out", EAR, url)
    there = desk.start(tmp_path / "there.out", EAR, url)
    both = desk.start(tmp_path / "both.out", EAR, url.replace("ttl=0", "ttl=1"))
    sends = (
        "import sys, time; sys.path.insert(0, '.'); from procs.runtime.bus import Bus\n"
        "from lcmtypes.channels import MODE_STATE\n"
        "message = MODE_STATE.type(); message.mode = sys.argv[2]; bus = Bus(sys.argv[1])\n"
        "while True: bus.publish(MODE_STATE, message); time.sleep(0.05)"
    )
    robot.start(tmp_path / "a.out", "-c", sends, url, "private")
    poll(lambda: "mode private" in (tmp_path / "here.out").read_text(), "heard at home")
    robot.start(tmp_path / "b.out", "-c", sends, url.replace("ttl=0", "ttl=1"), "public")
    for output in ("there.out", "both.out"):  # the listener's own ttl is of no account
        poll(lambda o=output: "mode public" in (tmp_path / o).read_text(), "heard across")
        assert "private" not in (tmp_path / output).read_text()
    for process in (here, there, both):
        assert process.poll() is None
