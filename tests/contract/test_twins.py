"""One contract, six plants: simulator, two kinds of SPIne boards, three of CAN drives. Nobody can tell them apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from config.scenario import Fault, PlantOptions
from lcmtypes.channels import ESTOP, IMU, JOINT_STATE
from lcmtypes.generated import Estop, Imu, JointCommand, JointState
from procs.runtime.plant_loop import PlantLoop
from tests.contract.twins import KINDS, PERIODS_OLD, hold, plant, quanta
from tools.emulated_plant import InStep

EMULATED = KINDS[1:]


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def make():
    """Plant loops, started, stopped after the test."""
    made = []

    def start(kind, run=7, **more):
        one, robot, hardware = plant(kind, **more)
        made.append(one)
        loop = PlantLoop(one, robot)
        loop.start(run)
        return loop, robot, hardware

    yield start
    for one in made:
        one.stop()


class Sample(NamedTuple):
    """One tick: what was published, and what was true: joints and the drives' own torque."""

    imu: Imu
    joints: JointState
    q: np.ndarray
    qd: np.ndarray
    torque: np.ndarray


def play(loop, command, ticks):
    """Samples of some ticks; `command`: one, or a function of the tick, or None for no answer."""
    out = []
    for _ in range(ticks):
        sample = loop.sample()
        truth = true_joints(loop)
        loop.plant.work_ahead()
        answer = command(loop.seq) if callable(command) else command
        if answer is not None:
            answer = answer.copy()
            answer.run, answer.seq = loop.run, loop.seq
            assert loop.accept(answer)
        loop.act()
        messages = dict(sample)
        out.append(Sample(messages[IMU], messages[JOINT_STATE], *truth))
    return out


def physics_of(loop):
    """The simulator behind any of the plants."""
    sync = getattr(loop.plant, "sync", None)
    return loop.plant if sync is None else sync.hardware.robot.plant


def state_of(physics):
    """Joint angles, velocities, drive torques."""
    return physics.q.copy(), physics.qd.copy(), physics.active.copy()


def true_joints(loop):
    """Of the tick read last."""
    sync = getattr(loop.plant, "sync", None)
    return state_of(loop.plant) if sync is None else sync.at_tick


@pytest.fixture(autouse=True)
def remember_the_state_at_each_tick(monkeypatch):
    """The physics of emulated hardware is done within read(): keep what it was when the tick opened."""
    begin = InStep.begin

    def noting(self, run, seq):
        there = begin(self, run, seq)
        self.at_tick = state_of(self.hardware.robot.plant)
        return there

    monkeypatch.setattr(InStep, "begin", noting)


START = 300  # ticks from the first command until every plant's drives run with full gains
RAMP = 150  # ticks of a change of posture: CyberGears report no more than 19 rad/s at the knee


def move(loop, robot, before, after, ticks):
    """From one posture to another and hold it; samples."""
    first = loop.seq + 1

    def command(tick):
        return hold(robot, before + min(1.0, (tick - first) / RAMP) * (after - before))

    return play(loop, command, ticks)


def test_the_same_channels_in_the_same_order_with_joint_state_last(make, kind):
    loop, _robot, _hardware = make(kind)
    for _ in range(3):
        sent = loop.sample()
        names = [channel.name for channel, _ in sent if channel.name != "bus_status"]
        assert names == ["imu", "ground_truth", "joint_state"]
        assert [channel for channel, _ in sent][-1] is JOINT_STATE
        loop.act()


def test_headers_count_ticks_of_the_run_from_zero(make, kind):
    loop, robot, _hardware = make(kind, run=99)
    samples = play(loop, None, 5)
    assert [(imu.run, imu.seq, imu.utime) for imu, *_ in samples] == [(99, k, 2000 * k) for k in range(5)]
    assert all(len(s.joints.q) == robot.num_joints for s in samples)


def test_joint_state_is_the_true_state_within_quanta_and_the_known_age(make, kind):
    loop, robot, _hardware = make(kind)
    q0 = robot.pose("down")
    command = hold(robot, q0)

    def moving(tick):
        command.q_des[:] = q0 + 0.3 * np.sin(2 * np.pi * tick * robot.dt)
        return command

    samples = play(loop, moving, 600)
    old = PERIODS_OLD[kind]
    q_quantum, qd_quantum = quanta(kind, robot)
    for k in range(START, 600):
        joints = samples[k].joints
        assert not joints.fault.any(), joints.status
        q, qd = samples[k - old].q, samples[k - old].qd
        assert np.all(np.abs(joints.q - q) <= 1.05 * q_quantum)
        assert np.all(np.abs(joints.qd - qd) <= 1.05 * qd_quantum)
    assert np.ptp([s.q for s in samples[START:]], axis=0).min() > 0.3


