"""What the types cannot say about a robot: each check takes sections and yields problems."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from config.bus import Bus
from config.inertials import inertia_matrix
from config.problems import Absent, Problem
from config.schema import Actuator, Body, Control, Inertial, Legs, Recover, RobotDescription, Sim

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
NEEDED_POSES = ("down", "stand")


def check(description: RobotDescription) -> list[Problem]:
    """Everything wrong with a description of the right shape."""
    return check_sections(dict(description))


def check_sections(sections: Mapping[str, Any]) -> list[Problem]:
    """Runs each check whose sections are there; `sections` by name as in RobotDescription."""
    out: list[Problem] = []
    for names, function in CHECKS:
        if all(name in sections for name in names):
            out += function(*(sections[name] for name in names))
    return out


def check_body(body: Body) -> Iterator[Problem]:
    """Trunk."""
    yield from _inertial("body", body)


def check_legs(legs: Legs) -> Iterator[Problem]:
    """Chain and mounts."""
    for i, joint in enumerate(legs.chain):
        path = f"legs.chain.{i}"
        yield from _inertial(f"{path}.link", joint.link)
        yield from _ordered(f"{path}.limits", joint.limits)
        length = float(np.linalg.norm(joint.axis))
        if abs(length - 1) > 1e-6:
            yield Problem(f"{path}.axis", joint.axis, f"want a unit vector (within 1e-6), its length is {length:g}")
    yield from _names("legs.chain", [j.name for j in legs.chain], "joint")
    yield from _names("legs.placed", [leg.name for leg in legs.placed], "leg")
    if np.linalg.norm(legs.foot) <= legs.foot_radius:
        yield Problem("legs.foot", legs.foot, f"want a centre beyond foot_radius {legs.foot_radius} from the joint")
    radius = legs.chain[2].capsule_radius
    if radius > legs.foot_radius:
        yield Problem("legs.chain.2.capsule_radius", radius, f"want at most foot_radius {legs.foot_radius}")


def check_actuators(legs: Legs, actuators: dict[str, Actuator]) -> Iterator[Problem]:
    """Drives and who uses them."""
    for i, joint in enumerate(legs.chain):
        if joint.actuator not in actuators:
            yield Problem(f"legs.chain.{i}.actuator", joint.actuator, f"want one of {', '.join(actuators)}")
    for name, actuator in actuators.items():
        most = actuator.gear * actuator.motor_torque_max
        if actuator.torque_max > most * (1 + 1e-9):
            want = f"want at most gear * motor_torque_max = {most:g}"
            yield Problem(f"actuators.{name}.torque_max", actuator.torque_max, want)


def check_poses(legs: Legs, control: Control) -> Iterator[Problem]:
    """Poses of control and recover against legs and joint limits."""
    names = [leg.name for leg in legs.placed]
    for name in NEEDED_POSES:
        if name not in control.poses:
            yield Problem(f"control.poses.{name}", Absent("missing"), f"required: {', '.join(NEEDED_POSES)}")
    for name, triples in control.poses.items():
        path = f"control.poses.{name}"
        if len(triples) not in (1, len(names)):
            yield Problem(path, triples, f"want 1 triple for all legs or {len(names)}, one per leg")
        for i, triple in enumerate(triples):
            yield from _within_limits(f"{path}.{i}", triple, legs)
    if control.recover is not None:
        yield from _recover(control.recover, names, legs)


def check_gaits(legs: Legs, control: Control) -> Iterator[Problem]:
    """Gaits against the number of legs and each other."""
    count, gaits = len(legs.placed), control.gaits
    if control.default_gait not in gaits:
        yield Problem("control.default_gait", control.default_gait, f"want one of {', '.join(gaits)}")
    for name, gait in gaits.items():
        path = f"control.gaits.{name}"
        if len(gait.offsets) != count:
            yield Problem(f"{path}.offsets", gait.offsets, f"want {count} numbers, one per leg")
        if gait.vx is not None:
            yield from _ordered(f"{path}.vx", gait.vx)


def check_limits(control: Control) -> Iterator[Problem]:
    """Command ranges and heights."""
    limits = control.limits
    for name in ("vx", "vy", "yaw_rate", "height", "roll", "pitch"):
        pair = getattr(limits, name)
        yield from _ordered(f"control.limits.{name}", pair)
        if name != "height" and not pair[0] <= 0 <= pair[1]:
            yield Problem(f"control.limits.{name}", pair, "want a range that holds 0")
    low, high = limits.height
    heights = {"control.nominal_height": control.nominal_height}
    heights |= {f"control.gaits.{n}.height": g.height for n, g in control.gaits.items() if g.height is not None}
    for path, height in heights.items():
        if not low <= height <= high:
            yield Problem(path, height, f"want within control.limits.height {low}..{high}")


def check_sim(control: Control, sim: Sim) -> Iterator[Problem]:
    """Start and rates of the simulator."""
    if sim.start.pose not in control.poses:
        yield Problem("sim.start.pose", sim.start.pose, f"want one of {', '.join(control.poses)}")
    ratio = sim.rate / control.rate
    if ratio < 1 or abs(ratio - round(ratio)) > 1e-9:
        yield Problem("sim.rate", sim.rate, f"want a whole multiple of control.rate {control.rate:g}")


def check_bus(legs: Legs, bus: Bus | None) -> Iterator[Problem]:
    """Wiring against joints and buses; the rest of the bus is checked by the bridge, which knows the protocols."""
    if bus is None:
        return
    if (bus.spine is None) == (bus.can is None):
        yield Problem("bus", Absent("spine and can"), "want one of them")
        return
    joints = [f"{leg.name}.{joint.name}" for leg in legs.placed for joint in legs.chain]
    if set(bus.wiring) != set(joints):
        yield Problem("bus.wiring", sorted(set(bus.wiring) ^ set(joints)), "want exactly the robot's joints")
        return
    lines = len(bus.spine.boards) if bus.spine is not None else len(bus.can.buses) if bus.can is not None else 0
    seen: dict[tuple[int, int, int], str] = {}
    for i, name in enumerate(joints):
        wire = bus.wiring[name]
        if wire.line >= lines:
            yield Problem(f"bus.wiring.{name}.line", wire.line, f"want 0..{lines - 1}")
        if bus.spine is not None and wire.id > 1:
            yield Problem(f"bus.wiring.{name}.id", wire.id, "want the leg's place on its board, 0 or 1")
        if bus.spine is None and wire.slot is not None:
            yield Problem(
                f"bus.wiring.{name}.slot", wire.slot, "only SPIne boards have slots; on CAN the id says it all"
            )
        key = wire.place(i) if bus.spine is not None else (wire.line, wire.id, 0)
        if key in seen:
            slot = f", slot {key[2]}" if wire.slot is not None else ""
            yield Problem(f"bus.wiring.{name}", f"line {wire.line}, id {wire.id}{slot}", f"taken by {seen[key]}")
        seen[key] = name
    if bus.spine is not None and len(legs.placed) != 2 * lines:
        yield Problem("bus.spine.boards", f"{lines} boards", f"want {len(legs.placed) / 2:g}, two legs each")
    low, high = bus.voltage_range
    if not low < high:
        yield Problem("bus.voltage_range", bus.voltage_range, "want lower < upper")


CHECKS: tuple[tuple[tuple[str, ...], Any], ...] = (
    (("body",), check_body),
    (("legs",), check_legs),
    (("legs", "actuators"), check_actuators),
    (("legs", "control"), check_poses),
    (("legs", "control"), check_gaits),
    (("control",), check_limits),
    (("control", "sim"), check_sim),
    (("legs", "bus"), check_bus),
)


def _inertial(path: str, inertial: Inertial) -> Iterator[Problem]:
    moments = np.linalg.eigvalsh(inertia_matrix(inertial))
    shown = ", ".join(f"{m:.4g}" for m in moments)
    if moments[0] <= 0:
        yield Problem(f"{path}.inertia", inertial.inertia, f"want positive definite, principal moments are {shown}")
    elif moments[2] > (moments[0] + moments[1]) * (1 + 1e-9):
        want = f"want each principal moment <= the sum of the others, they are {shown}"
        yield Problem(f"{path}.inertia", inertial.inertia, want)


def _ordered(path: str, pair: tuple[float, float]) -> Iterator[Problem]:
    if not pair[0] < pair[1]:
        yield Problem(path, pair, "want lower < upper")


def _names(path: str, names: Iterable[str], what: str) -> Iterator[Problem]:
    seen: set[str] = set()
    for i, name in enumerate(names):
        if not NAME.fullmatch(name):
            yield Problem(f"{path}.{i}.name", name, "want letters, digits and _, a letter first")
        if name in seen:
            yield Problem(f"{path}.{i}.name", name, f"want a {what} name not used before")
        seen.add(name)


def _within_limits(path: str, triple: tuple[float, float, float], legs: Legs) -> Iterator[Problem]:
    for joint, angle in zip(legs.chain, triple, strict=True):
        low, high = joint.limits
        if not low <= angle <= high:
            yield Problem(path, triple, f"want {joint.name} within {low}..{high}")


def _recover(recover: Recover, names: list[str], legs: Legs) -> Iterator[Problem]:
    if set(recover.roll) != set(names):
        yield Problem("control.recover.roll", sorted(recover.roll), f"want one pose for each of {', '.join(names)}")
    for name, triple in recover.roll.items():
        yield from _within_limits(f"control.recover.roll.{name}", triple, legs)
