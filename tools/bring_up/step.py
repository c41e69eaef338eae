"""Step `step JOINT`: one joint moved a little, one person who looks. Finds what no encoder can know (which joint
moved, which way, how far: swapped nodes, inverted signs, wrong ratios) and wrong ranges (velocity against position).
"""

from __future__ import annotations

import math

import numpy as np

from procs.model.legs import leg_kinematics
from procs.model.robot import Robot
from procs.wire.mit_motors import MOTORS
from tools.bring_up.ask import Asker
from tools.bring_up.bench import Bench
from tools.bring_up.motion import AbortError, Plan, Trace, move
from tools.bring_up.session import Record, Verdict
from tools.bring_up.wiring import NEAR, fitting_drives, known_ratio, place

TRAVEL = 0.15  # rad at the joint
UP = 0.5  # s out, and as long back
TORQUE = 0.2  # of the joint's limit: abort
STIFFNESS = 0.25  # of the joint's torque limit per travel
DAMPING = 1 / 60  # s: kd over kp
REACHED = 0.5  # of the travel: less is "did not move"
RANGE = 0.15  # by which velocities may add up to another way than the positions
WAYS = (("forward", "backward"), ("left", "right"), ("up", "down"))
POINTS = 120  # of a trace in the session file


def ways(robot: Robot, joint: int) -> tuple[str, str]:
    """Where the foot goes for a rising and for a falling angle, with the legs straight down."""
    for q in (np.zeros(robot.num_joints), robot.pose("stand")):
        d = leg_kinematics(q, robot.chains)[1][joint // 3, :, joint % 3]
        axis = int(np.argmax(np.abs(d)))
        if abs(d[axis]) > 0.02:
            return WAYS[axis] if d[axis] > 0 else WAYS[axis][::-1]
    return "counter-clockwise seen from above", "clockwise seen from above"


def plan_for(robot: Robot, joint: int, travel: float = TRAVEL, hold: float = 0.5) -> Plan:
    """Towards the middle of the joint's range, seen from legs straight down, at low gain."""
    middle = 0.5 * (robot.q_lower[joint] + robot.q_upper[joint])
    kp = STIFFNESS * float(robot.tau_max[joint]) / abs(travel)
    most = float(robot.tau_max[joint])
    return Plan(math.copysign(travel, middle or 1.0), kp, DAMPING * kp, TORQUE * most, up=UP, hold=hold)


def step(bench: Bench, asker: Asker, name: str, travel: float = TRAVEL, hold: float = 0.5) -> Record:
    """Move a joint and judge."""
    robot = bench.robot
    joint = robot.joint_names.index(name)
    plan, at = plan_for(robot, joint, travel, hold), place(robot, bench.wires, joint)
    what = (
        f"{name}: motor {' '.join(map(str, at))} (line, id) by {math.degrees(plan.travel):+.1f} deg and back, kp "
        f"{plan.kp:.0f} N m/rad, stop at {plan.torque:.1f} N m. Legs hang straight down, hands off."
    )
    if not asker.consent(f"step.{name}.transmit", what):
        return Record("step", name, Verdict.REFUSED, "not moved")
    try:
        trace = move(bench, joint, plan)
    except AbortError as abort:
        return _aborted(bench, joint, plan, abort)
    data = measured(trace, bench.wires[joint].sign * bench.wires[joint].ratio, plan)
    share = data["travelled"] / plan.travel
    if abs(share) < REACHED:
        went = f"went {math.degrees(data['travelled']):.1f} of {math.degrees(plan.travel):.1f} deg"
        words = f"{went}: blocked (an end stop that a wrong sign leads to?), or no torque"
        return Record("step", name, Verdict.STILL, words, data)
    return _witness(bench, asker, joint, data, trace.pairs.judge(_gear_words(bench, joint)))


def _gear_words(bench: Bench, joint: int) -> str:
    drive = bench.wires[joint].drive
    gear = f" ({MOTORS[drive].gear:g}:1 by the table)" if drive in MOTORS else ""
    return f"the gear that the drive is set to{gear} or its output encoder's ratio is wrong"


def measured(trace: Trace, turn: float, plan: Plan) -> dict:
    """Numbers and a thinned trace for the session file; joint side by the wiring believed."""
    a = trace.array()
    thin = a[:: max(1, len(a) // POINTS)]
    ratio = trace.speed_ratio()
    return {
        "asked": plan.travel, "travelled": trace.travelled / turn, "motor_travelled": trace.travelled,
        "torque_most": trace.torque_most, "speed_ratio": None if math.isnan(ratio) else ratio,
        "second": trace.pairs.source, "pairs": [[round(p, 5), round(w, 5)] for p, w in trace.pairs.at],
        "trace": [[round(t, 4), round((g - trace.rest) / turn, 5), round((p - trace.rest) / turn, 5)]
                  for t, g, p, _, _ in thin.tolist()],
    }  # fmt: skip


def _aborted(bench: Bench, joint: int, plan: Plan, abort: AbortError) -> Record:
    name, wire = bench.robot.joint_names[joint], bench.wires[joint]
    trace = getattr(abort, "trace", Trace())
    data = measured(trace, wire.sign * wire.ratio, plan)
    words = abort.words
    if abort.verdict is Verdict.RANGE and data["speed_ratio"]:
        words += _candidates(fitting_drives(wire.drive, data["speed_ratio"]))
    return Record("step", name, abort.verdict, words, data)


def _candidates(drives: list[str]) -> str:
    return f"; fits {', '.join(drives)}" if drives else "; fits no drive of the table: see the firmware's manual"


def _witness(bench: Bench, asker: Asker, joint: int, data: dict, second: tuple[Verdict, str] | None) -> Record:
    """What the person saw, against what the motor says; `second`: what its two encoders disagree about."""
    robot = bench.robot
    names = robot.joint_names
    name = names[joint]
    seen = asker.text(f"step.{name}.moved", "Which joint moved?", [*names, "none"], name)
    if seen == "none":
        words = "the motor says it moved, no joint did: coupling, belt or gear loose, or a motor that is not built in"
        return Record("step", name, Verdict.STILL, words, data)
    moved = names.index(seen)
    plus, minus = ways(robot, moved)
    way = asker.text(
        f"step.{name}.direction", f"Which way did the foot of {seen.split('.')[0]} go first?", [plus, minus]
    )
    degrees = asker.text(f"step.{name}.degrees", f"By how many degrees did {seen} turn (empty: not measured)?")
    try:
        angle = abs(math.radians(float(degrees))) if degrees else None
    except ValueError:
        return Record("step", name, Verdict.UNCLEAR, f"{degrees!r} degrees: want a number", data)
    motor = data["motor_travelled"]
    sign = (1 if motor > 0 else -1) * (1 if way == plus else -1)
    found = {"place": list(place(robot, bench.wires, joint)), "joint": seen, "sign": sign, "ratio": None, "drive": None}
    data |= {"found": found, "seen": seen, "way": way, "degrees": None if angle is None else math.degrees(angle)}
    problems = [] if second is None else [second]
    if moved != joint:
        problems.append((Verdict.SWAPPED, f"the motor wired as {name} moves {seen}: {_swap(bench, joint, moved)}"))
    _judge_range(bench, joint, data, angle, problems)
    expected = bench.wires[moved]
    if angle and found["drive"] is None and not any(v in (Verdict.RANGE, Verdict.SLIP) for v, _ in problems):
        ratio = abs(motor) / angle
        data["measured_ratio"] = ratio
        found["ratio"] = known_ratio(robot, moved, ratio)
        if abs(ratio / expected.ratio - 1) > NEAR:
            words = f"{ratio:.3f} motor turns per turn of {seen}, wiring says {expected.ratio:.3f}"
            problems.append((Verdict.RATIO, f"{words}: {found['ratio']:.4g} goes into the overlay"))
    if sign != expected.sign and moved == joint:
        problems.append((Verdict.SIGN, f"the foot went {way}: sign {expected.sign:+d} of {seen} must be {sign:+d}"))
    if not problems:
        how = "" if angle is None else f", {math.degrees(angle):.1f} deg seen"
        words = f"{seen} went {way}{how}, {math.degrees(abs(data['travelled'])):.1f} deg by the motor"
        if angle is None:
            words += "; ratio not measured"
        if len(data["pairs"]) == 3:
            words += f"; {data['second']} agrees"
        return Record("step", name, Verdict.OK, words, data)
    return Record("step", name, problems[0][0], "; ".join(words for _, words in problems), data)


def _swap(bench: Bench, joint: int, moved: int) -> str:
    spine = bench.bus.spine is not None
    if spine and joint % 3 != moved % 3:
        return (
            "step the others too, the overlay puts it right by `slot`; better exchange the drives' CAN ids or plugs, "
            "since the board's own soft stops and belts belong to the slots"
        )
    return "step the others too, the overlay puts line and id right (or exchange the ids)"


def _judge_range(
    bench: Bench, joint: int, data: dict, angle: float | None, problems: list[tuple[Verdict, str]]
) -> None:
    """Velocities that do not add up to the way: one of the two ranges is not the drive's."""
    speeds, wire = data["speed_ratio"], bench.wires[joint]
    if speeds is None or abs(speeds - 1) <= RANGE:
        return
    travels = None if angle is None else angle * wire.ratio / abs(data["motor_travelled"])
    fits = fitting_drives(wire.drive, speeds, travels) or fitting_drives(wire.drive, speeds)
    words = f"velocities add up to {speeds:.2f} of the way that positions say: drive is not {wire.drive}"
    problems.append((Verdict.RANGE, words + _candidates(fits)))
    if len(fits) == 1:
        data["found"]["drive"] = fits[0]
