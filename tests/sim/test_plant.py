"""The simulated plant: physics that can be checked by hand, timing of commands, determinism."""

from __future__ import annotations

import hashlib

import numpy as np
import pybullet as p
import pytest

from config.load import load_robot
from config.scenario import PlantOptions, Push
from procs.model.legs import leg_kinematics
from procs.model.robot import Robot
from procs.model.rotations import quat_to_matrix, quat_to_rpy
from sim.plant import SimPlant

G = 9.81


def digest(samples):
    h = hashlib.sha256()
    for column in samples:
        for message in column:
            h.update(message.encode())
    return h.hexdigest()


def test_free_fall_reads_no_specific_force_and_falls_as_galilei_says(make_plant, robot, with_start, play):
    plant = make_plant(with_start(robot, height=2.0))
    imus, _joints, truth = play(plant, None, 200)
    np.testing.assert_allclose(imus[0].accel, [0, 0, G])
    for imu, before, now in zip(imus[1:], truth, truth[1:], strict=False):
        assert abs(np.linalg.norm(imu.accel)) < 0.1 * G  # the legs move a little inside
        assert now.v_world[2] < before.v_world[2]
    t = 199 * robot.dt
    com = truth[-1].position[2] + (quat_to_matrix(truth[-1].quat) @ plant.centre_of_mass())[2]
    assert 2.0 - com == pytest.approx(G * t * t / 2, rel=0.02, abs=0.02)


def test_zero_torque_lets_the_leg_fall(make_plant, robot, play):
    plant = make_plant(robot, suspended=True)
    q0 = robot.pose(robot.description.sim.start.pose)
    com = plant.centre_of_mass()
    joints = play(plant, None, 500)[1]
    assert np.abs(joints[-1].q - q0).max() > 0.5
    assert plant.centre_of_mass()[2] < com[2] - 0.005


def test_nothing_but_the_drive_model_brakes_a_joint(make_plant, robot):
    """Legs without damping and friction swing with constant energy: Bullet's own damping and motors are off."""
    none = {"damping": 0.0, "friction": 0.0, "rotor_inertia": 0.0}  # calculateMassMatrix refuses rotors
    drives = {name: actuator.model_copy(update=none) for name, actuator in robot.description.actuators.items()}
    robot = Robot(robot.description.model_copy(update={"actuators": drives}))
    plant = make_plant(robot, suspended=True)
    client, body, joints = plant.world.client, plant.world.body, plant.world.joints
    for joint, angle in zip(joints, np.tile([0.3, 0.2, 1.2], robot.num_legs), strict=True):
        p.resetJointState(body, joint, angle, 0.0, physicsClientId=client)
    plant.q, plant.qd = plant.world.joint_states()
    energy = []
    for _ in range(80):  # then a knee meets its stop
        plant.read()
        q, qd = plant.q, plant.qd
        mass_matrix = np.array(p.calculateMassMatrix(body, q.tolist(), physicsClientId=client))[-len(q) :, -len(q) :]
        energy.append((qd @ mass_matrix @ qd / 2, robot.mass * G * plant.centre_of_mass()[2]))
    kinetic, potential = np.array(energy).T
    assert kinetic.max() > 0.1
    np.testing.assert_allclose(kinetic + potential, potential[0], atol=0.01 * kinetic.max())


def test_pd_holds_the_stand_pose_and_the_feet_carry_the_weight(make_plant, any_robot, standing, hold, play):
    robot = standing(any_robot)
    plant = make_plant(robot)
    imu, joints, truth = play(plant, hold(robot, robot.pose("stand")), 1000)
    np.testing.assert_allclose(truth[-1].foot_force.sum(0), [0, 0, robot.mass * G], atol=0.005 * robot.mass * G)
    assert (truth[-1].foot_force[:, 2] > 0.2 * robot.mass * G / robot.num_legs).all()
    np.testing.assert_allclose(imu[-1].accel, [0, 0, G], atol=0.02)
    assert np.abs(quat_to_rpy(truth[-1].quat)).max() < 0.03
    assert np.abs(joints[-1].q - robot.pose("stand")).max() < 0.15
    assert np.abs(joints[-1].qd).max() < 0.01
    assert np.abs(truth[-1].foot_slip).max() < 1e-5
    np.testing.assert_allclose(truth[-1].foot_position[:, 2], 0.0, atol=2e-3)


