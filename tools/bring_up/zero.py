"""Step `zero`: offsets of all joints from one pose the person puts the legs into (straight down: all joints at 0)."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from procs.bridge.build import wires_of
from tools.bring_up.ask import Asker
from tools.bring_up.bench import Bench
from tools.bring_up.motion import AbortError, start
from tools.bring_up.session import Record, Session, Verdict
from tools.bring_up.wiring import place

READINGS = 20
STEADY = 0.02  # rad at the joint: more spread is a leg that moves
LOOK = 0.2  # rad from the described offset: larger changes are worth a look


def zero(bench: Bench, asker: Asker, session: Session, pose: str | None = None) -> Iterator[Record]:
    """A record for each joint; motors in motor mode with zero gains while they are read, one at a time."""
    robot = bench.robot
    at = np.zeros(robot.num_joints) if pose is None else robot.pose(pose)
    words = "straight down (all joints at 0)" if pose is None else f"in pose {pose!r}"
    for leg, leg_name in enumerate(robot.leg_names):
        joints = range(3 * leg, 3 * leg + 3)
        unproven = [robot.joint_names[j] for j in joints if not session.passed("step", robot.joint_names[j])]
        if unproven:
            for j in joints:
                why = f"{', '.join(unproven)}: sign and ratio come first, step until it says ok"
                yield Record("zero", robot.joint_names[j], Verdict.REFUSED, why)
            continue
        what = f"{leg_name}: put this leg {words} and hold it; its motors are read with zero gains, one at a time."
        if not asker.consent(f"zero.{leg_name}.transmit", what):
            yield from (Record("zero", robot.joint_names[j], Verdict.REFUSED, "not read") for j in joints)
            continue
        for j in joints:
            yield _one(bench, j, float(at[j]))


def _one(bench: Bench, joint: int, q: float) -> Record:
    name, wire = bench.robot.joint_names[joint], bench.wires[joint]
    turn = wire.sign * wire.ratio
    try:
        start(bench, joint)
        samples = [bench.exchange(joint, True, math.nan) for _ in range(READINGS)]
    except AbortError as abort:
        return Record("zero", name, abort.verdict, abort.words)
    finally:
        bench.off()
    p = np.array([s.position for s in samples if s.valid])
    if len(p) < READINGS // 2:
        return Record("zero", name, Verdict.ERROR, f"{len(p)} of {READINGS} readings are good: {samples[-1].why}")
    spread = float(np.ptp(p)) / wire.ratio
    data = {"spread": spread, "place": list(place(bench.robot, bench.wires, joint))}
    if spread > STEADY:
        return Record(
            "zero", name, Verdict.UNCLEAR, f"moved by {spread:.3f} rad while it was read: hold it still", data
        )
    offset = float(p.mean()) - turn * q
    old = wires_of(bench.robot)[joint].offset
    data |= {"offset": round(offset, 5), "described": old}
    words = f"offset {offset:+.4f} rad at the motor, described {old:+.4f}"
    if abs(offset - old) / wire.ratio > LOOK:
        words += ": far from it - is this the right pose, or was the motor built in anew?"
    return Record("zero", name, Verdict.OK, words, data)
