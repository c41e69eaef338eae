"""MIT's messages as ours: the samples of IMU and joints that a log of MIT's software holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lcmtypes.generated import Imu, JointState
from lcmtypes.mit_types import MIT_TYPES, MitMessage
from procs.mit_relay.layout import Layout

GRAVITY = np.array([0.0, 0.0, 9.81])  # m/s^2, MIT's
COMPUTED = "computed"  # MIT's tau_est and what we compute of spi_command: told, not measured

Sample = tuple[np.ndarray, np.ndarray, np.ndarray | None]  # q, qd and torque (12,), MIT's order and signs


def imu_of_microstrain(message: Any) -> Imu:
    """Quaternion w x y z."""
    return _imu(message.quat, message.omega, message.acc)


def imu_of_vectornav(message: Any) -> Imu:
    """Quaternion x y z w."""
    return _imu(np.roll(message.q, 1), message.w, message.a)


def imu_of_simulator(message: Any) -> Imu:
    """What an IMU at the body's origin would feel: vbd is the rate of change of vb's components."""
    felt = message.vbd + np.cross(message.omegab, message.vb) + message.R @ GRAVITY
    return _imu(message.quat, message.omegab, felt)


def _imu(quat: np.ndarray, gyro: np.ndarray, accel: np.ndarray) -> Imu:
    imu = Imu()
    imu.quat[:], imu.gyro[:], imu.accel[:] = quat, gyro, accel
    norm = float(np.linalg.norm(imu.quat))
    imu.valid = int(imu.finite() and abs(norm - 1) < 0.01)
    if imu.valid:
        imu.quat /= norm  # 32 bits
    else:
        imu.status = "not finite or not a unit quaternion"
        imu.quat[:], imu.gyro[:], imu.accel[:] = (1, 0, 0, 0), 0, 0
    return imu


def joints_of_leg_data(message: Any, _command: MitMessage | None) -> Sample:
    """leg_control_data: with the commanded torque."""
    return message.q, message.qd, message.tau_est


def joints_of_spi(message: Any, command: MitMessage | None) -> Sample:
    """spi_data: it holds no torque; what spi_command told the drives, their PD included, stands for it."""
    q, qd = spi_joints(message, "q_{}"), spi_joints(message, "qd_{}")
    if command is None:
        return q, qd, None
    pd = spi_joints(command, "kp_{}") * (spi_joints(command, "q_des_{}") - q)
    pd += spi_joints(command, "kd_{}") * (spi_joints(command, "qd_des_{}") - qd)
    return q, qd, spi_joints(command, "tau_{}_ff") + pd


def joints_of_simulator(message: Any, _command: MitMessage | None) -> Sample:
    """simulator_state: with the torque at the joint."""
    return message.q.ravel(), message.qd.ravel(), message.tau.ravel()


def spi_joints(message: Any, field: str) -> np.ndarray:
    """(12,) leg-major of the SPI types' three fields of four."""
    return np.stack([getattr(message, field.format(j)) for j in ("abad", "hip", "knee")], axis=1).astype(float).ravel()


def joint_state(sample: Sample, layout: Layout) -> JointState:
    """Our joint_state; what is not finite is marked and zero."""
    joints = JointState(12)
    q, qd, tau = sample
    joints.q[:], joints.qd[:] = layout.from_mit(q), layout.from_mit(qd)
    if tau is not None:
        joints.tau[:] = layout.from_mit(tau)
        joints.tau_source = COMPUTED
    bad = ~np.isfinite(joints.q + joints.qd + joints.tau)
    if bad.any():
        joints.fault[bad] = 1
        joints.q[bad] = joints.qd[bad] = joints.tau[bad] = 0.0
        joints.status = f"{int(bad.sum())} joints not finite"
    return joints


# The best first. Types, not channels: a log is believed by its fingerprints.
IMU_SOURCES: dict[type[MitMessage], Callable[[MitMessage], Imu]] = {
    MIT_TYPES["microstrain_lcmt"]: imu_of_microstrain,
    MIT_TYPES["vectornav_lcmt"]: imu_of_vectornav,
    MIT_TYPES["simulator_lcmt"]: imu_of_simulator,
}
JOINT_SOURCES: dict[type[MitMessage], Callable[[MitMessage, MitMessage | None], Sample]] = {
    MIT_TYPES["leg_control_data_lcmt"]: joints_of_leg_data,
    MIT_TYPES["spi_data_t"]: joints_of_spi,
    MIT_TYPES["simulator_lcmt"]: joints_of_simulator,
}
SPI_COMMAND = MIT_TYPES["spi_command_t"]
STATE_ESTIMATOR = MIT_TYPES["state_estimator_lcmt"]
