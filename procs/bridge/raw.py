"""What one exchange with the drives brings back, in motor units, before anybody judges it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from procs.bridge.joint_map import DriveCommand
from procs.wire.decode import Fault

Array = NDArray[np.float64]
ZERO_TIME = 1.5  # s that a drive may be silent after set-zero


@dataclass(slots=True)
class RawState:
    """Arrays (n,) in the robot's joint order. `valid` false: no usable reply, `why` says what was wrong with it."""

    position: Array  # rad at the motor, as the wire says (may wrap)
    velocity: Array
    torque: Array  # zeros where the drives do not report it
    valid: NDArray[np.bool_]
    repeated: NDArray[np.bool_]  # the very bytes of the exchange before
    distrusted: NDArray[np.bool_]  # the first reply after enable
    why: dict[int, str] = field(default_factory=dict)  # by joint
    faults: dict[int, list[Fault]] = field(default_factory=dict)  # what motors or boards themselves complain of
    notes: dict[int, str] = field(default_factory=dict)  # soft stops and warnings: shown, not acted on
    temperature: Array | None = None  # deg C, NaN where unknown
    voltage: Array | None = None  # V

    @classmethod
    def empty(cls, n: int) -> RawState:
        """No reply from anybody."""
        no = np.zeros(n, bool)
        return cls(np.full(n, np.nan), np.full(n, np.nan), np.zeros(n), no, no.copy(), no.copy())


@dataclass(slots=True)
class BusCounts:
    """Counted since the start."""

    frames: int = 0  # good ones
    checksum_errors: int = 0
    stale: int = 0  # identical again
    missing: int = 0  # replies that did not come
    late: int = 0  # replies of an earlier tick, thrown away
    foreign: int = 0  # frames of ids that are not ours
    intruders: int = 0  # commands on our buses that we did not send
    refused: int = 0  # frames the transport would not take (full buffers)
    rejected: dict[str, int] = field(default_factory=dict)  # by reason

    def reject(self, reason: str, many: int = 1) -> None:
        """Count something rejected."""
        self.rejected[reason] = self.rejected.get(reason, 0) + many


class Drives(Protocol):
    """All motors of a robot behind their buses. Motor units; enabling is the level of `command.enable`."""

    counts: BusCounts
    torque_measured: bool
    reply_age: int  # exchanges from a drive's answer to the host
    half_range: Array  # rad at which each motor's position wraps; inf: it does not

    def open(self, need_all: bool = True) -> None:
        """Open the buses; TransportError, or without `need_all` what can be opened."""

    def begin(self) -> None:
        """A new run: forget what was enabled."""

    def assume_on(self) -> None:
        """As if all drives were enabled: the next exchange that does not enable them sends exit frames."""

    def exchange(self, command: DriveCommand) -> RawState:
        """One tick: send what is commanded, return what came back. Never raises on bad bytes or a dead bus.

        A drive that is not enabled any more gets exit frames until it has answered.
        """

    def zero(self, joints: NDArray[np.bool_], exchanges: int) -> None:
        """The present positions of these motors become zero; they are left alone for so many exchanges (ZERO_TIME).

        ValueError while one of them is enabled, or where the bus has no such command.
        """

    def close(self) -> None:
        """Close the buses (the exit frames have been sent)."""
