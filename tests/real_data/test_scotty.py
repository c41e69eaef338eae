"""Scotty's description against the figures of its URDF, its paper and its code."""

from __future__ import annotations

import numpy as np
import pytest

from config.load import load_robot, load_scenario
from lcmtypes.channels import BUS_STATUS
from procs.model.legs import joint_torques, leg_kinematics
from procs.model.motor import rotor_inertia
from procs.model.robot import Robot
from procs.runtime.commands import CommandPlayer
from procs.runtime.engine import Engine
from procs.runtime.plant_loop import PlantLoop
from procs.runtime.rollout import Rollout
from tests.contract import twins
from tools.metrics import metrics
from tools.recording import Recording
from tools.robot_check import check_robot
from tools.stack import SPECS

ROBOT = Robot(load_robot("scotty"))
FR, FL, RR, RL = range(4)
SLIP = 0.004395 + 0.001605  # m between the URDF's right feet and the left ones mirrored


def feet(q: np.ndarray) -> np.ndarray:
    """Foot centres (4, 3) in the body frame."""
    return leg_kinematics(q, ROBOT.chains)[0] + ROBOT.chains.mount_position


def test_every_check_of_the_tool_passes():
    assert [r.name for r in check_robot(ROBOT, 50) if not r.passed] == []
    assert ROBOT.mass == pytest.approx(19.27, abs=1e-9)


def test_feet_of_the_zero_pose_are_the_urdfs_but_for_its_slip_on_the_right():
    p = feet(np.zeros(12))
    np.testing.assert_allclose(p[FL], (0.3310, 0.1868, -0.5750), atol=1e-6)
    np.testing.assert_allclose(p[RL], (-0.2960, 0.1868, -0.5750), atol=1e-6)
    np.testing.assert_allclose(p[FR], (0.3310, -0.1808 - SLIP, -0.5750), atol=1e-6)


def test_feet_of_the_stand_pose_are_the_urdfs_on_both_sides():
    p = feet(ROBOT.pose("stand"))
    for leg, x, y in ((FL, 0.3135, 0.095), (FR, 0.3135, -0.095), (RR, -0.3135, -0.095), (RL, -0.3135, 0.095)):
        np.testing.assert_allclose(p[leg], (x, y, -0.35), atol=1e-5)
    chains = ROBOT.chains._replace(foot=ROBOT.chains.foot + [0, SLIP, 0])  # right legs as the URDF has them
    right = np.tile([0.23307, 0.93337, -1.80619], 4)
    there = leg_kinematics(right, chains)[0] + chains.mount_position
    np.testing.assert_allclose(there[FR], p[FR], atol=1e-5)


def test_static_torques_of_the_stand_pose_are_the_published_ones():
    _, J, _ = leg_kinematics(ROBOT.pose("stand"), ROBOT.chains)
    force = np.tile([0.0, 0.0, -19.31 * 9.81 / 4], (4, 1))  # of the feet on the ground
    abad, _, knee = np.abs(joint_torques(J, force)).reshape(4, 3).T
    np.testing.assert_allclose(knee, 11.1, atol=0.05)
    np.testing.assert_allclose(abad, 1.42, atol=0.02)


def test_rotors_are_the_papers_and_not_a_hundred_times_heavier():
    abad, hip, knee = ROBOT.actuators
    assert rotor_inertia(abad) == rotor_inertia(hip) == pytest.approx(0.00812, abs=1e-5)
    assert rotor_inertia(knee) == pytest.approx(0.01826, abs=1e-5)


def test_leg_inertias_agree_with_the_urdf_within_its_two_decimals():
    rounded = {"abad": (0, 0, 0), "hip": (0.01, 0.01, 0), "knee": (0.01, 0.01, 0)}
    for joint in ROBOT.description.legs.chain:
        np.testing.assert_allclose(joint.link.inertia[:3], rounded[joint.name], atol=0.005001, err_msg=joint.name)


def test_it_trots_through_its_own_emulated_boards():
    """The bus section is right: signs, devices and the boards' belt come out as in simulation."""
    scenario = load_scenario("trot_scotty", ["duration=8"])
    plant, _, _ = twins.plant("spine", scenario.plant, robot=ROBOT)
    loop, recording = PlantLoop(plant, ROBOT), Recording()
    runner = Rollout(loop, [Engine(spec, ROBOT) for spec in SPECS.values()], recording.add)
    player = CommandPlayer(scenario.commands, ROBOT.dt)
    loop.start(1)
    try:
        for _ in range(round(scenario.duration / ROBOT.dt)):
            runner.tick(lambda: player.messages(loop.seq, loop.utime, loop.run))
    finally:
        plant.stop()
    values = metrics(scenario, ROBOT, recording)
    assert not values["fell"] and values["mode_final"] == "walk"
    assert values["segments"][2]["vx_error"] < 0.03
    status = recording.of(BUS_STATUS)[-1]
    assert status.state == "running" and not any(status.fault)
