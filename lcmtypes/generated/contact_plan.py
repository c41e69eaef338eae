"""Generated from contact_plan_t.lcm by lcmtypes.generate; do not edit."""

from __future__ import annotations

from struct import error as struct_error
from struct import pack, unpack_from
from typing import Self

import numpy as np

from lcmtypes.message import DecodeError, Message, finite_block, raw_text, text

FINGERPRINT = bytes.fromhex("832b3c35d3fdc049")
MOST = 4096  # no array of ours is longer


class ContactPlan(Message):
    """Planned contacts; the estimator uses it in the next tick."""

    __slots__ = ("num_legs", "stance", "phase", "contact", "block", )
    TYPE = "contact_plan_t"
    FINGERPRINT = 0x832b3c35d3fdc049
    FIELDS = ("utime", "run", "seq", "used", "stance", "phase", "contact",)

    utime: int  # us: seq * period in simulation, CLOCK_MONOTONIC on hardware; copied down the pipeline
    run: int  # the plant's run; a new one resets every core
    seq: int  # the plant's tick (operators: own counter)
    used: list[int]  # seq of each message this step used, declared order, -1 = none
    num_legs: int
    stance: np.ndarray  # 1: planned to stand
    phase: np.ndarray  # 0..1 within the stance or the swing
    contact: np.ndarray  # 0..1 stance phase as MIT has it (0 in swing)

    def __init__(self, num_legs: int) -> None:
        self.utime = 0
        self.run = 0
        self.seq = 0
        self.used = []
        self.num_legs = num_legs
        self.stance = np.zeros(num_legs, np.int8)
        self._views(np.zeros(num_legs + num_legs))

    def _views(self, block: np.ndarray) -> None:
        self.block = block
        num_legs = self.num_legs
        self.phase = block[0 : num_legs]
        self.contact = block[num_legs : num_legs + num_legs]

    def encode(self) -> bytes:
        return b''.join((
            pack(">Qqqqi", self.FINGERPRINT, self.utime, self.run, self.seq, len(self.used)),
            pack(f">{len(self.used)}q", *self.used),
            pack(">i", self.num_legs),
            self.stance.tobytes(),
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
            num_legs_, = unpack_from(">i", data, at)
            at += 4
            if not 0 <= num_legs_ <= MOST:
                raise DecodeError(f"num_legs is {num_legs_}")
            stance_ = np.frombuffer(data, np.int8, num_legs_, at).copy()
            at += num_legs_
            if len(data) != at + 8 * (num_legs_ + num_legs_):
                raise DecodeError(f"{len(data)} bytes")
            self = cls.__new__(cls)
            self.utime = utime_
            self.run = run_
            self.seq = seq_
            self.used = used_
            self.num_legs = num_legs_
            self.stance = stance_
            self._views(np.frombuffer(data, ">f8", num_legs_ + num_legs_, at).astype(float))
            return self
        except (struct_error, ValueError, OverflowError) as error:
            raise DecodeError(f"contact_plan_t: {error}") from error

    def finite(self) -> bool:
        return finite_block(self.block)
