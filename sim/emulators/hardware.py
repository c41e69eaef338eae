"""What stands behind the bus: the robot's drives, boards and IMU, driven tick by tick, in memory.

tick(run, seq) -> imu_bytes() -> transfers (SPIne: exchange; CAN: send, receive) -> done(). Only bytes pass.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from config.bus import CanBus, SpineBus
from config.scenario import Fault, PlantOptions, Push
from procs.model.robot import Robot
from procs.wire.frame import CanFrame
from procs.wire.mit_motors import MOTORS
from sim.emulators.bus_faults import BusFaults
from sim.emulators.can_motor import MitMotor, MitQuirks
from sim.emulators.cybergear import CyberGear, CyberGearQuirks
from sim.emulators.gim6010 import Gim6010, GimQuirks
from sim.emulators.robot import EmulatedRobot, Shaft
from sim.emulators.scotty_board import KNEE_RATIO, ScottyBoard, ScottyQuirks
from sim.emulators.spine_board import SpineBoard, SpineQuirks
from sim.emulators.vn100 import Vn100

Board = SpineBoard | ScottyBoard
SPINE, SCOTTY, MIT, CYBERGEAR, GIM6010 = SpineQuirks(), ScottyQuirks(), MitQuirks(), CyberGearQuirks(), GimQuirks()


class CanDrive(Protocol):
    """A drive on a CAN bus."""

    def tick(self, tick: int) -> list[CanFrame]:
        """A new tick; what the drive sends by itself."""

    def receive(self, frame: CanFrame) -> list[CanFrame]:
        """A frame on its bus; the answers."""

    def fail(self, code: int) -> None:
        """A fault of the drive; 0: gone."""


class _Hardware(ABC):
    """World, IMU and power-on, common to all buses."""

    def __init__(
        self,
        robot: Robot,
        options: PlantOptions,
        seed: int,
        *,
        pushes: Sequence[Push] = (),
        faults: Sequence[Fault] = (),
        gui: bool = False,
    ) -> None:
        self.robot = EmulatedRobot(robot, options, seed=seed, pushes=pushes, faults=faults, gui=gui)
        self.bus = self.robot.bus
        self.seed = seed
        self.bus_faults = BusFaults(robot, faults, np.random.default_rng((seed, 1)))
        self.run: int | None = None
        self.seq = -1
        self.ticks = 0  # since power-on

    def tick(self, run: int, seq: int) -> None:
        """Time goes on to tick `seq`; a new run begins with a new world and all electronics off and on again."""
        new = run != self.run
        self.run, self.seq = run, seq
        if new:
            self.ticks = 0
            self.robot.start(run)
            self.vn100 = Vn100(self.robot.robot, self.bus.imu.rate)
            self.bus_faults.reset(np.random.default_rng((self.seed, 1)))
        else:
            self.ticks += 1
        imu = self.robot.sense(seq)
        self._imu = self.bus_faults.imu(self.vn100.packet(imu), seq)
        if new:
            self._power_on(np.random.default_rng((self.seed, 2)))
        self._pass_time()

    def imu_bytes(self) -> bytes:
        """What the IMU sends in this tick."""
        return self._imu

    def done(self) -> None:
        """All exchanges of the tick are over: the physics of one control period."""
        self.robot.advance()

    def stop(self) -> None:
        """Release the physics."""
        self.robot.plant.stop()

    @abstractmethod
    def _power_on(self, rng: np.random.Generator) -> None:
        """All electronics off and on again."""

    @abstractmethod
    def _pass_time(self) -> None:
        """What the electronics do by themselves in one tick."""

    def _mit_motor(self, joint: int, rng: np.random.Generator, quirks: MitQuirks, motor: int, ratio: float) -> MitMotor:
        shaft = Shaft(self.robot, joint, ratio)
        drive = self.robot.wires[joint].drive
        master = self.bus.can.host_id if self.bus.can is not None else 0
        return MitMotor(shaft, motor, MOTORS[drive], self.robot.robot.dt, rng, quirks, master)


class EmulatedSpine(_Hardware):
    """Boards with two legs each; MIT's or Scotty's, as the description says."""

    def __init__(
        self, robot: Robot, options: PlantOptions, seed: int, *, pushes: Sequence[Push] = (),
        faults: Sequence[Fault] = (), quirks: SpineQuirks = SPINE, scotty: ScottyQuirks = SCOTTY,
        motors: MitQuirks | None = None, gui: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(robot, options, seed, pushes=pushes, faults=faults, gui=gui)
        if self.bus.spine is None:
            raise ValueError(f"{robot.name}: bus has no spine section")
        self.spine: SpineBus = self.bus.spine
        self.quirks, self.scotty = quirks, scotty
        self.motor_quirks = motors or MitQuirks(reply_length=8 if self.spine.variant == "scotty" else 6)
        self.joints = [self._joints_of(board) for board in range(len(self.spine.boards))]
        self.boards: list[Board] = []

    def _joints_of(self, board: int) -> list[int]:
        """The six joints of a board, leg-major by place."""
        wires = self.robot.wires
        of_place: dict[int, list[int]] = {0: [], 1: []}
        for joint, wire in enumerate(wires):
            if wire.line == board:
                of_place[wire.id].append(joint)
        joints = of_place[0] + of_place[1]
        if len(of_place[0]) != 3 or len(of_place[1]) != 3:
            raise ValueError(f"bus.wiring: board {board} has places {of_place}, want a leg at 0 and at 1")
        return joints

    def _power_on(self, rng: np.random.Generator) -> None:
        is_scotty = self.spine.variant == "scotty"
        self.boards = []
        for joints in self.joints:
            motors = [
                self._mit_motor(j, rng, self.motor_quirks, 1 + i % 3, KNEE_RATIO if is_scotty and i % 3 == 2 else 1.0)
                for i, j in enumerate(joints)
            ]
            if is_scotty:
                self.boards.append(ScottyBoard(motors, rng, self.robot.robot.dt, self.scotty))
            else:
                self.boards.append(SpineBoard(motors, rng, self.quirks))
        self._motor_of = {j: m for joints, b in zip(self.joints, self.boards, strict=True)
                          for j, m in zip(joints, b.motors, strict=True)}  # fmt: skip

    def _pass_time(self) -> None:
        for joint, code in self.bus_faults.failed_motors(self.seq):
            self._motor_of[joint].fail(code)
        for board in self.boards:
            for motor in board.motors:
                motor.tick(self.ticks)

    def exchange(self, board: int, tx: bytes) -> bytes:
        """One SPI transfer with a board."""
        rx = self.boards[board].transfer(tx)
        return self.bus_faults.spi(board, rx, self.seq)


class EmulatedCan(_Hardware):
    """Drives on CAN buses: frames out of `receive` are what the host finds in its buffer."""

    def __init__(
        self, robot: Robot, options: PlantOptions, seed: int, *, pushes: Sequence[Push] = (),
        faults: Sequence[Fault] = (), mit: MitQuirks = MIT, cybergear: CyberGearQuirks = CYBERGEAR,
        gim6010: GimQuirks = GIM6010, gui: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(robot, options, seed, pushes=pushes, faults=faults, gui=gui)
        if self.bus.can is None:
            raise ValueError(f"{robot.name}: bus has no can section")
        self.can: CanBus = self.bus.can
        self.mit, self.cybergear, self.gim6010 = mit, cybergear, gim6010
        self.drives: list[CanDrive] = []
        self._waiting: list[list[CanFrame]] = [[] for _ in self.can.buses]

    def _power_on(self, rng: np.random.Generator) -> None:
        dt = self.robot.robot.dt
        self.drives = []
        for joint, wire in enumerate(self.robot.wires):
            shaft = Shaft(self.robot, joint)
            if self.can.protocol == "mit":
                self.drives.append(self._mit_motor(joint, rng, self.mit, wire.id, 1.0))
            elif self.can.protocol == "cybergear":
                self.drives.append(CyberGear(shaft, wire.id, dt, rng, self.cybergear))
            else:
                self.drives.append(Gim6010(shaft, wire.id, dt, rng, self.gim6010))
        self.lines = [
            [drive for drive, wire in zip(self.drives, self.robot.wires, strict=True) if wire.line == line]
            for line in range(len(self.can.buses))
        ]
        self._waiting = [[] for _ in self.can.buses]

    def _pass_time(self) -> None:
        for joint, code in self.bus_faults.failed_motors(self.seq):
            self.drives[joint].fail(code)
        for line, drives in enumerate(self.lines):
            for drive in drives:
                self._answer(line, drive.tick(self.ticks))

    def send(self, line: int, frame: CanFrame) -> None:
        """A frame of the host on a bus: all drives there hear it."""
        for drive in self.lines[line]:
            self._answer(line, drive.receive(frame))

    def receive(self, line: int) -> list[CanFrame]:
        """Everything that has come on a bus since the last call."""
        frames, self._waiting[line] = self._waiting[line], []
        return self.bus_faults.order(line, frames, self.seq)

    def _answer(self, line: int, frames: list[CanFrame]) -> None:
        for frame in frames:
            self._waiting[line] += self.bus_faults.can(line, frame, self.seq)


Hardware = EmulatedSpine | EmulatedCan


def emulated(
    robot: Robot, options: PlantOptions, seed: int, *, pushes: Sequence[Push] = (), faults: Sequence[Fault] = (),
    gui: bool = False,
) -> Hardware:  # fmt: skip
    """The hardware that the robot's bus section describes."""
    bus = robot.description.bus
    kind = EmulatedSpine if bus is not None and bus.spine is not None else EmulatedCan
    return kind(robot, options, seed, pushes=pushes, faults=faults, gui=gui)
