"""Processes started by hand: a second one of a name, and one whose parent is gone."""

from __future__ import annotations

import os

import pytest


def test_a_second_process_of_a_name_is_refused_with_a_clear_message(start, listen):
    first, ear = start("procs.packer"), listen()
    ear.until(lambda: "packer" in ear.health and ear.health["packer"].state == "waiting", "the first packer")
    second = start("procs.packer")
    assert second.wait() == 2
    assert second.text().strip().splitlines()[-1].startswith("packer: a process named packer already runs on udpm://")
    assert first.process.poll() is None


def test_of_two_started_at_once_exactly_one_survives(start, listen):
    tools, ear = [start("procs.packer") for _ in range(2)], listen()
    ear.until(lambda: any(t.process.poll() is not None for t in tools), "the end of one")
    ear.health.clear()
    ear.until(lambda: "packer" in ear.health and ear.health["packer"].state == "waiting", "the other one")
    assert sorted(str(t.process.poll()) for t in tools) == ["2", "None"]


def test_a_process_whose_parent_is_gone_before_it_began_does_not_stay(start):
    tool = start("procs.packer", "--with-parent", os.getppid())
    assert tool.wait() == 1
    assert "the parent" in tool.text()


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (("procs.packer", "--robot", "no_such_robot"), "no_such_robot"),
        (("sim", "--pace", "fast"), "--pace is max or a factor"),
        (("sim", "--scenario", "no_such_scenario"), "no_such_scenario"),
        (("tools.up", "--plant", "hardware"), "invalid choice"),
        (("tools.up", "--robot", "no_such_robot"), "no_such_robot"),
        (("tools.command", "walk", "--vx", "nan"), "must be finite"),
    ],
)
def test_a_wrong_command_line_is_one_clear_error(start, command, text):
    tool = start(*command)
    assert tool.wait() == 2, tool.text()
    assert text in tool.text()
    assert "Traceback" not in tool.text()


def test_a_bridge_without_its_devices_ends_the_stack_and_says_which_is_missing(start):
    tool = start(
        "tools.up",
        "--plant",
        "bridge",
        "--set",
        "bus.spine.boards=[{device: /dev/no_such_spi}, {device: /dev/no_such_spi2}]",
        "--without-drive-watchdog",
    )
    assert tool.wait() == 1, tool.text()
    assert "/dev/no_such_spi" in tool.text()
    assert "Traceback" not in tool.text()
