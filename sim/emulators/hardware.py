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
from sim.emulators.can_controller import BAD, OFF, CanController
from sim.emulators.can_motor import MitMotor, MitQuirks
from sim.emulators.cybergear import CyberGear, CyberGearQuirks
from sim.emulators.electrics import ElectricQuirks, Electrics
from sim.emulators.gim6010 import Gim6010, GimQuirks
from sim.emulators.robot import EmulatedRobot, Shaft
from sim.emulators.scotty_board import KNEE_RATIO, ScottyBoard, ScottyQuirks
from sim.emulators.spine_board import SpineBoard, SpineQuirks
from sim.emulators.vn100 import Vn100

Board = SpineBoard | ScottyBoard
SPINE, SCOTTY, MIT, CYBERGEAR, GIM6010 = SpineQuirks(), ScottyQuirks(), MitQuirks(), CyberGearQuirks(), GimQuirks()
ELECTRIC = ElectricQuirks()
ATTEMPTS = OFF // BAD  # of a controller before it leaves the bus
RESTART = 0.1  # s from bus-off to the controller's restart, as `restart-ms 100` of a socketcan interface


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
        electric: ElectricQuirks = ELECTRIC,
        gui: bool = False,
    ) -> None:
        self.electric = electric
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
            self.shafts = [Shaft(self.robot, j, ratio) for j, ratio in enumerate(self._belts())]
            rng = np.random.default_rng((self.seed, 3))
            self.electrics = Electrics(self.robot, np.array(self._belts()), rng, self.electric)
            self._power_on(np.random.default_rng((self.seed, 2)))
        self.electrics.tick(self.bus_faults, seq)
        for shaft in self.shafts:
            shaft.slip = 0.0
        for fault, joint in self.bus_faults.of("coupling_slips", seq):
            self.shafts[joint].slip = fault.value or 0.0
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

    def _belts(self) -> list[float]:
        """Turns of each motor's output per turn of what the wiring calls it."""
        return [1.0] * len(self.robot.wires)

    def _mit_motor(self, joint: int, rng: np.random.Generator, quirks: MitQuirks, motor: int) -> MitMotor:
        drive = self.robot.wires[joint].drive
        master = self.bus.can.host_id if self.bus.can is not None else 0
        return MitMotor(
            self.shafts[joint], motor, MOTORS[drive], self.robot.robot.dt, rng, quirks, master,
            self.electrics.conditions[joint],
        )  # fmt: skip


