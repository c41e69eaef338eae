"""IMU and encoders of the simulator: true state in, messages with noise, biases and quantisation out."""

from __future__ import annotations

import numpy as np
from numba import njit

from lcmtypes.generated import Imu, JointState
from procs.model.robot import Robot
from procs.model.rotations import quat_multiply, quat_to_matrix, rotvec_to_quat

GRAVITY = np.array([0.0, 0.0, -9.81])  # m/s^2, world


def mount_velocity(R_wb: np.ndarray, v_origin: np.ndarray, omega: np.ndarray, mount: np.ndarray) -> np.ndarray:
    """Velocity (3,) m/s in world axes of a point of the body, `mount` in the body frame."""
    r = R_wb @ mount
    out = v_origin.copy()
    out[0] += omega[1] * r[2] - omega[2] * r[1]
    out[1] += omega[2] * r[0] - omega[0] * r[2]
    out[2] += omega[0] * r[1] - omega[1] * r[0]
    return out


class ImuModel:
    """IMU at its mount, in body axes (the mounting rotation is taken off already, as a driver does).

    The specific force is the mean over the tick: change of the mount's velocity / period - gravity, in body axes at the
    tick's end. Noise is uniform (as in Cheetah-Software's ImuSimulator), biases are drawn once per run.
    """

    def __init__(self, robot: Robot, rng: np.random.Generator, noisy: bool) -> None:
        imu = robot.description.imu
        self.dt = robot.dt
        self.mount = np.array(imu.mount.xyz, dtype=float)
        self.noise = imu.noise
        self.rng = rng
        self.noisy = noisy
        self.gyro_bias = imu.noise.gyro_bias * rng.uniform(-1.0, 1.0, 3)
        self.accel_bias = imu.noise.accel_bias * rng.uniform(-1.0, 1.0, 3)
        self.before: np.ndarray | None = None  # velocity of the mount at the last tick, world, m/s

    def sample(self, quat: np.ndarray, v_origin: np.ndarray, omega: np.ndarray) -> Imu:
        """Message of the tick from the body's attitude, velocity and angular velocity (world axes)."""
        R_wb = quat_to_matrix(quat)
        v = mount_velocity(R_wb, v_origin, omega, self.mount)
        acceleration = np.zeros(3) if self.before is None else (v - self.before) / self.dt
        self.before = v
        imu = Imu()
        imu.valid = 1
        imu.quat[:] = quat
        imu.gyro[:] = omega @ R_wb
        imu.accel[:] = (acceleration - GRAVITY) @ R_wb
        if self.noisy:
            u = self.rng.uniform(-1.0, 1.0, 9)
            imu.quat[:] = quat_multiply(quat, rotvec_to_quat(self.noise.attitude * u[0:3]))
            imu.gyro += self.noise.gyro * u[3:6] + self.gyro_bias
            imu.accel += self.noise.accel * u[6:9] + self.accel_bias
        return imu


class Encoders:
    """Positions, velocities and torques as the drives report them: rounded to their resolution."""

    def __init__(self, robot: Robot, quantised: bool) -> None:
        self.n = robot.num_joints
        self.quanta = [
            robot.per_joint([getattr(a, name) if quantised else 0.0 for a in robot.actuators])
            for name in ("position_quantum", "velocity_quantum", "torque_quantum")
        ]

    def sample(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> JointState:
        """Message of the tick; `tau` is the drive's own torque (its limits included, the joint's friction not)."""
        state = JointState(self.n)
        state.tau_source = "measured"
        for out, value, quantum in zip((state.q, state.qd, state.tau), (q, qd, tau), self.quanta, strict=True):
            quantise(value, quantum, out)
        return state


@njit(cache=True)
def quantise(value: np.ndarray, quantum: np.ndarray, out: np.ndarray) -> None:
    """Nearest multiple of the quantum into `out`; a quantum of 0 leaves the value as it is."""
    for i in range(value.shape[0]):
        out[i] = np.round(value[i] / quantum[i]) * quantum[i] if quantum[i] > 0.0 else value[i]
