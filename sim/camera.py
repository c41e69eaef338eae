"""Pictures of a running SimPlant without a display.

They are taken of a copy of the scene in a PyBullet client of its own: the physics never sees that it is watched. The
copy keeps the robot over its origin and moves the ground instead, since the renderer's shadows lie around the origin.
"""

from __future__ import annotations

import math
import os
import tempfile
from xml.etree import ElementTree

import numpy as np
import pybullet as p

from config.urdf import urdf
from procs.model.robot import Robot
from sim.plant import SimPlant
from sim.terrain import Ground

VIEWS = ("tracking", "side", "top", "leg")
WIDTH, HEIGHT = 640, 480  # pixels
TILE = 0.25  # m, edge of the ground's squares
TILES = 32  # squares seen along x and y; even
LIGHT, DARK = (0.94, 0.94, 0.91, 1.0), (0.70, 0.76, 0.77, 1.0)
BLOCKS = ((0.86, 0.82, 0.74, 1.0), (0.72, 0.67, 0.58, 1.0))  # steps and tiles, in turn
LEFT, RIGHT, BODY, HUB, FOOT = (
    "0.13 0.42 0.75 1",
    "0.90 0.45 0.10 1",
    "0.25 0.27 0.31 1",
    "0.42 0.44 0.48 1",
    "0.08 0.08 0.08 1",
)
HUBS = (0.085, 0.095, 0.055)  # radius of the round joints per size of the robot
RANGE = (0.03, 40.0)  # m; from 0.06 m on the renderer darkens all ground
FOLLOW = 0.2  # s, how long the camera takes to follow
SHUTTER = {
    "shadow": 1,
    "lightDirection": (1.0, -1.6, 4.0),
    "lightDistance": 10.0,  # m; nearer, and the ground beyond the light's own picture is dark
    "lightAmbientCoeff": 0.5,
    "lightDiffuseCoeff": 0.5,
    "lightSpecularCoeff": 0.0,
    "renderer": p.ER_TINY_RENDERER,
    "flags": p.ER_NO_SEGMENTATION_MASK,
}


