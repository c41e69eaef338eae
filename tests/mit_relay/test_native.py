"""MIT's samples as ours: the inverse of what the relay sends, for any numbers; closed forms of the IMU."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lcmtypes.channels import IMU, JOINT_COMMAND, LEG_STATE
from lcmtypes.generated import Imu, JointCommand, LegState
from lcmtypes.mit_types import MIT_TYPES
from procs.mit_relay import native
from procs.mit_relay.convert import Converter
from procs.mit_relay.layout import Layout
from procs.model.rotations import rpy_to_quat

single = st.floats(-100, 100, width=32)
twelve = st.lists(single, min_size=12, max_size=12)
three = st.lists(single, min_size=3, max_size=3)
quick = settings(deadline=None, max_examples=50)


def layouts(changed_legs):
    return [
        Layout(changed_legs()),
        Layout(changed_legs(order=(2, 0, 3, 1), axes=[[-1, 0, 0], [0, 1, 0], [0, -1, 0]])),
    ]


@quick
@given(q=twelve, qd=twelve, tau=twelve)
def test_joints_there_and_back_are_the_same(changed_legs, q, qd, tau):
    for layout in layouts(changed_legs):
        legs, command = LegState(4, 12), JointCommand(12)
        legs.q[:], legs.qd[:], command.tau_ff[:] = q, qd, tau
        convert = Converter(layout)
        spi = convert.spi_data(legs)
        for sample in (
            native.joints_of_leg_data(convert.leg_control_data(legs, command), None),
            native.joints_of_spi(spi, convert.spi_command(command)),
        ):
            joints = native.joint_state(sample, layout)
            assert (joints.q.tolist(), joints.qd.tolist(), joints.tau.tolist()) == (q, qd, tau)
            assert joints.tau_source == "computed"


@quick
@given(q=twelve, kp=st.lists(st.floats(0, 50, width=32), min_size=12, max_size=12))
def test_the_torque_of_spi_holds_the_drives_pd(changed_legs, q, kp):
    for layout in layouts(changed_legs):
        legs, command = LegState(4, 12), JointCommand(12)
        legs.q[:], command.q_des[:], command.kp[:], command.kd[:] = q, 1.0, kp, 0.5
        convert = Converter(layout)
        one = native.joints_of_spi(convert.spi_data(legs), convert.spi_command(command))
        other = native.joints_of_leg_data(convert.leg_control_data(legs, command), None)
        np.testing.assert_allclose(one[2], other[2], rtol=1e-5, atol=1e-5)


@quick
@given(rpy=st.tuples(st.floats(-3, 3), st.floats(-1.5, 1.5), st.floats(-3, 3)), gyro=three, accel=three)
def test_an_imu_sample_there_and_back_is_the_same_to_32_bits(changed_legs, rpy, gyro, accel):
    imu = Imu()
    imu.quat[:], imu.gyro[:], imu.accel[:] = rpy_to_quat(np.array(rpy)), gyro, accel
    convert = Converter(Layout(changed_legs()))
    for again in (
        native.imu_of_microstrain(convert.microstrain(imu, 1, 0)),
        native.imu_of_vectornav(convert.hw_vectornav(imu)),
    ):
        assert again.valid
        np.testing.assert_allclose(again.quat, imu.quat, atol=2e-7)
        assert (again.gyro.tolist(), again.accel.tolist()) == (gyro, accel)


def test_a_quaternion_that_is_none_is_not_valid():
    assert not native.imu_of_microstrain(MIT_TYPES["microstrain_lcmt"](quat=[0, 0, 0, 0])).valid
    assert not native.imu_of_vectornav(MIT_TYPES["vectornav_lcmt"](q=[np.nan, 0, 0, 1])).valid


def test_at_rest_an_imu_feels_gravity_upwards_in_body_axes():
    quat = rpy_to_quat(np.array([0.3, -0.4, 1.0]))
    R = native_rotation(quat)
    imu = native.imu_of_simulator(MIT_TYPES["simulator_lcmt"](quat=quat, R=R))
    np.testing.assert_allclose(imu.accel, R @ [0, 0, 9.81], atol=1e-12)


def test_in_a_flat_turn_an_imu_feels_the_centripetal_acceleration():
    """v = 2 m/s ahead and 0.5 rad/s to the left: 1 m/s^2 to the left; vb does not change."""
    state = MIT_TYPES["simulator_lcmt"](quat=[1, 0, 0, 0], R=np.eye(3), vb=[2, 0, 0], omegab=[0, 0, 0.5])
    np.testing.assert_allclose(native.imu_of_simulator(state).accel, (0, 1, 9.81), atol=1e-12)


def native_rotation(quat):
    """World to body, from the definition: v' = q* v q."""
    w, v = quat[0], -np.asarray(quat[1:])
    cross = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def test_the_relays_own_imu_reaches_the_log(relay):
    imu = Imu()
    imu.quat[0], imu.accel[2], imu.valid = 1.0, 9.81, 1
    sent = relay((IMU, imu), (LEG_STATE, LegState(4, 12)), (JOINT_COMMAND, JointCommand(12)))
    assert native.imu_of_microstrain(sent["microstrain"]).accel[2] == np.float32(9.81)
