"""Bench: the robot's buses in the hands of the bring-up. Listens without a word, or talks to one motor at a time.

Positions here are motor side, rad over all turns. Whatever happens, close() sends exit frames to every motor that was
enabled; a guardian does so if this process is killed. A bus that was only listened to is left without a frame sent.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from config.bus import JointWiring
from procs.bridge.build import EMULATED_REPLY, check, drives_of, last_resort, wires_of
from procs.bridge.can_drives import CanDrives
from procs.bridge.can_protocols import PROTOCOLS
from procs.bridge.guardian import Guardian, NoGuardian, Watcher
from procs.bridge.joint_map import DriveCommand
from procs.bridge.plant import GOODBYES, bus_of
from procs.bridge.raw import Drives, RawState
from procs.bridge.spine_drives import SpineDrives
from procs.bridge.sync import Sync
from procs.model.robot import Robot
from procs.wire.frame import CanFrame

REPLY = 0.02  # s that a real drive has for its answer: bring-up is in no hurry


@dataclass(slots=True)
class Sample:
    """What a motor said in one exchange; numbers NaN where it said nothing usable."""

    time: float  # s
    position: float  # rad, all turns
    velocity: float
    torque: float
    valid: bool
    why: str  # of an invalid sample
    faults: str  # the drive's own, in words


class Bench:
    """`run`: number under which emulated hardware knows this session (real hardware does not care)."""

    def __init__(
        self, robot: Robot, drives: Drives, sync: Sync, run: int, guardian: Watcher | None = None, reply: float = REPLY
    ) -> None:
        self.robot, self.all, self.sync, self.run = robot, drives, sync, run
        self.guardian, self.reply = guardian or NoGuardian(), reply
        self.bus, self.dt = bus_of(robot), robot.dt
        self.links = drives.links if isinstance(drives, CanDrives) else ()
        self.now, self.seq = 0.0, 0
        self._zero_time = time.monotonic()
        self._is_open = False
        self._guarded = False
        self._on: dict[int, Drives] = {}  # motors that have been enabled, by joint (0 for boards)
        self.wire(wires_of(robot))

    def wire(self, wires: Sequence[JointWiring]) -> None:
        """From now on the motors are found where `wires` says (what the bring-up has learnt)."""
        self.wires = list(wires)
        self._drives: dict[int, Drives] = {}
        n = len(self.wires)
        self._last, self._turns = np.full(n, np.nan), np.zeros(n)

    def open(self) -> None:
        """Open the buses; TransportError."""
        self._is_open = True
        self.sync.open()
        self.all.open()

    def tick(self) -> bool:
        """Time goes on by one tick; nothing is sent."""
        self._pace()
        return self.sync.begin(self.run, self.seq)

    def _pace(self) -> None:
        self.seq += 1
        if self.sync.emulated:
            self.now += self.dt
            return
        late = time.monotonic() - self._zero_time
        wait = self.now + self.dt - late
        if wait > 0:
            time.sleep(wait)
        self.now = time.monotonic() - self._zero_time

    def hear(self, seconds: float) -> Iterator[tuple[float, int, CanFrame]]:
        """(time, line, frame) of everything on the CAN buses for some time. Transmits nothing."""
        if not self.sync.emulated:  # real time went on while a person was asked: what waits is old
            self.now = time.monotonic() - self._zero_time
            for _ in self._waiting(0.0):
                pass
        end = self.now + seconds
        while self.now < end:
            self.tick()
            self.sync.done()
            yield from self._waiting(0.0)

    def _waiting(self, wait: float) -> Iterator[tuple[float, int, CanFrame]]:
        for line, link in enumerate(self.links):
            while (frame := link.receive(wait)) is not None:
                yield self.now, line, frame

    def pause(self, seconds: float) -> None:
        """Silence: not one frame."""
        for _ in self.hear(seconds):
            pass

    def ask(self, line: int, frame: CanFrame) -> list[tuple[float, int, CanFrame]]:
        """One frame out, whatever comes back (also late answers to others)."""
        self.tick()
        self.links[line].send(frame)
        wait = min(self.reply, REPLY)  # most of those asked in a roll-call are not there
        heard = [(self.now, line, f) for f in iter(lambda: self.links[line].receive(wait), None)]
        self.sync.done()
        return heard

    def transfer(self, command: DriveCommand | None = None) -> list[Sample]:
        """All motors of SPIne boards at once; None: disabled, zero gains."""
        drives = self._of(0)
        self.tick()
        raw = drives.exchange(command or DriveCommand.zero(len(self.wires)))
        self.sync.done()
        return [self._sample(raw, j, j) for j in range(len(self.wires))]

    def _of(self, joint: int) -> Drives:
        """Drives that hold nothing but the joint's motor; on SPIne boards all, since a board cannot do with one."""
        can = self.bus.can
        key = 0 if can is None else joint
        if key not in self._drives:
            if can is None:
                assert isinstance(self.all, SpineDrives) and self.bus.spine is not None
                spine = self.bus.spine
                self._drives[key] = SpineDrives(self.all.boards, self.wires, spine.variant, spine.reply_age)
            else:
                wire = [self.wires[joint]]
                protocol = PROTOCOLS[can.protocol](can, wire)
                self._drives[key] = CanDrives(
                    self.links, wire, protocol, reply_timeout=self.reply, frame_gap=can.frame_gap
                )
        return self._drives[key]

    @property
    def torque_measured(self) -> bool:
        """Whether the drives report torque."""
        return self.all.torque_measured

    def exchange(
        self, joint: int, enable: bool, position: float, velocity: float = 0.0, kp: float = 0.0, kd: float = 0.0
    ) -> Sample:
        """One tick with the motor that the wiring gives a joint; motor units."""
        drives, at = self._of(joint), 0 if self.bus.can is not None else joint
        n = 1 if self.bus.can is not None else len(self.wires)
        command = DriveCommand.zero(n)
        half = float(drives.half_range[at])
        if np.isfinite(position):
            command.position[at] = position - 2 * half * self._turns[joint]
        if abs(command.position[at]) > half:  # not reachable in the present turn: a clamped target would be far off
            kp = 0.0
        command.velocity[at], command.kp[at], command.kd[at] = velocity, kp, kd
        command.enable[at] = enable
        if enable:
            if not self._guarded:
                self._guarded = True
                self.guardian.run(self.run)
            self._on[0 if self.bus.can is None else joint] = drives
        self.tick()
        raw = drives.exchange(command)
        self.sync.done()
        return self._sample(raw, at, joint, half)

    def _sample(self, raw: RawState, at: int, joint: int, half: float = np.inf) -> Sample:
        valid = bool(raw.valid[at] and not raw.distrusted[at])
        position = float(raw.position[at]) if valid else np.nan
        if valid and np.isfinite(half):
            if np.isfinite(self._last[joint]):
                step = position - self._last[joint]
                self._turns[joint] += int(step < -half) - int(step > half)
            self._last[joint] = position
            position += 2 * half * self._turns[joint]
        why = "" if valid else raw.why.get(at, "first reply after enable" if raw.distrusted[at] else "no reply")
        faults = "; ".join(f"{f.name}: {f.advice}" for f in raw.faults.get(at, []))
        velocity, torque = (float(x[at]) if valid else np.nan for x in (raw.velocity, raw.torque))
        return Sample(self.now, position, velocity, torque, valid, why, faults)

    def off(self) -> None:
        """Zero gains and exit frames to every motor that was enabled."""
        for key, drives in list(self._on.items()):
            drives.assume_on()
            n = 1 if self.bus.can is not None else len(self.wires)
            for _ in range(GOODBYES):
                command = DriveCommand.zero(n)
                if self.bus.can is not None and np.isfinite(self._last[key]):
                    command.position[:] = self._last[key]
                self.tick()
                drives.exchange(command)
                self.sync.done()
            del self._on[key]

    def close(self) -> None:
        """Everything off, buses closed; also twice, also after an error."""
        was_open, self._is_open = self._is_open, False
        if not was_open:
            return
        try:
            self.off()
            self.guardian.good_bye()
        finally:
            self.all.close()
            self.sync.close()


def open_bench(robot: Robot, bus_dir: Path | None, run: int) -> tuple[Bench, Guardian]:
    """The bench on the robot's devices, or on the emulated ones of a directory, with its guardian (close it last)."""
    check(robot)
    guardian = Guardian(last_resort(robot, bus_dir))
    try:
        drives, sync = drives_of(robot, bus_dir)
        bench = Bench(robot, drives, sync, run, guardian, REPLY if bus_dir is None else EMULATED_REPLY)
        bench.open()
    except BaseException:
        guardian.good_bye()
        guardian.close()
        raise
    return bench, guardian
