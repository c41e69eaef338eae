"""Compares a description, its URDF as PyBullet understands it, and our kinematics."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pybullet as p

from config.inertials import MassProperties
from config.urdf import link_name, urdf
from procs.model.legs import leg_kinematics
from procs.model.robot import Robot
from procs.model.rotations import quat_to_matrix


class Loaded(NamedTuple):
    """A robot in a physics client of its own."""

    client: int
    body: int
    joints: dict[str, int]  # URDF joint name -> index, which is also the index of the link it moves
    links: dict[str, int]  # URDF link name -> index


@contextmanager
def loaded(robot: Robot, fixed: bool = False) -> Iterator[Loaded]:
    """The robot's URDF in a fresh PyBullet client; a fixed base has its frame at the origin and no mass."""
    client = p.connect(p.DIRECT)
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "robot.urdf"
            path.write_text(urdf(robot.description), encoding="utf-8")
            body = p.loadURDF(str(path), useFixedBase=fixed, flags=p.URDF_USE_INERTIA_FROM_FILE, physicsClientId=client)
        info = [p.getJointInfo(body, i, physicsClientId=client) for i in range(p.getNumJoints(body, client))]
        yield Loaded(client, body, {i[1].decode(): i[0] for i in info}, {i[12].decode(): i[0] for i in info})
    finally:
        p.disconnect(client)


def _matrix_of_xyzw(quaternion: tuple[float, ...]) -> np.ndarray:
    x, y, z, w = quaternion
    return quat_to_matrix(np.array([w, x, y, z]))


def bullet_inertial(world: Loaded, link: int) -> MassProperties:
    """Mass, centre (3,) m, inertia (3, 3) kg m^2 in link axes as PyBullet holds them (link -1: body)."""
    info = p.getDynamicsInfo(world.body, link, physicsClientId=world.client)
    R = _matrix_of_xyzw(info[4])
    return info[0], np.array(info[3]), R @ np.diag(info[2]) @ R.T


def expected_inertials(robot: Robot) -> dict[str, MassProperties]:
    """Link name -> mass properties of the description."""
    out = {"body": robot.body_inertial()}
    for leg, name in enumerate(robot.leg_names):
        for joint, properties in zip(robot.description.legs.chain, robot.link_inertials(leg), strict=True):
            out[link_name(name, joint.name)] = properties
    return out


def inertial_errors(robot: Robot) -> tuple[float, float, float]:
    """Largest differences between PyBullet and the description over all links: mass (relative), centre (m), inertia
    (relative to the link's largest entry)."""
    mass = centre = inertia = 0.0
    with loaded(robot) as world:
        for name, (m, c, tensor) in expected_inertials(robot).items():
            bullet_m, bullet_c, bullet_tensor = bullet_inertial(world, -1 if name == "body" else world.links[name])
            mass = max(mass, abs(bullet_m - m) / m)
            centre = max(centre, float(np.abs(bullet_c - c).max()))
            inertia = max(inertia, float(np.abs(bullet_tensor - tensor).max() / np.abs(tensor).max()))
    return mass, centre, inertia


def bullet_mass(robot: Robot) -> float:
    """kg of all links together, in PyBullet."""
    with loaded(robot) as world:
        return sum(bullet_inertial(world, link)[0] for link in (-1, *world.joints.values()))


def foot_error(robot: Robot, poses: int, seed: int = 1) -> float:
    """Largest distance (m) between PyBullet's and our foot spheres over random poses within the joint limits."""
    rng = np.random.default_rng(seed)
    worst = 0.0
    with loaded(robot, fixed=True) as world:
        indices = [world.joints[name] for name in robot.joint_names]
        for _ in range(poses):
            q = rng.uniform(robot.q_lower, robot.q_upper)
            for index, angle in zip(indices, q, strict=True):
                p.resetJointState(world.body, index, float(angle), physicsClientId=world.client)
            ours = robot.chains.mount_position + leg_kinematics(q, robot.chains)[0]
            for leg in range(robot.num_legs):
                state = p.getLinkState(
                    world.body, indices[3 * leg + 2], computeForwardKinematics=1, physicsClientId=world.client
                )
                foot = np.array(state[4]) + _matrix_of_xyzw(state[5]) @ robot.chains.foot[leg]
                worst = max(worst, float(np.linalg.norm(foot - ours[leg])))
    return worst