def test_the_same_commands_move_the_joints_alike_in_every_plant(make, kind):
    """Units, signs, gains, order: after the start-up the trajectories lie on each other."""

    def track(which):
        loop, robot, _hardware = make(which)
        down, stand = robot.pose("down"), robot.pose("stand")
        start = play(loop, hold(robot, down), START)[-1:]
        return np.array([s.q for s in start + move(loop, robot, down, stand, 350)])

    twin, reference = track(kind), track("sim")
    assert np.abs(reference[-1] - reference[0]).min(initial=1, where=[False, True, True] * 4) > 0.5
    np.testing.assert_allclose(twin, reference, atol=0.025)  # two ticks at the ramp's speed, and the quanta of kp, kd
    np.testing.assert_allclose(twin[-1], reference[-1], atol=0.004)


def test_the_imu_is_in_body_axes_and_the_same(make, kind):
    loop, _robot, _hardware = make(kind)
    imu = play(loop, None, 5)[-1].imu
    assert imu.valid
    np.testing.assert_allclose(np.abs(imu.quat), [1, 0, 0, 0], atol=1e-6)
    np.testing.assert_allclose(imu.accel, [0, 0, 9.81], atol=1e-4)
    np.testing.assert_allclose(imu.gyro, 0, atol=1e-6)


def test_every_joint_moves_when_it_is_told_and_no_other(make, kind):
    """Four moves of half the joints each: every joint has its own pattern of moving and staying."""
    loop, robot, _hardware = make(kind)
    q = robot.pose("down").copy()
    play(loop, hold(robot, q), START)
    away = 0.1 * np.array([1, 1, -1] * 4)
    for bit in range(4):
        told = np.array([(joint + 1) >> bit & 1 for joint in range(12)], dtype=bool)
        before = true_joints(loop)[0]
        move(loop, robot, q, q + told * away, RAMP + 50)
        moved = true_joints(loop)[0] - before
        np.testing.assert_allclose(moved[told], away[told], atol=0.025)
        assert np.abs(moved[~told]).max() < 0.025
        q = q + told * away


def test_a_joint_that_is_turned_forwards_says_so_in_position_velocity_and_torque(make, kind):
    loop, robot, _hardware = make(kind)
    q0 = robot.pose("down")
    play(loop, hold(robot, q0), START)
    samples = move(loop, robot, q0, q0 - [-0.3, -0.3, 0.3] * 4, RAMP)[30:]
    q = np.array([s.joints.q for s in samples])
    assert ((q[-1] - q[0]) * ([1, 1, -1] * 4) > 0.1).all()
    assert (np.mean([s.joints.qd for s in samples], axis=0) * ([1, 1, -1] * 4) > 0.3).all()


def test_torque_is_that_of_the_drive_at_the_joint(make, kind):
    loop, robot, _hardware = make(kind)
    q0 = robot.pose("down")
    play(loop, hold(robot, q0), START)
    shaken = hold(robot, q0, kp=20.0)

    def command(tick):
        shaken.tau_ff[:] = 3.0 * np.sin(2 * np.pi * 4.0 * tick * robot.dt)
        return shaken

    samples = play(loop, command, 250)
    assert samples[0].joints.tau_source in ("measured", "computed")
    old = PERIODS_OLD[kind]
    told = np.array([s.joints.tau for s in samples[old:]])
    true = np.array([s.torque for s in samples[: len(samples) - old]])
    assert true.std(axis=0).min() > 0.2
    assert np.sqrt(np.mean((told - true) ** 2, axis=0)).max() < (0.3 if old else 0.05)


def drives_told(loop):
    """(kp, kd, enabled) at the joints, what the drives run by now."""
    physics = physics_of(loop)
    return physics.command.kp.copy(), physics.command.kd.copy(), physics.command.enable.copy()


def powerless(loop, kind):
    """Drives off; Scotty's firmware has them in motor mode from boot whatever the host says: nothing asked of them."""
    kp, kd, enable = drives_told(loop)
    if kind == "scotty":
        return kp.max() == kd.max() == 0.0 and np.abs(physics_of(loop).command.tau_ff).max() < 0.1  # half a quantum
    return not enable.any()


def test_stale_commands_end_in_damping_with_zero_stiffness(make, kind):
    loop, robot, _hardware = make(kind)
    play(loop, hold(robot, robot.pose("down")), START)
    assert drives_told(loop)[0].min() > 50
    play(loop, None, round(robot.description.safety.watchdog / robot.dt) + 3)
    kp, kd, enable = drives_told(loop)
    assert loop.state == "damping"
    assert kp.max() == 0.0 and kd.min() > 1.9 and enable.all()


def test_estop_damps_at_once_and_stays(make, kind):
    loop, robot, _hardware = make(kind)
    command = hold(robot, robot.pose("down"))
    play(loop, command, START)
    stop = Estop()
    stop.source, stop.reason = "test", "button"
    loop.obey(ESTOP, stop)
    play(loop, command, 2)
    for _ in range(50):
        kp, kd, enable = drives_told(loop)
        assert kp.max() == 0.0 and kd.min() > 1.9 and enable.all()
        play(loop, command, 1)
    assert loop.state == "latched"


