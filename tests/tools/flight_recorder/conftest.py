"""Blocks of messages as the recorder takes them from the bus."""

from __future__ import annotations

import pytest

from lcmtypes.channels import BUS_STATUS, JOINT_STATE
from tools.flight_recorder.ring import Block

SIZES = {JOINT_STATE: 12, BUS_STATUS: 2}  # joints, motors


def message(channel, **fields):
    out = channel.type(*([SIZES[channel]] if channel in SIZES else []))
    for name, value in fields.items():
        setattr(out, name, value)
    return channel, out


@pytest.fixture
def block():
    """block(now, (channel, message), ...) -> Block"""

    def make(now, *messages):
        return Block(now, int(1e6 * now), [c.name for c, _ in messages], [m.encode() for _, m in messages])

    return make


@pytest.fixture
def msg():
    """msg(channel, field=value, ...) -> (channel, message)"""
    return message