class Camera:
    """A camera that follows the robot. `view`: tracking (from a fixed direction), side, top, leg (the first one)."""

    def __init__(self, plant: SimPlant, view: str = "tracking") -> None:
        if view not in VIEWS:
            raise ValueError(f"no camera {view!r}, there are {', '.join(VIEWS)}")
        self.plant, self.robot, self.view = plant, plant.robot, view
        legs = self.robot.description.legs
        lengths = [math.dist((0, 0, 0), v) for v in (legs.chain[1].origin, legs.chain[2].origin, legs.foot)]
        mounts = [leg.mount.xyz for leg in legs.placed]
        self.mount = np.array(mounts[0], float)
        self.reach = max(math.hypot(x, y) for x, y, _ in mounts) + 0.5 * sum(lengths)  # m, the robot's size
        self.lens = p.computeProjectionMatrixFOV(34.0, WIDTH / HEIGHT, *RANGE)
        self.client = -1
        self.last: tuple[float, np.ndarray, float] | None = None  # time, target and heading of the last picture

    def picture(self, t: float) -> np.ndarray:
        """The plant as of its last sample, at time t: RGB (HEIGHT, WIDTH, 3) bytes."""
        if self.client < 0:
            self._build()
        position, quat, _v, _omega = self.plant.base
        self._pose(position, quat)
        eye, target, up = self._aim(t, position, quat)
        look = p.computeViewMatrix((eye - self.middle).tolist(), (target - self.middle).tolist(), up)
        image = p.getCameraImage(WIDTH, HEIGHT, look, self.lens, physicsClientId=self.client, **SHUTTER)[2]
        return np.asarray(image, dtype=np.uint8).reshape(HEIGHT, WIDTH, 4)[:, :, :3].copy()

    def close(self) -> None:
        """Release the copy."""
        if self.client >= 0:
            p.disconnect(physicsClientId=self.client)
            self.client = -1

    def _build(self) -> None:
        if self.plant.world is None:
            raise RuntimeError("the plant's start() comes first")
        self.client = p.connect(p.DIRECT)
        if self.client < 0:
            raise RuntimeError("PyBullet gives no client; too many are open")
        self.engine = {"physicsClientId": self.client}
        handle, path = tempfile.mkstemp(suffix=".urdf")
        try:
            with os.fdopen(handle, "w") as file:
                file.write(dressed(urdf(self.robot.description), self.robot, self.reach))
            self.body = p.loadURDF(path, flags=p.URDF_USE_INERTIA_FROM_FILE, **self.engine)
        finally:
            os.unlink(path)
        infos = [p.getJointInfo(self.body, i, **self.engine) for i in range(p.getNumJoints(self.body, **self.engine))]
        index = {info[1].decode(): info[0] for info in infos}
        self.joints = [index[name] for name in self.robot.joint_names]
        self.com, self.principal = p.getDynamicsInfo(self.body, -1, **self.engine)[3:5]
        self.ground = self.plant.world.ground
        self.floor = [self._squares(parity, rgba) for parity, rgba in enumerate((LIGHT, DARK))]
        self.blocks = self._blocks(self.ground)

    def _squares(self, parity: int, rgba: tuple[float, ...]) -> int:
        """Every other square of the ground as one body."""
        corners: list[list[float]] = []
        faces: list[int] = []
        for i in range(-TILES // 2, TILES // 2):
            for j in range(-TILES // 2, TILES // 2):
                if (i + j) % 2 == parity:
                    n = len(corners)
                    corners += [[TILE * (i + a), TILE * (j + b), 0.0] for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
                    faces += [n, n + 1, n + 2, n, n + 2, n + 3]
        up = [[0.0, 0.0, 1.0]] * len(corners)
        mesh = {"vertices": corners, "indices": faces, "normals": up, "rgbaColor": rgba}
        shape = p.createVisualShape(p.GEOM_MESH, **mesh, **self.engine)
        return p.createMultiBody(0, -1, shape, **self.engine)

    def _blocks(self, ground: Ground) -> list[tuple[int, np.ndarray]]:
        """Bodies of the terrain but its plane, with their places."""
        plane, *bodies = ground.build(self.client)
        p.removeBody(plane, **self.engine)
        for k, body in enumerate(bodies):
            for _, link, *_ in p.getVisualShapeData(body, **self.engine):
                p.changeVisualShape(body, link, rgbaColor=BLOCKS[k % 2], **self.engine)
        return [(body, np.array(p.getBasePositionAndOrientation(body, **self.engine)[0])) for body in bodies]

    def _pose(self, position: np.ndarray, quat: np.ndarray) -> None:
        """Move the copy to where the plant is."""
        self.middle = np.array([position[0], position[1], self.ground.height(position[0], position[1])])
        for joint, angle in zip(self.joints, self.plant.q, strict=True):
            p.resetJointState(self.body, joint, angle, 0.0, **self.engine)
        at, turn = (position - self.middle).tolist(), np.roll(quat, -1).tolist()
        at, turn = p.multiplyTransforms(at, turn, self.com, self.principal)
        p.resetBasePositionAndOrientation(self.body, at, turn, **self.engine)
        turned = np.roll(self.ground.start_quat, -1).tolist()  # x y z w
        along = p.multiplyTransforms((0, 0, 0), p.invertTransform((0, 0, 0), turned)[1], self.middle, (0, 0, 0, 1))
        shift = 2 * TILE * np.round(np.array(along[0])[:2] / (2 * TILE))
        corner = np.array(p.multiplyTransforms((0, 0, 0), turned, (*shift, 0.0), (0, 0, 0, 1))[0])
        for body in self.floor:
            p.resetBasePositionAndOrientation(body, (corner - self.middle).tolist(), turned, **self.engine)
        for body, place in self.blocks:
            p.resetBasePositionAndOrientation(body, (place - self.middle).tolist(), (0, 0, 0, 1), **self.engine)

    def _aim(self, t: float, position: np.ndarray, quat: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[float]]:
        """Eye and target, m, world, and the direction that is up in the picture."""
        w, x, y, z = quat
        heading = math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
        target = position.copy()
        if self.view == "leg":  # half as high as its higher joint
            links = p.getLinkStates(self.body, self.joints[1:3], computeForwardKinematics=1, **self.engine)
            target[2] = self.middle[2] + 0.5 * max(link[4][2] for link in links)
        if self.last is not None:
            before, at, turned = self.last
            share = 1.0 - math.exp(-max(0.0, t - before) / FOLLOW)
            target = at + share * (target - at)
            heading = turned + share * math.remainder(heading - turned, 2 * math.pi)
        self.last = (t, target, heading)
        c, s = math.cos(heading), math.sin(heading)
        ahead, left, up = np.array([c, s, 0.0]), np.array([-s, c, 0.0]), np.array([0.0, 0.0, 1.0])
        if self.view == "top":
            return target + 4.2 * self.reach * up, target, [1.0, 0.0, 0.0]
        if self.view == "leg":
            target = target + self.mount[0] * ahead + self.mount[1] * left
            out = math.copysign(1.0, self.mount[1]) * left
            return target + self.reach * (2.3 * out + 0.9 * ahead + 0.5 * up), target, [0.0, 0.0, 1.0]
        target = target - 0.2 * self.reach * up
        if self.view == "side":
            return target - 3.4 * self.reach * left + 0.7 * self.reach * up, target, [0.0, 0.0, 1.0]
        return target + self.reach * np.array([-1.7, -3.2, 1.6]), target, [0.0, 0.0, 1.0]


def dressed(text: str, robot: Robot, reach: float) -> str:
    """The URDF for the eye: left and right legs differ, joints are round, the renderer's coarse capsules are gone."""
    root = ElementTree.fromstring(text)
    legs = {leg.name: leg.mount.xyz[1] for leg in robot.description.legs.placed}
    colours = {"eye_left": LEFT, "eye_right": RIGHT, "eye_body": BODY, "eye_hub": HUB, "eye_foot": FOOT}
    for name, rgba in colours.items():
        ElementTree.SubElement(ElementTree.SubElement(root, "material", name=name), "color", rgba=rgba)
    for link in root.findall("link"):
        leg, _, joint = link.get("name", "").rpartition("_")
        colour = "eye_body" if leg not in legs else "eye_left" if legs[leg] >= 0 else "eye_right"
        for visual in link.findall("visual"):
            geometry = visual.find("geometry")
            capsule = None if geometry is None else geometry.find("capsule")
            if capsule is not None:
                capsule.tag = "cylinder"
            material = visual.find("material")
            if material is not None:
                material.set("name", "eye_foot" if material.get("name") == "foot" else colour)
        if leg in legs:
            order = [c.name for c in robot.description.legs.chain].index(joint)
            hub = ElementTree.SubElement(link, "visual")
            ElementTree.SubElement(
                ElementTree.SubElement(hub, "geometry"), "sphere", radius=str((0.1, 0.1, 0.06)[order] * reach)
            )
            ElementTree.SubElement(hub, "material", name="eye_hub" if order < 2 else colour)
    return ElementTree.tostring(root, encoding="unicode")
