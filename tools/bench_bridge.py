"""The bridge's own work in a tick of 500 Hz, over SPIne and over CAN, and GIM6010 drives by Set_Input_Pos at 200 Hz.

The hardware is in memory and its answers are made beforehand, so what is measured is the bridge: pack, unpack, judge,
publish. The time inside the boards' and buses' answers is taken off.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from config.bus import Bus as BusSection
from config.bus import CanLine
from config.load import load_robot
from lcmtypes.generated import JointCommand
from procs.bridge.build import can_drives, imu_reader, spine_drives
from procs.bridge.can_bus import STANDARD_BITS, PythonCanLink, bus_load
from procs.bridge.imu_serial import CallableStream
from procs.bridge.joint_map import DriveCommand
from procs.bridge.plant import BridgePlant, bus_of
from procs.bridge.spi import CallableBoard
from procs.model.robot import Robot
from procs.runtime.bus import Bus
from procs.runtime.plant_loop import PlantLoop
from procs.wire import spine, vectornav
from procs.wire.frame import CanFrame
from procs.wire.mit_can import MitCodec, Special
from procs.wire.mit_motors import MOTORS
from sim.emulators.gim6010 import Gim6010, GimQuirks
from tools.launch import private_url

LEVEL = vectornav.pack({(0, "quaternion"): (1, 0, 0, 0), (0, "gyro"): (0, 0, 0), (0, "accel"): (0, 0, 9.81)})
WARM_UP = 400  # ticks: the drives are up and the gains at their full values
SHAKE = 64  # different answers
RATE = 200.0  # Hz of Set_Input_Pos
SWING = 0.3  # rad
HEARTBEATS = 10.0  # Hz of each drive


def bench_bridge(progress: Callable[[float], None], ticks: int = 4000, seconds: float = 60.0) -> dict[str, Any]:
    """us of a tick over both kinds of bus, rate and losses of Set_Input_Pos; `progress` gets 0..1."""
    out: dict[str, Any] = {}
    for k, kind in enumerate(("spine", "can")):
        out[kind] = _work(kind, ticks)
        progress(0.1 * (k + 1))
    out["set_input_pos"] = set_input_pos(seconds, lambda done: progress(0.2 + 0.8 * done))
    return out


class _Clock:
    """Time spent in the hardware."""

    def __init__(self) -> None:
        self.spent = 0.0

    def within(self, answer: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def timed(question: Any) -> Any:
            begin = time.perf_counter()
            out = answer(question)
            self.spent += time.perf_counter() - begin
            return out

        return timed


class _MemoryLink:
    """A CAN bus whose motors answer at once."""

    last_error, errors = "", 0

    def __init__(self, answer: Callable[[CanFrame], Any], name: str) -> None:
        self._answer, self.name = answer, name
        self._waiting: list[CanFrame] = []

    def open(self) -> None:
        """Nothing to open."""

    def send(self, frame: CanFrame) -> bool:
        """The motor answers."""
        self._waiting.append(self._answer(frame))
        return True

    def receive(self, wait: float) -> CanFrame | None:
        """The next answer."""
        return self._waiting.pop(0) if self._waiting else None

    def retune(self, bitrate: int) -> bool:
        """It has no bit rate."""
        return False

    def close(self) -> None:
        """Nothing to close."""


def _with_bus(robot: Robot, **changes: Any) -> Robot:
    description = robot.description
    bus = BusSection(**(bus_of(robot).model_dump() | changes))
    return Robot(description.model_copy(update={"bus": bus}))


def can_robot(protocol: str, drive: str, buses: int, **can: Any) -> Robot:
    """The Mini Cheetah with its motors on `buses` CAN buses; ids 1.. on each."""
    robot = Robot(load_robot("mini_cheetah"))
    wiring = {name: wire.model_dump() for name, wire in bus_of(robot).wiring.items()}
    per_bus = len(wiring) // buses
    for j, wire in enumerate(wiring.values()):
        wire |= {"line": j // per_bus, "id": j % per_bus + 1, "drive": drive}
    lines = [CanLine(channel=f"can{k}") for k in range(buses)]
    return _with_bus(robot, spine=None, can={"protocol": protocol, "buses": lines} | can, wiring=wiring)


def _at_motors(robot: Robot) -> np.ndarray:
    """Motor positions (SHAKE, n) around the pose `down`: at rest, with the noise of an encoder."""
    wires = [bus_of(robot).wiring[name] for name in robot.joint_names]
    q = robot.pose("down") + 1e-3 * np.random.default_rng(1).uniform(-1, 1, (SHAKE, robot.num_joints))
    turn, offset = np.array([w.sign * w.ratio for w in wires]), np.array([w.offset for w in wires])
    return q * turn + offset


def _spine(clock: _Clock) -> BridgePlant:
    robot = Robot(load_robot("mini_cheetah"))
    frames = []
    for p in _at_motors(robot):
        zero, good = np.zeros((2, 3)), np.ones((2, 3), bool)
        halves = p.reshape(2, 2, 3)
        frames.append([spine.pack_data(spine.BoardData(h, zero, np.zeros(2, np.uint32), good)) for h in halves])
    count = [0, 0]

    def answer(board: int, _tx: bytes) -> bytes:
        count[board] += 1
        return frames[count[board] % SHAKE][board]

    boards = [CallableBoard(clock.within(partial(answer, k)), f"board{k}") for k in range(2)]
    return BridgePlant(robot, spine_drives(robot, boards), imu_reader(robot, CallableStream(lambda: LEVEL)))


def _can(clock: _Clock) -> BridgePlant:
    robot = can_robot("mit", "mini_cheetah", 4)
    n = robot.num_joints
    codec = MitCodec([MOTORS["mini_cheetah"]] * n)
    ids, zero = [j % 3 + 1 for j in range(n)], np.zeros(n)
    replies = [
        [CanFrame(0, data) for data in codec.pack_replies(ids, p, zero, zero, b"\x41\0")] for p in _at_motors(robot)
    ]
    count = [0]

    def answer(line: int, frame: CanFrame) -> CanFrame:
        count[0] += frame.data != Special.ENTER.value
        return replies[count[0] // n % SHAKE][3 * line + frame.can_id - 1]

    links = [_MemoryLink(clock.within(partial(answer, k)), f"can{k}") for k in range(4)]
    drives = can_drives(robot, links, reply_timeout=0.0)
    return BridgePlant(robot, drives, imu_reader(robot, CallableStream(lambda: LEVEL)))


def _work(kind: str, ticks: int) -> dict[str, float]:
    """us of the Python side of a tick: command out, state in, all messages of the tick published."""
    clock = _Clock()
    plant = _spine(clock) if kind == "spine" else _can(clock)
    robot, bus = plant.robot, Bus(private_url())
    loop = PlantLoop(plant, robot)
    command = JointCommand(robot.num_joints)
    command.enable[:] = 1
    command.q_des[:] = robot.pose("down")
    command.kp[:], command.kd[:] = 20.0, 1.0
    times = []
    loop.start(1)
    try:
        for tick in range(WARM_UP + ticks):
            clock.spent, begin = 0.0, time.perf_counter()
            for channel, message in loop.sample():
                bus.publish(channel, message)
            mine = time.perf_counter() - begin - clock.spent
            command.run, command.seq = loop.run, loop.seq
            loop.accept(command)
            begin = time.perf_counter()
            loop.act()
            mine += time.perf_counter() - begin
            if tick >= WARM_UP:
                times.append(1e6 * mine)
        rejected = sum(plant.drives.counts.rejected.values())
        if plant.starter.state != "running" or loop.latched:
            raise RuntimeError(f"{kind}: {plant.starter.state}, {loop.latched}, {rejected} rejected")
    finally:
        plant.stop()
    p50, p99 = np.percentile(times, [50, 99])
    return {"p50": float(p50), "p99": float(p99), "max": float(max(times))}


class _Shaft:
    """A motor that is where it is told to be."""

    def __init__(self, position: float) -> None:
        self.position, self.velocity, self.torque = position, 0.0, 0.0
        self.commands = 0

    def drive(self, position: float, velocity: float, kp: float, kd: float, torque: float) -> None:
        """Follows at once where it has stiffness."""
        self.commands += 1
        if kp > 0:
            self.position, self.velocity, self.torque = position, velocity, torque

    def limp(self) -> None:
        """Stays."""


class _ServedLink(PythonCanLink):
    """A virtual bus of python-can; the drives at its other end get their turn before the host listens."""

    def __init__(self, line: CanLine, drives: list[Gim6010]) -> None:
        super().__init__(line)
        self.drives = drives
        self.sent = self.taken = self.answered = self.heard = 0
        self._far = PythonCanLink(line)

    def open(self) -> None:
        """Both ends."""
        super().open()
        self._far.open()

    def close(self) -> None:
        """Both ends."""
        super().close()
        self._far.close()

    def send(self, frame: CanFrame) -> bool:
        """Count what the bus takes."""
        taken = super().send(frame)
        self.sent += taken
        return taken

    def receive(self, wait: float) -> CanFrame | None:
        """Serve the drives, then listen."""
        while (frame := self._far.receive(0.0)) is not None:
            self.taken += 1
            for drive in self.drives:
                self._say(drive.receive(frame))
        heard = super().receive(wait)
        self.heard += heard is not None
        return heard

    def tick(self, number: int) -> None:
        """Time goes on for the drives: heartbeats."""
        for drive in self.drives:
            self._say(drive.tick(number))

    def _say(self, frames: list[CanFrame]) -> None:
        for frame in frames:
            self.answered += self._far.send(frame)


def set_input_pos(seconds: float, progress: Callable[[float], None] = lambda done: None) -> dict[str, float]:
    """12 GIM6010 on two virtual buses, positions with feed-forwards at 200 Hz: rate, losses, load of a bus."""
    channel = f"bench{time.perf_counter_ns()}-"
    robot = can_robot("gim6010", "GIM6010-8", 2, gim_input="position")
    lines = [CanLine(interface="virtual", channel=f"{channel}{k}") for k in range(2)]
    can = bus_of(robot).can
    assert can is not None
    n, dt, rng = robot.num_joints, 1 / RATE, np.random.default_rng(1)
    shafts = [_Shaft(0.0) for _ in range(n)]
    quirks = GimQuirks(encoder=0.0, mit_control=False)
    motors = [Gim6010(shafts[j], 1 + j % 6, dt, rng, quirks) for j in range(n)]  # type: ignore[arg-type]
    links = [_ServedLink(line, motors[6 * k : 6 * k + 6]) for k, line in enumerate(lines)]
    drives = can_drives(robot, links, reply_timeout=0.5 * dt)
    command, ticks, valid, worst = DriveCommand.zero(n), round(seconds * RATE), 0, 0.0
    command.enable[:], command.kp[:], command.kd[:] = True, 20.0, 1.0
    drives.open()
    try:
        begin = time.monotonic()
        for tick in range(ticks):
            wait = begin + tick * dt - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            angle = 2 * np.pi * tick * dt
            command.position[:], command.velocity[:] = SWING * np.sin(angle), SWING * 2 * np.pi * np.cos(angle)
            command.torque[:] = 0.5
            for link in links:
                link.tick(tick)
            raw = drives.exchange(command)
            valid += int(raw.valid.sum())
            worst = max(worst, float(np.abs(raw.position - command.position)[raw.valid].max(initial=0.0)))
            if tick % 200 == 0:
                progress(tick / ticks)
        rate = ticks / (time.monotonic() - begin)
        for link in links:
            while link.receive(0.0) is not None:
                pass
    finally:
        command.enable[:] = False
        drives.exchange(command)
        drives.close()
    lost = sum(link.sent - link.taken + link.answered - link.heard for link in links)
    load = (
        max(bus_load(can, 6, RATE, line) for line in can.buses) + 6 * HEARTBEATS * STANDARD_BITS / can.buses[0].bitrate
    )
    return {
        "seconds": seconds, "rate_hz": rate, "lost": float(lost + n * ticks - valid), "refused": drives.counts.refused,
        "frames": float(sum(link.sent + link.answered for link in links)), "worst_rad": worst,
        "bus_load_percent": 100 * load,
    }  # fmt: skip
