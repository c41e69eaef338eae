"""Feeds a CAN capture (--capture of the bridge) through the bridge's decoder again: joint_state per exchange.

python -m procs.bridge.replay_capture FILE --robot R [--log OUT.lcmlog]
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from config.load import load_robot
from lcmtypes.channels import JOINT_STATE
from lcmtypes.generated import JointState
from procs.bridge.build import can_drives, sensing_of
from procs.bridge.can_bus import CallableLink
from procs.bridge.can_drives import DISTRUST
from procs.bridge.plant import bus_of
from procs.bridge.protection import Protection
from procs.model.robot import Robot
from procs.runtime.logs import LogWriter
from procs.runtime.main import guarded
from procs.wire.candump import Logged, parse_line
from procs.wire.frame import CanFrame

LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class Exchange:
    """Frames of one exchange, by line."""

    stamp: int
    late: list[tuple[int, CanFrame]] = field(default_factory=list)
    sent: list[tuple[int, CanFrame]] = field(default_factory=list)
    heard: list[tuple[int, CanFrame]] = field(default_factory=list)


def channel_of(line: int) -> str:
    """Name of a line in a capture."""
    return f"can{line}"


def exchanges(lines: Iterator[str]) -> Iterator[Exchange]:
    """The exchanges of a capture."""
    now: Exchange | None = None
    waiting: list[tuple[int, CanFrame, int]] = []  # received, not yet known to which exchange they belong
    for text in lines:
        entry: Logged = parse_line(text.strip())
        line = int(entry.channel.removeprefix("can"))
        if not entry.sent:
            waiting.append((line, entry.frame, entry.stamp_us))
            continue
        if now is None or entry.stamp_us != now.stamp:
            late = [(on, frame) for on, frame, stamp in waiting if stamp >= entry.stamp_us]
            if now is not None:
                now.heard += [(on, frame) for on, frame, stamp in waiting if stamp < entry.stamp_us]
                yield now
            now = Exchange(entry.stamp_us, late)
            waiting = []
        now.sent.append((line, entry.frame))
    if now is not None:
        now.heard += [(on, frame) for on, frame, _ in waiting]
        yield now


def replay(robot: Robot, lines: Iterator[str]) -> Iterator[JointState]:
    """The joint_state of every exchange of a capture, without headers."""
    bus = bus_of(robot)
    if bus.can is None:
        raise ValueError(f"{robot.name} has no CAN buses")
    links = [CallableLink(lambda frame: (), channel_of(k)) for k in range(len(bus.can.buses))]
    drives = can_drives(robot, links, reply_timeout=0.0)
    sensing, protection = sensing_of(robot, drives), Protection(bus, robot.num_joints, robot.dt)
    n = robot.num_joints
    since, on, torque = np.full(n, DISTRUST), np.zeros(n, bool), np.zeros(n)
    for exchange in exchanges(lines):
        for line, frame in exchange.late:
            drives.unasked(line, frame)
        entered, left, expected = drives.edges(exchange.sent)
        on = (on | entered) & ~left
        since = np.where(entered, 0, since + 1)
        raw = drives.decode(sorted(exchange.heard, key=lambda h: h[0]), since < DISTRUST, expected)
        ill = protection.step(raw, torque)
        joints = sensing.step(raw, np.zeros(n), ill)
        joints.tau_source = "measured"
        torque = sensing.tau / sensing.map.turn
        yield joints


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m procs.bridge.replay_capture", description=__doc__)
    parser.add_argument("capture", type=Path)
    parser.add_argument("--robot", required=True)
    parser.add_argument("--log", type=Path, help="write the joint_states to an LCM log")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)

    def run() -> None:
        robot = Robot(load_robot(args.robot))
        writer = LogWriter(args.log) if args.log else None
        count = faulty = 0
        with args.capture.open(encoding="ascii") as file:
            for joints in replay(robot, iter(file)):
                joints.seq, joints.utime = count, round(1e6 * count * robot.dt)
                count += 1
                faulty += bool(joints.fault.any())
                if writer is not None:
                    writer.write(JOINT_STATE, joints, joints.utime)
        if writer is not None:
            writer.close()
        LOG.info("%d exchanges, %d with a joint at fault", count, faulty)

    return guarded("procs.bridge.replay_capture", run)


if __name__ == "__main__":
    sys.exit(main())
