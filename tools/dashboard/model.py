"""The robot to draw, read from its URDF: links with their joints and shapes, and the joints' rotations at a pose."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np

from config.inertials import rpy_matrix
from config.schema import RobotDescription
from config.urdf import urdf
from procs.model.rotations import quat_multiply, rpy_to_quat

FOOT = "foot"  # the URDF's material of what touches the ground


@dataclass(frozen=True)
class Shape:
    """One primitive of a link, placed in the link's frame."""

    kind: str  # box, cylinder, capsule, sphere
    sizes: dict[str, tuple[float, ...]]  # m
    material: str
    rgb: tuple[int, int, int]
    position: np.ndarray  # (3,) m
    rotation: np.ndarray  # (3, 3)


@dataclass(frozen=True)
class Link:
    """A link and the joint that moves it (the body has none: `joint` is empty)."""

    name: str
    parent: str
    joint: str
    position: np.ndarray  # (3,) m, joint in the parent's frame
    quat: np.ndarray  # (4,) w x y z, link axes in the parent's at angle 0
    axis: np.ndarray  # (3,) unit, link frame
    limits: tuple[float, float]  # rad
    shapes: tuple[Shape, ...]


class Model:
    """All links, the body first, then joint by joint in the robot's order."""

    def __init__(self, description: RobotDescription) -> None:
        root = ElementTree.fromstring(urdf(description))
        colours = {m.attrib["name"]: _rgb(m[0].attrib["rgba"]) for m in root.findall("material")}
        shapes = {
            link.attrib["name"]: tuple(_shape(v, colours) for v in link.findall("visual"))
            for link in root.findall("link")
        }
        zero, one = np.zeros(3), np.array([1.0, 0, 0, 0])
        self.body = Link("body", "", "", zero, one, zero, (0.0, 0.0), shapes["body"])
        self.links = tuple(_link(j, shapes) for j in root.findall("joint"))
        self.joint_names = tuple(link.joint for link in self.links)

    def quats(self, q: np.ndarray) -> list[np.ndarray]:
        """Orientation (4,) of each moving link in its parent's frame at joint angles q (num_joints,) rad."""
        half = 0.5 * q
        cos, sin = np.cos(half), np.sin(half)
        return [
            quat_multiply(link.quat, np.array([cos[i], *(sin[i] * link.axis)])) for i, link in enumerate(self.links)
        ]

    def limit_violations(self, q: np.ndarray) -> list[bool]:
        """True for each joint that is at or beyond a limit."""
        return [
            not link.limits[0] + 1e-9 < angle < link.limits[1] - 1e-9 for link, angle in zip(self.links, q, strict=True)
        ]


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(v) for v in text.split())


def _rgb(rgba: str) -> tuple[int, int, int]:
    r, g, b = (round(255 * v) for v in _numbers(rgba)[:3])
    return r, g, b


def _shape(visual: ElementTree.Element, colours: dict[str, tuple[int, int, int]]) -> Shape:
    origin, geometry, material = visual.find("origin"), visual.find("geometry"), visual.find("material")
    assert origin is not None and geometry is not None and material is not None
    primitive, name = geometry[0], material.attrib["name"]
    sizes = {key: _numbers(value) for key, value in primitive.attrib.items()}
    position, rotation = np.array(_numbers(origin.attrib["xyz"])), rpy_matrix(_numbers(origin.attrib["rpy"]))
    return Shape(primitive.tag, sizes, name, colours[name], position, rotation)


def _link(joint: ElementTree.Element, shapes: dict[str, tuple[Shape, ...]]) -> Link:
    found = {child.tag: child.attrib for child in joint}
    axis = np.array(_numbers(found["axis"]["xyz"]))
    return Link(
        name=found["child"]["link"],
        parent=found["parent"]["link"],
        joint=joint.attrib["name"],
        position=np.array(_numbers(found["origin"]["xyz"])),
        quat=rpy_to_quat(np.array(_numbers(found["origin"]["rpy"]))),
        axis=axis / np.linalg.norm(axis),
        limits=(float(found["limit"]["lower"]), float(found["limit"]["upper"])),
        shapes=shapes[found["child"]["link"]],
    )