def test_a_command_that_is_not_finite_or_of_another_run_changes_nothing(make, kind):
    loop, robot, _hardware = make(kind)
    good = hold(robot, robot.pose("down"))
    play(loop, good, START)
    before = drives_told(loop)
    loop.sample()
    for change in ("nan", "run", "size"):
        bad = hold(robot, robot.pose("stand")) if change != "size" else JointCommand(robot.num_joints - 1)
        bad.run, bad.seq = (loop.run + (change == "run")), loop.seq
        if change == "nan":
            bad.tau_ff[3] = np.nan
        assert not loop.accept(bad)
    good.run, good.seq = loop.run, loop.seq
    assert loop.accept(good)
    loop.act()
    play(loop, good, 2)
    for was, now in zip(before, drives_told(loop), strict=True):
        np.testing.assert_array_equal(was, now)


def test_before_the_first_command_the_drives_are_off(make, kind):
    loop, _robot, _hardware = make(kind)
    samples = play(loop, None, 20)
    assert powerless(loop, kind)
    assert loop.state == "waiting"
    assert not samples[-1].joints.fault.any()


def test_torque_beyond_the_drive_is_cut_by_the_drive(make, kind):
    loop, robot, _hardware = make(kind)
    play(loop, hold(robot, robot.pose("down")), START)
    command = hold(robot, robot.pose("down"))
    command.tau_ff[:] = 500.0
    play(loop, command, 3)
    physics = physics_of(loop)
    most = [a.gear * a.motor_torque_max for a in robot.actuators]
    assert np.all(np.abs(physics.active) <= 1.001 * robot.per_joint(most))


def test_a_bad_encoder_value_is_predicted_and_marked_not_passed_on(make, kind):
    spike = Fault(t=0.8, duration=0.002, kind="encoder_spike", joint="FL.hip", value=0.8)
    loop, robot, _hardware = make(kind, faults=[spike])
    samples = play(loop, hold(robot, robot.pose("down")), 440)
    marked = [k for k, s in enumerate(samples) if k > START and s.joints.fault.any()]
    assert marked and 400 <= min(marked) <= 402 and max(marked) <= 405
    for s in samples[START:]:
        assert np.abs(s.joints.q - s.q).max() < 0.05


def test_an_encoder_that_gives_no_number_is_marked_and_the_message_stays_finite(make, kind):
    nan = Fault(t=0.8, duration=0.004, kind="nan", joint="FL.hip")
    loop, robot, _hardware = make(kind, faults=[nan])
    samples = play(loop, hold(robot, robot.pose("down")), 440)
    assert all(s.joints.finite() for s in samples)
    hip = robot.joint_names.index("FL.hip")
    marked = {k for k, s in enumerate(samples) if k > START and s.joints.fault[hip]}
    assert marked and min(marked) >= 400 and max(marked) <= 406
    assert not any(np.delete(s.joints.fault, hip).any() for s in samples[START:])
    assert max(np.abs(s.joints.q - s.q).max() for s in samples[START:]) < 0.05


def test_a_motor_without_power_lets_its_joint_go_in_every_plant(make, kind):
    off = Fault(t=0.8, kind="motor_off", joint="RR.hip")
    loop, robot, _hardware = make(kind, faults=[off])
    goal = robot.pose("down")
    q = play(loop, hold(robot, goal), 390)[-1].q
    assert np.abs(q - goal).max() < 0.1
    q = play(loop, hold(robot, goal), 300)[-1].q
    hip = robot.joint_names.index("RR.hip")
    assert abs(q[hip] - goal[hip]) > 0.15
    assert np.abs(np.delete(q - goal, hip)).max() < 0.1


def test_equal_seeds_give_equal_messages_also_after_a_new_run(make, kind):
    noisy = PlantOptions(suspended=True, imu_noise=True)

    def digest(loop, robot):
        samples = play(loop, hold(robot, robot.pose("down")), 120)
        return [(s.imu.block.tobytes(), s.joints.q.tobytes(), s.joints.qd.tobytes()) for s in samples]

    loop, robot, _hardware = make(kind, options=noisy, seed=5)
    one = digest(loop, robot)
    loop.start(8)
    assert digest(loop, robot) == one
    other, robot, _hardware = make(kind, options=noisy, seed=6)
    assert digest(other, robot) != one


@pytest.mark.parametrize("emulated", EMULATED)
def test_stopping_leaves_the_drives_off(make, emulated):
    loop, robot, hardware = make(emulated)
    play(loop, hold(robot, robot.pose("down")), START)
    assert hardware.robot.on.all()
    world_stop, hardware.stop = hardware.stop, lambda: None
    loop.plant.stop()
    hardware.stop = world_stop
    assert powerless(loop, emulated)
