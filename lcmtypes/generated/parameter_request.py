"""Generated from parameter_request_t.lcm by lcmtypes.generate; do not edit."""

from __future__ import annotations

from struct import error as struct_error
from struct import pack, unpack_from
from typing import Self

import numpy as np

from lcmtypes.message import DecodeError, Message, finite_block, raw_text, text

FINGERPRINT = bytes.fromhex("768302d0c976fc87")
NOTHING = np.zeros(0)
MOST = 4096  # no array of ours is longer


class ParameterRequest(Message):
    """Reads or sets a live parameter."""

    __slots__ = ("source", "process", "name", "set", "value", )
    TYPE = "parameter_request_t"
    FINGERPRINT = 0x768302d0c976fc87
    FIELDS = ("utime", "run", "seq", "used", "source", "process", "name", "set", "value",)

    utime: int  # us: seq * period in simulation, CLOCK_MONOTONIC on hardware; copied down the pipeline
    run: int  # the plant's run; a new one resets every core
    seq: int  # the plant's tick (operators: own counter)
    used: list[int]  # seq of each message this step used, declared order, -1 = none
    source: str
    process: str
    name: str
    set: int
    value: float

    def __init__(self) -> None:
        self.utime = 0
        self.run = 0
        self.seq = 0
        self.used = []
        self.source = ""
        self.process = ""
        self.name = ""
        self.set = 0
        self.value = 0.0

    def encode(self) -> bytes:
        return b''.join((
            pack(">Qqqqi", self.FINGERPRINT, self.utime, self.run, self.seq, len(self.used)),
            pack(f">{len(self.used)}q", *self.used),
            raw_text(self.source),
            raw_text(self.process),
            raw_text(self.name),
            pack(">bd", self.set, self.value),
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
            process_, at = text(data, at)
            name_, at = text(data, at)
            set_, value_, = unpack_from(">bd", data, at)
            at += 9
            if len(data) != at + 8 * (0):
                raise DecodeError(f"{len(data)} bytes")
            self = cls.__new__(cls)
            self.utime = utime_
            self.run = run_
            self.seq = seq_
            self.used = used_
            self.source = source_
            self.process = process_
            self.name = name_
            self.set = set_
            self.value = value_
            return self
        except (struct_error, ValueError, OverflowError) as error:
            raise DecodeError(f"parameter_request_t: {error}") from error

    def finite(self) -> bool:
        return finite_block(NOTHING, self.value)
