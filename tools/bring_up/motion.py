"""One motor moved a little and back, watched at every sample: what it did, or why it was stopped. Motor side.

Safe start first, as the bridge does it: enter with zero gains, settle, believe only samples that agree, five attempts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tools.bring_up.bench import Bench, Sample
from tools.bring_up.session import Verdict

AGREE = 5  # samples in a row that must agree before anything moves
REST_SPEED = 0.1  # of the joint's top speed, at most, while it is started
LOST = 10  # samples in a row without an answer
DRIVE_KD = 5.0  # N m s/rad, the most that MIT-mode drives take


class Abort(Exception):
    """Why a motor was stopped."""

    def __init__(self, verdict: Verdict, words: str) -> None:
        super().__init__(words)
        self.verdict, self.words = verdict, words


@dataclass(frozen=True)
class Plan:
    """What is tried; rad, N m at the joint."""

    travel: float  # where to, from where it stands
    kp: float
    kd: float
    torque: float  # more is an abort
    up: float = 0.5  # s, and as long back
    hold: float = 0.5  # s at the end, for the person to look
    over: float = 0.0  # travel that is an abort; 0: half as much again, and a bit


@dataclass
class Trace:
    """What happened; arrays motor side."""

    rest: float = 0.0
    rest_speed: float = 0.0  # what the drive calls 0: half a quantum off
    torque_most: float = 0.0
    samples: list[tuple[float, float, float, float, float]] = field(default_factory=list)  # t, target, p, v, torque

    def array(self) -> np.ndarray:
        """(samples, 5)."""
        return np.array(self.samples).reshape(-1, 5)

    @property
    def travelled(self) -> float:
        """Rad at the end of the way out."""
        p = self.array()[:, 2] - self.rest
        return float(p[np.argmax(np.abs(p))]) if len(p) else 0.0

    def speed_ratio(self) -> float:
        """Travel by the reported velocities over travel by the positions, way out: 1 where both ranges are right."""
        a = self.array()
        if len(a) < 10:
            return math.nan
        end = int(np.argmax(np.abs(a[:, 2] - self.rest)))
        if end < 5 or abs(a[end, 2] - a[0, 2]) < 1e-3:
            return math.nan
        speed = a[: end + 1, 3] - self.rest_speed
        by_speed = float(np.sum(0.5 * (speed[1:] + speed[:-1]) * np.diff(a[: end + 1, 0])))
        return by_speed / float(a[end, 2] - a[0, 2])


def start(bench: Bench, joint: int) -> tuple[float, float]:
    """(position, velocity at rest), motor side, of a motor in motor mode with zero gains; Abort."""
    start_up, turn = bench.bus.start, bench.wires[joint].ratio
    slow = REST_SPEED * bench.robot.qd_max[joint] * turn
    settle = max(1, round(start_up.settle / bench.dt))
    why = "no reply"
    for _ in range(start_up.retries):
        position = math.nan
        good: list[Sample] = []
        for k in range(settle + 10 * AGREE):
            sample = bench.exchange(joint, True, position)
            if sample.faults:
                raise Abort(Verdict.ERROR, sample.faults)
            if not sample.valid:
                why, good = sample.why, []
                continue
            position = sample.position
            if k < settle:
                continue
            if good and abs(sample.position - good[-1].position) > slow * bench.dt + 0.01:
                why, good = "positions that do not agree", []
            good.append(sample)
            if len(good) >= AGREE and all(abs(s.velocity) < slow for s in good[-AGREE:]):
                last = good[-AGREE:]
                return float(np.mean([s.position for s in last])), float(np.mean([s.velocity for s in last]))
            if len(good) >= AGREE:
                why = "it moves: hold the leg still"
        for _ in range(3):
            bench.exchange(joint, False, position)
    raise Abort(Verdict.ERROR, f"no believable sample in {start_up.retries} attempts ({why}): check its cable and id")


def move(bench: Bench, joint: int, plan: Plan, on_sample: Callable[[Trace], None] = lambda trace: None) -> Trace:
    """Out, hold, back, off; Abort carries on after the motor is off, with the trace as `trace`."""
    trace = Trace()
    try:
        trace.rest, trace.rest_speed = start(bench, joint)
        _out_and_back(bench, joint, plan, trace, on_sample)
    except Abort as abort:
        abort.trace = trace  # type: ignore[attr-defined]
        raise
    finally:
        bench.off()
    return trace


def _out_and_back(bench: Bench, joint: int, plan: Plan, trace: Trace, on_sample: Callable[[Trace], None]) -> None:
    wire = bench.wires[joint]
    scaled = bench.bus.spine is None or bench.bus.spine.scaled_gains
    turn, square = wire.sign * wire.ratio, wire.ratio**2 if scaled else 1.0
    kp, kd = plan.kp / square, min(plan.kd / square, DRIVE_KD)
    begin, missed = bench.now, 0
    while (t := bench.now - begin) < 2 * plan.up + plan.hold:
        if t < plan.up:
            share = 0.5 - 0.5 * math.cos(math.pi * t / plan.up)
        else:
            share = 0.5 + 0.5 * math.cos(math.pi * min(1.0, max(0.0, t - plan.up - plan.hold) / plan.up))
        target = trace.rest + turn * plan.travel * share
        s = bench.exchange(joint, True, target, 0.0, kp, kd)
        if s.faults:
            raise Abort(Verdict.ERROR, s.faults)
        missed = 0 if s.valid else missed + 1
        if missed > LOST:
            raise Abort(Verdict.ERROR, f"lost while moving: {s.why}")
        if s.valid:
            torque = s.torque if bench.torque_measured else kp * (target - s.position) - kd * s.velocity
            trace.samples.append((s.time - begin, target, s.position, s.velocity, torque))
            _watch(plan, turn, trace)
            on_sample(trace)


def _watch(plan: Plan, turn: float, trace: Trace) -> None:
    """Over-travel and torque, joint side."""
    t, _, p, v, torque = trace.samples[-1]
    over = plan.over or 1.5 * abs(plan.travel) + 0.05
    moved = (p - trace.rest) / turn
    trace.torque_most = max(trace.torque_most, abs(torque * turn))
    if abs(moved) > over:
        way = "the way it was sent" if moved * plan.travel > 0 else "AGAINST the way it was sent"
        raise Abort(
            Verdict.OVER_TRAVEL,
            f"went {math.degrees(moved):.1f} deg, {way}, of {math.degrees(plan.travel):.1f} asked"
            + ("" if moved * plan.travel > 0 else ": the drive's own phase order or encoder direction is wrong"),
        )
    if len(trace.samples) > 1:
        a = trace.samples
        by_speed = sum((x[3] - trace.rest_speed) * (y[0] - x[0]) for x, y in zip(a[:-1], a[1:], strict=True))
        if abs(by_speed / turn) > 2 * over:
            raise Abort(
                Verdict.RANGE,
                f"its velocities add up to {math.degrees(by_speed / turn):.1f} deg while its positions say "
                f"{math.degrees(moved):.1f}: position or velocity range is wrong",
            )
    if abs(torque * turn) > plan.torque:
        raise Abort(
            Verdict.OVER_TORQUE,
            f"{abs(torque * turn):.1f} N m after {math.degrees(moved):.1f} deg and {t:.2f} s, {plan.torque:.1f} allowed: "
            "it is held by something (end stop, cable, wrong sign towards an end stop)",
        )
