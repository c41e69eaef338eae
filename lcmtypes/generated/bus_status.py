"""Generated from bus_status_t.lcm by lcmtypes.generate; do not edit."""

from __future__ import annotations

from struct import error as struct_error
from struct import pack, unpack_from
from typing import Self

import numpy as np

from lcmtypes.message import DecodeError, Message, finite_block, raw_text, text

FINGERPRINT = bytes.fromhex("367bf28a87a11501")
MOST = 4096  # no array of ours is longer


class BusStatus(Message):
    """The bridge's buses and motors."""

    __slots__ = ("state", "reason", "frames", "checksum_errors", "stale", "retries", "intruders", "num_motors", "fault", "temperature", "voltage", "block", )
    TYPE = "bus_status_t"
    FINGERPRINT = 0x367bf28a87a11501
    FIELDS = ("utime", "run", "seq", "used", "state", "reason", "frames", "checksum_errors", "stale", "retries", "intruders", "fault", "temperature", "voltage",)

    utime: int  # us: seq * period in simulation, CLOCK_MONOTONIC on hardware; copied down the pipeline
    run: int  # the plant's run; a new one resets every core
    seq: int  # the plant's tick (operators: own counter)
    used: list[int]  # seq of each message this step used, declared order, -1 = none
    state: str
    reason: str
    frames: int
    checksum_errors: int
    stale: int
    retries: int
    intruders: int
    num_motors: int
    fault: list[str]
    temperature: np.ndarray  # deg C
    voltage: np.ndarray  # V

    def __init__(self, num_motors: int) -> None:
        self.utime = 0
        self.run = 0
        self.seq = 0
        self.used = []
        self.state = ""
        self.reason = ""
        self.frames = 0
        self.checksum_errors = 0
        self.stale = 0
        self.retries = 0
        self.intruders = 0
        self.num_motors = num_motors
        self.fault = [""] * num_motors
        self._views(np.zeros(num_motors + num_motors))

    def _views(self, block: np.ndarray) -> None:
        self.block = block
        num_motors = self.num_motors
        self.temperature = block[0 : num_motors]
        self.voltage = block[num_motors : num_motors + num_motors]

    def encode(self) -> bytes:
        return b''.join((
            pack(">Qqqqi", self.FINGERPRINT, self.utime, self.run, self.seq, len(self.used)),
            pack(f">{len(self.used)}q", *self.used),
            raw_text(self.state),
            raw_text(self.reason),
            pack(">qqqqqi", self.frames, self.checksum_errors, self.stale, self.retries, self.intruders, self.num_motors),
            *map(raw_text, self.fault),
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
            state_, at = text(data, at)
            reason_, at = text(data, at)
            frames_, checksum_errors_, stale_, retries_, intruders_, num_motors_, = unpack_from(">qqqqqi", data, at)
            at += 44
            if not 0 <= num_motors_ <= MOST:
                raise DecodeError(f"num_motors is {num_motors_}")
            fault_: list[str] = []
            for _ in range(num_motors_):
                item, at = text(data, at)
                fault_.append(item)
            if len(data) != at + 8 * (num_motors_ + num_motors_):
                raise DecodeError(f"{len(data)} bytes")
            self = cls.__new__(cls)
            self.utime = utime_
            self.run = run_
            self.seq = seq_
            self.used = used_
            self.state = state_
            self.reason = reason_
            self.frames = frames_
            self.checksum_errors = checksum_errors_
            self.stale = stale_
            self.retries = retries_
            self.intruders = intruders_
            self.num_motors = num_motors_
            self.fault = fault_
            self._views(np.frombuffer(data, ">f8", num_motors_ + num_motors_, at).astype(float))
            return self
        except (struct_error, ValueError, OverflowError) as error:
            raise DecodeError(f"bus_status_t: {error}") from error

    def finite(self) -> bool:
        return finite_block(self.block)
