"""Generated from joint_command_t.lcm by lcmtypes.generate; do not edit."""

from __future__ import annotations

from struct import error as struct_error
from struct import pack, unpack_from
from typing import Self

import numpy as np

from lcmtypes.message import DecodeError, Message, finite_block, raw_text, text

FINGERPRINT = bytes.fromhex("c14703f7b87fc650")
MOST = 4096  # no array of ours is longer


class JointCommand(Message):
    """What the drives are told."""

    __slots__ = ("reason", "num_joints", "enable", "q_des", "qd_des", "tau_ff", "kp", "kd", "block", )
    TYPE = "joint_command_t"
    FINGERPRINT = 0xc14703f7b87fc650
    FIELDS = ("utime", "run", "seq", "used", "reason", "enable", "q_des", "qd_des", "tau_ff", "kp", "kd",)

    utime: int  # us: seq * period in simulation, CLOCK_MONOTONIC on hardware; copied down the pipeline
    run: int  # the plant's run; a new one resets every core
    seq: int  # the plant's tick (operators: own counter)
    used: list[int]  # seq of each message this step used, declared order, -1 = none
    reason: str  # what the packer limited or why it disabled
    num_joints: int
    enable: np.ndarray
    q_des: np.ndarray  # rad
    qd_des: np.ndarray  # rad/s
    tau_ff: np.ndarray  # N m
    kp: np.ndarray  # N m/rad
    kd: np.ndarray  # N m s/rad

    def __init__(self, num_joints: int) -> None:
        self.utime = 0
        self.run = 0
        self.seq = 0
        self.used = []
        self.reason = ""
        self.num_joints = num_joints
        self.enable = np.zeros(num_joints, np.int8)
        self._views(np.zeros(num_joints + num_joints + num_joints + num_joints + num_joints))

    def _views(self, block: np.ndarray) -> None:
        self.block = block
        num_joints = self.num_joints
        self.q_des = block[0 : num_joints]
        self.qd_des = block[num_joints : num_joints + num_joints]
        self.tau_ff = block[num_joints + num_joints : num_joints + num_joints + num_joints]
        self.kp = block[num_joints + num_joints + num_joints : num_joints + num_joints + num_joints + num_joints]
        self.kd = block[num_joints + num_joints + num_joints + num_joints : num_joints + num_joints + num_joints + num_joints + num_joints]

    def encode(self) -> bytes:
        return b''.join((
            pack(">Qqqqi", self.FINGERPRINT, self.utime, self.run, self.seq, len(self.used)),
            pack(f">{len(self.used)}q", *self.used),
            raw_text(self.reason),
            pack(">i", self.num_joints),
            self.enable.tobytes(),
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
            reason_, at = text(data, at)
            num_joints_, = unpack_from(">i", data, at)
            at += 4
            if not 0 <= num_joints_ <= MOST:
                raise DecodeError(f"num_joints is {num_joints_}")
            enable_ = np.frombuffer(data, np.int8, num_joints_, at).copy()
            at += num_joints_
            if len(data) != at + 8 * (num_joints_ + num_joints_ + num_joints_ + num_joints_ + num_joints_):
                raise DecodeError(f"{len(data)} bytes")
            self = cls.__new__(cls)
            self.utime = utime_
            self.run = run_
            self.seq = seq_
            self.used = used_
            self.reason = reason_
            self.num_joints = num_joints_
            self.enable = enable_
            self._views(np.frombuffer(data, ">f8", num_joints_ + num_joints_ + num_joints_ + num_joints_ + num_joints_, at).astype(float))
            return self
        except (struct_error, ValueError, OverflowError) as error:
            raise DecodeError(f"joint_command_t: {error}") from error

    def finite(self) -> bool:
        return finite_block(self.block)
