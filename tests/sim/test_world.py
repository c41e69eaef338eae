"""PyBullet world: frames, masses, friction, pushes, the rig."""

from __future__ import annotations

import numpy as np
import pybullet as p
import pytest

from config.inertials import combine, inertia_matrix
from config.scenario import PlantOptions, Push
from procs.model.motor import rotor_inertia
from procs.model.rotations import quat_to_matrix
from sim.contacts import foot_centres
from sim.inertials import link_names
from sim.world import World

G = 9.81


@pytest.fixture
def make_world():
    worlds = []

    def make(robot, *, rotors=True, **options):
        world = World(robot, PlantOptions(**options), np.random.default_rng(1), rotors=rotors)
        worlds.append(world)
        return world

    yield make
    for world in worlds:
        world.close()


def link_tensor(world, index):
    """Mass kg, centre (3,) m and inertia (3, 3) kg m^2 in link axes, as PyBullet has them."""
    info = p.getDynamicsInfo(world.body, index, physicsClientId=world.client)
    x, y, z, w = info[4]
    R = quat_to_matrix(np.array([w, x, y, z]))
    return info[0], np.array(info[3]), R @ np.diag(info[2]) @ R.T


def test_links_have_the_masses_and_inertias_of_the_description(make_world, any_robot):
    world = make_world(any_robot, rotors=False)
    want = [any_robot.body_inertial()] + [m for leg in range(any_robot.num_legs) for m in any_robot.link_inertials(leg)]
    for index, (mass, com, inertia) in zip((-1, *world.joints), want, strict=True):
        got = link_tensor(world, index)
        assert got[0] == pytest.approx(mass, rel=1e-12)
        np.testing.assert_allclose(got[1], com, atol=1e-9)
        np.testing.assert_allclose(got[2], inertia, atol=1e-6 * np.trace(inertia))


