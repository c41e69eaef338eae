"""A robot's envelope, and a session on a bus of its own whose messages are kept."""

from __future__ import annotations

import itertools

import pytest

from config.load import load_robot
from lcmtypes.channels import BODY_STATE, ESTOP, MODE_STATE, MOTION_COMMAND, RESET
from lcmtypes.generated import BodyState, ModeState
from procs.runtime.bus import Bus
from tools.teleop.envelope import Envelope
from tools.teleop.session import PERIOD, Session

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def description():
    return load_robot("mini_cheetah")


@pytest.fixture(scope="session")
def envelope(description):
    return Envelope.of(description)


class Stage:
    """A session, a clock, and what was sent."""

    def __init__(self, description, gamepad=None):
        self.bus = Bus(f"memq://teleop{next(_numbers)}")
        self.session = Session(self.bus, description, gamepad)
        self.t = 10.0
        self.sent = []
        self.bus.subscribe((MOTION_COMMAND, ESTOP, RESET), lambda channel, m: self.sent.append((channel, m)))
        self.robot_says = None  # fields of mode_state, repeated at every tick; None: no controller

    def run(self, seconds):
        """Ticks; the motion commands of that time."""
        before = len(self.sent)
        for _ in range(round(seconds / PERIOD)):
            if self.robot_says is not None:
                self.say(**self.robot_says)
            self.session.tick(self.t)
            self.t += PERIOD
        self.bus.drain()
        return [m for channel, m in self.sent[before:] if channel is MOTION_COMMAND]

    def say(self, mode="stand", run=1, **fields):
        """A mode_state and a body_state of the robot."""
        state, body = ModeState(), BodyState(4)
        state.mode, state.run, body.valid = mode, run, 1
        state.source = self.session.operator.source
        for name, value in fields.items():
            setattr(state, name, value)
        self.bus.publish(MODE_STATE, state)
        self.bus.publish(BODY_STATE, body)

    def of(self, channel):
        """Messages sent on a channel."""
        self.bus.drain()
        return [m for c, m in self.sent if c is channel]


@pytest.fixture
def stage(description):
    return Stage(description)


@pytest.fixture
def make_stage(description):
    return lambda gamepad=None, known=True: Stage(description if known else None, gamepad)
