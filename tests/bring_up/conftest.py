"""A robot hung in the air behind emulated buses whose wiring may be wrong, and a person who sees its true joints."""

from __future__ import annotations

import math

import numpy as np
import pybullet
import pytest

from config.load import load_robot
from config.scenario import PlantOptions
from procs.bridge.build import can_drives, spine_drives
from procs.bridge.spi import CallableBoard
from procs.model.robot import Robot
from procs.wire import can_errors
from sim.emulators.hardware import EmulatedCan, EmulatedSpine
from tests.sim.emulators.wiring import can_bus, spine_bus, with_bus
from tools.bring_up.bench import Bench
from tools.bring_up.run import Runner, jobs
from tools.bring_up.session import Session
from tools.bring_up.step import ways

KINDS = ("mit", "gim6010", "cybergear", "spine", "scotty")


def robot_on(kind: str) -> Robot:
    """The Mini Cheetah on a bus of this kind; Scotty as it is."""
    if kind == "scotty":
        return Robot(load_robot(kind))
    return with_bus(spine_bus() if kind == "spine" else can_bus(kind))


def rewired(robot: Robot, **changes: dict) -> Robot:
    """The robot as it really is: `FR_hip={"sign": -1}`."""
    bus = robot.description.bus
    wiring = dict(bus.wiring)
    for name, update in changes.items():
        joint = name.replace("_", ".")
        wiring[joint] = wiring[joint].model_copy(update=update)
    bus = bus.model_copy(update={"wiring": wiring})
    return Robot(robot.description.model_copy(update={"bus": bus}))


class Tap:
    """Bridge side of the emulated buses in this process; counts the host's frames and watches the true joints."""

    emulated = True

    def __init__(self, hardware) -> None:
        self.hardware = hardware
        self.sent: list = []
        self.tunable = True  # whether the bit rate is the host's to set
        self.start = self.furthest = None
        self.before_tick = lambda: None

    def open(self) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""

    def begin(self, run: int, seq: int) -> bool:
        self.before_tick()
        self.hardware.tick(run, seq)
        q = self.hardware.robot.plant.q
        if self.start is None:
            self.look(q)
        moved = q - self.start
        self.furthest = np.where(np.abs(moved) > np.abs(self.furthest), moved, self.furthest)
        return True

    def look(self, q) -> None:
        """From here on movement counts."""
        self.start, self.furthest = q.copy(), np.zeros(len(q))

    def done(self) -> None:
        self.hardware.done()


class TappedLink:
    """One emulated CAN bus."""

    def __init__(self, tap: Tap, line: int) -> None:
        self.tap, self.line, self.name = tap, line, f"can{line}"
        self.last_error, self.errors = "", 0
        self.waiting: list = []

    def open(self) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""

    def send(self, frame) -> bool:
        self.tap.sent.append((self.line, frame))
        sent = self.tap.hardware.send(self.line, frame)
        self.listen()
        return sent

    def retune(self, bitrate: int) -> bool:
        if not self.tap.tunable:
            return False
        self.tap.hardware.bit_rates[self.line] = bitrate
        return True

    def listen(self) -> None:
        for error in self.tap.hardware.errors(self.line):
            self.errors, self.last_error = self.errors + 1, can_errors.words(*error)

    def receive(self, wait: float):
        self.listen()
        self.waiting += self.tap.hardware.receive(self.line)
        return self.waiting.pop(0) if self.waiting else None


