"""Generated from motion_command_t.lcm by lcmtypes.generate; do not edit."""

from __future__ import annotations

from struct import error as struct_error
from struct import pack, unpack_from
from typing import Self

import numpy as np

from lcmtypes.message import DecodeError, Message, finite_block, raw_text, text

FINGERPRINT = bytes.fromhex("6185e9bd7eaa44b2")
NOTHING = np.zeros(0)
MOST = 4096  # no array of ours is longer


class MotionCommand(Message):
    """A held target for the controller."""

    __slots__ = ("source", "mode", "gait", "vx", "vy", "yaw_rate", "height", "roll", "pitch", )
    TYPE = "motion_command_t"
    FINGERPRINT = 0x6185e9bd7eaa44b2
    FIELDS = ("utime", "run", "seq", "used", "source", "mode", "gait", "vx", "vy", "yaw_rate", "height", "roll", "pitch",)

    utime: int  # us: seq * period in simulation, CLOCK_MONOTONIC on hardware; copied down the pipeline
    run: int  # the plant's run; a new one resets every core
    seq: int  # the plant's tick (operators: own counter)
    used: list[int]  # seq of each message this step used, declared order, -1 = none
    source: str
    mode: str
    gait: str  # empty: keep
    vx: float  # m/s, heading frame
    vy: float  # m/s
    yaw_rate: float  # rad/s
    height: float  # m above the feet, 0 = nominal
    roll: float  # rad
    pitch: float  # rad

    def __init__(self) -> None:
        self.utime = 0
        self.run = 0
        self.seq = 0
        self.used = []
        self.source = ""
        self.mode = ""
        self.gait = ""
        self.vx = 0.0
        self.vy = 0.0
        self.yaw_rate = 0.0
        self.height = 0.0
        self.roll = 0.0
        self.pitch = 0.0

    def encode(self) -> bytes:
        return b''.join((
            pack(">Qqqqi", self.FINGERPRINT, self.utime, self.run, self.seq, len(self.used)),
            pack(f">{len(self.used)}q", *self.used),
            raw_text(self.source),
            raw_text(self.mode),
            raw_text(self.gait),
            pack(">dddddd", self.vx, self.vy, self.yaw_rate, self.height, self.roll, self.pitch),
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
            source_, at = text(data, at)
            mode_, at = text(data, at)
            gait_, at = text(data, at)
            vx_, vy_, yaw_rate_, height_, roll_, pitch_, = unpack_from(">dddddd", data, at)
            at += 48
            if len(data) != at + 8 * (0):
                raise DecodeError(f"{len(data)} bytes")
            self = cls.__new__(cls)
            self.utime = utime_
            self.run = run_
            self.seq = seq_
            self.used = used_
            self.source = source_
            self.mode = mode_
            self.gait = gait_
            self.vx = vx_
            self.vy = vy_
            self.yaw_rate = yaw_rate_
            self.height = height_
            self.roll = roll_
            self.pitch = pitch_
            return self
        except (struct_error, ValueError, OverflowError) as error:
            raise DecodeError(f"motion_command_t: {error}") from error

    def finite(self) -> bool:
        return finite_block(NOTHING, self.vx, self.vy, self.yaw_rate, self.height, self.roll, self.pitch)
