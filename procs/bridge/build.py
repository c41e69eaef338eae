"""Builds the bridge of a robot from its description: real devices, or the emulated ones of a directory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from config.bus import JointWiring
from config.problems import ConfigError, Problem
from procs.bridge.can_bus import EmulatedCanLink, Link, PythonCanLink, overload
from procs.bridge.can_drives import CanDrives
from procs.bridge.can_protocols import PROTOCOLS
from procs.bridge.capture import Capture, CapturedLink
from procs.bridge.faults import Sensing
from procs.bridge.guardian import Watcher
from procs.bridge.imu_serial import ImuReader, SerialStream, Stream
from procs.bridge.joint_map import JointMap
from procs.bridge.plant import BridgePlant, bus_of, switch_off
from procs.bridge.raw import Drives
from procs.bridge.spi import WAIT_FOR_EMULATOR, Board, SocketBoard, SpidevBoard
from procs.bridge.spine_drives import SpineDrives
from procs.bridge.sync import NoSync, SocketSync, Sync
from procs.model.robot import Robot
from procs.wire.emulated import IMU
from procs.wire.mit_motors import MOTORS
from procs.wire.vectornav import MIT_HEADER

EMULATED_TIMEOUT = 2.0  # s for an emulated device to answer: the simulator may be busy
EMULATED_REPLY = 0.15  # s for emulated CAN replies, which are never late unless the machine is busy
EMULATED_IMU = 0.1  # s for the bytes of a tick to come through the pseudo-terminal
IMU_PACKET_BITS = 10 * (1 + len(MIT_HEADER) + 40 + 2)  # start and stop bit per byte; quaternion, gyro, accel, CRC
IMU_PAUSE = 0.05  # s without reading after which the IMU's buffered bytes are old
REPLY_SHARE = 0.5  # of a tick that may be spent waiting for CAN replies


def check(robot: Robot) -> None:
    """ConfigError for what only the bridge knows: motor types, load of the buses, bytes of the IMU."""
    bus, problems = bus_of(robot), []
    wires = wires_of(robot)
    if bus.can is not None:
        for line, words in overload(bus.can, [w.line for w in wires], 1 / robot.dt):
            problems.append(Problem(f"bus.can.buses.{line}", bus.can.buses[line].channel, words))
    if bus.can is None or bus.can.protocol != "cybergear":
        for name, wire in zip(robot.joint_names, wires, strict=True):
            if wire.drive not in MOTORS:
                problems.append(Problem(f"bus.wiring.{name}.drive", wire.drive, f"want one of {', '.join(MOTORS)}"))
    need = bus.imu.rate * IMU_PACKET_BITS
    if need > bus.imu.baud:
        problems.append(Problem("bus.imu.baud", bus.imu.baud, f"want at least {need:.0f} for {bus.imu.rate:g} Hz"))
    if problems:
        raise ConfigError(robot.name, problems)


def wires_of(robot: Robot) -> list[JointWiring]:
    """The wiring in the robot's joint order."""
    wiring = bus_of(robot).wiring
    return [wiring[name] for name in robot.joint_names]


def scaled_gains(robot: Robot) -> bool:
    """Whether gains are turned into the motors' units."""
    spine = bus_of(robot).spine
    return spine is None or spine.scaled_gains


def spine_drives(robot: Robot, boards: Sequence[Board]) -> SpineDrives:
    """Drives on SPIne boards."""
    spine = bus_of(robot).spine
    assert spine is not None
    return SpineDrives(boards, wires_of(robot), spine.variant, spine.reply_age)


def can_drives(
    robot: Robot, links: Sequence[Link], *, reply_timeout: float | None = None, before: Callable[[], None] | None = None
) -> CanDrives:
    """Drives on CAN buses."""
    can, wires = bus_of(robot).can, wires_of(robot)
    assert can is not None
    timeout = REPLY_SHARE * robot.dt if reply_timeout is None else reply_timeout
    return CanDrives(
        links, wires, PROTOCOLS[can.protocol](can, wires), reply_timeout=timeout, frame_gap=can.frame_gap,
        before=before or (lambda: None),
    )  # fmt: skip


def sensing_of(robot: Robot, drives: Drives) -> Sensing:
    """The judge of what these drives say."""
    bus, wires = bus_of(robot), wires_of(robot)
    return Sensing(
        robot, JointMap.of(wires, scaled_gains(robot)), drives.half_range, np.array([w.line for w in wires]),
        bus.faults_in_a_row, drives.counts,
    )  # fmt: skip


def imu_reader(robot: Robot, stream: Stream, wait: float = 0.0, noisy: bool = False) -> ImuReader:
    """The IMU driver; `noisy`: as all real sensors are."""
    imu, description = bus_of(robot).imu, robot.description
    stale = max(3 * robot.dt, 2 / imu.rate)
    every = max(1, round(1 / (imu.rate * robot.dt)))
    return ImuReader(stream, description.imu.mount.rpy, robot.dt, stale, wait=wait, every=every, noisy=noisy)


def drives_of(
    robot: Robot, bus_dir: Path | None, capture: Capture | None = None, wait: float = WAIT_FOR_EMULATOR
) -> tuple[Drives, Sync]:
    """Drives and the way to keep in step with them; nothing is opened yet."""
    bus = bus_of(robot)
    if bus.spine is not None:
        if bus_dir is None:
            return spine_drives(robot, [SpidevBoard(b.device, bus.spine.speed_hz) for b in bus.spine.boards]), NoSync()
        boards = [SocketBoard(bus_dir, k, EMULATED_TIMEOUT, wait) for k in range(len(bus.spine.boards))]
        return spine_drives(robot, boards), SocketSync(bus_dir, False, EMULATED_TIMEOUT, wait)
    assert bus.can is not None
    links: list[Link] = [
        PythonCanLink(line) if bus_dir is None else EmulatedCanLink(bus_dir, k, line.channel)
        for k, line in enumerate(bus.can.buses)
    ]
    before = None
    if capture is not None:
        links = [CapturedLink(link, capture, f"can{k}") for k, link in enumerate(links)]
        before = capture.begin
    if bus_dir is None:
        return can_drives(robot, links, before=before), NoSync()
    drives = can_drives(robot, links, reply_timeout=EMULATED_REPLY, before=before)
    return drives, SocketSync(bus_dir, True, EMULATED_TIMEOUT, wait)


def bridge_plant(
    robot: Robot, bus_dir: Path | None, capture: Capture | None = None, guardian: Watcher | None = None
) -> BridgePlant:
    """The plant on the devices of the description, or on the emulated ones in `bus_dir`; ConfigError."""
    check(robot)
    drives, sync = drives_of(robot, bus_dir, capture)
    imu = bus_of(robot).imu
    if bus_dir is None:
        reader = imu_reader(robot, SerialStream(imu.device, imu.baud, forget=IMU_PAUSE), noisy=True)
    else:
        reader = imu_reader(robot, SerialStream(bus_dir / IMU, imu.baud, WAIT_FOR_EMULATOR), EMULATED_IMU)
    return BridgePlant(robot, drives, reader, sync=sync, guardian=guardian, scaled_gains=scaled_gains(robot))


def last_resort(robot: Robot, bus_dir: Path | None) -> Callable[[int], None]:
    """What a guardian does when the bridge is gone: opens the buses by itself and switches everything off."""

    def run(number: int) -> None:
        drives, sync = drives_of(robot, bus_dir, wait=0.0)
        try:
            sync.open()
            drives.open(need_all=False)
            switch_off(robot, drives, sync, number)
        finally:
            drives.close()
            sync.close()

    return run
