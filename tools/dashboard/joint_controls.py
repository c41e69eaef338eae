"""Controls of the joint page: the settings of one joint as sliders with number entries, within its limits."""

from __future__ import annotations

import math
from typing import Any

from procs.model.robot import Robot
from tools.dashboard.joint_hold import STEP, positions
from tools.dashboard.page import set_changed
from tools.joint_test.signals import WAVES, Settings, gain_limits

LABELS = {
    "centre": "position rad",
    "amplitude": "± amplitude rad",
    "period": "period s",
    "kp": "kp N m/rad",
    "kd": "kd N m s/rad",
    "tau_limit": "torque limit N m",
}
OF_WAVES = ("amplitude", "period")  # shown only where there is a wave
PERIODS = (0.2, 10.0)  # s
MOST_AMPLITUDE = 1.0  # rad


def ranges(robot: Robot, joint: int) -> dict[str, tuple[float, float, float]]:
    """Lowest, highest and step of each slider, inside the joint's limits."""
    low, high = positions(robot, joint)
    kp, kd = gain_limits(robot, joint)
    tau = float(robot.tau_max[joint])
    most = math.floor(min(MOST_AMPLITUDE, (high - low) / 2) / STEP) * STEP
    out = {"centre": (low, high, STEP), "amplitude": (0.0, most, STEP), "period": (*PERIODS, 0.1)}
    for name, top in (("kp", kp), ("kd", kd), ("tau_limit", tau)):
        step = 10.0 ** math.floor(math.log10(top / 200.0))
        out[name] = (step if name == "tau_limit" else 0.0, math.floor(top / step + 1e-9) * step, step)
    return out


class Controls:
    """Sliders of one joint; `changed(client)` is called when a person moves one."""

    def __init__(self, gui: Any, robot: Robot, changed: Any) -> None:
        self._gui, self._robot, self._changed = gui, robot, changed
        self.joint = gui.add_dropdown("joint", robot.joint_names, initial_value=robot.joint_names[0])
        self._folder = gui.add_folder(None)
        self._joint = -1  # whose limits the sliders have
        self._wave: Any = None
        self._sliders: dict[str, Any] = {}

    def read(self) -> Settings:
        """What the controls say, of the joint they were built for."""
        values = {name: float(slider.value) for name, slider in self._sliders.items()}
        return Settings(self._joint, str(self._wave.value), **values)

    def chosen(self) -> int:
        """The joint that is chosen; the sliders follow with `show`."""
        return self._robot.joint_names.index(self.joint.value)

    def show(self, settings: Settings, locked: bool) -> None:
        """Make the controls show these settings; `locked`: no other joint can be chosen."""
        if settings.joint != self._joint:
            self._build(settings)
        set_changed(self.joint, value=self._robot.joint_names[settings.joint], disabled=locked)
        set_changed(self._wave, value=settings.wave)
        for name, slider in self._sliders.items():
            if abs(slider.value - getattr(settings, name)) > 1e-9:
                slider.value = getattr(settings, name)
            set_changed(slider, visible=name not in OF_WAVES or settings.wave != "hold")

    def _build(self, settings: Settings) -> None:
        for handle in (self._wave, *self._sliders.values()):
            if handle is not None:
                handle.remove()
        self._joint = settings.joint
        self._sliders = {}
        limits = ranges(self._robot, settings.joint)
        with self._folder:
            self._slider("centre", settings, limits)
            self._wave = self._gui.add_dropdown("wave", tuple(WAVES), initial_value=settings.wave)
            self._wave.on_update(self._on_update)
            for name in (n for n in LABELS if n != "centre"):
                self._slider(name, settings, limits)

    def _slider(self, name: str, settings: Settings, limits: dict[str, tuple[float, float, float]]) -> None:
        low, high, step = limits[name]
        slider = self._gui.add_slider(
            LABELS[name], min=low, max=high, step=step, initial_value=min(max(getattr(settings, name), low), high),
            visible=name not in OF_WAVES or settings.wave != "hold",
        )  # fmt: skip
        slider.on_update(self._on_update)
        self._sliders[name] = slider

    async def _on_update(self, event: Any) -> None:
        if event.client_id is not None:  # moved by a person, not by us
            self._changed(event.client_id)