def test_disabled_robot_on_the_ground_does_not_chatter_in_its_friction(make_plant, robot, play):
    plant = make_plant(robot)
    _imu, joints, truth = play(plant, None, 1500)
    assert max(np.abs(t.foot_slip).max() for t in truth) > 0  # it fell over its feet
    assert max(np.abs(t.foot_slip[:, 2]).max() for t in truth) < 1e-15  # but slip is along the ground
    assert max(np.abs(j.qd).max() for j in joints[-100:]) < 0.02


def test_forces_on_the_feet_and_gravity_explain_the_momentum(make_plant, robot, standing, hold, play):
    """Sum of foot forces - m g = m dv/dt of the composite, through a push that also loads the feet sideways."""
    robot = standing(robot)
    plant = make_plant(robot, pushes=[Push(t=0.4, duration=0.05, force=(30.0, 20.0, 0.0))], friction=0.8)
    command = hold(robot, robot.pose("stand"))
    momentum, force = [], []
    for _ in range(300):
        plant.read()
        truth = plant.extras()[0][1]
        momentum.append(composite_momentum(robot, plant))
        force.append(truth.foot_force.copy())
        plant.write(command)
    impulse = np.sum(force[1:], axis=(0, 1)) * robot.dt + [1.5, 1.0, -robot.mass * G * 299 * robot.dt]
    np.testing.assert_allclose(impulse, momentum[-1] - momentum[0], atol=0.02)
    before, after = (np.sum(force[k], axis=0) for k in (199, 210))
    assert after[0] < before[0] - 3 and after[1] < before[1] - 3  # the ground holds against the push


def composite_momentum(robot, plant):
    """Total momentum (3,) of the links, from finite differences of the centre of mass in the tick's state."""
    _position, quat, v_origin, omega = plant.base
    R = quat_to_matrix(quat)
    eps = 1e-6
    com = plant.centre_of_mass()
    moved = robot.composite(plant.q + eps * plant.qd)[1]
    return robot.mass * (v_origin + np.cross(omega, R @ com) + R @ (moved - com) / eps)


@pytest.mark.parametrize("noise", [True, False])
def test_two_runs_of_one_seed_are_identical_also_after_a_restart(make_plant, robot, hold, play, noise):
    options = {"imu_noise": noise, "terrain": {"kind": "rough"}, "pushes": [Push(t=0.1, force=(20, 5, 0))]}
    command = hold(robot, robot.pose("stand"), 0.5)
    one, two = (make_plant(robot, seed=3, **options) for _ in range(2))
    first = digest(play(one, command, 200))
    assert digest(play(two, command, 200)) == first
    for gui in (False, True):  # True: the window's client is emptied and used again
        one.gui = gui
        one.start(2)
        assert digest(play(one, command, 200)) == first
    if noise:
        assert digest(play(make_plant(robot, seed=4, **options), command, 200)) != first


def test_working_ahead_changes_nothing(make_plant, robot, hold):
    command = hold(robot, robot.pose("stand"))
    digests = []
    for ahead in (True, False):
        plant = make_plant(robot, seed=3, imu_noise=True)
        samples = []
        for k in range(100):
            samples.append([*plant.read(), plant.extras()[0][1]])
            if ahead and k % 3:
                plant.work_ahead()
                plant.work_ahead()
            samples[-1][2].encode()
            plant.write(command)
        digests.append(digest(samples))
    assert digests[0] == digests[1]


@pytest.mark.parametrize("delay", [0, 1, 4])
def test_command_of_sample_k_acts_from_tick_k_plus_1_plus_the_delay(make_plant, robot, hold, delay):
    plant = make_plant(robot, suspended=True, delay_ticks=delay)
    k_command = 5
    command = hold(robot, robot.pose("stand"))
    for k in range(k_command + delay + 4):
        _imu, joints = plant.read()
        torque = plant.extras()[0][1].tau
        # The physics between k + 1 + delay and the next tick is the first with the command.
        acts = k >= k_command + 2 + delay
        assert (np.abs(torque).max() > 1.0) == acts, k
        assert (np.abs(joints.tau).max() > 1.0) == acts, k
        plant.work_ahead()
        if k == k_command:
            plant.write(command)
            command.q_des[:] = np.nan  # the plant keeps its own copy


