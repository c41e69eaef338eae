"""A machine made of files in a temporary folder and of programs that answer as told."""

from __future__ import annotations

import itertools

import pytest

from config.load import load_robot
from tools.doctor.listen import Heard, LoopResult
from tools.doctor.machine import Machine


@pytest.fixture
def machine(tmp_path):
    """make(files, **what): a machine; files by absolute path; programs by the start of their command line."""

    count = itertools.count()

    def make(files=None, *, programs=None, **what):
        root = tmp_path / f"root{next(count)}"
        for name, text in (files or {}).items():
            path = root / name.lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        root.mkdir(exist_ok=True)

        def run(*command):
            line = " ".join(command)
            return next((a for start, a in (programs or {}).items() if start in line), (127, ""))

        settings = {
            "root": root,
            "checkout": root,
            "environment": {},
            "run": run,
            "which": lambda name: None,
            "version": lambda package: None,
            "usable": lambda path: True,
            "free_bytes": lambda path: 10**12,
            "loop_back": LoopResult,
            "listen": lambda url: Heard(),
        }
        return Machine(**{**settings, **what})

    return make


@pytest.fixture
def can_robot():
    """Mini Cheetah's body on two CAN buses."""
    robot = load_robot("mini_cheetah")
    bus = robot.bus.model_dump()
    bus["spine"] = None
    bus["can"] = {
        "protocol": "mit",
        "buses": [{"channel": "can0"}, {"channel": "can1"}, {"interface": "udp_multicast", "channel": "239.0.0.1"}],
    }
    return robot.model_copy(update={"bus": type(robot.bus).model_validate(bus)})
