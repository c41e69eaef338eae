"""Resolutions in the robots' YAML are those of the numbers that come over the wire, at the joints."""

from __future__ import annotations

import numpy as np
import pytest

from config.load import load_robot
from procs.bridge.build import scaled_gains, wires_of
from procs.bridge.joint_map import DriveCommand, JointMap
from procs.model.robot import Robot
from procs.wire import cybergear
from sim.emulators.cybergear import CyberGear
from tests.contract.on_bench import boards_on_a_bench
from tests.sim.emulators.conftest import Bench
from tools.bring_up.quantum import smallest_step

SAMPLES = 1500
NAMES = ("position_quantum", "velocity_quantum", "torque_quantum")


def wandering(rng, shafts):
    """All shafts somewhere else, slowly enough that each level of a grid is met."""
    for shaft in shafts:
        shaft.position += rng.normal(0.0, 4e-4)
        shaft.velocity, shaft.torque = rng.uniform(-1.0, 1.0), rng.uniform(-3.0, 3.0)


def through_boards(robot):
    """(samples, 3, joints): position, velocity, torque at the joints, as the bridge has them from the boards."""
    rng, wires = np.random.default_rng(2), wires_of(robot)
    drives, shafts = boards_on_a_bench(robot)
    joints, out = JointMap.of(wires, scaled_gains(robot)), []
    for k in range(SAMPLES):
        wandering(rng, shafts)
        raw = drives.exchange(DriveCommand.zero(len(wires)))
        if k > 5:
            assert raw.valid.all()
            out.append(joints.to_joints(raw.position, raw.velocity, raw.torque))
    return np.array(out)


@pytest.mark.parametrize("name", ["mini_cheetah", "scotty"])
def test_quanta_of_robots_on_boards_are_those_of_the_boards_numbers(name):
    robot = Robot(load_robot(name))
    seen = through_boards(robot)
    for j in range(robot.num_joints):
        for k, quantum in enumerate(NAMES):
            described = getattr(robot.actuators[j % 3], quantum)
            found = smallest_step(seen[:, k, j])
            if described:
                assert found == pytest.approx(described, rel=2e-3), (robot.joint_names[j], quantum)
            else:
                assert found is None, (robot.joint_names[j], quantum)  # not reported at all


def test_quanta_of_the_hexapod_are_those_of_its_drives_feedback():
    robot, rng = Robot(load_robot("tocatl")), np.random.default_rng(2)
    shaft, codec = Bench(), cybergear.CyberGearCodec([11])
    drive, out = CyberGear(shaft, 11, robot.dt, rng), []
    for _ in range(30 * SAMPLES):
        wandering(rng, [shaft])
        feedback = codec.unpack(drive.receive(cybergear.stop(11, 0xFD))[0])
        out.append((feedback.position, feedback.velocity, feedback.torque))
    for k, quantum in enumerate(NAMES):
        described = [getattr(a, quantum) for a in robot.actuators]
        found = smallest_step(np.array(out)[:, k])
        assert described == pytest.approx([found] * 3, rel=2e-3), quantum
