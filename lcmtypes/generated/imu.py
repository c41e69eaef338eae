"""Generated from imu_t.lcm by lcmtypes.generate; do not edit."""

from __future__ import annotations

from struct import error as struct_error
from struct import pack, unpack_from
from typing import Self

import numpy as np

from lcmtypes.message import DecodeError, Message, finite_block, raw_text, text

FINGERPRINT = bytes.fromhex("d3ecd1be880b419d")
MOST = 4096  # no array of ours is longer


class Imu(Message):
    """IMU sample in body axes (the plant applies the mounting rotation)."""

    __slots__ = ("valid", "status", "quat", "gyro", "accel", "block", )
    TYPE = "imu_t"
    FINGERPRINT = 0xd3ecd1be880b419d
    FIELDS = ("utime", "run", "seq", "used", "valid", "status", "quat", "gyro", "accel",)

    utime: int  # us: seq * period in simulation, CLOCK_MONOTONIC on hardware; copied down the pipeline
    run: int  # the plant's run; a new one resets every core
    seq: int  # the plant's tick (operators: own counter)
    used: list[int]  # seq of each message this step used, declared order, -1 = none
    valid: int
    status: str  # empty, or what is wrong
    quat: np.ndarray  # w x y z, body to world
    gyro: np.ndarray  # rad/s, body axes
    accel: np.ndarray  # m/s^2 specific force, body axes: (0, 0, 9.81) at rest

    def __init__(self) -> None:
        self.utime = 0
        self.run = 0
        self.seq = 0
        self.used = []
        self.valid = 0
        self.status = ""
        self._views(np.zeros(4 + 3 + 3))

    def _views(self, block: np.ndarray) -> None:
        self.block = block
        self.quat = block[0 : 4]
        self.gyro = block[4 : 4 + 3]
        self.accel = block[4 + 3 : 4 + 3 + 3]

    def encode(self) -> bytes:
        return b''.join((
            pack(">Qqqqi", self.FINGERPRINT, self.utime, self.run, self.seq, len(self.used)),
            pack(f">{len(self.used)}q", *self.used),
            pack(">b", self.valid),
            raw_text(self.status),
            self.block.astype(">f8").tobytes(),
        ))

    @classmethod
    def decode(cls, data: bytes) -> Self:
        try:
            if data[:8] != FINGERPRINT:
                raise DecodeError("fingerprint of another type")
            at = 8
            utime_, run_, seq_, num_used_, = unpack_from(">qqqi", data, at)
            at += 28
            if not 0 <= num_used_ <= MOST:
                raise DecodeError(f"num_used is {num_used_}")
            used_ = list(unpack_from(f">{num_used_}q", data, at))
            at += 8 * num_used_
            valid_, = unpack_from(">b", data, at)
            at += 1
            status_, at = text(data, at)
            if len(data) != at + 8 * (4 + 3 + 3):
                raise DecodeError(f"{len(data)} bytes")
            self = cls.__new__(cls)
            self.utime = utime_
            self.run = run_
            self.seq = seq_
            self.used = used_
            self.valid = valid_
            self.status = status_
            self._views(np.frombuffer(data, ">f8", 4 + 3 + 3, at).astype(float))
            return self
        except (struct_error, ValueError, OverflowError) as error:
            raise DecodeError(f"imu_t: {error}") from error

    def finite(self) -> bool:
        return finite_block(self.block)
