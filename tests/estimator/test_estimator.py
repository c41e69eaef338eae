"""Closed forms: what the estimator must say of motions that are known exactly."""

from __future__ import annotations

import numpy as np
import pytest

from lcmtypes.channels import IMU, JOINT_STATE
from procs.estimator.estimator import SPEC, Estimator


def feet_on_ground(world, height=0.0):
    """Foot centres (L, 3) in the world under a body at x = y = 0, and the body's height above the ground, m."""
    feet = world.stand_feet()
    radius = world.robot.foot_radius
    body = radius - feet[:, 2].mean()
    feet[:, 2] = radius + height
    return feet, body


def walk(estimator, world, speed, ticks, ground=lambda x: 0.0, vz=0.0, period=200):
    """A trot with stance feet that roll on the ground `ground`(x); yields (body_state, leg_state, truth)."""
    feet, height = feet_on_ground(world)
    home, dt, radius = feet.copy(), world.robot.dt, world.robot.foot_radius
    v = np.array([speed, 0.0, vz])
    for k in range(ticks):
        position = np.array([0, 0, height]) + v * k * dt
        phase = (k / period + np.array([0, 0.5, 0.5, 0])) % 1.0
        stance = phase < 0.5
        moving = np.zeros((4, 3))
        feet += world.moving * dt * stance[:, None]
        for leg in range(4):
            t = (phase[leg] - 0.5) / 0.5
            if stance[leg]:
                if k and phase[leg] < 1 / period:
                    x = position[0] + home[leg, 0] + speed * 0.25 * period * dt
                    feet[leg] = [x, home[leg, 1], radius + ground(x)]
            else:
                x = position[0] + home[leg, 0]
                feet[leg] = [x, home[leg, 1], radius + ground(x) + 0.06 * np.sin(np.pi * t)]
                moving[leg] = [v[0], 0, 2.0]
        yield estimator.step(world.inputs(
            k, position, feet, velocity=v, foot_velocity=moving, rolling=stance, loaded=stance, planned=stance,
            phase=np.where(stance, phase, phase - 0.5) / 0.5,
        )), position  # fmt: skip


def test_standing_still_has_no_velocity_and_the_height_of_the_body_above_the_contacts(estimator, world):
    feet, height = feet_on_ground(world)
    for k in range(1000):
        body, legs = estimator.step(world.inputs(k, (0, 0, height), feet))
    assert body.valid and body.reason == ""
    assert np.abs(body.v_world).max() < 1e-9
    assert np.allclose(body.position, [0, 0, height], atol=1e-9)
    assert np.allclose(body.a_body, [0, 0, 9.81])
    assert (body.contact > 0.9).all()
    assert np.allclose(legs.foot_force.sum(axis=0), [0, 0, world.robot.mass * 9.81], rtol=0.05, atol=2)
    assert np.allclose(legs.p, feet - [0, 0, height] - world.robot.chains.mount_position, atol=1e-8)


@pytest.mark.parametrize("speed", [-0.5, 0.3, 1.0])
def test_walking_at_constant_speed(estimator, world, speed):
    errors = []
    for (body, _), position in walk(estimator, world, speed, 1000):
        errors.append(body.position[0] - position[0])
    assert body.valid
    assert np.allclose(body.v_world, [speed, 0, 0], atol=0.01)
    assert abs(body.position[2] - position[2]) < 0.003
    assert abs(errors[-1] - errors[250]) < 0.005 * abs(speed) * 1.5  # a run is taken to start at rest: 0.1 s to settle


def test_a_slope_does_not_bend_the_height(estimator, world):
    *_, ((body, _), position) = walk(estimator, world, 0.5, 1500, ground=lambda x: 0.1 * x, vz=0.05)
    assert abs(body.v_world[2] - 0.05) < 0.01
    assert abs(body.position[2] - position[2]) < 0.01


def test_a_step_of_four_centimetres_does_not_move_the_body(estimator, world):
    heights = []
    for (body, _), _ in walk(estimator, world, 0.4, 1500, ground=lambda x: 0.04 if x > 0.5 else 0.0):
        heights.append(body.position[2])
    assert np.ptp(heights[200:]) < 0.006
    assert np.abs(np.diff(heights)).max() < 0.001


def rolling_speed(estimator, world, speed):
    """Estimated forward speed, m/s, with spheres that roll without slip under all feet."""
    feet, height = feet_on_ground(world)
    for k in range(300):
        x = speed * k * world.robot.dt
        body, _ = estimator.step(world.inputs(k, (x, 0, height), feet, velocity=(speed, 0, 0), rolling=np.ones(4)))
        feet = feet + world.moving * world.robot.dt
    return body.v_world[0]


