"""Mass properties beyond the description's links: reflected rotors and a payload, written into the URDF.

PyBullet reads only the diagonal of a URDF inertia, and drops one that breaks the triangle inequality, as a link with
its reflected rotor does. So the URDF gets the principal axes, with all moments raised by the same amount; after loading
the true moments are set on these axes. The link's tensor is then exact.
Approximation: Bullet has no rotor bodies, so the reflected inertia n^2 I acts on the link's turning in space. Exact
would be n^2 I on the joint's rate, n I on the coupling and I on the parent's turning: the whole robot is thus harder to
roll and pitch by the sum of its n^2 I (Mini Cheetah: 12 %), and a swinging leg reacts more on the body.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pybullet as p

from config.inertials import combine, rpy_matrix
from config.scenario import Payload
from config.urdf import link_name, matrix_rpy, principal
from procs.model.motor import rotor_inertia
from procs.model.robot import Robot
from procs.model.rotations import quat_to_matrix

KEYS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")


def link_names(robot: Robot) -> dict[str, int]:
    """URDF link name -> joint number in the robot's order."""
    chain = robot.description.legs.chain
    names = [link_name(leg, joint.name) for leg in robot.leg_names for joint in chain]
    return {name: k for k, name in enumerate(names)}


def read_inertial(link: ET.Element) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass kg, centre (3,) m, inertia (3, 3) kg m^2 about it, in the link's axes, of a URDF link."""
    inertial = link.find("inertial")
    if inertial is None:
        raise ValueError(f"link {link.get('name')} has no inertial")
    origin, mass, moments = (inertial.find(tag) for tag in ("origin", "mass", "inertia"))
    if mass is None or moments is None:
        raise ValueError(f"link {link.get('name')}: inertial without mass or inertia")
    numbers = {key: float(moments.get(key, "0")) for key in KEYS}
    tensor = np.array([[numbers["i" + "".join(sorted(a + b))] for b in "xyz"] for a in "xyz"])
    place = origin if origin is not None else ET.Element("origin")
    com, rpy = (np.array([float(v) for v in place.get(key, "0 0 0").split()]) for key in ("xyz", "rpy"))
    R = rpy_matrix(rpy)
    return float(mass.get("value", "0")), com, R @ tensor @ R.T


def write_inertial(link: ET.Element, mass: float, com: np.ndarray, tensor: np.ndarray) -> None:
    """Replace the inertial of a URDF link; its frame is turned to the principal axes."""
    old = link.find("inertial")
    if old is not None:
        link.remove(old)
    inertial = ET.SubElement(link, "inertial")
    moments, R = principal(tensor)
    xyz, rpy = (" ".join(repr(float(v)) for v in values) for values in (com, matrix_rpy(R)))
    ET.SubElement(inertial, "origin", xyz=xyz, rpy=rpy)
    ET.SubElement(inertial, "mass", value=repr(float(mass)))
    values = (*moments, 0, 0, 0)
    ET.SubElement(inertial, "inertia", {key: repr(float(v)) for key, v in zip(KEYS, values, strict=True)})


def prepare(text: str, robot: Robot, payload: Payload, rotors: bool) -> tuple[str, dict[str, np.ndarray]]:
    """URDF text for PyBullet, and the true inertia tensor (3, 3) of each link by name (link axes, about its centre)."""
    root = ET.fromstring(text)
    joints = link_names(robot)
    tensors = {}
    for link in root.iter("link"):
        name = str(link.get("name"))
        mass, com, tensor = read_inertial(link)
        if name == "body" and payload.mass > 0:
            part = (payload.mass, np.array(payload.at), np.zeros((3, 3)))
            mass, com, tensor = combine([(mass, com, tensor), part])
        if name in joints and rotors:
            k = joints[name]
            axis = robot.chains.axes[k // 3, k % 3]
            tensor = tensor + rotor_inertia(robot.actuators[k % 3]) * np.outer(axis, axis)
        tensors[name] = tensor
        write_inertial(link, mass, com, tensor + np.eye(3) * np.linalg.eigvalsh(tensor)[-1])
    return ET.tostring(root, encoding="unicode"), tensors


def set_moments(client: int, body: int, links: dict[str, int], tensors: dict[str, np.ndarray]) -> None:
    """Set the true principal moments of each link (name -> PyBullet's link index)."""
    for name, index in links.items():
        local = p.getDynamicsInfo(body, index, physicsClientId=client)[4]  # x y z w, principal axes in the link's axes
        R = quat_to_matrix(np.array([local[3], *local[:3]]))
        principal = R.T @ tensors[name] @ R
        rest = np.abs(principal - np.diag(np.diag(principal))).max()
        if rest > 1e-5 * np.trace(tensors[name]):
            raise RuntimeError(f"{name}: PyBullet's axes are not the principal ones, {rest:.3g} kg m^2 are left")
        p.changeDynamics(body, index, localInertiaDiagonal=np.diag(principal).tolist(), physicsClientId=client)
