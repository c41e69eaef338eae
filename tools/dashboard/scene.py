"""Scene: what the state says, in 3D. To follow the robot the frame moves on which all hangs, not the camera."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import viser

from procs.model.robot import Robot
from tools.dashboard.figure import STALE_RGB, Figure
from tools.dashboard.meshes import half_size, ring
from tools.dashboard.model import Model
from tools.dashboard.state import Contact, Pose, State

FOOT_RGB: dict[Contact, tuple[int, int, int]] = {
    "stance": (64, 200, 110),  # planned and felt
    "planned": (245, 160, 40),  # planned, not felt: no ground where it should be
    "felt": (220, 70, 220),  # felt, not planned: ground where none should be
    "swing": (90, 130, 210),
    "unknown": (90, 92, 96),
}
FORCE_RGB, PATH_RGB, STEP_RGB, TRAIL_RGB = (80, 220, 120), (255, 150, 50), (255, 190, 90), (120, 170, 255)
GHOST = ((90, 220, 255), 0.2)
WEIGHT_LENGTH = 0.55  # m of arrow for a force of the robot's weight, per m of nominal height / 0.3
TRAIL, TRAIL_STEP = 8.0, 0.1  # s kept, s between points
SAME = (0.006, 0.02)  # m, rad
NOWHERE = np.zeros((0, 3))


class Scene:
    """The live robot and what is known about it. `shown` switches layers."""

    def __init__(self, server: viser.ViserServer, robot: Robot) -> None:
        scene = server.scene
        self.robot, self.model = robot, Model(robot.description)
        self.size = robot.description.control.nominal_height / 0.3
        self.follow = True
        self.shown = {"ghost": True, "forces": True, "plan": True, "trail": True}
        self._world = scene.add_frame("/world", show_axes=False)
        self._offset = np.zeros(3)
        add_ground(scene, "/world/ground")
        self.figure = Figure(scene, "/world/robot", self.model)
        self._ghost = Figure(scene, "/world/ghost", self.model, ghost=GHOST)
        self._ghost.root.visible = False
        self._here = scene.add_frame(
            "/world/here", show_axes=False
        )  # goes with the body: a slow browser moves it at once
        self._forces = self._arrows(scene, "/world/here/forces", FORCE_RGB)
        self._path = self._lines(scene, "/world/path", PATH_RGB, 4.0)
        self._trail = self._lines(scene, "/world/trail", TRAIL_RGB, 2.0)
        self._steps = self._discs(scene)
        self._points: deque[tuple[float, np.ndarray]] = deque()
        self._feet: list[tuple[int, int, int]] = [FOOT_RGB["unknown"]] * robot.num_legs
        self._force_per_newton = WEIGHT_LENGTH * self.size / (robot.mass * 9.81)
        set_camera(server, robot, self.model)

    def _arrows(self, scene: viser.SceneApi, name: str, rgb: tuple[int, int, int]) -> Any:
        s = 0.006 * self.size
        return scene.add_arrows(
            name, np.zeros((1, 2, 3)), rgb, shaft_radius=s, head_radius=2.4 * s, head_length=5 * s, visible=False
        )

    @staticmethod
    def _lines(scene: viser.SceneApi, name: str, rgb: tuple[int, int, int], thickness: float) -> Any:
        return scene.add_line_segments(
            name, np.zeros((1, 2, 3)), rgb, thickness=thickness, thickness_units="screen", visible=False
        )

    def _discs(self, scene: viser.SceneApi) -> Any:
        disc = ring(1.3 * self.robot.foot_radius + 0.004)
        n = self.robot.num_legs
        return scene.add_batched_meshes_simple(
            "/world/footsteps", disc.vertices, disc.faces, np.tile((1.0, 0, 0, 0), (n, 1)),
            np.zeros((n, 3)), batched_colors=STEP_RGB, cast_shadow=False, receive_shadow=False, visible=False,
        )  # fmt: skip

    def update(self, state: State, now: float) -> None:
        """Draw the present state; what is stale is grey, or not there."""
        pose = state.pose(now)
        self.figure.root.visible = pose is not None
        if pose is None:
            return
        self.figure.place(pose.position, pose.quat)
        self.figure.bend(pose.q)
        self.figure.grey(pose.stale)
        self._place_ghost(state, pose, now)
        self._colour_feet(state, pose, now)
        self._draw_forces(state, pose, now)
        above = pose.position[2] - state.ground(pose) - 0.004
        self._draw_plan(state, above, now)
        self._draw_trail(pose, above, now)
        if self.follow:
            self._move_world(np.array([-pose.position[0], -pose.position[1], 0.0]))

    def _move_world(self, offset: np.ndarray) -> None:
        if np.abs(offset - self._offset).max() > 1e-4:
            self._offset = offset
            self._world.position = offset

    def _place_ghost(self, state: State, pose: Pose, now: float) -> None:
        truth = state.truth(now) if self.shown["ghost"] else None
        if truth is not None and same_place(pose, *truth):
            truth = None
        self._ghost.root.visible = truth is not None
        if truth is not None:
            self._ghost.place(*truth)
            self._ghost.bend(pose.q)

    def _colour_feet(self, state: State, pose: Pose, now: float) -> None:
        contacts = state.contacts(now)
        for leg, handle in enumerate(self.figure.feet):
            rgb = STALE_RGB if pose.stale else FOOT_RGB[contacts[leg]]
            if rgb != self._feet[leg]:
                self._feet[leg] = rgb
                handle.color = rgb

    def _draw_forces(self, state: State, pose: Pose, now: float) -> None:
        points, forces = state.forces(now, pose) if self.shown["forces"] else (NOWHERE, NOWHERE)
        here = np.array([pose.position[0], pose.position[1], 0.0])
        self._here.position = here
        arrows = force_arrows(points - here, forces, self._force_per_newton)
        self._forces.visible = len(arrows) > 0
        if len(arrows):
            self._forces.points = arrows

    def _draw_plan(self, state: State, above: float, now: float) -> None:
        plan = state.prediction(now) if self.shown["plan"] else None
        self._path.visible = self._steps.visible = plan is not None
        if plan is not None:
            path, steps = plan
            self._path.points = segments(path - (0, 0, above))
            self._steps.batched_positions = steps + (0, 0, 0.002)

    def _draw_trail(self, pose: Pose, above: float, now: float) -> None:
        points, here = self._points, pose.position - (0, 0, above)
        if points and np.linalg.norm(here - points[-1][1]) > 1.0:  # a new run: the robot is somewhere else
            points.clear()
        grown = not pose.stale and (not points or now - points[-1][0] >= TRAIL_STEP)
        if grown:
            points.append((now, here))
            while points[0][0] < now - TRAIL:
                points.popleft()
        self._trail.visible = self.shown["trail"] and len(points) > 1
        if grown and self._trail.visible:
            self._trail.points = segments(np.array([p for _, p in points]))


def same_place(pose: Pose, position: np.ndarray, quat: np.ndarray) -> bool:
    """True if a ghost would only lie over the robot like a mist."""
    angle = 2 * np.arccos(min(1.0, abs(float(np.dot(pose.quat, quat)))))
    return bool(np.abs(position - pose.position).max() < SAME[0] and angle < SAME[1])


def segments(points: np.ndarray) -> np.ndarray:
    """A polyline (n, 3) as segments (n - 1, 2, 3)."""
    return np.stack((points[:-1], points[1:]), axis=1)


def force_arrows(points: np.ndarray, forces: np.ndarray, per_newton: float, least: float = 0.02) -> np.ndarray:
    """Arrows (k, 2, 3) m that end in the feet's contact points; forces shorter than `least` m are left out."""
    lengths = per_newton * forces
    there = np.linalg.norm(lengths, axis=1) > least
    return np.stack((points[there], points[there] + lengths[there]), axis=1)


def add_ground(scene: viser.SceneApi, name: str) -> None:
    """Grid of 0.1 m and 0.5 m; without shadows, which cost a browser without a graphics card more than all the rest."""
    scene.configure_default_lights(cast_shadow=False)
    scene.add_grid(
        name, infinite_grid=True, cell_size=0.1, section_size=0.5, cell_color=(44, 47, 52),
        section_color=(70, 74, 82), cell_thickness=0.6, section_thickness=1.0, fade_distance=9.0, fade_strength=2.0,
        shadow_opacity=0.0,
    )  # fmt: skip


def set_camera(server: viser.ViserServer, robot: Robot, model: Model) -> None:
    """From the front right, a little above, with the whole robot in view."""
    height = robot.description.control.nominal_height
    reach = float(np.abs(robot.chains.mount_position[:, :2] + robot.stand_feet[:, :2]).max())
    far = 2.9 * max(reach, height, float(half_size(model)[0]))
    server.initial_camera.fov = np.radians(45.0)
    server.initial_camera.look_at = (0.0, 0.0, 0.55 * height)
    server.initial_camera.position = (far * 1.0, -far * 1.2, 0.55 * height + 0.7 * far)
