"""Soak: the robot stands and trots through emulated SPIne boards whose replies are spoiled in every way of a real bus.

    python -m tests.bridge.soak --packets 1000000 [--share 0.01] [--seed 1]

The default tests do 20 000 packets. Good and spoiled packets are told apart by their bytes on both sides of the fault.
Believed positions are compared with the physics at the age of the reply.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections import Counter, deque
from dataclasses import dataclass, field

import numpy as np

from config.load import load_robot
from config.scenario import Command, CorruptMode, Fault, PlantOptions
from procs.bridge.build import imu_reader, spine_drives
from procs.bridge.imu_serial import CallableStream
from procs.bridge.plant import BridgePlant
from procs.bridge.spi import CallableBoard
from procs.model.robot import Robot
from procs.runtime.commands import CommandPlayer
from procs.runtime.engine import Engine
from procs.runtime.plant_loop import PlantLoop
from procs.runtime.rollout import Rollout
from sim.emulators.hardware import EmulatedSpine
from sim.emulators.spine_board import pack_frame, swap, unpack_reply_frame
from tools.stack import SPECS

BEGIN = 0.6  # s: the drives are up, the robot is getting up
AGE = 2  # ticks from a drive's answer to the host
WALKING = [Command(t=0.0, mode="stand"), Command(t=1.2, mode="walk", gait="trot", vx=0.0), Command(t=1.6, vx=0.3)]
STATE_WORDS, NUMBERS = 15, 12


def swap_words(rng, rx, _before):
    """Two numbers in each other's place."""
    words = np.frombuffer(swap(rx), "<u4").copy()
    a, b = rng.choice(NUMBERS, 2, replace=False)
    words[[a, b]] = words[[b, a]]
    return swap(words.tobytes())


def two_pairs(rng, rx, _before):
    """Two bits, each turned over in two words."""
    words = np.frombuffer(swap(rx), "<u4").copy()
    for _ in range(2):
        a, b = rng.choice(14, 2, replace=False)
        bit = np.uint32(1 << int(rng.integers(32)))
        words[a] ^= bit
        words[b] ^= bit
    return swap(words.tobytes())


def low_pair(rng, rx, _before):
    """One bit of the mantissa in two numbers: small errors, which look like motion."""
    words = np.frombuffer(swap(rx), "<u4").copy()
    bit = np.uint32(1 << int(rng.integers(8, 23)))
    for word in rng.choice(NUMBERS, 2, replace=False):
        words[word] ^= bit
    return swap(words.tobytes())


def velocity(rng, rx, _before):
    """A wrong velocity with the right checksum."""
    q, qd, flags = unpack_reply_frame(rx)
    qd[int(rng.integers(6))] += float(rng.uniform(-60, 60))
    return pack_frame(q, qd, flags)


def older(rng, _rx, before):
    """A reply of some ticks ago."""
    return before[int(rng.integers(len(before)))]


def other_order(_rng, rx, _before):
    """Bytes of the 16-bit words exchanged."""
    return swap(rx)


EXTRA = (swap_words, two_pairs, low_pair, velocity, older, other_order)
MODES = CorruptMode.__args__
KINDS = ("stale", "bus_silent", "wrong_dlc")
WAYS = (*MODES, *KINDS, *(way.__name__ for way in EXTRA))


def faults(share):
    """The scenario faults that together with EXTRA hit this share of all replies."""
    p = share / len(WAYS)
    modes = [Fault(t=BEGIN, kind="bus_corrupt", mode=mode, probability=p) for mode in MODES]
    return modes + [Fault(t=BEGIN, kind=kind, probability=p) for kind in KINDS]


class InStep:
    """Sync within the process; notes where the joints are."""

    emulated = True

    def __init__(self, hardware):
        self.hardware = hardware
        self.truth = deque(maxlen=AGE + 1)

    def open(self):
        pass

    def begin(self, run, seq):
        self.hardware.tick(run, seq)
        self.truth.append(self.hardware.robot.plant.q.copy())
        return True

    def done(self):
        self.hardware.done()

    def close(self):
        self.hardware.stop()


@dataclass
class Result:
    """What came of it."""

    packets: int = 0
    spoiled: int = 0
    ways: Counter = field(default_factory=Counter)
    passed: Counter = field(default_factory=Counter)  # ways whose packet was believed although it was spoiled
    worst: float = -np.inf  # rad: the largest error of a believed position over its limit
    error: float = 0.0  # rad: the largest error of a believed position
    wrong: int = 0  # believed positions beyond the limit
    refused: Counter = field(default_factory=Counter)  # good packets refused, by reason
    outside: float = -np.inf  # rad: how far a joint was beyond its limits
    latched: str = ""
    walked: float = 0.0  # m
    rejected: dict = field(default_factory=dict)

    @property
    def good(self):
        """Whether it is as it should be."""
        return self.worst <= 0 and not self.refused and self.outside <= 0 and not self.latched


