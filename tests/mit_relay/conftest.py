"""Robots, a short run, and MIT's own formulas to compare with."""

from __future__ import annotations

import math

import numpy as np
import pytest

from config.load import load_robot
from procs.mit_relay.relay import SPEC
from procs.model.robot import Robot
from procs.runtime.engine import Engine

L1, L2, L3, L4 = 0.062, 0.209, 0.195, 0.004  # m, MiniCheetah.h
SIDE = (-1, 1, -1, 1)  # FR FL HR HL


@pytest.fixture(scope="session")
def robot():
    return Robot(load_robot("mini_cheetah"))


@pytest.fixture
def relay(robot):
    """Step the relay with some messages; what it sends by channel name."""
    engine = Engine(SPEC, robot)

    def step(*messages, seq=0, run=1):
        inputs = {c: None for c in SPEC.channels}
        for channel, message in messages:
            message.seq, message.run, message.utime = seq, run, 2000 * seq
            inputs[channel] = message
        return {channel.name: message for channel, message in engine.step(inputs)}

    return step


@pytest.fixture(scope="session")
def mit_foot():
    """MIT's computeLegJacobianAndPosition: position (3,) and Jacobian (3, 3) of a leg 0..3 at q (3,)."""

    def foot(q, leg):
        s = SIDE[leg]
        s1, s2, c1, c2 = math.sin(q[0]), math.sin(q[1]), math.cos(q[0]), math.cos(q[1])
        s23, c23 = math.sin(q[1] + q[2]), math.cos(q[1] + q[2])
        y = (L1 + L4) * s
        p = np.array(
            [
                L3 * s23 + L2 * s2,
                y * c1 + L3 * s1 * c23 + L2 * c2 * s1,
                y * s1 - L3 * c1 * c23 - L2 * c1 * c2,
            ]
        )
        J = np.array(
            [
                [0, L3 * c23 + L2 * c2, L3 * c23],
                [L3 * c1 * c23 + L2 * c1 * c2 - y * s1, -L3 * s1 * s23 - L2 * s1 * s2, -L3 * s1 * s23],
                [L3 * s1 * c23 + L2 * c2 * s1 + y * c1, L3 * c1 * s23 + L2 * c1 * s2, L3 * c1 * s23],
            ]
        )
        return p, J

    return foot


@pytest.fixture(scope="session")
def changed_legs(robot):
    """A robot with other legs: `placed` in another order, joints about other axes."""

    def make(order=(0, 1, 2, 3), axes=None, **chain_values):
        legs = robot.description.legs
        chain = [
            j.model_copy(update={"axis": axis})
            for j, axis in zip(legs.chain, axes or [j.axis for j in legs.chain], strict=True)
        ]
        update = {"placed": [legs.placed[k] for k in order], "chain": tuple(chain), **chain_values}
        return Robot(robot.description.model_copy(update={"legs": legs.model_copy(update=update)}))

    return make