def test_rotors_add_their_reflected_inertia_about_the_joint_axis_and_nothing_else(make_world, any_robot):
    bare, full = make_world(any_robot, rotors=False), make_world(any_robot)
    for k, index in enumerate(full.joints):
        added = link_tensor(full, index)[2] - link_tensor(bare, index)[2]
        axis = any_robot.chains.axes[k // 3, k % 3]
        reflected = rotor_inertia(any_robot.actuators[k % 3])
        np.testing.assert_allclose(added, reflected * np.outer(axis, axis), atol=1e-5 * reflected + 1e-9)
    np.testing.assert_array_equal(link_tensor(full, -1)[2], link_tensor(bare, -1)[2])


def test_joints_are_found_by_name_and_turn_as_the_model_says(make_world, any_robot, rng):
    """Feet of PyBullet's link frames and of our kinematics agree at a random pose: order, axes, base frame."""
    world = make_world(any_robot, payload={"mass": 2.0, "at": (0.05, -0.03, 0.02)})
    q = rng.uniform(any_robot.q_lower, any_robot.q_upper)
    for joint, angle in zip(world.joints, q, strict=True):
        p.resetJointState(world.body, joint, angle, physicsClientId=world.client)
    p.resetBasePositionAndOrientation(
        world.body, [0.3, -0.2, 1.0], [0.1, -0.2, 0.3, np.sqrt(1 - 0.14)], physicsClientId=world.client
    )
    position, quat, _v, _omega = world.base()
    ours = foot_centres(q, quat_to_matrix(quat), position, any_robot.chains)
    np.testing.assert_allclose(world.joint_states()[0], q, atol=1e-12)
    for leg, link in enumerate(world.joints[2::3]):
        state = p.getLinkState(world.body, link, computeForwardKinematics=True, physicsClientId=world.client)
        x, y, z, w = state[5]
        theirs = np.array(state[4]) + quat_to_matrix(np.array([w, x, y, z])) @ any_robot.chains.foot[leg]
        np.testing.assert_allclose(ours[leg], theirs, atol=1e-6)


def test_velocity_is_that_of_the_body_origin(make_world, robot):
    world = make_world(robot, payload={"mass": 3.0, "at": (0.1, 0.0, 0.05)})
    p.resetBaseVelocity(world.body, [0.1, 0.2, 0.3], [1.0, -2.0, 3.0], physicsClientId=world.client)
    before = world.base()
    world.step(np.zeros(robot.num_joints))
    after = world.base()
    np.testing.assert_allclose((after[0] - before[0]) / world.dt, after[2], atol=0.01)


def test_payload_changes_the_mass_and_the_centre(make_world, robot):
    at = (0.05, 0.02, 0.08)
    world = make_world(robot, payload={"mass": 2.5, "at": at})
    masses = [link_tensor(world, index)[0] for index in (-1, *world.joints)]
    assert sum(masses) == pytest.approx(robot.mass + 2.5, rel=1e-9)
    mass, com, inertia = combine([robot.body_inertial(), (2.5, np.array(at), np.zeros((3, 3)))])
    got = link_tensor(world, -1)
    np.testing.assert_allclose(got[1], com, atol=1e-9)
    np.testing.assert_allclose(got[2], inertia, atol=1e-6)
    assert got[0] == pytest.approx(mass)


def test_robot_starts_where_it_should_whatever_it_carries(make_world, any_robot):
    payload = {"mass": 3.0, "at": (0.1, 0.05, 0.08)}  # its principal axes are not the body's
    start = any_robot.description.sim.start
    world = make_world(any_robot, payload=payload)
    np.testing.assert_allclose(world.base()[0], [0, 0, start.height], atol=1e-9)
    np.testing.assert_allclose(np.abs(world.base()[1]), [1, 0, 0, 0], atol=1e-9)
    slope = make_world(any_robot, payload=payload, terrain={"kind": "slope", "deg": 20.0})
    np.testing.assert_allclose(slope.base()[0], start.height * slope.ground.normal, atol=1e-9)
    np.testing.assert_allclose(quat_to_matrix(slope.base()[1])[:, 2], slope.ground.normal, atol=1e-9)
    held = make_world(any_robot, payload=payload, suspended=True)
    np.testing.assert_allclose(held.base()[0], [0, 0, start.suspended_height], atol=1e-9)


def test_payload_is_carried_by_the_feet(make_plant, robot, standing, hold, play):
    robot = standing(robot)
    plant = make_plant(robot, payload={"mass": 2.0, "at": (0, 0, 0.05)})
    truth = play(plant, hold(robot, robot.pose("stand"), 3.0), 1000)[2]
    np.testing.assert_allclose(truth[-1].foot_force.sum(0), [0, 0, (robot.mass + 2.0) * G], atol=0.5)


def test_suspended_body_does_not_move_whatever_the_legs_do(make_plant, any_robot, hold, play):
    plant = make_plant(any_robot, suspended=True)
    command = hold(any_robot, any_robot.pose("stand"), 3.0)
    for sign in (1, -1):
        command.q_des[:] = any_robot.pose("stand") + sign * 0.3
        imu, joints, truth = play(plant, command, 150)
        want = [0, 0, any_robot.description.sim.start.suspended_height]
        for k in range(0, 150, 10):
            np.testing.assert_allclose(truth[k].position, want, atol=1e-9)
            np.testing.assert_allclose(truth[k].quat, [1, 0, 0, 0], atol=1e-9)
            np.testing.assert_allclose(imu[k].accel, [0, 0, G], atol=1e-6)
    assert np.abs(joints[-1].q - any_robot.pose("stand")).max() > 0.1


def test_push_adds_force_times_duration_to_the_momentum(make_plant, robot, with_start, play):
    """In the air: momentum of the whole robot changes by F dt and by gravity."""
    force = np.array([10.0, 25.0, 5.0])
    robot = with_start(robot, height=3.0)
    plant = make_plant(robot, pushes=[Push(t=0.02, duration=0.05, force=tuple(force))])
    other = make_plant(robot)
    play(plant, None, 51)
    play(other, None, 51)
    moved = [momentum(robot, plant), momentum(robot, other)]
    np.testing.assert_allclose(moved[0] - moved[1], force * 0.05, atol=2e-3)
    assert moved[1][2] == pytest.approx(-robot.mass * G * 0.102, rel=0.02)


def momentum(robot, plant):
    """(3,) N s of all links from PyBullet's link velocities."""
    client, body = plant.world.client, plant.world.body
    total = plant.robot.body_inertial()[0] * np.array(p.getBaseVelocity(body, physicsClientId=client)[0])
    for joint in plant.world.joints:
        state = p.getLinkState(body, joint, computeLinkVelocity=True, physicsClientId=client)
        total = total + p.getDynamicsInfo(body, joint, physicsClientId=client)[0] * np.array(state[6])
    return total


def test_push_is_in_the_heading_frame(make_plant, robot, with_start, play):
    plant = make_plant(with_start(robot, height=3.0), pushes=[Push(t=0.0, duration=0.02, force=(20.0, 0.0, 0.0))])
    world = plant.world
    p.resetBasePositionAndOrientation(
        world.body, [0, 0, 3.0], [0, 0, np.sin(np.pi / 4), np.cos(np.pi / 4)], physicsClientId=world.client
    )
    plant.base = world.base()
    truth = play(plant, None, 12)[2]
    assert abs(truth[-1].v_world[0]) < 0.01 and truth[-1].v_world[1] > 0.03


@pytest.mark.parametrize("direction", [(1.0, 0.0), (0.0, 1.0), (0.7071, 0.7071)])
@pytest.mark.parametrize("friction", [0.2, 0.8])
def test_feet_slide_only_when_the_push_beats_friction(make_plant, robot, standing, hold, play, friction, direction):
    """Push of 0.4 m g while standing stiffly: mu 0.2 slides and brakes with mu g, in every direction; 0.8 holds."""
    robot = standing(robot)
    force = 0.4 * robot.mass * G * np.array(direction)
    plant = make_plant(robot, friction=friction, pushes=[Push(t=0.3, duration=0.25, force=(*force, 0.0))])
    truth = play(plant, hold(robot, robot.pose("stand"), 10.0), 450)[2]
    slid = np.linalg.norm(np.sum([t.foot_slip for t in truth], axis=0), axis=1)
    if friction == 0.8:
        assert slid.max() < 0.004
        return
    assert slid.min() > 0.05
    push = [t.foot_force for t in truth[200:270]]
    ratio = [np.linalg.norm(f.sum(0)[:2]) / f.sum(0)[2] for f in push]
    assert np.mean(ratio) == pytest.approx(friction, rel=0.03)


def test_ground_friction_comes_from_the_description_unless_given(make_world, robot):
    for options, want in (({}, robot.description.sim.friction), ({"friction": 0.3}, 0.3)):
        world = make_world(robot, **options)
        friction = p.getDynamicsInfo(world.ground_ids[0], -1, physicsClientId=world.client)[1]
        assert friction == pytest.approx(want)
        for link in (-1, *world.joints):
            assert p.getDynamicsInfo(world.body, link, physicsClientId=world.client)[1] == pytest.approx(1.0)


def test_worlds_do_not_see_each_other(make_world, robot, with_start):
    one, two = make_world(with_start(robot, height=2.0)), make_world(with_start(robot, height=3.0))
    before = two.base()[0]
    for _ in range(10):
        one.step(np.zeros(robot.num_joints))
    np.testing.assert_array_equal(two.base()[0], before)
    assert one.client != two.client


def test_link_names_are_in_the_robots_joint_order(any_robot):
    names = list(link_names(any_robot))
    assert [name.replace("_", ".", 1) for name in names] == list(any_robot.joint_names)


def test_inertia_of_a_knee_with_its_rotor_breaks_the_triangle_inequality(robot):
    """Why sim.inertials raises the moments in the URDF: Bullet would drop this tensor."""
    link = robot.description.legs.chain[2].link
    xx, _yy, zz = np.diag(inertia_matrix(link))
    assert rotor_inertia(robot.actuators[2]) > xx + zz
