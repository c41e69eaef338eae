"""Generated from leg_command_t.lcm by lcmtypes.generate; do not edit."""

from __future__ import annotations

from struct import error as struct_error
from struct import pack, unpack_from
from typing import Self

import numpy as np

from lcmtypes.message import DecodeError, Message, finite_block, raw_text, text

FINGERPRINT = bytes.fromhex("36afa4ce411ec38d")
MOST = 4096  # no array of ours is longer


class LegCommand(Message):
    """tau = tau_ff + J^T [f_ff + kp_cartesian (p_des - p) + kd_cartesian (v_des - v)], plus the joint PD."""

    __slots__ = ("enable", "reason", "num_legs", "num_joints", "tau_ff", "q_des", "qd_des", "kp_joint", "kd_joint", "f_ff", "p_des", "v_des", "kp_cartesian", "kd_cartesian", "block", )
    TYPE = "leg_command_t"
    FINGERPRINT = 0x36afa4ce411ec38d
    FIELDS = ("utime", "run", "seq", "used", "enable", "reason", "tau_ff", "q_des", "qd_des", "kp_joint", "kd_joint", "f_ff", "p_des", "v_des", "kp_cartesian", "kd_cartesian",)

    utime: int  # us: seq * period in simulation, CLOCK_MONOTONIC on hardware; copied down the pipeline
    run: int  # the plant's run; a new one resets every core
    seq: int  # the plant's tick (operators: own counter)
    used: list[int]  # seq of each message this step used, declared order, -1 = none
    enable: int
    reason: str  # why it is not enabled
    num_legs: int
    num_joints: int
    tau_ff: np.ndarray  # N m
    q_des: np.ndarray  # rad
    qd_des: np.ndarray  # rad/s
    kp_joint: np.ndarray  # N m/rad
    kd_joint: np.ndarray  # N m s/rad
    f_ff: np.ndarray  # N by the foot on the ground, body axes
    p_des: np.ndarray  # m, leg frame
    v_des: np.ndarray  # m/s
    kp_cartesian: np.ndarray  # N/m
    kd_cartesian: np.ndarray  # N s/m

    def __init__(self, num_legs: int, num_joints: int) -> None:
        self.utime = 0
        self.run = 0
        self.seq = 0
        self.used = []
        self.enable = 0
        self.reason = ""
        self.num_legs = num_legs
        self.num_joints = num_joints
        self._views(np.zeros(num_joints + num_joints + num_joints + num_joints + num_joints + num_legs * 3 + num_legs * 3 + num_legs * 3 + num_legs * 3 + num_legs * 3))

    def _views(self, block: np.ndarray) -> None:
        self.block = block
        num_legs = self.num_legs
        num_joints = self.num_joints
        self.tau_ff = block[0 : num_joints]
        self.q_des = block[num_joints : num_joints + num_joints]
        self.qd_des = block[num_joints + num_joints : num_joints + num_joints + num_joints]
        self.kp_joint = block[num_joints + num_joints + num_joints : num_joints + num_joints + num_joints + num_joints]
        self.kd_joint = block[num_joints + num_joints + num_joints + num_joints : num_joints + num_joints + num_joints + num_joints + num_joints]
        self.f_ff = block[num_joints + num_joints + num_joints + num_joints + num_joints : num_joints + num_joints + num_joints + num_joints + num_joints + num_legs * 3].reshape(num_legs, 3)
        self.p_des = block[num_joints + num_joints + num_joints + num_joints + num_joints + num_legs * 3 : num_joints + num_joints + num_joints + num_joints + num_joints + num_legs * 3 + num_legs * 3].reshape(num_legs, 3)
        self.v_des = block[num_joints + num_joints + num_joints + num_joints + num_joints + num_legs * 3 + num_legs * 3 : num_joints + num_joints + num_joints + num_joints + num_joints + num_legs * 3 + num_legs * 3 + num_legs * 3].reshape(num_legs, 3)
        self.kp_cartesian = block[num_joints + num_joints + num_joints + num_joints + num_joints + num_legs * 3 + num_legs * 3 + num_legs * 3 : num_joints + num_joints + num_joints + num_joints + num_joints + num_legs * 3 + num_legs * 3 + num_legs * 3 + num_legs * 3].reshape(num_legs, 3)
        self.kd_cartesian = block[num_joints + num_joints + num_joints + num_joints + num_joints + num_legs * 3 + num_legs * 3 + num_legs * 3 + num_legs * 3 : num_joints + num_joints + num_joints + num_joints + num_joints + num_legs * 3 + num_legs * 3 + num_legs * 3 + num_legs * 3 + num_legs * 3].reshape(num_legs, 3)

    def encode(self) -> bytes:
        return b''.join((
            pack(">Qqqqi", self.FINGERPRINT, self.utime, self.run, self.seq, len(self.used)),
            pack(f">{len(self.used)}q", *self.used),
            pack(">b", self.enable),
            raw_text(self.reason),
            pack(">ii", self.num_legs, self.num_joints),
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
            enable_, = unpack_from(">b", data, at)
            at += 1
            reason_, at = text(data, at)
            num_legs_, num_joints_, = unpack_from(">ii", data, at)
            at += 8
            if not 0 <= num_legs_ <= MOST:
                raise DecodeError(f"num_legs is {num_legs_}")
            if not 0 <= num_joints_ <= MOST:
                raise DecodeError(f"num_joints is {num_joints_}")
            if len(data) != at + 8 * (num_joints_ + num_joints_ + num_joints_ + num_joints_ + num_joints_ + num_legs_ * 3 + num_legs_ * 3 + num_legs_ * 3 + num_legs_ * 3 + num_legs_ * 3):
                raise DecodeError(f"{len(data)} bytes")
            self = cls.__new__(cls)
            self.utime = utime_
            self.run = run_
            self.seq = seq_
            self.used = used_
            self.enable = enable_
            self.reason = reason_
            self.num_legs = num_legs_
            self.num_joints = num_joints_
            self._views(np.frombuffer(data, ">f8", num_joints_ + num_joints_ + num_joints_ + num_joints_ + num_joints_ + num_legs_ * 3 + num_legs_ * 3 + num_legs_ * 3 + num_legs_ * 3 + num_legs_ * 3, at).astype(float))
            return self
        except (struct_error, ValueError, OverflowError) as error:
            raise DecodeError(f"leg_command_t: {error}") from error

    def finite(self) -> bool:
        return finite_block(self.block)
