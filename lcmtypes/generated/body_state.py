"""Generated from body_state_t.lcm by lcmtypes.generate; do not edit."""

from __future__ import annotations

from struct import error as struct_error
from struct import pack, unpack_from
from typing import Self

import numpy as np

from lcmtypes.message import DecodeError, Message, finite_block, raw_text, text

FINGERPRINT = bytes.fromhex("304463b575fb5bf6")
MOST = 4096  # no array of ours is longer


class BodyState(Message):
    """Estimated state of the body."""

    __slots__ = ("valid", "reason", "num_legs", "position", "v_world", "v_body", "rpy", "quat", "omega_body", "omega_world", "a_body", "position_std", "velocity_std", "contact", "block", )
    TYPE = "body_state_t"
    FINGERPRINT = 0x304463b575fb5bf6
    FIELDS = ("utime", "run", "seq", "used", "valid", "reason", "position", "v_world", "v_body", "rpy", "quat", "omega_body", "omega_world", "a_body", "position_std", "velocity_std", "contact",)

    utime: int  # us: seq * period in simulation, CLOCK_MONOTONIC on hardware; copied down the pipeline
    run: int  # the plant's run; a new one resets every core
    seq: int  # the plant's tick (operators: own counter)
    used: list[int]  # seq of each message this step used, declared order, -1 = none
    valid: int
    reason: str  # why it is not valid
    num_legs: int
    position: np.ndarray  # m, world
    v_world: np.ndarray  # m/s
    v_body: np.ndarray  # m/s
    rpy: np.ndarray  # rad
    quat: np.ndarray  # w x y z, body to world
    omega_body: np.ndarray  # rad/s
    omega_world: np.ndarray  # rad/s
    a_body: np.ndarray  # m/s^2 specific force at the body's origin
    position_std: np.ndarray  # m
    velocity_std: np.ndarray  # m/s
    contact: np.ndarray  # probability 0..1 that the foot carries load

    def __init__(self, num_legs: int) -> None:
        self.utime = 0
        self.run = 0
        self.seq = 0
        self.used = []
        self.valid = 0
        self.reason = ""
        self.num_legs = num_legs
        self._views(np.zeros(3 + 3 + 3 + 3 + 4 + 3 + 3 + 3 + 3 + 3 + num_legs))

    def _views(self, block: np.ndarray) -> None:
        self.block = block
        num_legs = self.num_legs
        self.position = block[0 : 3]
        self.v_world = block[3 : 3 + 3]
        self.v_body = block[3 + 3 : 3 + 3 + 3]
        self.rpy = block[3 + 3 + 3 : 3 + 3 + 3 + 3]
        self.quat = block[3 + 3 + 3 + 3 : 3 + 3 + 3 + 3 + 4]
        self.omega_body = block[3 + 3 + 3 + 3 + 4 : 3 + 3 + 3 + 3 + 4 + 3]
        self.omega_world = block[3 + 3 + 3 + 3 + 4 + 3 : 3 + 3 + 3 + 3 + 4 + 3 + 3]
        self.a_body = block[3 + 3 + 3 + 3 + 4 + 3 + 3 : 3 + 3 + 3 + 3 + 4 + 3 + 3 + 3]
        self.position_std = block[3 + 3 + 3 + 3 + 4 + 3 + 3 + 3 : 3 + 3 + 3 + 3 + 4 + 3 + 3 + 3 + 3]
        self.velocity_std = block[3 + 3 + 3 + 3 + 4 + 3 + 3 + 3 + 3 : 3 + 3 + 3 + 3 + 4 + 3 + 3 + 3 + 3 + 3]
        self.contact = block[3 + 3 + 3 + 3 + 4 + 3 + 3 + 3 + 3 + 3 : 3 + 3 + 3 + 3 + 4 + 3 + 3 + 3 + 3 + 3 + num_legs]

    def encode(self) -> bytes:
        return b''.join((
            pack(">Qqqqi", self.FINGERPRINT, self.utime, self.run, self.seq, len(self.used)),
            pack(f">{len(self.used)}q", *self.used),
            pack(">b", self.valid),
            raw_text(self.reason),
            pack(">i", self.num_legs),
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
            reason_, at = text(data, at)
            num_legs_, = unpack_from(">i", data, at)
            at += 4
            if not 0 <= num_legs_ <= MOST:
                raise DecodeError(f"num_legs is {num_legs_}")
            if len(data) != at + 8 * (3 + 3 + 3 + 3 + 4 + 3 + 3 + 3 + 3 + 3 + num_legs_):
                raise DecodeError(f"{len(data)} bytes")
            self = cls.__new__(cls)
            self.utime = utime_
            self.run = run_
            self.seq = seq_
            self.used = used_
            self.valid = valid_
            self.reason = reason_
            self.num_legs = num_legs_
            self._views(np.frombuffer(data, ">f8", 3 + 3 + 3 + 3 + 4 + 3 + 3 + 3 + 3 + 3 + num_legs_, at).astype(float))
            return self
        except (struct_error, ValueError, OverflowError) as error:
            raise DecodeError(f"body_state_t: {error}") from error

    def finite(self) -> bool:
        return finite_block(self.block)
