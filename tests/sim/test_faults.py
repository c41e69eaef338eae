"""Every fault changes exactly what it says, in its ticks, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from config.scenario import Fault
from sim.faults import Faults

T = 0.002  # s, tick of the robot
FIELDS = ("quat", "gyro", "accel", "q", "qd", "tau")
TICKS = 40


@pytest.fixture
def runs(make_plant, robot, standing, hold):
    """Samples without and with faults of the same seed: arrays (ticks, n) by field name."""

    def record(faults, seed=1):
        standing_robot = standing(robot)
        plant = make_plant(standing_robot, seed=seed, faults=faults, imu_noise=True)
        command = hold(standing_robot, standing_robot.pose("stand"))
        rows = []
        for _ in range(TICKS):
            imu, joints = plant.read()
            row = {n: getattr(imu if n in FIELDS[:3] else joints, n).copy() for n in FIELDS}
            rows.append({**row, "truth": plant.extras()[0][1].block.copy()})
            # The plant loop works on the messages: that must not reach into the plant.
            imu.block[:], joints.block[:] = 1e9, 1e9
            plant.work_ahead()
            plant.write(command)
        return {name: np.array([row[name] for row in rows]) for name in (*FIELDS, "truth")}

    return record


def changed(a, b):
    """Field -> set of (tick, element) that differ."""
    return {n: set(zip(*np.nonzero((a[n] != b[n]) & ~(np.isnan(a[n]) & np.isnan(b[n]))), strict=True)) for n in a}


def only(differences, wanted):
    assert differences == {n: wanted.get(n, set()) for n in differences}


def window(first, end, elements):
    return {(k, e) for k in range(first, end) for e in elements}


def test_encoder_spike_adds_its_value_to_one_position(runs):
    clean = runs([])
    got = runs([Fault(t=10 * T, duration=3 * T, kind="encoder_spike", joint="FL.hip", value=0.5)])
    only(changed(clean, got), {"q": window(10, 13, [4])})
    np.testing.assert_allclose(got["q"][10:13, 4] - clean["q"][10:13, 4], 0.5)


def test_nan_of_a_joint_is_that_joints_whole_reply(runs):
    got = runs([Fault(t=10 * T, duration=2 * T, kind="nan", joint="RL.knee")])
    only(changed(runs([]), got), {n: window(10, 12, [11]) for n in ("q", "qd", "tau")})
    assert np.isnan(got["q"][10:12, 11]).all()


def test_nan_of_the_imu_is_all_of_it(runs):
    got = runs([Fault(t=10 * T, duration=2 * T, kind="nan", channel="imu")])
    want = {"quat": window(10, 12, range(4)), "gyro": window(10, 12, range(3)), "accel": window(10, 12, range(3))}
    only(changed(runs([]), got), want)


@pytest.mark.parametrize("field", ["gyro", "accel"])
def test_imu_bias_is_added_for_ever_without_a_duration(runs, field):
    clean, got = runs([]), runs([Fault(t=10 * T, kind="imu_bias", **{field: (0.1, 0.2, -0.3)})])
    only(changed(clean, got), {field: window(10, TICKS, range(3))})
    np.testing.assert_allclose(got[field][10:] - clean[field][10:], np.tile([0.1, 0.2, -0.3], (TICKS - 10, 1)))


@pytest.mark.parametrize(("channel", "names"), [("imu", FIELDS[:3]), ("joint_state", FIELDS[3:])])
def test_freeze_repeats_the_last_values_of_its_channel(runs, channel, names):
    clean, got = runs([]), runs([Fault(t=10 * T, duration=5 * T, kind="freeze", channel=channel)])
    for name in (*FIELDS, "truth"):
        want = clean[name].copy()
        if name in names:
            want[10:15] = clean[name][9]
        np.testing.assert_array_equal(got[name], want)


@pytest.mark.parametrize(("channel", "names"), [("imu", FIELDS[:3]), ("joint_state", FIELDS[3:])])
def test_delay_gives_the_values_of_older_samples(runs, channel, names):
    clean, got = runs([]), runs([Fault(t=10 * T, duration=20 * T, kind="delay", channel=channel, ticks=3)])
    for name in (*FIELDS, "truth"):
        want = clean[name].copy()
        if name in names:
            want[10:30] = clean[name][7:27]
        np.testing.assert_array_equal(got[name], want)


def test_packet_loss_repeats_what_arrived_last_with_its_probability_and_seed(runs):
    clean = runs([])
    fault = Fault(t=5 * T, kind="packet_loss", channel="imu", probability=0.4)
    got, again, other = runs([fault]), runs([fault]), runs([fault], seed=2)
    lost = [k for k in range(TICKS) if (got["gyro"][k] != clean["gyro"][k]).any()]
    assert min(lost) >= 5 and 0.2 < len(lost) / (TICKS - 5) < 0.6
    for k in lost:
        np.testing.assert_array_equal(got["gyro"][k], got["gyro"][k - 1])
    only(changed(clean, got), {n: v for n, v in changed(clean, got).items() if n in FIELDS[:3]})
    np.testing.assert_array_equal(got["gyro"], again["gyro"])
    everything = runs([Fault(t=5 * T, kind="packet_loss", channel="imu", probability=1.0)])
    np.testing.assert_array_equal(everything["gyro"][5:], np.tile(clean["gyro"][4], (TICKS - 5, 1)))
    assert lost != [k for k in range(1, TICKS) if (other["gyro"][k] == other["gyro"][k - 1]).all()]


def test_motor_off_takes_one_joints_drive_torque_only(make_plant, robot, hold, play):
    fault = Fault(t=10 * T, duration=10 * T, kind="motor_off", joint="FR.knee")
    plant = make_plant(robot, suspended=True, faults=[fault])
    command = hold(robot, robot.pose("stand"))
    command.tau_ff[:] = 3.0
    joints = play(plant, command, TICKS)[1]
    tau = np.array([j.tau for j in joints])
    assert (tau[11:21, 2] == 0.0).all()
    assert (tau[2:11, 2] != 0.0).all() and (tau[21:, 2] != 0.0).all()
    assert (np.delete(tau, 2, axis=1)[2:] != 0.0).all()


@pytest.mark.parametrize("kind", [{"kind": "packet_loss", "probability": 1.0}, {"kind": "delay", "ticks": 6}])
def test_lost_or_late_commands_leave_the_old_one_in_force(make_plant, robot, hold, kind):
    fault = Fault(t=10 * T, duration=5 * T, channel="joint_command", **kind)
    plant = make_plant(robot, suspended=True, faults=[fault])
    command = hold(robot, robot.pose("stand"))
    command.kp[:], command.kd[:] = 0.0, 0.0
    seen = []
    for k in range(30):
        seen.append(plant.read()[1].tau[0])
        command.tau_ff[:] = 0.001 * k
        plant.write(command)
    of_command = np.round(np.array(seen) * 1000).astype(int)  # number of the command whose torque acted
    np.testing.assert_array_equal(of_command[2:12], np.arange(0, 10))
    if kind["kind"] == "packet_loss":
        np.testing.assert_array_equal(of_command[12:17], 9)
        np.testing.assert_array_equal(of_command[17:], np.arange(15, 28))
    else:
        np.testing.assert_array_equal(of_command[12:18], 9)
        np.testing.assert_array_equal(of_command[18:22], np.arange(10, 14))
        np.testing.assert_array_equal(of_command[23:], np.arange(21, 28))


def test_kill_is_the_launchers(runs):
    only(changed(runs([]), runs([Fault(t=0.0, kind="kill", process="controller")])), {})


def test_a_fault_that_the_plant_cannot_do_is_an_error(robot):
    for fault, match in (
        (Fault(t=0, kind="freeze", channel="body_state"), "imu, joint_state"),
        (Fault(t=0, kind="motor_off", joint="FR.wrist"), "FR.abad"),
    ):
        with pytest.raises(ValueError, match=match):
            Faults(robot, [fault], np.random.default_rng(0))
