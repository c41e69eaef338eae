"""What a CAN protocol gives the drives: frames out, replies in; and what is common to all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any
from typing import Protocol as Interface

import numpy as np
from numpy.typing import NDArray

from procs.bridge.joint_map import DriveCommand
from procs.bridge.raw import BusCounts, RawState
from procs.wire.decode import Fault
from procs.wire.frame import CanFrame

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Joints = Mapping[tuple[int, int], int]  # (line, motor id) -> joint
NO_WRAP = 1e6  # rad: half range of drives that do not wrap


class Heard:
    """Frames of one exchange by joint; the newest counts."""

    def __init__(self, joints: Joints, n: int) -> None:
        self.joints = joints
        self.frames: list[Any] = [None] * n  # frame or decoded message
        self.reasons: dict[int, str] = {}
        self.faults: dict[int, list[Fault]] = {}
        self.expected = [1] * n  # replies of each joint

    def put(self, joint: int, what: Any, counts: BusCounts) -> None:
        """A reply of a joint."""
        self.expected[joint] -= 1
        if self.expected[joint] < 0:
            counts.late += 1  # more replies than questions: the first belongs to an earlier command
        self.frames[joint] = what


class Protocol(Interface):
    """One protocol for all motors of a robot."""

    half_range: Array
    torque_measured: bool

    def begin(self) -> None:
        """A new run: what was sent before counts for nothing."""

    def zero(self, joint: int) -> list[CanFrame]:
        """Frames that make a motor's present position its zero."""

    def frames(self, command: DriveCommand, entering: Mask, leaving: Mask) -> list[list[CanFrame]]:
        """Frames per joint: enter or exit at an edge, else a command (with zero gains for a disabled drive)."""

    def answered(self, frame: CanFrame) -> bool:
        """Whether a drive answers this frame of ours."""

    def motor_of(self, frame: CanFrame) -> int:
        """Motor id that a frame of ours is for."""

    def edge(self, frame: CanFrame) -> int:
        """1: this frame of ours enables, -1: it disables, 0: neither."""

    def answers(self, line: int, frame: CanFrame, joints: Joints) -> int | None:
        """Joint whose reply this is."""

    def unasked(self, line: int, frame: CanFrame, joints: Joints, counts: BusCounts) -> bool:
        """A frame between two ticks: counts what is foreign; true if it is a reply that came too late."""

    def hear(self, heard: Heard, line: int, frame: CanFrame, counts: BusCounts) -> None:
        """Sort one frame."""

    def state(self, heard: Heard, counts: BusCounts) -> RawState:
        """Raw state of what was heard."""


class Base(ABC):
    """Who answers, in words common to all."""

    torque_measured = True

    def begin(self) -> None:  # noqa: B027 - most protocols keep nothing
        """A new run; nothing is kept from one command to the next."""

    def answered(self, frame: CanFrame) -> bool:
        """Whether a drive answers this frame of ours."""
        return True

    @abstractmethod
    def answers(self, line: int, frame: CanFrame, joints: Joints) -> int | None:
        """Joint whose reply this is."""

    @abstractmethod
    def _is_command(self, line: int, frame: CanFrame, joints: Joints) -> bool:
        """Somebody else's command to one of our motors."""

    def unasked(self, line: int, frame: CanFrame, joints: Joints, counts: BusCounts) -> bool:
        """A frame between two ticks."""
        if self.answers(line, frame, joints) is not None:
            return True
        self._foreign(line, frame, joints, counts)
        return False

    def _foreign(self, line: int, frame: CanFrame, joints: Joints, counts: BusCounts) -> None:
        if self._is_command(line, frame, joints):
            counts.intruders += 1
        else:
            counts.foreign += 1
