"""Meshes of a robot's links from the shapes of its URDF: one merged mesh per link, feet apart (they change colour)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import trimesh

from tools.dashboard.model import FOOT, Link, Model, Shape

SEGMENTS = 20  # around round shapes
HOUSING = (1.55, 1.9)  # radius and length of a joint's housing over the radius of the link's capsule
LEAST_HOUSING = 0.016  # m
HOUSING_RGB = (52, 56, 62)
HEADING_RGB = (240, 190, 60)


@dataclass(frozen=True)
class Mesh:
    """Triangles in the link's frame."""

    vertices: np.ndarray  # (V, 3) m
    faces: np.ndarray  # (F, 3)
    rgb: tuple[int, int, int]


def link_mesh(link: Link) -> Mesh | None:
    """All shapes of a link but the foot, merged; None if there are none."""
    shapes = [s for s in link.shapes if s.material != FOOT]
    return _merged([_primitive(s) for s in shapes], shapes[0].rgb) if shapes else None


def housing_mesh(link: Link, radius: float) -> Mesh:
    """A cylinder about the axis of a link's joint, for the eye: there sits the drive."""
    cylinder = trimesh.creation.cylinder(radius=radius, height=HOUSING[1] * radius, sections=2 * SEGMENTS)
    cylinder.apply_transform(trimesh.geometry.align_vectors((0, 0, 1), link.axis))
    return _merged([cylinder], HOUSING_RGB)


def foot_shape(link: Link) -> tuple[np.ndarray, float] | None:
    """Centre (3,) m and radius m of the foot in the link's frame."""
    for shape in link.shapes:
        if shape.material == FOOT:
            return shape.position, shape.sizes["radius"][0]
    return None


def housing_radius(model: Model) -> float:
    """m, of the joints' housings: in proportion to the thickest leg link."""
    radii = [s.sizes["radius"][0] for link in model.links for s in link.shapes if s.kind == "capsule"]
    return max(LEAST_HOUSING, HOUSING[0] * max(radii, default=0.0))


def heading_mesh(model: Model) -> Mesh:
    """A small wedge on the front of the body: where x points."""
    half = half_size(model)
    tip, base = half[0] * 1.0 + 0.25 * half[1], half[0] * 0.85
    width, z = 0.55 * half[1], half[2] * 1.02
    top = [(base, -width, z), (base, width, z), (tip, 0.0, z)]
    bottom = [(x, y, z - 0.5 * half[2]) for x, y, z in top]
    vertices = np.array(top + bottom)
    hull = trimesh.convex.convex_hull(vertices)
    return Mesh(np.asarray(hull.vertices), np.asarray(hull.faces), HEADING_RGB)


def half_size(model: Model) -> np.ndarray:
    """(3,) m, half the body's box."""
    shape = model.body.shapes[0]
    if shape.kind == "box":
        return 0.5 * np.array(shape.sizes["size"])
    radius, length = shape.sizes["radius"][0], shape.sizes["length"][0]
    return np.array([radius, radius, 0.5 * length])


def ring(radius: float) -> Mesh:
    """A flat ring that marks a place on the ground."""
    mesh = trimesh.creation.annulus(r_min=0.55 * radius, r_max=radius, height=0.002)
    return Mesh(np.asarray(mesh.vertices), np.asarray(mesh.faces), HEADING_RGB)


def _primitive(shape: Shape) -> trimesh.Trimesh:
    sizes = {key: value[0] for key, value in shape.sizes.items()}
    if shape.kind == "box":
        mesh = trimesh.creation.box(extents=shape.sizes["size"])
    elif shape.kind == "cylinder":
        mesh = trimesh.creation.cylinder(radius=sizes["radius"], height=sizes["length"], sections=2 * SEGMENTS)
    elif shape.kind == "capsule":
        mesh = trimesh.creation.capsule(radius=sizes["radius"], height=sizes["length"], count=[SEGMENTS, SEGMENTS])
        mesh.apply_translation((0, 0, -0.5 * (mesh.bounds[0][2] + mesh.bounds[1][2])))  # centred, as in the URDF
    else:
        mesh = trimesh.creation.icosphere(subdivisions=2, radius=sizes["radius"])
    transform = np.eye(4)
    transform[:3, :3], transform[:3, 3] = shape.rotation, shape.position
    mesh.apply_transform(transform)
    return mesh


def _merged(parts: list[trimesh.Trimesh], rgb: tuple[int, int, int]) -> Mesh:
    mesh: Any = trimesh.util.concatenate(parts) if len(parts) > 1 else parts[0]
    return Mesh(np.asarray(mesh.vertices), np.asarray(mesh.faces), rgb)
