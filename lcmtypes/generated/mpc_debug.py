"""Generated from mpc_debug_t.lcm by lcmtypes.generate; do not edit."""

from __future__ import annotations

from struct import error as struct_error
from struct import pack, unpack_from
from typing import Self

import numpy as np

from lcmtypes.message import DecodeError, Message, finite_block, raw_text, text

FINGERPRINT = bytes.fromhex("8126960459289e26")
MOST = 4096  # no array of ours is longer


class MpcDebug(Message):
    """The convex MPC's last solve."""

    __slots__ = ("iterations", "status", "failures", "horizon", "num_legs", "path", "forces", "footsteps", "block", )
    TYPE = "mpc_debug_t"
    FINGERPRINT = 0x8126960459289e26
    FIELDS = ("utime", "run", "seq", "used", "iterations", "status", "failures", "path", "forces", "footsteps",)

    utime: int  # us: seq * period in simulation, CLOCK_MONOTONIC on hardware; copied down the pipeline
    run: int  # the plant's run; a new one resets every core
    seq: int  # the plant's tick (operators: own counter)
    used: list[int]  # seq of each message this step used, declared order, -1 = none
    iterations: int
    status: str
    failures: int
    horizon: int
    num_legs: int
    path: np.ndarray  # m, predicted body positions, world
    forces: np.ndarray  # N, world, first step
    footsteps: np.ndarray  # m, world, planned touch-down points

    def __init__(self, horizon: int, num_legs: int) -> None:
        self.utime = 0
        self.run = 0
        self.seq = 0
        self.used = []
        self.iterations = 0
        self.status = ""
        self.failures = 0
        self.horizon = horizon
        self.num_legs = num_legs
        self._views(np.zeros(horizon * 3 + num_legs * 3 + num_legs * 3))

    def _views(self, block: np.ndarray) -> None:
        self.block = block
        horizon = self.horizon
        num_legs = self.num_legs
        self.path = block[0 : horizon * 3].reshape(horizon, 3)
        self.forces = block[horizon * 3 : horizon * 3 + num_legs * 3].reshape(num_legs, 3)
        self.footsteps = block[horizon * 3 + num_legs * 3 : horizon * 3 + num_legs * 3 + num_legs * 3].reshape(num_legs, 3)

    def encode(self) -> bytes:
        return b''.join((
            pack(">Qqqqi", self.FINGERPRINT, self.utime, self.run, self.seq, len(self.used)),
            pack(f">{len(self.used)}q", *self.used),
            pack(">i", self.iterations),
            raw_text(self.status),
            pack(">qii", self.failures, self.horizon, self.num_legs),
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
            iterations_, = unpack_from(">i", data, at)
            at += 4
            status_, at = text(data, at)
            failures_, horizon_, num_legs_, = unpack_from(">qii", data, at)
            at += 16
            if not 0 <= horizon_ <= MOST:
                raise DecodeError(f"horizon is {horizon_}")
            if not 0 <= num_legs_ <= MOST:
                raise DecodeError(f"num_legs is {num_legs_}")
            if len(data) != at + 8 * (horizon_ * 3 + num_legs_ * 3 + num_legs_ * 3):
                raise DecodeError(f"{len(data)} bytes")
            self = cls.__new__(cls)
            self.utime = utime_
            self.run = run_
            self.seq = seq_
            self.used = used_
            self.iterations = iterations_
            self.status = status_
            self.failures = failures_
            self.horizon = horizon_
            self.num_legs = num_legs_
            self._views(np.frombuffer(data, ">f8", horizon_ * 3 + num_legs_ * 3 + num_legs_ * 3, at).astype(float))
            return self
        except (struct_error, ValueError, OverflowError) as error:
            raise DecodeError(f"mpc_debug_t: {error}") from error

    def finite(self) -> bool:
        return finite_block(self.block)
