"""Generated from ground_truth_t.lcm by lcmtypes.generate; do not edit."""

from __future__ import annotations

from struct import error as struct_error
from struct import pack, unpack_from
from typing import Self

import numpy as np

from lcmtypes.message import DecodeError, Message, finite_block, raw_text, text

FINGERPRINT = bytes.fromhex("c2ef32d89d92e423")
MOST = 4096  # no array of ours is longer


class GroundTruth(Message):
    """What the simulator knows."""

    __slots__ = ("num_legs", "num_joints", "ground_height", "work", "position", "quat", "v_world", "omega_world", "ground_normal", "tau", "saturated", "foot_position", "foot_force", "foot_slip", "block", )
    TYPE = "ground_truth_t"
    FINGERPRINT = 0xc2ef32d89d92e423
    FIELDS = ("utime", "run", "seq", "used", "ground_height", "work", "position", "quat", "v_world", "omega_world", "ground_normal", "tau", "saturated", "foot_position", "foot_force", "foot_slip",)

    utime: int  # us: seq * period in simulation, CLOCK_MONOTONIC on hardware; copied down the pipeline
    run: int  # the plant's run; a new one resets every core
    seq: int  # the plant's tick (operators: own counter)
    used: list[int]  # seq of each message this step used, declared order, -1 = none
    num_legs: int
    num_joints: int
    ground_height: float  # m, vertically under the body
    work: float  # J, positive mechanical work since the start
    position: np.ndarray  # m, body origin, world
    quat: np.ndarray  # w x y z
    v_world: np.ndarray  # m/s
    omega_world: np.ndarray  # rad/s
    ground_normal: np.ndarray  # under the body
    tau: np.ndarray  # N m at the joint after motor limits and friction
    saturated: np.ndarray  # fraction of the tick's physics steps at a limit
    foot_position: np.ndarray  # m, contact point (lowest point of the foot in the air)
    foot_force: np.ndarray  # N on the foot, world, mean over the tick
    foot_slip: np.ndarray  # m slid by the loaded contact point in this tick

    def __init__(self, num_legs: int, num_joints: int) -> None:
        self.utime = 0
        self.run = 0
        self.seq = 0
        self.used = []
        self.num_legs = num_legs
        self.num_joints = num_joints
        self.ground_height = 0.0
        self.work = 0.0
        self._views(np.zeros(3 + 4 + 3 + 3 + 3 + num_joints + num_joints + num_legs * 3 + num_legs * 3 + num_legs * 3))

    def _views(self, block: np.ndarray) -> None:
        self.block = block
        num_legs = self.num_legs
        num_joints = self.num_joints
        self.position = block[0 : 3]
        self.quat = block[3 : 3 + 4]
        self.v_world = block[3 + 4 : 3 + 4 + 3]
        self.omega_world = block[3 + 4 + 3 : 3 + 4 + 3 + 3]
        self.ground_normal = block[3 + 4 + 3 + 3 : 3 + 4 + 3 + 3 + 3]
        self.tau = block[3 + 4 + 3 + 3 + 3 : 3 + 4 + 3 + 3 + 3 + num_joints]
        self.saturated = block[3 + 4 + 3 + 3 + 3 + num_joints : 3 + 4 + 3 + 3 + 3 + num_joints + num_joints]
        self.foot_position = block[3 + 4 + 3 + 3 + 3 + num_joints + num_joints : 3 + 4 + 3 + 3 + 3 + num_joints + num_joints + num_legs * 3].reshape(num_legs, 3)
        self.foot_force = block[3 + 4 + 3 + 3 + 3 + num_joints + num_joints + num_legs * 3 : 3 + 4 + 3 + 3 + 3 + num_joints + num_joints + num_legs * 3 + num_legs * 3].reshape(num_legs, 3)
        self.foot_slip = block[3 + 4 + 3 + 3 + 3 + num_joints + num_joints + num_legs * 3 + num_legs * 3 : 3 + 4 + 3 + 3 + 3 + num_joints + num_joints + num_legs * 3 + num_legs * 3 + num_legs * 3].reshape(num_legs, 3)

    def encode(self) -> bytes:
        return b''.join((
            pack(">Qqqqi", self.FINGERPRINT, self.utime, self.run, self.seq, len(self.used)),
            pack(f">{len(self.used)}q", *self.used),
            pack(">iidd", self.num_legs, self.num_joints, self.ground_height, self.work),
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
            num_legs_, num_joints_, ground_height_, work_, = unpack_from(">iidd", data, at)
            at += 24
            if not 0 <= num_legs_ <= MOST:
                raise DecodeError(f"num_legs is {num_legs_}")
            if not 0 <= num_joints_ <= MOST:
                raise DecodeError(f"num_joints is {num_joints_}")
            if len(data) != at + 8 * (3 + 4 + 3 + 3 + 3 + num_joints_ + num_joints_ + num_legs_ * 3 + num_legs_ * 3 + num_legs_ * 3):
                raise DecodeError(f"{len(data)} bytes")
            self = cls.__new__(cls)
            self.utime = utime_
            self.run = run_
            self.seq = seq_
            self.used = used_
            self.num_legs = num_legs_
            self.num_joints = num_joints_
            self.ground_height = ground_height_
            self.work = work_
            self._views(np.frombuffer(data, ">f8", 3 + 4 + 3 + 3 + 3 + num_joints_ + num_joints_ + num_legs_ * 3 + num_legs_ * 3 + num_legs_ * 3, at).astype(float))
            return self
        except (struct_error, ValueError, OverflowError) as error:
            raise DecodeError(f"ground_truth_t: {error}") from error

    def finite(self) -> bool:
        return finite_block(self.block, self.ground_height, self.work)
