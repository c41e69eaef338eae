"""Robot: everything the processes need from the description, as frozen arrays."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from config import inertials
from config.schema import Actuator, RobotDescription
from procs.model.legs import Chains, leg_kinematics
from procs.model.rotations import axis_angle


def _frozen(values: object) -> np.ndarray:
    array = np.ascontiguousarray(values, dtype=float)
    array.setflags(write=False)
    return array


class Robot:
    """A robot of any number of legs. Joint arrays are leg-major; body frame x forward, y left, z up."""

    def __init__(self, description: RobotDescription) -> None:
        self.description = description
        self.name = description.name
        legs = description.legs
        self.num_legs = len(legs.placed)
        self.num_joints = 3 * self.num_legs
        self.leg_names = tuple(leg.name for leg in legs.placed)
        self.joint_names = tuple(f"{leg}.{j.name}" for leg in self.leg_names for j in legs.chain)
        self.dt = 1.0 / description.control.rate
        self.foot_radius = legs.foot_radius
        self.chains = self._chains()
        self.q_lower = self.per_joint([j.limits[0] for j in legs.chain])
        self.q_upper = self.per_joint([j.limits[1] for j in legs.chain])
        self.tau_max = self.per_joint([a.torque_max for a in self.actuators])
        self.qd_max = self.per_joint([a.velocity_max for a in self.actuators])

    @property
    def actuators(self) -> tuple[Actuator, Actuator, Actuator]:
        """The three drives of a leg."""
        a, b, c = (self.description.actuators[j.actuator] for j in self.description.legs.chain)
        return a, b, c

    def per_joint(self, triple: object) -> np.ndarray:
        """(3,) for a leg -> (num_joints,), frozen."""
        return _frozen(np.tile(np.asarray(triple, dtype=float), self.num_legs))

    def pose(self, name: str) -> np.ndarray:
        """Joint angles (num_joints,) of a pose in control.poses."""
        poses = self.description.control.poses
        if name not in poses:
            raise KeyError(f"{self.name}: no pose {name!r} in control.poses, there are {', '.join(sorted(poses))}")
        triples = poses[name]
        return _frozen(np.ravel(triples if len(triples) == self.num_legs else list(triples) * self.num_legs))

    def _chains(self) -> Chains:
        legs = self.description.legs
        origins, axes = [], []
        for leg in legs.placed:
            side = inertials.side(leg)
            # The first joint's origin is part of the mount, so that feet are relative to the first joint.
            origins.append([np.zeros(3), *(side * j.origin for j in legs.chain[1:])])
            axes.append([np.asarray(j.axis) / np.linalg.norm(j.axis) for j in legs.chain])
        mounts = [inertials.joint_mount(self.description, leg) for leg in range(self.num_legs)]
        position, rotation = [p for p, _ in mounts], [R for _, R in mounts]
        foot = [inertials.side(leg) * legs.foot for leg in legs.placed]
        return Chains(_frozen(position), _frozen(rotation), _frozen(origins), _frozen(axes), _frozen(foot))

    def link_inertials(self, leg: int) -> list[inertials.MassProperties]:
        """Mass, centre (3,), inertia (3, 3) about it, of a leg's three links in link axes, with the rotors each
        carries and the foot."""
        return inertials.link_inertials(self.description, leg)

    def body_inertial(self) -> inertials.MassProperties:
        """Mass, centre (3,), inertia (3, 3) of the trunk with the rotors of all first joints."""
        return inertials.body_inertial(self.description)

    def composite(self, q: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Mass kg, centre of mass (3,) m and inertia (3, 3) about it, body axes, of the whole robot at q."""
        parts = [self.body_inertial()]
        for leg in range(self.num_legs):
            R = self.chains.mount_rotation[leg]
            at = self.chains.mount_position[leg]
            for j, (mass, com, inertia) in enumerate(self.link_inertials(leg)):
                at = at + R @ self.chains.origins[leg, j]
                R = R @ axis_angle(self.chains.axes[leg, j], float(q[3 * leg + j]))
                parts.append((mass, at + R @ com, R @ inertia @ R.T))
        return inertials.combine(parts)

    def joint_inertia(self, q: np.ndarray) -> np.ndarray:
        """Diagonal joint-space inertia (num_joints,) kg m^2 at q: the links beyond each joint and the geared rotor."""
        out = np.zeros(self.num_joints)
        for leg in range(self.num_legs):
            R, at = self.chains.mount_rotation[leg], np.zeros(3)
            axes, places = [], []
            for j, (mass, com, inertia) in enumerate(self.link_inertials(leg)):
                at = at + R @ self.chains.origins[leg, j]
                axes.append(R @ self.chains.axes[leg, j])
                places.append(at)
                R = R @ axis_angle(self.chains.axes[leg, j], float(q[3 * leg + j]))
                for k in range(j + 1):
                    arm = np.cross(axes[k], at + R @ com - places[k])
                    out[3 * leg + k] += axes[k] @ R @ inertia @ R.T @ axes[k] + mass * arm @ arm
        return _frozen(out + self.per_joint([a.gear**2 * a.rotor_inertia for a in self.actuators]))

    @cached_property
    def mass(self) -> float:
        """Total mass, kg."""
        return self.composite(self.pose("stand"))[0]

    @cached_property
    def stand_feet(self) -> np.ndarray:
        """Foot centres (L, 3) relative to the first joints in the stand pose, m."""
        return _frozen(leg_kinematics(self.pose("stand"), self.chains)[0])