class EmulatedSpine(_Hardware):
    """Boards with two legs each; MIT's or Scotty's, as the description says."""

    def __init__(
        self, robot: Robot, options: PlantOptions, seed: int, *, pushes: Sequence[Push] = (),
        faults: Sequence[Fault] = (), quirks: SpineQuirks = SPINE, scotty: ScottyQuirks = SCOTTY,
        motors: MitQuirks | None = None, electric: ElectricQuirks = ELECTRIC, gui: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(robot, options, seed, pushes=pushes, faults=faults, electric=electric, gui=gui)
        if self.bus.spine is None:
            raise ValueError(f"{robot.name}: bus has no spine section")
        self.spine: SpineBus = self.bus.spine
        self.quirks, self.scotty = quirks, scotty
        self.motor_quirks = motors or MitQuirks(reply_length=8 if self.spine.variant == "scotty" else 6)
        self.joints = [self._joints_of(board) for board in range(len(self.spine.boards))]
        self.boards: list[Board] = []

    def _joints_of(self, board: int) -> list[int]:
        """The six joints of a board, leg-major by place."""
        at = {wire.place(j): j for j, wire in enumerate(self.robot.wires) if wire.line == board}
        want = [(board, leg, slot) for leg in range(2) for slot in range(3)]
        joints = [joint for joint, wire in enumerate(self.robot.wires) if wire.line == board]
        if sorted(at) != want or len(joints) != 6:
            found = {leg: [j for j in joints if self.robot.wires[j].id == leg] for leg in (0, 1)}
            raise ValueError(f"bus.wiring: board {board} has places {found}, want a leg at 0 and at 1")
        return [at[place] for place in want]

    def _belts(self) -> list[float]:
        ratio = KNEE_RATIO if self.spine.variant == "scotty" else 1.0
        of_place = {j: ratio if i % 3 == 2 else 1.0 for joints in self.joints for i, j in enumerate(joints)}
        return [of_place[j] for j in range(len(of_place))]

    def _power_on(self, rng: np.random.Generator) -> None:
        self.boards = []
        for joints in self.joints:
            motors = [self._mit_motor(j, rng, self.motor_quirks, 1 + i % 3) for i, j in enumerate(joints)]
            if self.spine.variant == "scotty":
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
        gim6010: GimQuirks = GIM6010, electric: ElectricQuirks = ELECTRIC, restart: float = RESTART,
        gui: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(robot, options, seed, pushes=pushes, faults=faults, electric=electric, gui=gui)
        if self.bus.can is None:
            raise ValueError(f"{robot.name}: bus has no can section")
        self.can: CanBus = self.bus.can
        self.mit, self.cybergear, self.gim6010 = mit, cybergear, gim6010
        self.restart = restart
        self.bit_rates = [line.bitrate for line in self.can.buses]  # of the host's controllers
        self.drives: list[CanDrive] = []
        self._waiting: list[list[CanFrame]] = [[] for _ in self.can.buses]

    def _power_on(self, rng: np.random.Generator) -> None:
        dt = self.robot.robot.dt
        self.drives = []
        self.controllers = [CanController(dt, self.restart) for _ in self.can.buses]
        for joint, wire in enumerate(self.robot.wires):
            shaft, condition = self.shafts[joint], self.electrics.conditions[joint]
            if self.can.protocol == "mit":
                self.drives.append(self._mit_motor(joint, rng, self.mit, wire.id))
            elif self.can.protocol == "cybergear":
                self.drives.append(CyberGear(shaft, wire.id, dt, rng, self.cybergear, condition))
            else:
                self.drives.append(Gim6010(shaft, wire.id, dt, rng, self.gim6010, condition))
        self.lines = [
            [drive for drive, wire in zip(self.drives, self.robot.wires, strict=True) if wire.line == line]
            for line in range(len(self.can.buses))
        ]
        self._waiting = [[] for _ in self.can.buses]

    def _pass_time(self) -> None:
        for joint, code in self.bus_faults.failed_motors(self.seq):
            self.drives[joint].fail(code)
        for line, drives in enumerate(self.lines):
            self.controllers[line].tick(self.ticks, bool(self.bus_faults.of("bus_off", self.seq, line)))
            said = [frame for drive in drives for frame in drive.tick(self.ticks)]
            self._answer(line, sorted(said, key=priority))  # all want the bus at once

    def send(self, line: int, frame: CanFrame) -> bool:
        """A frame of the host on a bus: all drives there hear it. False: its controller would not take it."""
        faults, seq = self.bus_faults, self.seq
        deaf = self._other_rate(line)
        full = faults.happens("buffer_full", seq, line)
        if not self.controllers[line].send(lambda: deaf or faults.happens("error_frames", seq, line), full):
            return False
        for drive in self.lines[line]:
            self._answer(line, drive.receive(frame))
        return True

    def receive(self, line: int) -> list[CanFrame]:
        """Everything that has come on a bus since the last call."""
        frames, self._waiting[line] = self._waiting[line], []
        return self.bus_faults.order(line, frames, self.seq)

    def errors(self, line: int) -> list[tuple[int, bytes]]:
        """(id, data) of the error frames of the host's controller since the last call."""
        return self.controllers[line].said() if self.drives else []

    @property
    def rates_matter(self) -> bool:
        """Whether drives may run at another bit rate than the host's controllers."""
        return any(fault.kind == "wrong_bit_rate" for fault in self.bus_faults.faults)

    def _other_rate(self, line: int) -> bool:
        """Whether the drives of a line run at another bit rate than the host's controller."""
        return any(round(f.value or 0) != self.bit_rates[line]
                   for f, _ in self.bus_faults.of("wrong_bit_rate", self.seq, line))  # fmt: skip

    def _answer(self, line: int, frames: list[CanFrame]) -> None:
        controller, deaf = self.controllers[line], self._other_rate(line)
        for frame in frames:
            if deaf:
                controller.hear_nonsense()
            elif not controller.off and not self._lost(line):
                self._waiting[line] += self.bus_faults.can(line, frame, self.seq)

    def _lost(self, line: int) -> bool:
        """A drive's frame that is destroyed is sent again, until its own controller has had enough."""
        for _ in range(ATTEMPTS):
            if not self.bus_faults.happens("error_frames", self.seq, line):
                return False
            self.controllers[line].hear_nonsense()
        return True


def priority(frame: CanFrame) -> tuple[int, int, int]:
    """Arbitration: the lower identifier wins; at an equal base the standard frame before the extended one."""
    if not frame.extended:
        return frame.can_id, int(frame.remote), 0
    return frame.can_id >> 18, 2, (frame.can_id & 0x3FFFF) << 1 | frame.remote


Hardware = EmulatedSpine | EmulatedCan


def emulated(
    robot: Robot, options: PlantOptions, seed: int, *, pushes: Sequence[Push] = (), faults: Sequence[Fault] = (),
    gui: bool = False,
) -> Hardware:  # fmt: skip
    """The hardware that the robot's bus section describes."""
    bus = robot.description.bus
    kind = EmulatedSpine if bus is not None and bus.spine is not None else EmulatedCan
    return kind(robot, options, seed, pushes=pushes, faults=faults, gui=gui)
