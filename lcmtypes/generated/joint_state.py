"""Generated from joint_state_t.lcm by lcmtypes.generate; do not edit."""

from __future__ import annotations

from struct import error as struct_error
from struct import pack, unpack_from
from typing import Self

import numpy as np

from lcmtypes.message import DecodeError, Message, finite_block, raw_text, text

FINGERPRINT = bytes.fromhex("d1ddb849f039192e")
MOST = 4096  # no array of ours is longer


class JointState(Message):
    """Joint sample, last of a plant tick: the trigger of the estimator."""

    __slots__ = ("lock_step", "tau_source", "status", "num_joints", "fault", "age", "q", "qd", "tau", "block", )
    TYPE = "joint_state_t"
    FINGERPRINT = 0xd1ddb849f039192e
    FIELDS = ("utime", "run", "seq", "used", "lock_step", "tau_source", "status", "fault", "age", "q", "qd", "tau",)

    utime: int  # us: seq * period in simulation, CLOCK_MONOTONIC on hardware; copied down the pipeline
    run: int  # the plant's run; a new one resets every core
    seq: int  # the plant's tick (operators: own counter)
    used: list[int]  # seq of each message this step used, declared order, -1 = none
    lock_step: int  # 1: the plant waits for the joint_command of this tick
    tau_source: str  # measured, current or computed
    status: str  # empty, or what is wrong
    num_joints: int
    fault: np.ndarray  # 0 good, 1 rejected and predicted, 2 faulty for too long
    age: np.ndarray  # s since the last good sample
    q: np.ndarray  # rad
    qd: np.ndarray  # rad/s
    tau: np.ndarray  # N m

    def __init__(self, num_joints: int) -> None:
        self.utime = 0
        self.run = 0
        self.seq = 0
        self.used = []
        self.lock_step = 0
        self.tau_source = ""
        self.status = ""
        self.num_joints = num_joints
        self.fault = np.zeros(num_joints, np.int8)
        self._views(np.zeros(num_joints + num_joints + num_joints + num_joints))

    def _views(self, block: np.ndarray) -> None:
        self.block = block
        num_joints = self.num_joints
        self.age = block[0 : num_joints]
        self.q = block[num_joints : num_joints + num_joints]
        self.qd = block[num_joints + num_joints : num_joints + num_joints + num_joints]
        self.tau = block[num_joints + num_joints + num_joints : num_joints + num_joints + num_joints + num_joints]

    def encode(self) -> bytes:
        return b''.join((
            pack(">Qqqqi", self.FINGERPRINT, self.utime, self.run, self.seq, len(self.used)),
            pack(f">{len(self.used)}q", *self.used),
            pack(">b", self.lock_step),
            raw_text(self.tau_source),
            raw_text(self.status),
            pack(">i", self.num_joints),
            self.fault.tobytes(),
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
            lock_step_, = unpack_from(">b", data, at)
            at += 1
            tau_source_, at = text(data, at)
            status_, at = text(data, at)
            num_joints_, = unpack_from(">i", data, at)
            at += 4
            if not 0 <= num_joints_ <= MOST:
                raise DecodeError(f"num_joints is {num_joints_}")
            fault_ = np.frombuffer(data, np.int8, num_joints_, at).copy()
            at += num_joints_
            if len(data) != at + 8 * (num_joints_ + num_joints_ + num_joints_ + num_joints_):
                raise DecodeError(f"{len(data)} bytes")
            self = cls.__new__(cls)
            self.utime = utime_
            self.run = run_
            self.seq = seq_
            self.used = used_
            self.lock_step = lock_step_
            self.tau_source = tau_source_
            self.status = status_
            self.num_joints = num_joints_
            self.fault = fault_
            self._views(np.frombuffer(data, ">f8", num_joints_ + num_joints_ + num_joints_ + num_joints_, at).astype(float))
            return self
        except (struct_error, ValueError, OverflowError) as error:
            raise DecodeError(f"joint_state_t: {error}") from error

    def finite(self) -> bool:
        return finite_block(self.block)
