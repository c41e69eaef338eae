"""VN-100 as the simulator's IMU: body-axes sample in, packets of the sensor out (common group, 0xFA ... CRC).

The sensor sits turned by `imu.mount.rpy` in the body, calls its axes x forward, y right, z down when it is level, and
measures against north-east-down. World axes here are x north, y west, z up, so
R_ned_sensor = R_ned_world R_world_body R_body_sensor; gyro and accel are turned into sensor axes.
"""

from __future__ import annotations

import math
import os
import tty

import numpy as np

from lcmtypes.generated import Imu
from procs.model.robot import Robot
from procs.model.rotations import quat_multiply, quat_to_matrix, rpy_to_quat
from procs.wire.vectornav import pack

NED_FROM_WORLD = np.array([0.0, 1.0, 0.0, 0.0])  # half a turn about x
COMMON = 0


class Vn100:
    """Packets at bus.imu.rate; None from `packet` at ticks without one."""

    def __init__(self, robot: Robot, rate: float) -> None:
        self.every = max(1, round(1.0 / (rate * robot.dt)))
        self.mount = rpy_to_quat(np.array(robot.description.imu.mount.rpy, dtype=float))
        self.to_sensor = quat_to_matrix(self.mount).T
        self.ticks = 0

    def packet(self, imu: Imu) -> bytes:
        """Bytes of this tick's sample; empty between two samples and while the sample is unusable."""
        due = self.ticks % self.every == 0
        self.ticks += 1
        if not due or not imu.finite() or math.hypot(*imu.quat) == 0.0:
            return b""
        w, x, y, z = quat_multiply(quat_multiply(NED_FROM_WORLD, imu.quat), self.mount)
        return pack(
            {
                (COMMON, "quaternion"): (x, y, z, w),
                (COMMON, "gyro"): self.to_sensor @ imu.gyro,
                (COMMON, "accel"): self.to_sensor @ imu.accel,
            }
        )


class Pty:
    """A pseudo-terminal on which bytes are written; `link` is a symbolic link to its other end."""

    def __init__(self, link: str) -> None:
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        os.set_blocking(self.master, False)
        self.link = link
        self.lost = 0  # bytes nobody read
        if os.path.lexists(link):
            os.unlink(link)
        os.symlink(os.ttyname(self.slave), link)

    def write(self, data: bytes) -> None:
        """All of it, or nothing when the line is full because nobody reads."""
        try:
            self.lost += len(data) - os.write(self.master, data)
        except BlockingIOError:
            self.lost += len(data)

    def close(self) -> None:
        """Take the line away."""
        os.close(self.master)
        os.close(self.slave)
        if os.path.lexists(self.link):
            os.unlink(self.link)
