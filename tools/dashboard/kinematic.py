"""Kinematic mode: no bus, no physics. Sliders turn the joints; axes, limits and feet show whether signs are right."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import viser

from config.schema import RobotDescription
from procs.model.legs import leg_kinematics
from procs.model.robot import Robot
from tools.dashboard import style
from tools.dashboard.app import PANEL
from tools.dashboard.figure import Figure
from tools.dashboard.meshes import half_size
from tools.dashboard.model import Model
from tools.dashboard.page import set_changed
from tools.dashboard.scene import add_ground, set_camera
from tools.dashboard.state import feet_in_body
from tools.dashboard.stepping import Stepping

RATE = 25.0  # Hz
BEYOND = 0.25  # rad by which sliders reach over the limits, so that these can be seen
AXIS_RGB = ((255, 90, 90), (90, 220, 110), (90, 160, 255))  # first, second, third joint of a leg
LIMIT_RGB = (235, 60, 60)
FOOT_RGB = (240, 200, 80)
BY_HAND = "by hand"


class Kinematic:
    """The model, its sliders, and a loop that moves it."""

    def __init__(self, server: viser.ViserServer, description: RobotDescription) -> None:
        self.server, self.robot = server, Robot(description)
        self.model = Model(description)
        self.q = np.array(self.robot.pose("stand"))
        self._stepping: tuple[Stepping, float] | None = None
        self._shown: np.ndarray | None = None
        self._scene()
        self._gui()
        set_camera(server, self.robot, self.model)

    # -- building -----------------------------------------------------------------------------------------------------

    def _scene(self) -> None:
        scene, robot = self.server.scene, self.robot
        height = robot.description.control.nominal_height
        add_ground(scene, "/ground")
        self.figure = Figure(scene, "/robot", self.model)
        self.figure.place(np.array([0.0, 0.0, height]), np.array([1.0, 0, 0, 0]))
        size = self._length / 0.09
        s = 0.005 * size
        self._axes = scene.add_arrows(
            "/robot/axes", self._axis_arrows(), self._axis_colours(), shaft_radius=s, head_radius=2.4 * s,
            head_length=5 * s,
        )  # fmt: skip
        frame = 0.9 * float(half_size(self.model)[1]) + 0.05 * size
        scene.add_frame("/robot/frame", axes_length=frame, axes_radius=0.5 * s, origin_radius=s)
        for foot in self.figure.feet:
            foot.color = FOOT_RGB
        paths, out = self.figure.paths, 1.3 * self._length
        self._labels = [
            scene.add_label(f"{paths[link.name]}/label", link.joint, position=out * link.axis)
            for link in self.model.links
        ]

    @property
    def _length(self) -> float:
        """m, of the arrows of axes."""
        return 0.3 * max(self.robot.description.control.nominal_height, 0.5 * reach(self.robot))

    def _axis_colours(self) -> np.ndarray:
        return np.array([AXIS_RGB[i % 3] for i in range(self.robot.num_joints)], dtype=np.uint8)

    def _axis_arrows(self) -> np.ndarray:
        """(num_joints, 2, 3) m, body frame: from each joint along its axis, about which it turns by the right hand."""
        at, axes = joint_places(self.robot, self.q)
        return np.stack((at, at + self._length * axes), axis=1)

    def _gui(self) -> None:
        gui, control = self.server.gui, self.robot.description.control
        gui.main_panel.dock_right()
        gui.main_panel.set_width(PANEL)
        title = f"<b>{style.safe(self.robot.description.title)}</b> <span>kinematic: no physics, no bus</span>"
        gui.add_html(style.sheet(style.SHEET) + f'<div class="d-bar">{title}</div>')
        self._poses = {f"pose {name}": self.robot.pose(name) for name in control.poses}
        self._poses["pose zero"] = np.zeros(self.robot.num_joints)
        self._gaits = {f"gait {n}, slowly": g for n, g in control.gaits.items() if g.duty < 1.0}
        self._preset = gui.add_dropdown("preset", (BY_HAND, *self._poses, *self._gaits), initial_value="pose stand")
        self._preset.on_update(self._choose)
        labels = gui.add_checkbox("names", True)
        axes = gui.add_checkbox("axes", True)

        @labels.on_update
        async def _(_event: Any) -> None:
            for label in self._labels:
                label.visible = labels.value

        @axes.on_update
        async def _(_event: Any) -> None:
            self._axes.visible = axes.value

        self._table = gui.add_html("")
        self._sliders = []
        tabs = gui.add_tab_group()
        for leg, name in enumerate(self.robot.leg_names):
            with tabs.add_tab(name):
                self._sliders += [self._slider(3 * leg + j) for j in range(3)]
        self._limits = gui.add_html("")

    def _slider(self, joint: int) -> Any:
        lower, upper = self.model.links[joint].limits
        low, high = lower - BEYOND, upper + BEYOND
        slider = self.server.gui.add_slider(
            self.robot.joint_names[joint], min=low, max=high, step=0.01,
            initial_value=min(max(float(self.q[joint]), low), high), marks=((lower, "limit"), (upper, "limit")),
        )  # fmt: skip

        @slider.on_update
        async def _(event: Any) -> None:
            if event.client_id is not None:
                self._stepping = None
                self.q[joint] = slider.value
                set_changed(self._preset, value=BY_HAND)

        return slider

    async def _choose(self, event: Any) -> None:
        if event.client_id is None:
            return
        choice = self._preset.value
        self._stepping = None
        if choice in self._poses:
            self.q[:] = self._poses[choice]
        elif choice in self._gaits:
            self._stepping = Stepping(self.robot, self._gaits[choice]), time.monotonic()

    # -- moving -------------------------------------------------------------------------------------------------------

    def run(self, ended: threading.Event) -> None:
        """Until `ended`."""
        while not ended.wait(1.0 / RATE):
            stepping = self._stepping
            if stepping is not None:
                self.q[:] = stepping[0].angles(time.monotonic() - stepping[1])
            if self._shown is None or np.abs(self.q - self._shown).max() > 1e-4:
                self._shown = self.q.copy()
                with self.server.atomic():
                    self._draw()

    def _draw(self) -> None:
        q = self.q.copy()
        self.figure.bend(q)
        self._axes.points = self._axis_arrows()
        beyond = self.model.limit_violations(q)
        for joint, at_limit in enumerate(beyond):
            self.figure.tint(joint, LIMIT_RGB if at_limit else None)
            set_changed(self._sliders[joint], value=round(float(q[joint]), 2))
        feet = feet_in_body(self.robot, q)
        set_changed(self._table, content=foot_table(self.robot, feet))
        names = [n for n, at_limit in zip(self.robot.joint_names, beyond, strict=True) if at_limit]
        text = (
            style.coloured(f"at or beyond a limit: {', '.join(names)}", "error")
            if names
            else style.dim("within limits")
        )
        set_changed(self._limits, content=f'<div class="d-reason">{text}</div>')


def reach(robot: Robot) -> float:
    """m, from the body's middle to the farthest foot, on the ground."""
    return float(np.linalg.norm(feet_in_body(robot, robot.pose("stand"))[:, :2], axis=1).max())


def joint_places(robot: Robot, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Joints (num_joints, 3) m and unit axes (num_joints, 3), body frame: the kinematics all processes use."""
    chains = robot.chains
    _, _, axes = leg_kinematics(np.ascontiguousarray(q), chains)
    places = np.zeros((robot.num_legs, 3, 3))
    for j in range(3):  # a joint's place: the foot of a leg whose links end there
        origins = chains.origins.copy()
        origins[:, j + 1 :] = 0.0
        ends = chains._replace(origins=origins, foot=np.zeros((robot.num_legs, 3)))
        places[:, j] = leg_kinematics(np.ascontiguousarray(q), ends)[0] + chains.mount_position
    return places.reshape(-1, 3), axes.reshape(-1, 3)


def foot_table(robot: Robot, feet: np.ndarray) -> str:
    """Foot centres in the body frame."""
    rows = [[style.safe(n), *(f"{v:+.3f}" for v in p)] for n, p in zip(robot.leg_names, feet, strict=True)]
    head = '<div class="d-head">feet, m, body frame</div>'
    return head + style.table(("leg", "x forward", "y left", "z up"), rows, right=(1, 2, 3))
