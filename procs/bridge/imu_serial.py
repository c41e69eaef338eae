"""VN-100 on a serial line or pseudo-terminal: bytes in, imu_t in body axes out.

The sensor measures against north-east-down: half a turn about x makes that our world, x north, y west, z up. The
description's `imu.mount.rpy` says how the sensor's own axes sit in the body's (a level VN-100 with its label up has
rpy [pi, 0, 0]: its y points right and its z down).
"""

from __future__ import annotations

import os
import select
import termios
import tty
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import numpy as np

from lcmtypes.generated import Imu
from procs.bridge import clock
from procs.bridge.errors import TransportError
from procs.model.rotations import quat_multiply, rpy_to_matrix, rpy_to_quat
from procs.wire.vectornav import ImuSample, Parser, imu_sample

_WORLD_FROM_NED = np.array([0.0, 1.0, 0.0, 0.0])  # half a turn about x


class Stream(Protocol):
    """Bytes of a sensor."""

    def open(self) -> None:
        """Open it; TransportError."""

    def read(self, wait: float) -> bytes:
        """What has come; waits up to `wait` s for the first byte."""

    def close(self) -> None:
        """Release it."""


class SerialStream:
    """A serial device through termios: raw, 8N1."""

    def __init__(self, device: str | Path, baud: int, wait: float = 0.0, forget: float | None = None) -> None:
        """`wait`: s for the device to appear; `forget`: what came before a pause of this many s is thrown away."""
        self.device, self.baud, self._wait, self._forget = str(device), baud, wait, forget
        self._fd = -1
        self._read_at = 0.0

    def open(self) -> None:
        """Open and configure; waits for an emulator's link to appear."""
        speed = getattr(termios, f"B{self.baud}", None)
        if speed is None:
            raise TransportError(f"bus.imu.baud: {self.baud} is no speed of this system's serial ports")
        end = clock.monotonic() + self._wait
        while not os.path.exists(self.device) and clock.monotonic() < end:
            clock.sleep(0.02)
        try:
            self._fd = os.open(self.device, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
            tty.setraw(self._fd)
            mode = termios.tcgetattr(self._fd)
            mode[4] = mode[5] = speed
            termios.tcsetattr(self._fd, termios.TCSANOW, mode)
            termios.tcflush(self._fd, termios.TCIFLUSH)
        except (OSError, termios.error) as error:
            raise TransportError(
                f"{self.device} cannot be opened ({error}): is the IMU plugged in (ls /dev/tty*), may this user open "
                "it (group dialout)? bus.imu.device names it"
            ) from error

    def read(self, wait: float) -> bytes:
        """Everything there is."""
        if self._forget is not None and self._fd >= 0:
            # The kernel keeps the oldest bytes when nobody reads, not the newest.
            now = clock.monotonic()
            if now - self._read_at > self._forget:
                termios.tcflush(self._fd, termios.TCIFLUSH)
            self._read_at = now
        if self._fd < 0 or not select.select([self._fd], [], [], wait)[0]:
            return b""
        try:
            return os.read(self._fd, 65536)
        except OSError:
            return b""  # unplugged: the age of the newest sample tells

    def close(self) -> None:
        """Close."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class CallableStream:
    """A stream within the process: a function that gives the bytes since the last call."""

    def __init__(self, read: Callable[[], bytes]) -> None:
        self._read = read

    def open(self) -> None:
        """Nothing to open."""

    def read(self, wait: float) -> bytes:
        """Ask the function."""
        return self._read()

    def close(self) -> None:
        """Nothing to close."""


class ImuReader:
    """Newest sample of the stream, once per tick.

    `wait`: s to wait for a sample that is due (emulated sensors, which send one in each `every`th tick), else none.
    `noisy`: the sensor's last bits never rest, so a packet that equals the last one brings nothing new: it is frozen.
    """

    def __init__(
        self, stream: Stream, mount_rpy: tuple[float, float, float], dt: float, stale_after: float, *,
        wait: float = 0.0, every: int = 1, noisy: bool = False,
    ) -> None:  # fmt: skip
        rpy = np.array(mount_rpy, dtype=float)
        self._body_from_sensor = rpy_to_matrix(rpy)
        self._sensor_from_body = rpy_to_quat(rpy) * np.array([1.0, -1.0, -1.0, -1.0])
        self.stream, self._dt, self._stale_after, self._wait = stream, dt, stale_after, wait
        self._every, self.noisy = every, noisy
        self._packet: ImuSample | None = None  # the last one
        self.repeated = 0  # packets like the one before
        self.parser = Parser()
        self.invalid = 0  # packets with numbers no sensor gives
        self._newest: Imu | None = None
        self._age = 0.0
        self._since = every - 1  # ticks since the last sample

    def open(self) -> None:
        """Open the stream."""
        self.stream.open()

    def close(self) -> None:
        """Close the stream."""
        self.stream.close()

    def begin(self) -> None:
        """A new run: old samples count for nothing."""
        self._newest, self._age, self._since, self._packet = None, 0.0, self._every - 1, None

    def read(self) -> Imu:
        """Sample of this tick; `valid` 0 and the reason where none is fresh enough."""
        self._since += 1
        before = self.repeated
        sample = self._fresh(self._wait if self._since >= self._every else 0.0)
        if sample is not None:
            self._newest, self._age, self._since = self._in_body(sample), 0.0, 0
        else:
            self._age += self._dt
        out = Imu()
        if self._newest is None:
            out.quat[0], out.status = 1.0, "imu silent since the start"
            return out
        out.quat[:], out.gyro[:], out.accel[:] = self._newest.quat, self._newest.gyro, self._newest.accel
        out.valid = int(self._age <= self._stale_after)
        if not out.valid:
            frozen = "frozen: the same sample" if self.repeated > before else "silent"
            out.status = f"imu {frozen} for {1e3 * self._age:.0f} ms"
        return out

    def _fresh(self, wait: float) -> ImuSample | None:
        end = clock.monotonic() + wait
        newest: ImuSample | None = None
        left = wait
        while True:
            for packet in self.parser.feed(self.stream.read(max(0.0, left))):
                sample = imu_sample(packet)
                if sample is not None and sample.valid:
                    newest = sample if self._is_new(sample) else newest
                elif sample is not None:
                    self.invalid += 1
            left = end - clock.monotonic()
            if newest is not None or left <= 0:
                return newest

    def _is_new(self, sample: ImuSample) -> bool:
        last, self._packet = self._packet, sample
        same = last is not None and all(
            np.array_equal(getattr(sample, name), getattr(last, name)) for name in ("quat", "gyro", "accel")
        )
        self.repeated += same
        return not (same and self.noisy)

    def _in_body(self, sample: ImuSample) -> Imu:
        imu = Imu()
        quat = quat_multiply(_WORLD_FROM_NED, sample.quat / np.linalg.norm(sample.quat))
        imu.quat[:] = quat_multiply(quat, self._sensor_from_body)
        imu.gyro[:] = self._body_from_sensor @ sample.gyro
        imu.accel[:] = self._body_from_sensor @ sample.accel
        imu.valid = 1
        return imu
