"""Generated from proc_health_t.lcm by lcmtypes.generate; do not edit."""

from __future__ import annotations

from struct import error as struct_error
from struct import pack, unpack_from
from typing import Self

import numpy as np

from lcmtypes.message import DecodeError, Message, finite_block, raw_text, text

FINGERPRINT = bytes.fromhex("b6a4bdc71c86c5da")
NOTHING = np.zeros(0)
MOST = 4096  # no array of ours is longer


class ProcHealth(Message):
    """A runner's health, 1 Hz of wall clock."""

    __slots__ = ("name", "instance", "state", "last_error", "ticks", "missed", "old", "repeated", "decode_errors", "not_finite", "refused", "estops", "step_p50", "step_p99", "step_max", "latency_p50", "latency_p99", "latency_max", "late_p99", )
    TYPE = "proc_health_t"
    FINGERPRINT = 0xb6a4bdc71c86c5da
    FIELDS = ("utime", "run", "seq", "used", "name", "instance", "state", "last_error", "ticks", "missed", "old", "repeated", "decode_errors", "not_finite", "refused", "estops", "step_p50", "step_p99", "step_max", "latency_p50", "latency_p99", "latency_max", "late_p99",)

    utime: int  # us: seq * period in simulation, CLOCK_MONOTONIC on hardware; copied down the pipeline
    run: int  # the plant's run; a new one resets every core
    seq: int  # the plant's tick (operators: own counter)
    used: list[int]  # seq of each message this step used, declared order, -1 = none
    name: str
    instance: int  # tells two processes of one name apart
    state: str  # starting, waiting, running, paused, lost, stopping
    last_error: str
    ticks: int
    missed: int  # triggers skipped or lost
    old: int  # lower seq in the same run
    repeated: int  # triggers seen twice
    decode_errors: int  # foreign, truncated or wrongly typed
    not_finite: int
    refused: int  # commands of another run or too old (plant)
    estops: int
    step_p50: float  # us
    step_p99: float
    step_max: float
    latency_p50: float  # ms, sample to accepted joint_command (plant)
    latency_p99: float
    latency_max: float
    late_p99: float  # ms, tick behind its schedule (plant)

    def __init__(self) -> None:
        self.utime = 0
        self.run = 0
        self.seq = 0
        self.used = []
        self.name = ""
        self.instance = 0
        self.state = ""
        self.last_error = ""
        self.ticks = 0
        self.missed = 0
        self.old = 0
        self.repeated = 0
        self.decode_errors = 0
        self.not_finite = 0
        self.refused = 0
        self.estops = 0
        self.step_p50 = 0.0
        self.step_p99 = 0.0
        self.step_max = 0.0
        self.latency_p50 = 0.0
        self.latency_p99 = 0.0
        self.latency_max = 0.0
        self.late_p99 = 0.0

    def encode(self) -> bytes:
        return b''.join((
            pack(">Qqqqi", self.FINGERPRINT, self.utime, self.run, self.seq, len(self.used)),
            pack(f">{len(self.used)}q", *self.used),
            raw_text(self.name),
            pack(">q", self.instance),
            raw_text(self.state),
            raw_text(self.last_error),
            pack(">qqqqqqqqddddddd", self.ticks, self.missed, self.old, self.repeated, self.decode_errors, self.not_finite, self.refused, self.estops, self.step_p50, self.step_p99, self.step_max, self.latency_p50, self.latency_p99, self.latency_max, self.late_p99),
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
            name_, at = text(data, at)
            instance_, = unpack_from(">q", data, at)
            at += 8
            state_, at = text(data, at)
            last_error_, at = text(data, at)
            ticks_, missed_, old_, repeated_, decode_errors_, not_finite_, refused_, estops_, step_p50_, step_p99_, step_max_, latency_p50_, latency_p99_, latency_max_, late_p99_, = unpack_from(">qqqqqqqqddddddd", data, at)
            at += 120
            if len(data) != at + 8 * (0):
                raise DecodeError(f"{len(data)} bytes")
            self = cls.__new__(cls)
            self.utime = utime_
            self.run = run_
            self.seq = seq_
            self.used = used_
            self.name = name_
            self.instance = instance_
            self.state = state_
            self.last_error = last_error_
            self.ticks = ticks_
            self.missed = missed_
            self.old = old_
            self.repeated = repeated_
            self.decode_errors = decode_errors_
            self.not_finite = not_finite_
            self.refused = refused_
            self.estops = estops_
            self.step_p50 = step_p50_
            self.step_p99 = step_p99_
            self.step_max = step_max_
            self.latency_p50 = latency_p50_
            self.latency_p99 = latency_p99_
            self.latency_max = latency_max_
            self.late_p99 = late_p99_
            return self
        except (struct_error, ValueError, OverflowError) as error:
            raise DecodeError(f"proc_health_t: {error}") from error

    def finite(self) -> bool:
        return finite_block(NOTHING, self.step_p50, self.step_p99, self.step_max, self.latency_p50, self.latency_p99, self.latency_max, self.late_p99)