def test_work_is_the_positive_power_of_the_joints(make_plant, robot, hold, play):
    plant = make_plant(robot, suspended=True)
    _imu, joints, truth = play(plant, hold(robot, robot.pose("stand")), 300)
    work = sum(
        np.maximum(t.tau * (a.qd + b.qd) / 2, 0).sum() * robot.dt
        for a, b, t in zip(joints, joints[1:], truth[1:], strict=False)
    )
    assert truth[0].work == 0.0
    assert truth[-1].work == pytest.approx(work, rel=0.05)
    assert (np.diff([t.work for t in truth]) >= 0).all()


def test_ground_truth_says_when_a_motor_is_at_its_limit(make_plant, robot, hold, play):
    plant = make_plant(robot, suspended=True)
    command = hold(robot, robot.pose("stand"))
    command.tau_ff[1] = 1e4
    _imu, joints, truth = play(plant, command, 4)
    assert truth[3].saturated[1] == 1.0 and truth[1].saturated[1] == 0.0
    limit = robot.actuators[1].gear * robot.actuators[1].motor_torque_max
    assert joints[3].tau[1] == pytest.approx(limit)
    assert joints[3].tau_source == "measured"


def test_slip_is_the_travel_of_a_foot_that_slides_without_turning(make_plant, robot, standing, hold, play):
    robot = standing(robot)
    plant = make_plant(robot, friction=0.2, pushes=[Push(t=0.5, duration=0.3, force=(0.0, 40.0, 0.0))])
    _imu, joints, truth = play(plant, hold(robot, robot.pose("stand"), 10.0), 500)
    loaded = all(np.linalg.norm(t.foot_force, axis=1).min() > 0 for t in truth[240:])
    assert loaded
    slip = np.sum([t.foot_slip for t in truth[240:]], axis=0)
    assert slip[:, 1].min() > 0.05
    centres = [feet_world(robot, j.q, t) for j, t in ((joints[239], truth[239]), (joints[-1], truth[-1]))]
    roll = [foot_roll(robot, joints[k].q, truth[k]) for k in (239, -1)]
    travel = centres[1] - centres[0]
    travel[:, 1] += robot.foot_radius * (roll[1] - roll[0])  # the material at the contact lags a sphere that rolls
    np.testing.assert_allclose(slip[:, 1], travel[:, 1], atol=2e-3)


def feet_world(robot, q, truth):
    p = leg_kinematics(q, robot.chains)[0] + robot.chains.mount_position
    return truth.position + p @ quat_to_matrix(truth.quat).T


def foot_roll(robot, q, truth):
    """Angle about x of the last links, rad: abad plus body roll (the other joints turn about y)."""
    return q[0::3] + quat_to_rpy(truth.quat)[0]


def test_material_contact_point_of_a_rolling_foot_does_not_slip(make_plant, robot, standing, hold, play):
    robot = standing(robot)
    plant = make_plant(robot, friction=1.0)
    command = hold(robot, robot.pose("stand"))
    play(plant, command, 300)
    slip = np.zeros((robot.num_legs, 3))
    at = feet_world(robot, plant.q, plant.truth)
    for k in range(200):
        command.q_des[:] = robot.pose("stand") + 0.15 * k / 200 * np.tile([0.0, 1.0, 0.0], robot.num_legs)
        _imu, _joints, truth = play(plant, command, 1)
        slip += truth[0].foot_slip
    travel = feet_world(robot, plant.q, plant.truth) - at
    assert np.abs(travel[:, 0]).max() > 1e-3  # the centres roll forward
    assert np.abs(slip).max() < 3e-4


def test_rates_that_do_not_divide_are_an_error():
    description = load_robot("mini_cheetah")
    changed = description.model_copy(update={"sim": description.sim.model_copy(update={"rate": 1250.0})})
    with pytest.raises(ValueError, match="whole number"):
        SimPlant(Robot(changed), PlantOptions(), seed=1)


def test_a_plant_that_was_not_started_says_so(robot):
    with pytest.raises(RuntimeError, match="start"):
        SimPlant(robot, PlantOptions(), seed=1).read()
