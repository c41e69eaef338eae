"""The URDF of a description: links `body`, `FR_abad`, ...; joints named as in the stack (`FR.abad`).

Link frames sit at the joints with the parent's axes at the zero pose. Inertial frames are principal ones (Bullet reads
only the diagonal), principal axis k being the one nearest to link axis k.
"""

from __future__ import annotations

from itertools import permutations
from xml.etree import ElementTree

import numpy as np

from config.inertials import MassProperties, body_inertial, joint_mount, link_inertials, side
from config.schema import RobotDescription

COLOURS = {"body": "0.35 0.38 0.42 1", "link0": "0.55 0.57 0.60 1", "link1": "0.16 0.45 0.70 1",
           "link2": "0.85 0.55 0.20 1", "foot": "0.10 0.10 0.10 1"}  # fmt: skip


def urdf(description: RobotDescription) -> str:
    """URDF text; SI units, numbers exact to the last bit."""
    robot = ElementTree.Element("robot", name=description.name)
    for name, rgba in COLOURS.items():
        ElementTree.SubElement(ElementTree.SubElement(robot, "material", name=name), "color", rgba=rgba)
    _body(robot, description)
    for leg in range(len(description.legs.placed)):
        _leg(robot, description, leg)
    ElementTree.indent(robot)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(robot, encoding="unicode") + "\n"


def link_name(leg: str, joint: str) -> str:
    """URDF name of the link that a joint moves."""
    return f"{leg}_{joint}"


def principal(inertia: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Principal moments (3,) kg m^2 and axes R (3, 3) with inertia = R diag(moments) R^T; R the one nearest to I."""
    moments, vectors = np.linalg.eigh(inertia)
    best, order = -np.inf * np.ones((3, 3)), [0, 1, 2]
    for permutation in permutations(range(3)):
        for signs in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            R = vectors[:, permutation] * (*signs, 1)
            R[:, 2] *= np.sign(np.linalg.det(R))
            if np.trace(R) > np.trace(best):
                best, order = R, list(permutation)
    return moments[order], best


def matrix_rpy(R: np.ndarray) -> np.ndarray:
    """Roll, pitch, yaw (3,) rad with R = Rz(yaw) Ry(pitch) Rx(roll)."""
    pitch = np.arctan2(-R[2, 0], np.hypot(R[2, 1], R[2, 2]))
    if np.hypot(R[2, 1], R[2, 2]) < 1e-9:  # roll and yaw turn about the same line: give all to yaw
        return np.array([0.0, pitch, np.arctan2(-R[0, 1], R[1, 1])])
    return np.array([np.arctan2(R[2, 1], R[2, 2]), pitch, np.arctan2(R[1, 0], R[0, 0])])


def _text(values: object) -> str:
    return " ".join(repr(float(v) + 0.0) for v in np.atleast_1d(np.asarray(values, float)))


def _origin(parent: ElementTree.Element, xyz: object, rpy: object = (0, 0, 0)) -> None:
    ElementTree.SubElement(parent, "origin", xyz=_text(xyz), rpy=_text(rpy))


def _inertial(link: ElementTree.Element, properties: MassProperties) -> None:
    mass, com, inertia = properties
    moments, R = principal(inertia)
    element = ElementTree.SubElement(link, "inertial")
    _origin(element, com, matrix_rpy(R))
    ElementTree.SubElement(element, "mass", value=_text(mass))
    xx, yy, zz = (_text(m) for m in moments)
    ElementTree.SubElement(element, "inertia", ixx=xx, iyy=yy, izz=zz, ixy="0.0", ixz="0.0", iyz="0.0")


def _shape(
    link: ElementTree.Element, kind: str, sizes: dict[str, object], colour: str, xyz: object, rpy: object
) -> None:
    """The same primitive for contact and for the eye."""
    for role in ("visual", "collision"):
        element = ElementTree.SubElement(link, role)
        _origin(element, xyz, rpy)
        geometry = ElementTree.SubElement(element, "geometry")
        ElementTree.SubElement(geometry, kind, {key: _text(value) for key, value in sizes.items()})
        if role == "visual":
            ElementTree.SubElement(element, "material", name=colour)


def _body(robot: ElementTree.Element, description: RobotDescription) -> None:
    body = description.body
    link = ElementTree.SubElement(robot, "link", name="body")
    _inertial(link, body_inertial(description))
    if body.shape == "box":
        _shape(link, "box", {"size": body.size}, "body", (0, 0, 0), (0, 0, 0))
    else:
        _shape(link, "cylinder", {"radius": body.size[0] / 2, "length": body.size[2]}, "body", (0, 0, 0), (0, 0, 0))


def _capsule(link: ElementTree.Element, end: np.ndarray, radius: float, cut: float, colour: str) -> None:
    """A capsule from the link's origin towards `end` (3,); `cut` m are left off at the end."""
    length = float(np.linalg.norm(end))
    core = length - cut  # between the centres of the half spheres
    if radius <= 0 or core <= 0:
        return
    direction = end / length
    pitch = np.arctan2(np.hypot(direction[0], direction[1]), direction[2])
    yaw = np.arctan2(direction[1], direction[0])
    _shape(link, "capsule", {"radius": radius, "length": core}, colour, direction * core / 2, (0, pitch, yaw))


def _leg(robot: ElementTree.Element, description: RobotDescription, leg: int) -> None:
    legs = description.legs
    placed = legs.placed[leg]
    signs = side(placed)
    parent = "body"
    properties = link_inertials(description, leg)
    for j, joint in enumerate(legs.chain):
        name = link_name(placed.name, joint.name)
        actuator = description.actuators[joint.actuator]
        hinge = ElementTree.SubElement(robot, "joint", name=f"{placed.name}.{joint.name}", type="revolute")
        if j == 0:
            _origin(hinge, joint_mount(description, leg)[0], placed.mount.rpy)
        else:
            _origin(hinge, signs * joint.origin)
        ElementTree.SubElement(hinge, "parent", link=parent)
        ElementTree.SubElement(hinge, "child", link=name)
        ElementTree.SubElement(hinge, "axis", xyz=_text(joint.axis))
        lower, upper = (_text(limit) for limit in joint.limits)
        effort, velocity = _text(actuator.torque_max), _text(actuator.velocity_max)
        ElementTree.SubElement(hinge, "limit", lower=lower, upper=upper, effort=effort, velocity=velocity)
        link = ElementTree.SubElement(robot, "link", name=name)
        _inertial(link, properties[j])
        if j < 2:
            _capsule(link, signs * legs.chain[j + 1].origin, joint.capsule_radius, 0.0, f"link{j}")
        else:
            foot = signs * legs.foot
            # The capsule's tip ends at the foot's centre: the sphere alone meets the ground.
            _capsule(link, foot, joint.capsule_radius, joint.capsule_radius, "link2")
            _shape(link, "sphere", {"radius": legs.foot_radius}, "foot", foot, (0, 0, 0))
        parent = name