def soak(packets, share=0.01, seed=1, progress=lambda result: None, commands=WALKING, stop=lambda: False):
    """Run it."""
    robot = Robot(load_robot("mini_cheetah"))
    rng = np.random.default_rng((seed, 3))
    hardware = EmulatedSpine(robot, PlantOptions(), seed, faults=faults(share))
    result, spoiled, before = Result(), [False, False], [deque(maxlen=8), deque(maxlen=8)]
    names: list[list[str]] = [[], []]

    def exchange(board, tx):
        good = hardware.boards[board].transfer(tx)
        hit = hardware.bus_faults.counts = Counter()  # of this packet
        rx = hardware.bus_faults.spi(board, good, hardware.seq)
        if hardware.seq * robot.dt >= BEGIN:
            for way in EXTRA:
                if before[board] and len(rx) == len(good) and rng.random() < share / len(WAYS):
                    rx = way(rng, rx, before[board])
                    hit[way.__name__] += 1
        before[board].append(good)
        spoiled[board] = rx != good
        names[board] = list(hit)
        result.packets += 1
        result.spoiled += spoiled[board]
        if hit:
            result.ways.update(hit)
        return rx

    boards = [CallableBoard(lambda tx, k=k: exchange(k, tx), f"board{k}") for k in range(2)]
    sync = InStep(hardware)
    drives = spine_drives(robot, boards)
    plant = BridgePlant(robot, drives, imu_reader(robot, CallableStream(hardware.imu_bytes)), sync=sync)
    loop = PlantLoop(plant, robot)
    runner = Rollout(loop, [Engine(spec, robot) for spec in SPECS.values()], lambda channel, message: None)
    player = CommandPlayer(commands, robot.dt)
    limit = robot.qd_max * robot.dt + robot.per_joint([a.position_quantum for a in robot.actuators])
    lines = np.repeat([0, 1], robot.num_joints // 2)
    loop.start(1)
    try:
        while result.packets < packets and not loop.latched and not stop():
            runner.tick(lambda: player.messages(loop.seq, loop.utime, loop.run))
            if plant.tick * robot.dt >= BEGIN:  # limp legs lie on their stops before
                q = hardware.robot.plant.q
                result.outside = max(result.outside, float(np.max([robot.q_lower - q, q - robot.q_upper])))
            if plant.tick < AGE + 10:
                continue
            joints = plant.state
            believed = joints.fault == 0
            error = np.abs(joints.q - sync.truth[0])
            over = (error - limit)[believed]
            result.error = max(result.error, float(error[believed].max(initial=0.0)))
            result.worst = max(result.worst, float(over.max(initial=-np.inf)))
            result.wrong += int((over > 0).sum())
            for board in (0, 1):
                mine = believed[lines == board]
                if spoiled[board]:
                    if mine.all():
                        result.passed.update(names[board])
                elif not mine.all():
                    j = int(np.flatnonzero(~believed & (lines == board))[0])
                    result.refused[plant.sensing.why[j] or plant.protection.text[j]] += 1
            if plant.tick % 500 == 0:
                progress(result)
        result.latched = str(loop.latched or "")
        result.walked = float(np.hypot(*hardware.robot.truth.position[:2]))
        result.rejected = dict(drives.counts.rejected)
    finally:
        plant.stop()
    return result


def main() -> int:
    """Long run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packets", type=int, default=1_000_000)
    parser.add_argument("--share", type=float, default=0.01, help="of the replies that are spoiled")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    begin, shown, signals = time.monotonic(), [0.0], []
    signal.signal(signal.SIGTERM, lambda number, frame: signals.append(number))  # reports what it has

    def progress(r):
        if r.packets / args.packets - shown[0] >= 0.02:
            shown[0] = r.packets / args.packets
            bad = f"{r.wrong} wrong, {sum(r.refused.values())} refused, limits {r.outside:+.3f}"
            print(f"{r.packets} packets, {time.monotonic() - begin:.0f} s: {bad}", file=sys.stderr, flush=True)

    r = soak(args.packets, args.share, args.seed, progress, stop=lambda: bool(signals))
    print(f"{r.packets} packets, {r.spoiled} spoiled, {time.monotonic() - begin:.0f} s, walked {r.walked:.1f} m")
    for name, many in sorted(r.ways.items()):
        print(f"{many:8d} {name}, believed as a whole {r.passed[name]}")
    print(f"rejected values: {r.rejected}")
    print(
        f"largest error of a believed position {r.error:.4f} rad; {r.wrong} beyond the limit, worst {r.worst:+.4f} rad"
    )
    print(f"good packets refused: {sum(r.refused.values())} {dict(r.refused)}")
    print(f"nearest to a joint limit {r.outside:+.4f} rad; latched: {r.latched or 'no'}")
    return 0 if r.good else 1


if __name__ == "__main__":
    sys.exit(main())
