"""Walking without physics: forces, swings, six legs."""

import numpy as np
import pytest

GRAVITY = 9.81


def walking(bench, **fields):
    bench.ask("walk", **fields)
    bench.until("walk", 10.0)
    return bench


def test_at_rest_in_the_gait_stand_the_forces_carry_the_weight_and_no_moment(bench):
    walking(bench, gait="stand")
    out = bench.tick(0.1)
    force = -out.command.f_ff
    mass, com, _ = bench.robot.composite(bench.robot.pose("stand"))
    assert force[:, 2].sum() == pytest.approx(mass * GRAVITY, rel=0.1)
    assert np.abs(force[:, :2].sum(axis=0)).max() < 1.0
    _, legs = bench.states()
    arms = legs.p + bench.robot.chains.mount_position - com
    assert np.abs(np.cross(arms, force).sum(axis=0)).max() < 1.0
    assert out.plan.stance.all()


def test_over_a_stride_the_mean_force_is_the_weight_and_swinging_feet_push_nothing(bench):
    walking(bench, gait="trot")
    bench.tick(0.6)
    total, ticks = np.zeros(3), round(0.3 / bench.robot.dt)
    for _ in range(ticks):
        out = bench.tick()
        swings = out.plan.stance == 0
        assert not out.command.f_ff[swings].any()
        assert (out.command.kp_cartesian[swings] > 0).all()
        assert not out.command.kp_cartesian[~swings].any()
        total -= out.command.f_ff.sum(axis=0) / ticks
    mass = bench.robot.mass
    assert total[2] == pytest.approx(mass * GRAVITY, rel=0.15)
    assert np.abs(total[:2]).max() < 0.05 * mass * GRAVITY


def test_forces_stay_within_friction_and_the_limit_of_a_foot(bench):
    mpc = bench.robot.description.control.mpc
    walking(bench, gait="trot", vx=1.0)
    for _ in range(300):
        force = -bench.tick().command.f_ff
        assert (force[:, 2] >= -1e-6).all()
        assert (force[:, 2] <= mpc.force_max + 1e-6).all()
        assert (np.abs(force[:, :2]) <= mpc.friction * force[:, 2:] + 1e-6).all()


def test_the_plan_alternates_in_diagonal_pairs_in_a_trot(bench):
    walking(bench, gait="trot")
    bench.tick(0.6)
    seen = set()
    for _ in range(150):
        stance = bench.tick().plan.stance
        assert stance[0] == stance[3]
        assert stance[1] == stance[2]
        seen.add(tuple(stance))
    assert {(0, 1, 1, 0), (1, 0, 0, 1)} <= seen


def test_no_foot_target_jumps_between_ticks(bench):
    walking(bench, gait="trot", vx=0.5)
    bench.tick(0.5)
    before = bench.tick()
    for _ in range(300):
        out = bench.tick()
        both = (out.plan.stance == 0) & (before.plan.stance == 0)
        assert np.abs(out.command.p_des - before.command.p_des)[both].max(initial=0.0) < 0.03
        before = out


def test_changing_the_gait_while_walking_needs_no_stop(bench):
    walking(bench, gait="trot")
    for gait in ("walk", "pronk", "trot"):
        bench.ask("walk", gait=gait)
        out = bench.tick(0.8)
        assert (out.state.mode, out.state.gait, out.state.busy) == ("walk", gait, 0)


@pytest.mark.parametrize("gait", ["tripod", "ripple", "wave"])
def test_six_legs_step_in_all_their_gaits(bench_of, hexapod, gait):
    bench = walking(bench_of(hexapod), gait=gait, vx=0.05)
    stood = np.zeros(hexapod.num_legs)
    ticks = round(2 * hexapod.description.control.gaits[gait].period / hexapod.dt)
    fewest = hexapod.num_legs
    for _ in range(ticks):
        out = bench.tick()
        stood += out.plan.stance / ticks
        fewest = min(fewest, out.plan.stance.sum())
        assert out.state.mode == "walk"
        assert out.command.num_legs == hexapod.num_legs
    assert (stood < 0.95).all(), "every leg has swung"
    assert (stood > 0.3).all()
    assert fewest >= 3


def test_six_legs_share_the_weight_at_rest(bench_of, hexapod):
    bench = bench_of(hexapod)
    bench.ask("stand")
    bench.until("stand", 10.0)
    force = -bench.tick(0.5).command.f_ff
    assert force.sum(axis=0) == pytest.approx([0, 0, hexapod.mass * GRAVITY], rel=0.02, abs=1e-6)
    assert force[:, 2] == pytest.approx(hexapod.mass * GRAVITY / 6, rel=0.3)
