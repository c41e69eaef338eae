"""Our messages as MIT's: order, signs, quaternion order and 32-bit numbers as Cheetah-Software has them.

A conversion is one gather: the places in our block that MIT's numbers come from are found once, by filling a message
with its own indices.
"""

from __future__ import annotations

from struct import pack
from typing import TypeVar

import numpy as np

from lcmtypes.generated import BodyState, GroundTruth, Imu, JointCommand, LegCommand, LegState
from lcmtypes.mit_types import MIT_TYPES, MitMessage
from procs.mit_relay.layout import Layout
from procs.model.rotations import quat_to_matrix, quat_to_rpy

SINGLE, DOUBLE = np.dtype(">f4"), np.dtype(">f8")
COLOUR = pack(">4f", 1, 1, 1, 1)  # MIT leaves the colour unset; what is to be seen must not be transparent

_leg_control_command = MIT_TYPES["leg_control_command_lcmt"].of
_leg_control_data = MIT_TYPES["leg_control_data_lcmt"].of
_state_estimator = MIT_TYPES["state_estimator_lcmt"].of
_spi_command = MIT_TYPES["spi_command_t"].of
_spi_data = MIT_TYPES["spi_data_t"].of
_microstrain = MIT_TYPES["microstrain_lcmt"].of
_vectornav = MIT_TYPES["vectornav_lcmt"].of
_visualization = MIT_TYPES["cheetah_visualization_lcmt"].of
_simulator = MIT_TYPES["simulator_lcmt"].of

M = TypeVar("M", BodyState, GroundTruth, Imu, JointCommand, LegCommand, LegState)


def _places(message: M) -> M:
    """The message with each number's place in the block as its value."""
    message.block[:] = np.arange(len(message.block))
    return message


def _singles(numbers: np.ndarray) -> bytes:
    return numbers.astype(SINGLE).tobytes()


class _Gather:
    """Numbers of a block in another order, with signs."""

    def __init__(self, *parts: np.ndarray, signs: np.ndarray | None = None) -> None:
        self._index = np.concatenate([np.ravel(p) for p in parts]).astype(np.intp)
        self._signs = None if signs is None or (signs == 1).all() else signs

    def __call__(self, block: np.ndarray) -> np.ndarray:
        numbers = block.take(self._index)
        if self._signs is not None:
            numbers *= self._signs
        return numbers


