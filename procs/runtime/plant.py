"""What a plant is: the simulator and the hardware bridge implement these methods and nothing else differs."""

from __future__ import annotations

from typing import Protocol

from lcmtypes.channels import Channel
from lcmtypes.generated import Imu, JointCommand, JointState
from lcmtypes.message import Message


class Plant(Protocol):
    """One robot, real or simulated. Tick k: read, [work_ahead], write; the command of sample k acts from k + 1."""

    def start(self, run: int) -> None:
        """Begin a run (again): tick 0 comes next. The simulator restarts its world."""

    def read(self) -> tuple[Imu, JointState]:
        """The next tick's sample (headers are filled by the plant loop)."""

    def extras(self) -> list[tuple[Channel, Message]]:
        """Further messages of the tick just read (ground_truth, bus_status)."""

    def work_ahead(self) -> None:
        """Called once the sample is out: what can be done while the others compute (the simulator's physics)."""

    def write(self, command: JointCommand) -> None:
        """The command that acts from the next tick on."""

    def stop(self) -> None:
        """Leave the drives safe and release everything."""
