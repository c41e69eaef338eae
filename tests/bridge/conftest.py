"""A robot of motors without dynamics, behind SPIne boards or CAN, in memory; written without the emulators of sim."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from config.bus import CanBus, CanLine
from config.load import load_robot
from lcmtypes.generated import JointCommand
from procs.bridge.build import can_drives, imu_reader, spine_drives
from procs.bridge.can_bus import CallableLink
from procs.bridge.imu_serial import CallableStream
from procs.bridge.plant import BridgePlant
from procs.bridge.spi import CallableBoard
from procs.model.robot import Robot
from procs.runtime.plant_loop import PlantLoop
from procs.wire import spine, vectornav
from procs.wire.cybergear import CyberGearCodec, split_id
from procs.wire.cybergear_tables import Kind, State
from procs.wire.decode import DecodeError
from procs.wire.frame import CanFrame
from procs.wire.gim6010 import can_id
from procs.wire.mit_can import MitCodec, Special
from procs.wire.mit_motors import MOTORS

LEVEL = vectornav.pack({(0, "quaternion"): (1, 0, 0, 0), (0, "gyro"): (0, 0, 0), (0, "accel"): (0, 0, 9.81)})


@pytest.fixture(scope="session")
def robot():
    """Mini Cheetah with a start-up of some ticks."""
    return Robot(load_robot("mini_cheetah", ["bus.start={settle: 0.01, ramp: 0.06}"]))


@pytest.fixture(scope="session")
def changed(robot):
    """The robot with other values in its bus section."""

    def change(base=robot, **values):
        bus = base.description.bus.model_copy(update=values)
        return Robot(base.description.model_copy(update={"bus": bus}))

    return change


@pytest.fixture(scope="session")
def can_robot(robot, changed):
    """The robot with its twelve motors on four CAN buses."""

    def make(protocol="mit", drive="mini_cheetah", **can):
        wires = robot.description.bus.wiring.items()
        wiring = {
            name: wire.model_copy(update={"line": j // 3, "id": j % 3 + 1, "drive": drive})
            for j, (name, wire) in enumerate(wires)
        }
        buses = [CanLine(channel=f"can{k}") for k in range(4)]
        return changed(spine=None, can=CanBus(protocol=protocol, **({"buses": buses} | can)), wiring=wiring)

    return make


class Shafts:
    """What the motors stand at, set by the test at the joints; what they were told, in motor units."""

    def __init__(self, robot):
        wires = [robot.description.bus.wiring[name] for name in robot.joint_names]
        self.sign, self.ratio, self.offset = (
            np.array([getattr(w, name) for w in wires]) for name in ("sign", "ratio", "offset")
        )
        self.q, self.qd = robot.pose("down").copy(), np.zeros(robot.num_joints)
        self.told = np.zeros((5, robot.num_joints))  # position, velocity, kp, kd, torque
        self.on = np.zeros(robot.num_joints, bool)
        self.shake = 1e-3  # rad: no two replies are equal
        self.rng = np.random.default_rng(1)

    @property
    def motors(self):
        """(position, velocity) at the motors."""
        q = self.q + self.shake * self.rng.uniform(-1, 1, len(self.q))
        return self.sign * self.ratio * q + self.offset, self.sign * self.ratio * self.qd


class SpineSide:
    """Boards: joints 0..5 and 6..11."""

    def __init__(self, robot):
        self.shafts, self.frames, self.spoil = Shafts(robot), [[], []], [lambda f: f, lambda f: f]
        self.flags, self.reply_flags = [None, None], np.zeros((2, 2), int)

    def board(self, k):
        def answer(frame):
            self.frames[k].append(frame)
            mine = slice(6 * k, 6 * k + 6)
            try:
                c = spine.unpack_command(frame)
                self.flags[k] = c.flags.tolist()
                self.shafts.told[:, mine] = [x.reshape(6) for x in (c.q_des, c.qd_des, c.kp, c.kd, c.tau_ff)]
                self.shafts.on[mine] = c.flags[0] & 1
            except DecodeError:
                pass
            q, qd = (x[mine].reshape(2, 3) for x in self.shafts.motors)
            good = spine.pack_data(spine.BoardData(q, qd, self.reply_flags[k], np.ones((2, 3), bool)))
            return self.spoil[k](good)

        return CallableBoard(answer, f"board{k}")

    def drives(self, robot):
        return spine_drives(robot, [self.board(0), self.board(1)])


class CanSide:
    """Four buses with motors 1..3. `spoil(joint, reply frame) -> frames`; `sent`: everything the host sent."""

    def __init__(self, robot):
        self.robot, self.shafts = robot, Shafts(robot)
        self.can = robot.description.bus.can
        wires = [robot.description.bus.wiring[n] for n in robot.joint_names]
        if self.can.protocol == "cybergear":
            self.cyber = CyberGearCodec([w.id for w in wires])
        else:
            self.mit = MitCodec([MOTORS[w.drive] for w in wires])
        self.sent, self.tail, self.faults = [], b"", 0
        self.spoil = lambda joint, frame: [frame]
        self.links = [CallableLink(lambda frame, k=k: self.answer(k, frame), f"can{k}") for k in range(4)]

    def answer(self, line, frame):
        self.sent.append((line, frame))
        return getattr(self, "_" + self.can.protocol)(line, frame)

    def _state(self, joint):
        p, v = self.shafts.motors
        return p[joint], v[joint], 0.0

    def _reply(self, joint, motor):
        rows = np.zeros((12, 3))
        rows[joint] = self._state(joint)
        return self.mit.pack_replies([motor] * 12, *rows.T, tail=self.tail)[joint]

    def _mit(self, line, frame):
        joint = 3 * line + frame.can_id - 1
        if frame.data == Special.ZERO.value:
            return []
        if frame.data == Special.ENTER.value:
            self.shafts.on[joint] = True
        elif frame.data == Special.EXIT.value:
            self.shafts.on[joint] = False
        else:
            self.shafts.told[:, joint] = self.mit.unpack_command(frame.data, joint)
        return self.spoil(joint, CanFrame(self.can.host_id, self._reply(joint, frame.can_id)))

    def _gim6010(self, line, frame):
        node, command = frame.can_id >> 5, frame.can_id & 0x1F
        joint = 3 * line + node - 1
        if command == 0x07:
            self.shafts.on[joint] = frame.data[0] == 8
        if command != 0x08:
            return []
        self.shafts.told[:, joint] = self.mit.unpack_command(frame.data, joint)
        return self.spoil(joint, CanFrame(can_id(node, 0x08), self._reply(joint, node)))

    def _cybergear(self, line, frame):
        kind, _, motor = split_id(frame.can_id)
        joint = 3 * line + motor - 1
        if kind == Kind.SET_ZERO:
            return []
        if kind in (Kind.ENABLE, Kind.STOP):
            self.shafts.on[joint] = kind == Kind.ENABLE
        else:
            self.shafts.told[:, joint] = self.cyber.unpack_control(frame)[1:]
        state = State.RUN if self.shafts.on[joint] else State.RESET
        reply = self.cyber.feedback(motor, self.can.host_id, *self._state(joint), 30.0, state, self.faults)
        return self.spoil(joint, reply)

    def drives(self, robot):
        return can_drives(robot, self.links, reply_timeout=0.0)


def _bench(robot):
    """Plant and plant loop of a robot on in-memory hardware; `run(ticks)` plays them with a held command."""
    side = SpineSide(robot) if robot.description.bus.spine is not None else CanSide(robot)
    bench = SimpleNamespace(robot=robot, side=side, shafts=side.shafts, imu=LEVEL, samples=[], status=[])
    bench.plant = BridgePlant(robot, side.drives(robot), imu_reader(robot, CallableStream(lambda: bench.imu)))
    bench.loop = PlantLoop(bench.plant, robot)
    bench.command = JointCommand(robot.num_joints)

    def hold(kp=20.0, kd=1.0, q=None):
        bench.command.enable[:] = 1
        bench.command.q_des[:] = side.shafts.q if q is None else q
        bench.command.kp[:], bench.command.kd[:] = kp, kd

    def run(ticks, before=lambda k: None):
        for k in range(ticks):
            before(k)
            sample = bench.loop.sample()
            bench.samples.append(sample)
            bench.status += [m for c, m in sample if c.name == "bus_status"]
            command = bench.command.copy()
            command.run, command.seq = bench.loop.run, bench.loop.seq
            bench.loop.accept(command)
            bench.loop.act()
        return sample[-1][1]

    bench.hold, bench.run = hold, run
    bench.loop.start(7)
    return bench


@pytest.fixture
def bench():
    benches = []

    def make(robot):
        benches.append(_bench(robot))
        return benches[-1]

    yield make
    for one in benches:
        one.plant.stop()


@pytest.fixture
def running(bench):
    """A bench whose drives are enabled and past their ramp."""

    def make(robot):
        one = bench(robot)
        one.run(3)
        one.hold()
        one.run(50)
        assert one.plant.starter.state == "running", one.plant.status()
        return one

    return make
