"""Step `quantum JOINT`: the smallest steps in the numbers of a moving joint against 2 range / (2^n - 1).

A SPIne board decodes the drives' frames by its own table, so its quanta tell that table. A CAN frame is decoded here
with the described range, so there its quanta prove nothing: what proves it is that velocities add up to the way.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from procs.wire.mit_motors import MOTORS, P_BITS, SMALL_BITS
from procs.wire.spine_scotty import TORQUE_RANGE, TORQUE_TOP
from tools.bring_up.ask import Asker
from tools.bring_up.bench import Bench
from tools.bring_up.motion import AbortError, move
from tools.bring_up.session import Record, Verdict
from tools.bring_up.step import RANGE, measured, plan_for
from tools.bring_up.wiring import fitting_drives

NEAR = 0.02  # of a quantum
ENOUGH = 4  # different values of a stream


def smallest_step(values: NDArray[np.float64]) -> float | None:
    """The quantum that all differences are multiples of; None with too few different values."""
    slack = 4e-7 * float(np.abs(values).max(initial=0.0)) + 1e-9  # single precision on the wire
    levels = np.unique(values)
    levels = levels[np.concatenate(([True], np.diff(levels) > slack))] if len(levels) else levels
    if len(levels) < ENOUGH:
        return None
    gap = float(np.diff(levels).min())
    steps = np.rint((levels - levels[0]) / gap)
    return float(np.sum(steps * (levels - levels[0])) / np.sum(steps * steps))


def quantum(bench: Bench, asker: Asker, name: str) -> Record:
    """Move a joint as in `step` and look at its numbers."""
    robot = bench.robot
    joint = robot.joint_names.index(name)
    plan = plan_for(robot, joint, hold=0.0)
    if not asker.consent(f"quantum.{name}.transmit", f"{name}: moved as in its step, to read the grid of its numbers."):
        return Record("quantum", name, Verdict.REFUSED, "not moved")
    try:
        trace = move(bench, joint, plan)
    except AbortError as abort:
        return Record("quantum", name, abort.verdict, abort.words)
    a, wire = trace.array(), bench.wires[joint]
    found = [smallest_step(column) for column in a[:, 2:5].T]
    if not bench.torque_measured:
        found[2] = None
    numbers = measured(trace, wire.sign * wire.ratio, plan)
    data = {"steps": found, "speed_ratio": numbers["speed_ratio"], "samples": len(a)}
    on_board = bench.bus.spine is not None
    due = _described(bench, joint)
    data["expected"] = list(due)
    if on_board:
        return _judge_board(name, wire.drive, found, due, bench.torque_measured, data)
    speeds = numbers["speed_ratio"]
    if speeds is None:
        return Record("quantum", name, Verdict.UNCLEAR, "it hardly moved: nothing can be said", data)
    if abs(speeds - 1) > RANGE:
        fits = ", ".join(fitting_drives(wire.drive, speeds)) or "no drive of the table"
        words = f"velocities add up to {speeds:.2f} of the way, so {wire.drive} has other ranges; fits {fits}"
        return Record("quantum", name, Verdict.RANGE, words, data)
    return Record(
        "quantum", name, Verdict.OK, f"velocities add up to {speeds:.2f} of the way, steps {_text(found)}", data
    )


def _described(bench: Bench, joint: int) -> tuple[float, float, float]:
    """Quanta of position, velocity, torque that a stream should have, motor side; 0 where nothing is known."""
    wire = bench.wires[joint]
    if bench.bus.spine is None:
        return MOTORS[wire.drive].quanta if wire.drive in MOTORS else (0.0, 0.0, 0.0)
    drive = bench.robot.actuators[joint % 3]
    torque = 2 * TORQUE_RANGE / TORQUE_TOP if bench.torque_measured else 0.0
    return drive.position_quantum * wire.ratio, drive.velocity_quantum * wire.ratio, torque


def _judge_board(
    name: str, drive: str, found: list[float | None], due: tuple[float, float, float], torque: bool, data: dict
) -> Record:
    """Step by step."""
    streams = ("position", "velocity", "torque")[: 3 if torque else 2]
    wrong, unseen = [], []
    for stream, step, want in zip(streams, found, due, strict=False):
        if step is None:
            unseen.append(stream)
        elif want and abs(step / want - 1) > NEAR:
            wrong.append(f"{stream} goes in steps of {step:.6g}, described {want:.6g} (x {step / want:.3f})")
    if wrong:
        words = f"{'; '.join(wrong)}: {drive} is not what the board decodes"
        return Record("quantum", name, Verdict.RANGE, words + _board_drives(found), data)
    if "position" in unseen or "velocity" in unseen:
        return Record("quantum", name, Verdict.UNCLEAR, f"too few values of {', '.join(unseen)}: it hardly moved", data)
    return Record("quantum", name, Verdict.OK, f"steps {_text(found)} are the described ones", data)


def _board_drives(found: list[float | None]) -> str:
    position, velocity = found[:2]
    if position is None or velocity is None:
        return ""
    half = position * (2**P_BITS - 1) / 2, velocity * (2**SMALL_BITS - 1) / 2
    fits = [
        name for name, m in MOTORS.items()
        if abs(half[0] / m.position - 1) < NEAR and abs(half[1] / m.velocity - 1) < NEAR
    ]  # fmt: skip
    return f"; +-{half[0]:.4g} rad and +-{half[1]:.4g} rad/s fit {', '.join(fits) or 'no drive of the table'}"


def _text(steps: list[float | None]) -> str:
    units = ("rad", "rad/s", "N m")
    return ", ".join(f"{s:.4g} {u}" for s, u in zip(steps, units, strict=True) if s is not None)
