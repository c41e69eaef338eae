"""Rejection of bad samples: predicted, marked, counted; for longer or for more joints damping."""

from __future__ import annotations

import numpy as np
import pytest

from lcmtypes.generated import Imu, JointState
from procs.runtime.samples import GOOD, LOST, PREDICTED, SEVERAL, SampleCheck

MOST_TICKS = 25  # 50 ms


@pytest.fixture
def check(robot):
    return SampleCheck(robot)


@pytest.fixture
def feed(check, robot):
    """One tick of a robot whose joints turn at 1 rad/s; `spoil` changes the sample."""
    tick = iter(range(10_000))

    def step(spoil=lambda imu, joints: None):
        imu, joints = Imu(), JointState(robot.num_joints)
        imu.valid, imu.quat[0], imu.accel[2] = 1, 1.0, 9.81
        joints.q[:] = robot.pose("stand") + robot.dt * next(tick)
        joints.qd[:] = 1.0
        true = joints.q.copy()
        spoil(imu, joints)
        return check.check(imu, joints), imu, joints, true

    return step


def spike(*which, by=1.0):
    def spoil(_imu, joints):
        joints.q[list(which)] += by

    return spoil


def nan(*which):
    def spoil(_imu, joints):
        joints.q[list(which)] = joints.qd[list(which)] = joints.tau[list(which)] = np.nan

    return spoil


def test_good_samples_pass_unchanged(feed, check):
    for _ in range(50):
        rejected, imu, joints, true = feed()
        assert (rejected, imu.valid, joints.status) == (0, 1, "")
        np.testing.assert_array_equal(joints.q, true)
        assert not joints.fault.any()
    assert check.fatal == ""


@pytest.mark.parametrize("spoil", [spike(4), nan(4)], ids=["spike", "nan"])
def test_a_bad_joint_is_predicted_and_marked(feed, check, spoil):
    feed()
    rejected, _imu, joints, true = feed(spoil)
    assert rejected == 1
    np.testing.assert_allclose(joints.q, true, atol=1e-9)  # it went on turning at 1 rad/s
    assert joints.fault.tolist() == [PREDICTED if k == 4 else GOOD for k in range(12)]
    assert joints.age[4] == pytest.approx(0.002)
    assert (joints.tau[4], joints.finite(), check.fatal) == (0.0, True, "")
    assert "1 joints" in joints.status
    rejected, _imu, joints, true = feed()
    assert (rejected, joints.fault[4], joints.age[4]) == (0, GOOD, 0.0)
    np.testing.assert_array_equal(joints.q, true)


def test_a_driver_that_marks_a_joint_faulty_has_it_predicted(feed):
    feed()

    def mark(_imu, joints):
        joints.fault[2], joints.q[2] = 1, 0.0

    rejected, _imu, joints, true = feed(mark)
    assert rejected == 1
    assert joints.q[2] == pytest.approx(true[2])


def test_a_joint_is_predicted_for_50_ms_and_not_longer(feed, check, robot):
    feed()
    for _ in range(MOST_TICKS):
        joints = feed(nan(7))[2]
        assert joints.fault[7] == PREDICTED
    assert check.fatal == ""
    joints = feed(nan(7))[2]
    assert joints.fault[7] == LOST
    assert check.fatal == f"joint {robot.joint_names[7]} lost for 52 ms"


def test_a_joint_that_comes_back_in_time_is_good_again_even_if_it_moved_on(feed, check):
    feed()
    for _ in range(MOST_TICKS - 1):
        feed(nan(7))
    rejected, _imu, joints, _true = feed()
    assert (rejected, joints.fault[7], check.fatal) == (0, GOOD, "")


def test_two_joints_may_be_lost_for_a_while_and_three_only_for_some_ticks(feed, check):
    feed()
    for _ in range(SEVERAL + 1):
        feed(nan(1, 2))
    assert check.fatal == ""
    for _ in range(SEVERAL + 1):
        feed(nan(1, 2, 3))
    assert check.fatal == "3 joints lost at once"


def test_one_garbled_frame_of_half_the_robot_is_borne(feed, check):
    feed()
    for _ in range(SEVERAL):
        assert feed(nan(0, 1, 2, 3, 4, 5))[0] == 6
    assert feed()[0] == 0
    assert check.fatal == ""


def test_a_first_sample_that_is_bad_does_not_spoil_the_next(feed, check):
    rejected, _imu, joints, _true = feed(nan(5))
    assert (rejected, joints.q[5], joints.finite()) == (1, 0.0, True)
    rejected, _imu, joints, true = feed()
    assert (rejected, joints.fault[5]) == (0, GOOD)
    assert joints.q[5] == true[5]


def test_positions_beyond_any_mechanism_and_wild_speeds_are_rejected(feed):
    def far(_imu, joints):
        joints.q[0] = 50.0

    def wild(_imu, joints):
        joints.qd[1] = 1e4

    assert feed(far)[0] == 1
    assert feed(wild)[0] == 1


@pytest.mark.parametrize("wrong", [np.nan, 0.0, 2.0])
def test_an_imu_sample_without_a_unit_quaternion_is_replaced_by_the_last_good_one(feed, check, wrong):
    feed()

    def spoil(imu, _joints):
        imu.quat[0], imu.accel[2] = wrong, 1.0

    rejected, imu, _joints, _true = feed(spoil)
    assert (rejected, imu.valid, imu.accel[2]) == (1, 0, 9.81)
    assert imu.quat.tolist() == [1, 0, 0, 0]
    assert imu.status
    assert check.fatal == ""


def test_an_imu_lost_for_more_than_50_ms_is_fatal(feed, check):
    def spoil(imu, _joints):
        imu.block[:] = np.nan

    for _ in range(MOST_TICKS):
        assert feed(spoil)[1].finite()
    assert check.fatal == ""
    feed(spoil)
    assert "imu lost for 52 ms" in check.fatal


def test_a_new_run_forgets_all(feed, check):
    for _ in range(40):
        feed(nan(7))
    assert check.fatal
    check.reset()
    assert check.fatal == ""
    assert feed()[0] == 0


def test_a_reason_the_plant_gives_is_kept_and_stands_in_what_is_fatal(feed, check):
    def too_hot(_imu, joints):
        joints.fault[2], joints.status = 1, "FR.knee: over-temperature"

    feed()
    for _ in range(MOST_TICKS + 1):
        _, _, joints, _ = feed(too_hot)
        assert joints.status == "FR.knee: over-temperature"
    assert "FR.knee: over-temperature" in check.fatal
