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
from tools.bring_up.witness import Pairs, witness_of

AGREE = 5  # samples in a row that must agree before anything moves
AT_REST = 0.3  # rad/s at the joint: slower counts as still
PATIENCE = 1.0  # s to come to rest, each attempt
ENOUGH, LEAST = 20, 0.005  # samples, and rad of motion at the motor, to compare velocities with positions
LOST = 10  # samples in a row without an answer
DRIVE_KD = 5.0  # N m s/rad, the most that MIT-mode drives take


class AbortError(Exception):
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
    by_speed: float = 0.0  # rad at the joint that the velocities add up to
    samples: list[tuple[float, float, float, float, float]] = field(default_factory=list)  # t, target, p, v, torque
    pairs: Pairs = field(default_factory=Pairs)  # what the drive's second encoder says beside it, if it has one

    def array(self) -> np.ndarray:
        """(samples, 5)."""
        return np.array(self.samples).reshape(-1, 5)

    @property
    def travelled(self) -> float:
        """Rad at the end of the way out."""
        p = self.array()[:, 2] - self.rest
        return float(p[np.argmax(np.abs(p))]) if len(p) else 0.0

    def speed_ratio(self) -> float:
        """Way by the reported velocities over way by the positions: 1 where both ranges are right; NaN: unknown.

        Fitted over out and back, with a constant error of the velocity (a drive's 0 is half a quantum off).
        """
        a = self.array()
        if len(a) < ENOUGH or np.ptp(a[:, 2]) < LEAST:
            return math.nan
        way = np.concatenate(([0.0], np.cumsum(0.5 * (a[1:, 3] + a[:-1, 3]) * np.diff(a[:, 0]))))
        columns = np.column_stack((way, a[:, 0], np.ones(len(a))))
        scale = float(np.linalg.lstsq(columns, a[:, 2], rcond=None)[0][0])
        return 1.0 / scale if abs(scale) > 1e-3 else math.nan


def start(bench: Bench, joint: int) -> tuple[float, float]:
    """(position, velocity at rest), motor side, of a motor in motor mode with zero gains; AbortError."""
    start_up = bench.bus.start
    still = AT_REST * bench.wires[joint].ratio * AGREE * bench.dt  # rad at the motor within AGREE samples
    settle = max(1, round(start_up.settle / bench.dt))
    why = "no reply"
    for _ in range(start_up.retries):
        position = math.nan
        good: list[Sample] = []
        bench.exchange(joint, False, position)  # zero gains first: a drive may run its last command again at enter
        for k in range(settle + round(PATIENCE / bench.dt)):
            sample = bench.exchange(joint, True, position)
            if sample.faults:
                raise AbortError(Verdict.ERROR, sample.faults)
            if not sample.valid:
                why, good = sample.why, []
                continue
            position = sample.position
            if k < settle:
                continue
            good.append(sample)
            last = good[-AGREE:]
            if len(good) >= AGREE and max(s.position for s in last) - min(s.position for s in last) < still:
                return float(np.mean([s.position for s in last])), float(np.mean([s.velocity for s in last]))
            if len(good) >= AGREE:
                why = "it moves: hold the leg still"
        for _ in range(3):
            bench.exchange(joint, False, position)
    raise AbortError(
        Verdict.ERROR, f"no believable sample in {start_up.retries} attempts ({why}): check its cable and id"
    )


def move(bench: Bench, joint: int, plan: Plan, on_sample: Callable[[Trace], None] = lambda trace: None) -> Trace:
    """Out, hold, back, off; AbortError carries on after the motor is off, with the trace as `trace`.

    A drive with a second word on its position is asked for it before, in the middle of a hold, and after.
    """
    trace = Trace()
    try:
        trace.rest, trace.rest_speed = start(bench, joint)
        look = _look(bench, joint, trace) if plan.hold else lambda reported: None
        look(trace.rest)
        _out_and_back(bench, joint, plan, trace, on_sample, look)
        if trace.samples:
            look(trace.samples[-1][2])
    except AbortError as abort:
        abort.trace = trace  # type: ignore[attr-defined]
        raise
    finally:
        bench.off()
    return trace


def _look(bench: Bench, joint: int, trace: Trace) -> Callable[[float], None]:
    """Takes a reported position and asks the second encoder at once."""
    found = witness_of(bench, joint)
    if found is None:
        return lambda reported: None
    trace.pairs.source, ask = found
    return lambda reported: trace.pairs.add(reported, ask())


def _out_and_back(
    bench: Bench, joint: int, plan: Plan, trace: Trace, on_sample: Callable[[Trace], None],
    look: Callable[[float], None],
) -> None:  # fmt: skip
    wire = bench.wires[joint]
    scaled = bench.bus.spine is None or bench.bus.spine.scaled_gains
    turn, square = wire.sign * wire.ratio, wire.ratio**2 if scaled else 1.0
    kp, kd = plan.kp / square, min(plan.kd / square, DRIVE_KD)
    begin, missed, looked = bench.now, 0, False
    while (t := bench.now - begin) < 2 * plan.up + plan.hold:
        if t < plan.up:
            share = 0.5 - 0.5 * math.cos(math.pi * t / plan.up)
        else:
            share = 0.5 + 0.5 * math.cos(math.pi * min(1.0, max(0.0, t - plan.up - plan.hold) / plan.up))
        target = trace.rest + turn * plan.travel * share
        s = bench.exchange(joint, True, target, 0.0, kp, kd)
        if s.faults:
            raise AbortError(Verdict.ERROR, s.faults)
        missed = 0 if s.valid else missed + 1
        if missed > LOST:
            raise AbortError(Verdict.ERROR, f"lost while moving: {s.why}")
        if s.valid:
            torque = s.torque if bench.torque_measured else kp * (target - s.position) - kd * s.velocity
            trace.samples.append((s.time - begin, target, s.position, s.velocity, torque))
            _watch(plan, turn, trace)
            on_sample(trace)
            if not looked and t >= plan.up + 0.5 * plan.hold:
                looked = True
                look(s.position)


def _watch(plan: Plan, turn: float, trace: Trace) -> None:
    """Over-travel and torque, joint side."""
    t, _, p, _, torque = trace.samples[-1]
    over = plan.over or 1.5 * abs(plan.travel) + 0.05
    moved = (p - trace.rest) / turn
    trace.torque_most = max(trace.torque_most, abs(torque * turn))
    if abs(moved) > over:
        way = "the way it was sent" if moved * plan.travel > 0 else "AGAINST the way it was sent"
        raise AbortError(
            Verdict.OVER_TRAVEL,
            f"went {math.degrees(moved):.1f} deg, {way}, of {math.degrees(plan.travel):.1f} asked"
            + ("" if moved * plan.travel > 0 else ": the drive's own phase order or encoder direction is wrong"),
        )
    if len(trace.samples) > 1:
        before = trace.samples[-2]
        trace.by_speed += (before[3] - trace.rest_speed) * (t - before[0]) / turn
        if abs(trace.by_speed) > 2 * over:
            raise AbortError(
                Verdict.RANGE,
                f"its velocities add up to {math.degrees(trace.by_speed):.1f} deg while its positions say "
                f"{math.degrees(moved):.1f}: position or velocity range is wrong",
            )
    if abs(torque * turn) > plan.torque:
        raise AbortError(
            Verdict.OVER_TORQUE,
            f"{abs(torque * turn):.1f} N m after {math.degrees(moved):.1f} deg, {plan.torque:.1f} allowed: "
            "it is held by something (end stop, cable, wrong sign towards an end stop)",
        )
