"""Generated from joint_test_t.lcm by lcmtypes.generate; do not edit."""

from __future__ import annotations

from struct import error as struct_error
from struct import pack, unpack_from
from typing import Self

import numpy as np

from lcmtypes.message import DecodeError, Message, finite_block, raw_text, text

FINGERPRINT = bytes.fromhex("f1b1c8e01f0f38b9")
NOTHING = np.zeros(0)
MOST = 4096  # no array of ours is longer


class JointTest(Message):
    """One joint of a robot in a rig (mode joint_test)."""

    __slots__ = ("source", "joint", "hold", "q_des", "qd_des", "kp", "kd", "tau_limit", )
    TYPE = "joint_test_t"
    FINGERPRINT = 0xf1b1c8e01f0f38b9
    FIELDS = ("utime", "run", "seq", "used", "source", "joint", "hold", "q_des", "qd_des", "kp", "kd", "tau_limit",)

    utime: int  # us: seq * period in simulation, CLOCK_MONOTONIC on hardware; copied down the pipeline
    run: int  # the plant's run; a new one resets every core
    seq: int  # the plant's tick (operators: own counter)
    used: list[int]  # seq of each message this step used, declared order, -1 = none
    source: str
    joint: int
    hold: int  # held-enable
    q_des: float  # rad
    qd_des: float  # rad/s
    kp: float  # N m/rad
    kd: float  # N m s/rad
    tau_limit: float  # N m

    def __init__(self) -> None:
        self.utime = 0
        self.run = 0
        self.seq = 0
        self.used = []
        self.source = ""
        self.joint = 0
        self.hold = 0
        self.q_des = 0.0
        self.qd_des = 0.0
        self.kp = 0.0
        self.kd = 0.0
        self.tau_limit = 0.0

    def encode(self) -> bytes:
        return b''.join((
            pack(">Qqqqi", self.FINGERPRINT, self.utime, self.run, self.seq, len(self.used)),
            pack(f">{len(self.used)}q", *self.used),
            raw_text(self.source),
            pack(">ibddddd", self.joint, self.hold, self.q_des, self.qd_des, self.kp, self.kd, self.tau_limit),
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
            joint_, hold_, q_des_, qd_des_, kp_, kd_, tau_limit_, = unpack_from(">ibddddd", data, at)
            at += 45
            if len(data) != at + 8 * (0):
                raise DecodeError(f"{len(data)} bytes")
            self = cls.__new__(cls)
            self.utime = utime_
            self.run = run_
            self.seq = seq_
            self.used = used_
            self.source = source_
            self.joint = joint_
            self.hold = hold_
            self.q_des = q_des_
            self.qd_des = qd_des_
            self.kp = kp_
            self.kd = kd_
            self.tau_limit = tau_limit_
            return self
        except (struct_error, ValueError, OverflowError) as error:
            raise DecodeError(f"joint_test_t: {error}") from error

    def finite(self) -> bool:
        return finite_block(NOTHING, self.q_des, self.qd_des, self.kp, self.kd, self.tau_limit)
