"""Generated from leg_state_t.lcm by lcmtypes.generate; do not edit."""

from __future__ import annotations

from struct import error as struct_error
from struct import pack, unpack_from
from typing import Self

import numpy as np

from lcmtypes.message import DecodeError, Message, finite_block, raw_text, text

FINGERPRINT = bytes.fromhex("fac75d3417261bc0")
MOST = 4096  # no array of ours is longer


class LegState(Message):
    """Joints and feet as the estimator sees them; published after body_state."""

    __slots__ = ("num_legs", "num_joints", "q", "qd", "tau", "p", "v", "foot_force", "block", )
    TYPE = "leg_state_t"
    FINGERPRINT = 0xfac75d3417261bc0
    FIELDS = ("utime", "run", "seq", "used", "q", "qd", "tau", "p", "v", "foot_force",)

    utime: int  # us: seq * period in simulation, CLOCK_MONOTONIC on hardware; copied down the pipeline
    run: int  # the plant's run; a new one resets every core
    seq: int  # the plant's tick (operators: own counter)
    used: list[int]  # seq of each message this step used, declared order, -1 = none
    num_legs: int
    num_joints: int
    q: np.ndarray  # rad
    qd: np.ndarray  # rad/s
    tau: np.ndarray  # N m
    p: np.ndarray  # m, foot centre from the leg's first joint, body axes
    v: np.ndarray  # m/s, same frame
    foot_force: np.ndarray  # N on the foot by the ground, body axes, estimate

    def __init__(self, num_legs: int, num_joints: int) -> None:
        self.utime = 0
        self.run = 0
        self.seq = 0
        self.used = []
        self.num_legs = num_legs
        self.num_joints = num_joints
        self._views(np.zeros(num_joints + num_joints + num_joints + num_legs * 3 + num_legs * 3 + num_legs * 3))

    def _views(self, block: np.ndarray) -> None:
        self.block = block
        num_legs = self.num_legs
        num_joints = self.num_joints
        self.q = block[0 : num_joints]
        self.qd = block[num_joints : num_joints + num_joints]
        self.tau = block[num_joints + num_joints : num_joints + num_joints + num_joints]
        self.p = block[num_joints + num_joints + num_joints : num_joints + num_joints + num_joints + num_legs * 3].reshape(num_legs, 3)
        self.v = block[num_joints + num_joints + num_joints + num_legs * 3 : num_joints + num_joints + num_joints + num_legs * 3 + num_legs * 3].reshape(num_legs, 3)
        self.foot_force = block[num_joints + num_joints + num_joints + num_legs * 3 + num_legs * 3 : num_joints + num_joints + num_joints + num_legs * 3 + num_legs * 3 + num_legs * 3].reshape(num_legs, 3)

    def encode(self) -> bytes:
        return b''.join((
            pack(">Qqqqi", self.FINGERPRINT, self.utime, self.run, self.seq, len(self.used)),
            pack(f">{len(self.used)}q", *self.used),
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
            num_legs_, num_joints_, = unpack_from(">ii", data, at)
            at += 8
            if not 0 <= num_legs_ <= MOST:
                raise DecodeError(f"num_legs is {num_legs_}")
            if not 0 <= num_joints_ <= MOST:
                raise DecodeError(f"num_joints is {num_joints_}")
            if len(data) != at + 8 * (num_joints_ + num_joints_ + num_joints_ + num_legs_ * 3 + num_legs_ * 3 + num_legs_ * 3):
                raise DecodeError(f"{len(data)} bytes")
            self = cls.__new__(cls)
            self.utime = utime_
            self.run = run_
            self.seq = seq_
            self.used = used_
            self.num_legs = num_legs_
            self.num_joints = num_joints_
            self._views(np.frombuffer(data, ">f8", num_joints_ + num_joints_ + num_joints_ + num_legs_ * 3 + num_legs_ * 3 + num_legs_ * 3, at).astype(float))
            return self
        except (struct_error, ValueError, OverflowError) as error:
            raise DecodeError(f"leg_state_t: {error}") from error

    def finite(self) -> bool:
        return finite_block(self.block)
