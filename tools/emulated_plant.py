"""The hardware bridge on emulated boards, drives and IMU within one process: a plant for rollouts, sweeps and tests.

The same bridge and the same emulators as with `--runner lcm --plant emulated`; bytes pass by function calls instead of
sockets, so nothing here depends on the clock.
"""

from __future__ import annotations

from collections.abc import Sequence

from config.scenario import Fault, PlantOptions, Push
from lcmtypes.channels import GROUND_TRUTH, Channel
from lcmtypes.message import Message
from procs.bridge.build import can_drives, check, imu_reader, scaled_gains, spine_drives
from procs.bridge.imu_serial import CallableStream
from procs.bridge.plant import BridgePlant
from procs.bridge.spi import CallableBoard
from procs.model.robot import Robot
from procs.wire.can_errors import words
from procs.wire.frame import CanFrame
from sim.emulators.hardware import EmulatedCan, EmulatedSpine, Hardware, emulated
from sim.plant import SimPlant


class InStep:
    """Keeps bridge and emulated hardware in step without sockets."""

    emulated = True

    def __init__(self, hardware: Hardware) -> None:
        self.hardware = hardware

    def open(self) -> None:
        """Nothing to open."""

    def begin(self, run: int, seq: int) -> bool:
        """The tick opens."""
        self.hardware.tick(run, seq)
        return True

    def done(self) -> None:
        """The tick closes."""
        self.hardware.done()

    def close(self) -> None:
        """Nothing to close."""


class MemoryLink:
    """One emulated CAN bus; like a real one it holds the frames that drives send by themselves."""

    def __init__(self, hardware: EmulatedCan, line: int) -> None:
        self.hardware, self.line, self.name = hardware, line, hardware.can.buses[line].channel
        self.last_error, self.errors = "", 0
        self._waiting: list[CanFrame] = []

    def open(self) -> None:
        """Nothing to open."""

    def send(self, frame: CanFrame) -> bool:
        """To all drives of the bus; False: the host's controller would not take it."""
        sent = self.hardware.send(self.line, frame)
        self._listen()
        return sent

    def receive(self, wait: float) -> CanFrame | None:
        """The next frame."""
        self._listen()
        self._waiting += self.hardware.receive(self.line)
        return self._waiting.pop(0) if self._waiting else None

    def retune(self, bitrate: int) -> bool:
        """The host's controller of this bus."""
        self.hardware.bit_rates[self.line] = bitrate
        return True

    def close(self) -> None:
        """Nothing to close."""

    def _listen(self) -> None:
        for can_id, data in self.hardware.errors(self.line):
            self.errors += 1
            self.last_error = words(can_id, data)


class EmulatedPlant(BridgePlant):
    """The bridge's plant with the ground truth that only somebody outside of the robot can measure."""

    def __init__(self, robot: Robot, hardware: Hardware) -> None:
        self.hardware = hardware
        if isinstance(hardware, EmulatedSpine):
            boards = [CallableBoard(lambda tx, k=k: hardware.exchange(k, tx), f"spi{k}")  # type: ignore[misc]
                      for k in range(len(hardware.joints))]  # fmt: skip
            drives = spine_drives(robot, boards)
        else:
            links = [MemoryLink(hardware, line) for line in range(len(hardware.can.buses))]
            drives = can_drives(robot, links, reply_timeout=0.0)  # type: ignore[assignment]
        reader = imu_reader(robot, CallableStream(hardware.imu_bytes))
        super().__init__(robot, drives, reader, sync=InStep(hardware), scaled_gains=scaled_gains(robot))
        self.unwatched = ""  # no computer can die here and leave the motors alone

    @property
    def physics(self) -> SimPlant:
        """The simulator behind the drives."""
        return self.hardware.robot.plant

    def extras(self) -> list[tuple[Channel, Message]]:
        """ground_truth of the tick just read, and what the bridge has to say."""
        truth = self.hardware.robot.truth
        truth.run, truth.seq = self.run, self.tick
        return [(GROUND_TRUTH, truth), *super().extras()]

    def stop(self) -> None:
        """Switch the drives off, then release the physics."""
        super().stop()
        self.hardware.stop()


def emulated_plant(
    robot: Robot, options: PlantOptions, seed: int, *, pushes: Sequence[Push] = (), faults: Sequence[Fault] = (),
    gui: bool = False,
) -> EmulatedPlant:  # fmt: skip
    """Bridge and hardware as the robot's bus section describes them; ConfigError, ValueError."""
    check(robot)
    return EmulatedPlant(robot, emulated(robot, options, seed, pushes=pushes, faults=faults, gui=gui))
