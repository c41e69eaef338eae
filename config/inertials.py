"""Mass properties of a description's links, rotors and foot lumped in: (mass kg, centre m (3,), inertia kg m^2 (3, 3)
about the centre), in the link's frame."""

from __future__ import annotations

import numpy as np

from config.schema import Inertial, LegMount, RobotDescription

MassProperties = tuple[float, np.ndarray, np.ndarray]
MIRROR = np.array([1.0, -1.0, 1.0])


def rpy_matrix(rpy: object) -> np.ndarray:
    """R (3, 3) = Rz(yaw) Ry(pitch) Rx(roll)."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(np.asarray(rpy, float)), np.sin(np.asarray(rpy, float))
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def side(leg: LegMount) -> np.ndarray:
    """Signs (3,) that place the shared chain on the leg's side."""
    return MIRROR if leg.mirror else np.ones(3)


def joint_mount(description: RobotDescription, leg: int) -> tuple[np.ndarray, np.ndarray]:
    """Position (3,) m of a leg's first joint in the body frame, and the leg's axes (3, 3) in body axes."""
    placed = description.legs.placed[leg]
    R = rpy_matrix(placed.mount.rpy)
    return np.asarray(placed.mount.xyz) + R @ (side(placed) * description.legs.chain[0].origin), R


def inertia_matrix(inertial: Inertial) -> np.ndarray:
    """(3, 3) kg m^2 about the centre of mass."""
    xx, yy, zz, xy, xz, yz = inertial.inertia
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def steiner(mass: float, r: np.ndarray) -> np.ndarray:
    """(3, 3) inertia of a point mass at r (3,)."""
    return mass * (r @ r * np.eye(3) - np.outer(r, r))


def combine(parts: list[MassProperties]) -> MassProperties:
    """Mass, centre, inertia about the centre, of rigidly joined parts in common axes."""
    mass = sum(m for m, _, _ in parts)
    com = np.asarray(sum(m * c for m, c, _ in parts)) / mass
    inertia = np.asarray(sum(about + steiner(m, c - com) for m, c, about in parts))
    return mass, com, inertia


def link_inertials(description: RobotDescription, leg: int) -> list[MassProperties]:
    """A leg's three links in link axes, each with the next joint's rotor; the last with the foot."""
    legs = description.legs
    signs = side(legs.placed[leg])
    out = []
    for j, joint in enumerate(legs.chain):
        parts = [(joint.link.mass, np.asarray(joint.link.com, float), inertia_matrix(joint.link))]
        if j < 2 and legs.chain[j + 1].rotor.mass:
            rotor = legs.chain[j + 1].rotor
            parts.append((rotor.mass, np.asarray(rotor.at, float), np.zeros((3, 3))))
        if j == 2 and legs.foot_mass:
            sphere = 0.4 * legs.foot_mass * legs.foot_radius**2 * np.eye(3)
            parts.append((legs.foot_mass, np.asarray(legs.foot, float), sphere))
        mass, com, inertia = combine(parts)
        out.append((mass, com * signs, inertia * np.outer(signs, signs)))
    return out


def body_inertial(description: RobotDescription) -> MassProperties:
    """The trunk with the rotors of all first joints, body frame."""
    body, legs = description.body, description.legs
    parts = [(body.mass, np.asarray(body.com, float), inertia_matrix(body))]
    rotor = legs.chain[0].rotor
    if rotor.mass:
        for leg in legs.placed:
            local = side(leg) * (rotor.at if leg.rotor_at is None else leg.rotor_at)
            parts.append((rotor.mass, np.asarray(leg.mount.xyz) + rpy_matrix(leg.mount.rpy) @ local, np.zeros((3, 3))))
    return combine(parts)


def total_mass(description: RobotDescription) -> float:
    """kg, everything."""
    legs = range(len(description.legs.placed))
    return body_inertial(description)[0] + sum(m for leg in legs for m, _, _ in link_inertials(description, leg))