def test_a_rolling_foot_does_not_slow_the_estimate(estimator, world, changed):
    speed = 0.3
    assert rolling_speed(estimator, world, speed) == pytest.approx(speed, rel=0.005)
    naive = changed(estimator={"filter": "reference"})
    assert rolling_speed(naive, type(world)(world.robot), speed) < 0.97 * speed


def test_yaw_is_zero_at_the_first_sample(estimator, world):
    feet, height = feet_on_ground(world)
    for k in range(10):
        body, _ = estimator.step(world.inputs(k, (0, 0, height), feet, yaw_imu=2.0))
    assert abs(body.rpy[2]) < 1e-12
    estimator.reset()
    body, _ = estimator.step(world.inputs(0, (0, 0, height), feet, yaw_imu=-1.0))
    assert abs(body.rpy[2]) < 1e-12


def test_turning_on_the_spot_keeps_the_position(estimator, world):
    feet, height = feet_on_ground(world)
    for k in range(200):
        yaw = 0.5 * k * world.robot.dt
        body, _ = estimator.step(world.inputs(k, (0, 0, height), feet, rpy=(0, 0, yaw), omega=(0, 0, 0.5)))
    assert body.rpy[2] == pytest.approx(yaw)
    assert np.allclose(body.omega_world, [0, 0, 0.5])
    assert np.abs(body.v_world).max() < 0.01 and np.abs(body.position[:2]).max() < 0.01


def test_missed_ticks_are_integrated_with_their_time(estimator, world):
    feet, height = feet_on_ground(world)
    v = 0.2
    for k in list(range(50)) + list(range(60, 100)):
        x = v * k * world.robot.dt
        body, _ = estimator.step(world.inputs(k, (x, 0, height), feet, velocity=(v, 0, 0)))
    assert body.position[0] == pytest.approx(x, abs=0.004)


def test_the_imu_lever_arm_is_taken_out(changed, description, make_world):
    estimator = changed(imu={"mount": {"xyz": (0.1, 0.0, 0.0), "rpy": (0, 0, 0)}})
    world = make_world(estimator.robot)
    feet, height = feet_on_ground(world)
    for k in range(100):
        inputs = world.inputs(k, (0, 0, height), feet, rpy=(0, 0, 2.0 * k * 0.002), omega=(0, 0, 2.0))
        inputs[IMU].accel[0] -= 2.0**2 * 0.1  # centripetal at the IMU
        body, _ = estimator.step(inputs)
    assert np.allclose(body.a_body, [0, 0, 9.81], atol=1e-6)


def test_six_legs(six_legs, make_world):
    estimator, world = Estimator(six_legs), make_world(six_legs)
    feet, height = feet_on_ground(world)
    for k in range(300):
        x = 0.1 * k * six_legs.dt
        body, legs = estimator.step(world.inputs(k, (x, 0, height), feet, velocity=(0.1, 0, 0)))
    assert body.num_legs == 6 and legs.p.shape == (6, 3) and body.valid
    assert body.v_world[0] == pytest.approx(0.1, abs=0.01)


def test_two_runs_are_equal_to_the_last_bit(robot, make_world):
    def run(estimator):
        world = make_world(robot)
        return b"".join(m.encode() for messages, _ in walk(estimator, world, 0.7, 300) for m in messages)

    estimator = Estimator(robot)
    first = run(estimator)
    estimator.reset()
    assert run(estimator) == first
    assert run(Estimator(robot)) == first


def test_messages_are_fresh_and_inputs_untouched(estimator, world):
    feet, height = feet_on_ground(world)
    inputs = world.inputs(0, (0, 0, height), feet)
    before = inputs[JOINT_STATE].encode(), inputs[IMU].encode()
    a = estimator.step(inputs)
    kept = a[0].encode(), a[1].encode()
    b = estimator.step(world.inputs(1, (0, 0, height + 0.01), feet))
    assert a[0] is not b[0] and a[1] is not b[1]
    assert (a[0].encode(), a[1].encode()) == kept
    assert (inputs[JOINT_STATE].encode(), inputs[IMU].encode()) == before


def test_declaration():
    assert SPEC.name == "estimator" and SPEC.core is Estimator
    assert [r.kind for r in SPEC.reads] == ["same", "previous"]
