"""Terrains: what PyBullet collides with is what ground truth says."""

from __future__ import annotations

import math

import numpy as np
import pybullet as p
import pytest

from config.scenario import Terrain
from procs.model.rotations import quat_to_matrix, quat_to_rpy
from sim.terrain import FLAT_RADIUS, Ground

KINDS = [
    {"kind": "flat"},
    {"kind": "slope", "deg": 10.0},
    {"kind": "slope", "deg": -15.0},
    {"kind": "steps", "height": 0.03, "length": 0.8},
    {"kind": "steps", "height": 0.05, "length": 0.3},
    {"kind": "rough", "height": 0.04, "cell": 0.25},
    {"kind": "stairs", "rise": 0.06, "run": 0.28, "count": 4},
]


@pytest.mark.parametrize("fields", KINDS, ids=str)
def test_heights_and_normals_equal_ray_tests(fields, rng):
    ground = Ground(Terrain(**fields), np.random.default_rng(3))
    client = p.connect(p.DIRECT)
    try:
        ground.build(client)
        x, y = rng.uniform(-4, 14, 400), rng.uniform(-4, 4, 400)
        x[:200], y[:200] = rng.uniform(-1.0, 3.0, 200), rng.uniform(-1.0, 1.0, 200)
        height = np.array([ground.height(a, b) for a, b in zip(x, y, strict=True)])
        starts = np.column_stack([x, y, np.full(400, 8.0)]).tolist()
        ends = np.column_stack([x, y, np.full(400, -8.0)]).tolist()
        hits = p.rayTestBatch(starts, ends, physicsClientId=client)
        np.testing.assert_allclose([h[3][2] for h in hits], height, atol=2e-4)
        inside = [k for k in range(400) if not near_edge(ground, x[k], y[k])]
        assert len(inside) > 200
        np.testing.assert_allclose([hits[k][4] for k in inside], np.tile(ground.normal, (len(inside), 1)), atol=1e-6)
        assert ground.height_normal(x[0], y[0])[0] == height[0]
    finally:
        p.disconnect(physicsClientId=client)


def near_edge(ground, x, y):
    """Within 2 cm of a change of height other than a slope's; Bullet rounds edges a little."""
    near = [ground.height(x + dx, y + dy) for dx in (-0.02, 0.02) for dy in (-0.02, 0.02)]
    return ground.terrain.kind != "slope" and np.ptp(near) > 0


@pytest.mark.parametrize("fields", [k for k in KINDS if k["kind"] != "slope"], ids=str)
def test_the_first_half_metre_around_the_start_is_flat(fields, rng):
    ground = Ground(Terrain(**fields), np.random.default_rng(3))
    angle, r = rng.uniform(0, 2 * np.pi, 500), FLAT_RADIUS * np.sqrt(rng.uniform(0, 0.999, 500))
    assert all(ground.height(a, b) == 0.0 for a, b in zip(r * np.cos(angle), r * np.sin(angle), strict=True))
    assert ground.height(0.0, 0.0) == 0.0


def test_slope_goes_uphill_along_x():
    ground = Ground(Terrain(kind="slope", deg=10.0), np.random.default_rng(0))
    assert ground.height(2.0, 0.0) == pytest.approx(2.0 * math.tan(math.radians(10.0)))


def test_steps_and_stairs_rise_by_their_height_at_their_edges():
    steps = Ground(Terrain(kind="steps", height=0.03, length=0.8), np.random.default_rng(0))
    assert [round(steps.height(x, 0.0), 9) for x in (0.79, 0.81, 1.59, 1.61)] == [0.0, 0.03, 0.03, 0.06]
    stairs = Ground(Terrain(kind="stairs", rise=0.05, run=0.3, count=3), np.random.default_rng(0))
    assert [round(stairs.height(x, 0.0), 9) for x in (0.49, 0.51, 0.81, 1.11, 9.0)] == [0.0, 0.05, 0.1, 0.15, 0.15]


def test_rough_ground_comes_from_the_seed_and_uses_its_height():
    terrain = Terrain(kind="rough", height=0.05, cell=0.25)
    one, same, other = (Ground(terrain, np.random.default_rng(s)).tiles for s in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()
    assert 0.04 < one.max() <= 0.05 and one.min() == 0.0


@pytest.mark.parametrize("deg", [12.0, -12.0])
def test_robot_starts_aligned_with_the_slope_and_stands_on_it(make_plant, robot, standing, hold, play, deg):
    robot = standing(robot)
    plant = make_plant(robot, terrain={"kind": "slope", "deg": deg})
    command = hold(robot, robot.pose("stand"), 4.0)
    imu, _joints, truth = play(plant, command, 600)
    normal = truth[0].ground_normal
    np.testing.assert_allclose(quat_to_matrix(truth[0].quat)[:, 2], normal, atol=1e-9)
    assert quat_to_rpy(truth[0].quat)[1] == pytest.approx(-math.radians(deg))  # nose up when uphill
    np.testing.assert_allclose(truth[0].foot_position @ normal, 0.0, atol=1e-3)
    assert quat_to_matrix(truth[-1].quat)[:, 2] @ normal > math.cos(0.05)
    np.testing.assert_allclose(truth[-1].foot_force.sum(0), [0, 0, robot.mass * 9.81], atol=0.5)
    np.testing.assert_allclose(imu[-1].accel @ quat_to_matrix(truth[-1].quat).T, [0, 0, 9.81], atol=0.02)
    assert truth[-1].ground_height == pytest.approx(truth[-1].position[0] * math.tan(math.radians(deg)))


def test_feet_stand_on_a_stair_at_its_height(make_plant, robot, standing, hold, play):
    robot = standing(robot)
    plant = make_plant(robot, terrain={"kind": "stairs", "rise": 0.05, "run": 0.3, "count": 3})
    world = plant.world
    at = [1.8, 0, 0.15 + robot.description.sim.start.height + 0.002]
    p.resetBasePositionAndOrientation(world.body, at, [0, 0, 0, 1], physicsClientId=world.client)
    plant.base = world.base()
    truth = play(plant, hold(robot, robot.pose("stand"), 3.0), 500)[2]
    np.testing.assert_allclose(truth[-1].foot_position[:, 2], 0.15, atol=2e-3)
    assert truth[-1].ground_height == pytest.approx(0.15)