class Person:
    """Allows everything (or not), and says what the true joints did."""

    def __init__(self, robot: Robot, tap: Tap) -> None:
        self.robot, self.tap, self.asked = robot, tap, []
        self.allow, self.words, self.measures = True, {}, True
        self.held = None
        tap.before_tick = self.hold

    def consent(self, key: str, what: str) -> bool:
        self.asked.append(key)
        plant = self.tap.hardware.robot.plant
        if plant.world is not None:
            self.straighten(0.0 if key.startswith("zero.") else 0.1)
        if plant.world is not None:
            self.tap.look(plant.q)
        return self.allow

    def text(self, key: str, question: str, choices=(), default: str = "") -> str:
        self.asked.append(key)
        if key in self.words:
            return self.words[key]
        moved = self.tap.furthest
        joint = int(np.argmax(np.abs(moved)))
        return {
            "moved": self.robot.joint_names[joint],
            "direction": ways(self.robot, joint)[0 if moved[joint] > 0 else 1],
            "degrees": f"{math.degrees(abs(moved[joint])):.1f}" if self.measures else "",
            "signed_by": "A. Tester",
            "words": "",
        }[key.rsplit(".", 1)[1]]

    def straighten(self, knee: float = 0.0) -> None:
        """All legs straight down, held so; `knee` rad off its end stop, to let it hang."""
        plant = self.tap.hardware.robot.plant
        middle = self.robot.q_lower + self.robot.q_upper
        self.held = np.array([math.copysign(knee, middle[j]) if j % 3 == 2 else 0.0 for j in range(len(plant.q))])
        self.hold(everything=True)

    def hold(self, everything: bool = False) -> None:
        """Limp legs in a rig are held: what no drive moves stays where it is."""
        electric, plant = self.tap.hardware.robot, self.tap.hardware.robot.plant
        if plant.world is None or self.held is None:
            return
        driven = (electric.on != 0) & (electric.wanted[2:4].max(axis=0) > 1e-3) & (not everything)
        self.held = np.where(driven, plant.q, self.held)
        world = plant.world
        for j in np.flatnonzero(~driven).tolist():
            pybullet.resetJointState(world.body, world.joints[j], self.held[j], 0.0, physicsClientId=world.client)
        plant.q, plant.qd = world.joint_states()


class Lab:
    """Bench, person and runner on emulated hardware."""

    def __init__(self, kind: str, described: Robot, true: Robot, path, **quirks) -> None:
        """`quirks`: also `faults` of a scenario; ticks of the bench count from 1."""
        made = EmulatedSpine if kind in ("spine", "scotty") else EmulatedCan
        self.hardware = made(true, PlantOptions(imu_noise=False, suspended=True), 1, **quirks)
        self.tap = Tap(self.hardware)
        if made is EmulatedSpine:
            boards = [
                CallableBoard(lambda tx, k=k: self._transfer(k, tx), f"spi{k}")
                for k in range(len(self.hardware.joints))
            ]
            drives = spine_drives(described, boards)
        else:
            links = [TappedLink(self.tap, k) for k in range(len(self.hardware.can.buses))]
            drives = can_drives(described, links, reply_timeout=0.0)
        self.robot = described
        self.session = Session(path / "session.json", described.name)
        self.bench = Bench(described, drives, self.tap, 7, reply=0.0)
        self.bench.open()
        self.person = Person(described, self.tap)
        self.folder = path
        self.runner = Runner(self.bench, self.session, self.person, path, lambda record: None, hold=0.05, seconds=0.5)

    def _transfer(self, board: int, tx: bytes) -> bytes:
        self.tap.sent.append((board, tx))
        return self.hardware.exchange(board, tx)

    def run(self, words: str):
        """Records of steps, by target."""
        out = []
        for job in jobs(words.split(), self.robot.joint_names):
            out += self.runner.run(job)
        return {r.target: r for r in out}

    def hang(self) -> None:
        """Until the limp legs hang still."""
        self.bench.tick()
        self.tap.done()
        self.person.straighten(0.1)
        self.bench.pause(0.1)
        self.tap.sent.clear()


@pytest.fixture
def lab(tmp_path, monkeypatch):
    monkeypatch.setattr("tools.bring_up.step.UP", 0.25)  # half the time, all the same questions
    labs = []

    def make(kind="mit", true=None, described=None, hung=True, **quirks):
        described = described or robot_on(kind)
        labs.append(Lab(kind, described, true(described) if callable(true) else true or described, tmp_path, **quirks))
        if hung:
            labs[-1].hang()
        return labs[-1]

    yield make
    for one in labs:
        one.bench.close()
        one.hardware.stop()
