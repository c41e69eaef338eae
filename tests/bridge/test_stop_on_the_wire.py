"""Estop and silence of the stack, seen from the motors: what arrives at emulated drives, byte by byte, tick by tick.

Judged without the project's codecs: zero stiffness and torque with some damping, exit frames, or something else.
"""

from __future__ import annotations

import numpy as np
import pytest

from lcmtypes.channels import ESTOP, JOINT_STATE
from lcmtypes.generated import Estop
from procs.model.robot import Robot
from procs.runtime.plant_loop import PlantLoop
from tests.contract.twins import hold, plant, robot_on

ON_THE_WIRE = ("spine", "scotty", "can", "cybergear", "gim6010")
RUNNING = 260  # ticks until the drives are up
WATCHDOG = 0.020  # s


def kind_of_mit(data):
    """MIT mode: p16 v12 kp12 kd12 t12."""
    if data[:7] == b"\xff" * 7:
        return {0xFC: "enter", 0xFD: "exit", 0xFE: "zero"}[data[7]]
    word = int.from_bytes(data, "big")
    speed, kp, kd, torque = word >> 36 & 0xFFF, word >> 24 & 0xFFF, word >> 12 & 0xFFF, word & 0xFFF
    if kp or abs(torque - 2047.5) > 1 or abs(speed - 2047.5) > 1:
        return "drive"
    return "damp" if kd else "limp"


def kind_of_cybergear(frame):
    """29-bit id: type, torque, motor; data: position, velocity, kp, kd."""
    kind, torque = frame.can_id >> 24 & 0x1F, frame.can_id >> 8 & 0xFFFF
    if kind != 1:
        return {3: "enter", 4: "exit"}[kind]
    _, speed, kp, kd = (int.from_bytes(frame.data[i : i + 2], "big") for i in (0, 2, 4, 6))
    if kp or abs(torque - 32767.5) > 1 or abs(speed - 32767.5) > 1:
        return "drive"
    return "damp" if kd else "limp"


def kind_of_gim(frame):
    """Command 8 as MIT mode; command 7 sets the state, 1 is idle."""
    command = frame.can_id & 0x1F
    if command == 8:
        return kind_of_mit(frame.data)
    return "exit" if command == 7 and frame.data[0] == 1 else "enter"


class Wire:
    """A plant loop on emulated hardware; `last` has what each motor got in the newest tick."""

    def __init__(self, kind, robot):
        self.plant, self.robot, self.hardware = plant(kind, robot=robot)
        self.read = {"cybergear": kind_of_cybergear, "gim6010": kind_of_gim}.get(kind, lambda f: kind_of_mit(f.data))
        self.loop, self.last, self._wired = PlantLoop(self.plant, robot), [], False
        self.loop.start(1)
        self.command = hold(robot, robot.pose("down"))
        for _ in range(RUNNING):
            self.tick()
        assert self.all("drive") and self.plant.starter.state == "running"

    def _wire(self):
        """Listen at every motor; once the drives are there."""
        self._wired = True
        drives = (
            [motor for board in self.hardware.boards for motor in board.motors]
            if hasattr(self.hardware, "boards")
            else self.hardware.drives
        )
        self.last = [[] for _ in drives]
        for drive, heard in zip(drives, self.last, strict=True):
            drive.receive = self._listen(drive.receive, heard, *self._ids(drive))

    def _listen(self, receive, heard, mask, mine):
        def listening(frame):
            if frame.can_id & mask == mine:
                heard.append(self.read(frame))
            return receive(frame)

        return listening

    @staticmethod
    def _ids(drive):
        """(mask, value) of the ids that are this drive's: all drives of a bus hear all frames."""
        if hasattr(drive, "node"):
            return 0x7E0, drive.node << 5
        return (0xFF, drive.motor) if type(drive).__name__ == "CyberGear" else (0x7FF, drive.motor)

    def tick(self, answer=True, event=lambda: None):
        """The bus first (what was written a tick ago), then `event`, then the stack's answer to this sample."""
        for heard in self.last:
            heard.clear()
        joints = dict(self.loop.sample())[JOINT_STATE]
        if not self._wired:
            self._wire()
        event()
        if answer:
            self.command.run, self.command.seq = self.loop.run, self.loop.seq
            self.loop.accept(self.command)
        self.loop.act()
        return joints

    def estop(self):
        """Somebody presses it."""
        message = Estop()
        message.source, message.reason = "test", "test"
        self.loop.obey(ESTOP, message)

    def all(self, *kinds):
        """Whether every motor got something, and nothing but this."""
        return all(heard and set(heard) <= set(kinds) for heard in self.last)

    def until(self, most, *kinds, answer=True):
        """Ticks until every motor gets nothing but this."""
        for ticks in range(1, most + 1):
            self.tick(answer)
            if self.all(*kinds):
                return ticks
        raise AssertionError(f"not within {most} ticks: {self.last}")


def with_safety(robot, **values):
    """The robot with other safety rules."""
    description = robot.description
    safety = description.safety.model_copy(update=values)
    return Robot(description.model_copy(update={"safety": safety}))


@pytest.fixture
def wire():
    made = []

    def make(kind, **safety):
        made.append(Wire(kind, with_safety(robot_on(kind), **safety)))
        return made[-1]

    yield make
    for one in made:
        one.plant.stop()


@pytest.mark.parametrize("kind", ON_THE_WIRE)
def test_an_estop_is_damping_at_every_motor_within_a_tick(wire, kind):
    one = wire(kind)
    one.tick(event=one.estop)
    assert one.all("drive")  # it came after this tick's frames
    ticks = one.until(1, "damp")
    print(f"{kind}: estop to damping at the motors {ticks} tick, {1e3 * one.robot.dt * ticks:g} ms")
    for _ in range(20):
        one.tick()
        assert one.all("damp")


@pytest.mark.parametrize("kind", ON_THE_WIRE)
def test_commands_that_stop_are_damping_within_20_ms_and_a_tick_and_then_as_the_description_says(wire, kind):
    ticks = {}
    for after in ("damp", "disable"):
        one = wire(kind, after=after)
        assert one.robot.description.safety.watchdog == WATCHDOG
        dt, after_time = one.robot.dt, one.robot.description.safety.after_time
        one.tick()  # answered: the last one
        damped = one.until(round(WATCHDOG / dt) + 1, "damp", answer=False)
        for _ in range(round(after_time / dt) - 1):
            one.tick(answer=False)
            assert one.all("damp")
        if after == "damp":
            for _ in range(100):
                one.tick(answer=False)
                assert one.all("damp")
        else:
            gone = one.until(3, "exit", "limp", answer=False)
            # Scotty's boards enter their drives at boot and leave them never: off is no gains and no torque.
            assert kind == "scotty" or not one.hardware.robot.on.any()
            for _ in range(20):
                one.tick(answer=False)
                assert one.all("limp")
            ticks[after] = damped + round(after_time / dt) - 1 + gone
        ticks["damping"] = damped
    words = ", ".join(f"{what} {many} ticks, {1e3 * one.robot.dt * many:g} ms" for what, many in ticks.items())
    print(f"{kind}: after the last joint_command {words}")


def test_a_late_command_does_not_wake_what_was_damped_by_an_estop(wire):
    one = wire("can")
    one.tick(event=one.estop)
    one.command.tau_ff[:] = 5.0
    one.tick()
    assert one.all("damp") and not np.any(one.hardware.robot.wanted[4] > 0.1)