class Converter:
    """Conversions for one robot."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        j, legs, s = layout.joints, layout.legs, layout.signs
        by_joint = np.arange(12).reshape(4, 3).T.ravel()  # MIT's SPI types are joint-major: abad, hip, knee of all legs
        spi, one, spi_s = j[by_joint], np.ones(12), s[by_joint]
        c = _places(LegCommand(4, 12))
        self._command = _Gather(
            c.tau_ff[j], c.f_ff[legs], c.q_des[j], c.qd_des[j], c.p_des[legs], c.v_des[legs],
            c.kp_cartesian[legs], c.kd_cartesian[legs], c.kp_joint[j], c.kd_joint[j],
            signs=np.concatenate([s, one, s, s, *[one] * 6]),
        )  # fmt: skip
        d = _places(LegState(4, 12))
        self._data = _Gather(d.q[j], d.qd[j], d.p[legs], d.v[legs], signs=np.concatenate([s, s, one, one]))
        self._joints = _Gather(d.q[j], d.qd[j], signs=np.concatenate([s, s]))
        self._exchanged = _Gather(d.q[spi], d.qd[spi], signs=np.concatenate([spi_s, spi_s]))
        self._q = _Gather(d.q[j], signs=s)
        b = _places(BodyState(4))
        self._body = _Gather(b.position, b.v_world, b.v_body, b.rpy, b.omega_body, b.omega_world, b.quat)
        self._pose = _Gather(b.position, b.quat)
        a = _places(JointCommand(12))
        self._told = _Gather(
            a.q_des[spi], a.qd_des[spi], a.kp[spi], a.kd[spi], a.tau_ff[spi],
            signs=np.concatenate([spi_s, spi_s, one, one, spi_s]),
        )  # fmt: skip
        i = _places(Imu())
        self._imu = _Gather(np.roll(i.quat, -1), i.gyro, i.accel)
        t = _places(GroundTruth(4, 12))
        self._truth = _Gather(t.tau[j], t.foot_force[legs], t.foot_position[legs], signs=np.concatenate([s, one, one]))

    def leg_control_command(self, command: LegCommand) -> MitMessage:
        """leg_command as it is: forces by the feet on the ground, gains' diagonals."""
        return _leg_control_command(_singles(self._command(command.block)))

    def leg_control_data(self, legs: LegState, command: JointCommand) -> MitMessage:
        """leg_state, and as tau_est what the drives were told to give: no measurement enters it (LegController.cpp)."""
        asked = command.tau_ff + command.kp * (command.q_des - legs.q) + command.kd * (command.qd_des - legs.qd)
        return _leg_control_data(_singles(self._data(legs.block)), _singles(self._layout.to_mit(asked)))

    def state_estimator(self, body: BodyState) -> MitMessage:
        """body_state; quaternion w x y z, body to world, as ours."""
        return _state_estimator(_singles(self._body(body.block)))

    def spi_command(self, command: JointCommand) -> MitMessage:
        """joint_command, before the boards' signs and offsets; flag 1: all joints of the leg are enabled."""
        enabled = command.enable.tolist()
        flags = [all(enabled[3 * leg : 3 * leg + 3]) for leg in self._layout.legs]
        return _spi_command(_singles(self._told(command.block)), pack(">4i", *flags))

    def spi_data(self, legs: LegState) -> MitMessage:
        """leg_state's joints, which are those of joint_state; no flags.

        The status counts exchanges in its upper 16 bits, as MIT's does.
        """
        return _spi_data(_singles(self._exchanged(legs.block)), pack(">4iI", 0, 0, 0, 0, legs.seq << 16 & 0xFFFFFFFF))

    @staticmethod
    def microstrain(imu: Imu, good: int, bad: int) -> MitMessage:
        """IMU sample in body axes, with the packets counted so far."""
        numbers = np.concatenate((imu.quat, quat_to_rpy(imu.quat), imu.gyro, imu.accel))
        return _microstrain(_singles(numbers), pack(">qq", good, bad))

    def hw_vectornav(self, imu: Imu) -> MitMessage:
        """IMU sample in body axes; quaternion x y z w."""
        return _vectornav(_singles(self._imu(imu.block)))

    def main_cheetah_visualization(self, body: BodyState, legs: LegState) -> MitMessage:
        """What MIT's window draws."""
        return _visualization(_singles(self._q(legs.block)), _singles(self._pose(body.block)), COLOUR)

    def simulator_state(self, truth: GroundTruth, legs: LegState, before: MitMessage | None) -> MitMessage:
        """ground_truth and joints of a tick; vbd and qdd are differences to the message of the tick before."""
        R = quat_to_matrix(truth.quat).T  # MIT's turns world into body axes
        joints, time = self._joints(legs.block), 1e-6 * truth.utime
        vb, vbd, qdd = R @ truth.v_world, np.zeros(3), np.zeros(12)
        elapsed = 0.0 if before is None else time - before.time
        if before is not None and elapsed > 0:
            vbd = (vb - before.vb) / elapsed
            qdd = (joints[12:] - before.qd.ravel()) / elapsed
        first = np.concatenate((vb, quat_to_rpy(truth.quat)))
        rest = np.concatenate((
            (time,), truth.quat, R.ravel(), R @ truth.omega_world, truth.omega_world, truth.position, truth.v_world,
            vbd, joints, qdd, self._truth(truth.block),
        ))  # fmt: skip
        return _simulator(
            first.astype(DOUBLE).tobytes(), truth.seq.to_bytes(8, "big", signed=True), rest.astype(DOUBLE).tobytes()
        )
