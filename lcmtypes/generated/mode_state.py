"""Generated from mode_state_t.lcm by lcmtypes.generate; do not edit."""

from __future__ import annotations

from struct import error as struct_error
from struct import pack, unpack_from
from typing import Self

import numpy as np

from lcmtypes.message import DecodeError, Message, finite_block, raw_text, text

FINGERPRINT = bytes.fromhex("afaab0d9df7090f6")
NOTHING = np.zeros(0)
MOST = 4096  # no array of ours is longer


class ModeState(Message):
    """The controller's state machine."""

    __slots__ = ("mode", "target", "gait", "reason", "source", "busy", "allowed", "phase", )
    TYPE = "mode_state_t"
    FINGERPRINT = 0xafaab0d9df7090f6
    FIELDS = ("utime", "run", "seq", "used", "mode", "target", "gait", "reason", "source", "busy", "allowed", "phase",)

    utime: int  # us: seq * period in simulation, CLOCK_MONOTONIC on hardware; copied down the pipeline
    run: int  # the plant's run; a new one resets every core
    seq: int  # the plant's tick (operators: own counter)
    used: list[int]  # seq of each message this step used, declared order, -1 = none
    mode: str
    target: str
    gait: str
    reason: str  # why the last request was refused or the mode forced
    source: str  # the operator that is obeyed, empty: none
    busy: int
    allowed: list[str]
    phase: float  # 0..1 of the gait

    def __init__(self) -> None:
        self.utime = 0
        self.run = 0
        self.seq = 0
        self.used = []
        self.mode = ""
        self.target = ""
        self.gait = ""
        self.reason = ""
        self.source = ""
        self.busy = 0
        self.allowed = []
        self.phase = 0.0

    def encode(self) -> bytes:
        return b''.join((
            pack(">Qqqqi", self.FINGERPRINT, self.utime, self.run, self.seq, len(self.used)),
            pack(f">{len(self.used)}q", *self.used),
            raw_text(self.mode),
            raw_text(self.target),
            raw_text(self.gait),
            raw_text(self.reason),
            raw_text(self.source),
            pack(">bi", self.busy, len(self.allowed)),
            *map(raw_text, self.allowed),
            pack(">d", self.phase),
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
            mode_, at = text(data, at)
            target_, at = text(data, at)
            gait_, at = text(data, at)
            reason_, at = text(data, at)
            source_, at = text(data, at)
            busy_, num_allowed_, = unpack_from(">bi", data, at)
            at += 5
            if not 0 <= num_allowed_ <= MOST:
                raise DecodeError(f"num_allowed is {num_allowed_}")
            allowed_: list[str] = []
            for _ in range(num_allowed_):
                item, at = text(data, at)
                allowed_.append(item)
            phase_, = unpack_from(">d", data, at)
            at += 8
            if len(data) != at + 8 * (0):
                raise DecodeError(f"{len(data)} bytes")
            self = cls.__new__(cls)
            self.utime = utime_
            self.run = run_
            self.seq = seq_
            self.used = used_
            self.mode = mode_
            self.target = target_
            self.gait = gait_
            self.reason = reason_
            self.source = source_
            self.busy = busy_
            self.allowed = allowed_
            self.phase = phase_
            return self
        except (struct_error, ValueError, OverflowError) as error:
            raise DecodeError(f"mode_state_t: {error}") from error

    def finite(self) -> bool:
        return finite_block(NOTHING, self.phase)
