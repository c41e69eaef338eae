"""What the steps taught about the wiring: findings per node in, the corrected wiring of all joints out. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from config.bus import JointWiring
from procs.bridge.build import wires_of
from procs.model.robot import Robot
from procs.wire.mit_motors import MOTORS
from tools.bring_up.session import Session

NEAR = 0.15  # a measured ratio this near to a known one is that one: a person's angle is not better
NEAR_RANGE = 0.07


def place(robot: Robot, wires: Sequence[JointWiring], joint: int) -> tuple[int, ...]:
    """Name of the motor that a joint is wired to: line, id, on SPIne boards also which of the leg."""
    wire = wires[joint]
    on_board = robot.description.bus is not None and robot.description.bus.spine is not None
    return wire.place(joint) if on_board else (wire.line, wire.id)


def findings(session: Session) -> dict[tuple[int, ...], dict]:
    """Newest finding of each motor place: joint moved, sign, ratio (None: not measured), drive (None: as described)."""
    out: dict[tuple[int, ...], dict] = {}
    for record in session.records:
        found = record.data.get("found")
        if record.step == "step" and found:
            out[tuple(found["place"])] = found
    return out


def corrected(robot: Robot, session: Session) -> list[JointWiring]:
    """Wiring in joint order. Motors nobody has watched yet stay where they are, or fill what is left."""
    base, names = wires_of(robot), list(robot.joint_names)
    found = findings(session)
    owner = {tuple(place(robot, base, j)): j for j in range(len(base))}  # place -> joint of the description
    taken: dict[int, tuple[int, ...]] = {}
    for at, seen in found.items():
        joint = names.index(seen["joint"])
        if at in owner:
            taken[joint] = at
    for joint in range(len(base)):  # on a board a leg hangs together
        legs = {at[:2] for j, at in taken.items() if j // 3 == joint // 3 and len(at) == 3}
        whole = (*legs.pop(), place(robot, base, joint)[2]) if len(legs) == 1 else None
        if whole is not None and joint not in taken and whole not in taken.values():
            taken[joint] = whole
    free = [at for at in owner if at not in taken.values()]
    for joint in range(len(base)):
        own = tuple(place(robot, base, joint))
        if joint not in taken and own in free:
            taken[joint] = own
            free.remove(own)
    for joint in range(len(base)):
        if joint not in taken:
            taken[joint] = _likeliest(free, tuple(place(robot, base, joint)))
            free.remove(taken[joint])
    out = []
    for joint, wire in enumerate(base):
        at = taken[joint]
        there, what = base[owner[at]], found.get(at, {})
        update: dict[str, object] = {"line": there.line, "id": there.id, "drive": there.drive}
        if len(at) == 3:
            update["slot"] = None if at[2] == joint % 3 else at[2]
        if what.get("joint") == names[joint]:
            update["sign"] = what["sign"]
            if what.get("ratio"):
                update["ratio"] = what["ratio"]
            if what.get("drive"):
                update["drive"] = what["drive"]
        for record in session.latest("zero", names[joint]):
            if "offset" in record.data and record.data.get("place") == list(at):
                update["offset"] = record.data["offset"]
        out.append(wire.model_copy(update=update))
    return out


def _likeliest(free: Sequence[tuple[int, ...]], own: tuple[int, ...]) -> tuple[int, ...]:
    """Where a motor may be whose place is taken; on boards rather at its own slot in another leg than at another."""
    return min(free, key=lambda at: (at[2:] != own[2:], at[:2] != own[:2]) if len(own) == 3 else (False, False))


def known_ratio(robot: Robot, joint: int, measured: float) -> float:
    """The described ratio that a measured one means, else the measured one."""
    wires = wires_of(robot)
    ratios = [wires[joint].ratio, *sorted({w.ratio for w in wires})]
    near = [r for r in ratios if abs(measured / r - 1) < NEAR]
    return min(near, key=lambda r: abs(math.log(measured / r))) if near else round(measured, 3)


def fitting_drives(drive: str, speed_ratio: float, travel_ratio: float | None = None) -> list[str]:
    """Drive types whose ranges explain that velocities add up to `speed_ratio` of the way (and that the true way was
    `travel_ratio` of the reported one)."""
    mine = MOTORS.get(drive)
    if mine is None:
        return []
    out = []
    for name, other in MOTORS.items():
        speeds = (other.position / other.velocity) / (mine.position / mine.velocity)
        travels = other.position / mine.position
        fits = abs(speed_ratio / speeds - 1) < NEAR_RANGE
        if fits and (travel_ratio is None or abs(travel_ratio / travels - 1) < NEAR):
            out.append(name)
    return out
