"""The order of one tick and what each step used, proven on the messages of a real rollout."""

from __future__ import annotations

import pytest

from config.load import load_scenario
from config.scenario import Command
from lcmtypes.channels import (
    BODY_STATE,
    CONTACT_PLAN,
    GROUND_TRUTH,
    IMU,
    JOINT_COMMAND,
    JOINT_STATE,
    LEG_COMMAND,
    LEG_STATE,
    MODE_STATE,
    MOTION_COMMAND,
    MPC_DEBUG,
    PIPELINE,
)
from procs.runtime.commands import CommandPlayer
from procs.runtime.engine import Engine
from procs.runtime.plant_loop import PlantLoop
from procs.runtime.rollout import Rollout
from sim.plant import SimPlant
from tools.stack import SPECS

DURATION = 2.0
ORDER = (MOTION_COMMAND, IMU, GROUND_TRUTH, JOINT_STATE, BODY_STATE, LEG_STATE,
         CONTACT_PLAN, MODE_STATE, MPC_DEBUG, LEG_COMMAND, JOINT_COMMAND)  # fmt: skip


def play(robot, commands, duration):
    """All messages of a rollout, in order."""
    sent = []
    scenario = load_scenario("stand")
    loop = PlantLoop(SimPlant(robot, scenario.plant, seed=1), robot)
    runner = Rollout(loop, [Engine(spec, robot) for spec in SPECS.values()], lambda c, m: sent.append((c, m)))
    player = CommandPlayer([Command(**c) for c in commands], robot.dt)
    loop.start(1)
    for _ in range(round(duration / robot.dt)):
        runner.tick(lambda: player.messages(loop.seq, loop.utime, loop.run))
    loop.plant.stop()
    return loop, sent


@pytest.fixture(scope="module")
def ticks(robot):
    """Messages by tick of a robot that stands up and begins to trot."""
    _loop, sent = play(robot, [{"t": 0.0, "mode": "stand"}, {"t": 1.5, "mode": "walk", "gait": "trot"}], DURATION)
    by_tick = {}
    for channel, message in sent:
        by_tick.setdefault(message.seq, []).append((channel, message))
    assert any(channel is MPC_DEBUG for channel, _ in sent), "the robot did not walk"
    return by_tick


def test_the_messages_of_every_tick_come_in_the_order_of_the_pipeline(ticks):
    assert ORDER == PIPELINE
    for messages in ticks.values():
        places = [ORDER.index(channel) for channel, _ in messages]
        assert places == sorted(places)
        assert set(ORDER) - {channel for channel, _ in messages} <= {MOTION_COMMAND, MPC_DEBUG}


def test_every_message_of_a_tick_has_its_run_seq_and_time(ticks):
    for seq, messages in ticks.items():
        assert all((m.run, m.seq, m.utime) == (1, seq, 2000 * seq) for _, m in messages)


def test_used_names_the_inputs_of_each_step(ticks):
    motion = -1
    for k, messages in ticks.items():
        before = k - 1 if k else -1
        motion = k if messages[0][0] is MOTION_COMMAND else motion
        want = {
            MOTION_COMMAND: [], IMU: [], GROUND_TRUTH: [], JOINT_STATE: [],
            BODY_STATE: [k, before], LEG_STATE: [k, before],  # imu, contact_plan of the tick before
            LEG_COMMAND: [k, motion, -1, -1, -1],  # body_state, motion_command, estop, reset, joint_test
            JOINT_COMMAND: [k, -1, -1],  # leg_state, estop, reset
        }  # fmt: skip
        want |= dict.fromkeys((CONTACT_PLAN, MODE_STATE, MPC_DEBUG), want[LEG_COMMAND])
        for channel, message in messages:
            n = len(want[channel])
            assert message.used[:n] == want[channel], f"{channel.name} of tick {k}"
            assert all(u == -1 for u in message.used[n:])


def test_the_command_of_a_tick_reaches_the_plant_in_it(robot):
    loop, sent = play(robot, [{"t": 0.0, "mode": "stand"}], 0.1)
    assert loop.counts.accepted == 50
    assert loop.age() == 0
    assert loop.counts.missed == loop.counts.refused == loop.counts.damped == 0
    assert len([1 for channel, _ in sent if channel is JOINT_COMMAND]) == 50


def test_two_rollouts_are_equal_bit_for_bit(robot):
    commands = [{"t": 0.0, "mode": "stand"}]
    first, second = (play(robot, commands, 0.4)[1] for _ in range(2))
    assert [m.encode() for _, m in first] == [m.encode() for _, m in second]


def test_a_scenarios_estop_latches_the_plant_and_its_reset_lets_the_robot_stand_again(robot):
    commands = [
        {"t": 0.0, "mode": "stand"},
        {"t": 1.6, "estop": True},
        {"t": 2.2, "reset": True, "mode": "ready"},
        {"t": 2.6, "mode": "stand"},
    ]
    loop, sent = play(robot, commands, 4.2)
    modes = {m.seq: m.mode for channel, m in sent if channel is MODE_STATE}
    assert modes[790] == "stand"
    assert modes[805] == modes[1090] == "estop"
    assert loop.counts.estops == 1
    assert loop.latched == ""
    assert modes[max(modes)] == "stand"
    assert loop.state == "running"
