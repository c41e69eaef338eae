"""Fields by path (`leg_state.q[3]`) and the table of charts worth looking at: wanted against measured."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcmtypes.channels import BODY_STATE, CHANNELS, GROUND_TRUTH, Channel
from procs.model.robot import Robot
from procs.model.rotations import quat_to_rpy

PATH = re.compile(r"^(\w+)\.(\w+)((?:\[\d+\])*)$")


class FieldError(ValueError):
    """No such field."""


def _turned(v_world: np.ndarray, yaw: float) -> np.ndarray:
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([c * v_world[0] + s * v_world[1], c * v_world[1] - s * v_world[0], v_world[2]])


# Quantities that no message holds as such, by the path they are given.
DERIVED: dict[tuple[Channel, str], Callable[[Any], Any]] = {
    (BODY_STATE, "v_heading"): lambda m: _turned(m.v_world, m.rpy[2]),
    (GROUND_TRUTH, "v_heading"): lambda m: _turned(m.v_world, quat_to_rpy(m.quat)[2]),
    (GROUND_TRUTH, "rpy"): lambda m: quat_to_rpy(m.quat),
}


@dataclass(frozen=True)
class Field:
    """One number of one channel."""

    path: str
    channel: Channel
    read: Callable[[Any], Any]
    indices: tuple[int, ...]

    def value(self, messages: Mapping[Channel, Any]) -> float:
        """The number, or NaN where there is none."""
        message = messages.get(self.channel)
        if message is None:
            return math.nan
        try:
            value = self.read(message)
            for i in self.indices:
                value = value[i]
            return float(value)
        except (IndexError, TypeError, ValueError):
            return math.nan


def field(path: str) -> Field:
    """The field of a path; FieldError says what is wrong with it."""
    match = PATH.match(path.strip())
    if match is None:
        raise FieldError(f"{path!r} is no path: want channel.field or channel.field[index], such as leg_state.q[3]")
    name, attribute, indices = match.groups()
    channel = CHANNELS.get(name)
    if channel is None:
        raise FieldError(f"no channel {name!r}; there are {', '.join(CHANNELS)}")
    read = DERIVED.get((channel, attribute))
    if read is None:
        if attribute not in channel.type.FIELDS:
            known = [f for f in channel.type.FIELDS if f not in ("utime", "run", "seq", "used")]
            known += [f for c, f in DERIVED if c is channel and f not in known]
            raise FieldError(f"{name} has no field {attribute!r}; there are {', '.join(known)}")

        def read(message: Any) -> Any:
            return getattr(message, attribute)

    return Field(path.strip(), channel, read, tuple(int(i) for i in re.findall(r"\d+", indices)))


@dataclass(frozen=True)
class Line:
    """One curve of a chart."""

    label: str
    field: Field


@dataclass(frozen=True)
class Chart:
    """Curves that belong together."""

    title: str
    unit: str
    lines: tuple[Line, ...]


def chart(title: str, unit: str, **paths: str) -> Chart:
    """A chart of `label=path`."""
    return Chart(title, unit, tuple(Line(label, field(path)) for label, path in paths.items()))


def own_chart(text: str) -> Chart:
    """A chart of paths written by hand, separated by commas; FieldError if one is wrong."""
    paths = [p for p in (part.strip() for part in text.split(",")) if p]
    if not paths:
        raise FieldError("write one or more paths, such as leg_state.q[3], joint_command.q_des[3]")
    return Chart("own", "", tuple(Line(p, field(p)) for p in paths))


BODY = (
    ("speed forward", "m/s", {"wanted": "motion_command.vx", "estimated": "body_state.v_heading[0]",
                              "true": "ground_truth.v_heading[0]"}),
    ("speed sideways", "m/s", {"wanted": "motion_command.vy", "estimated": "body_state.v_heading[1]",
                               "true": "ground_truth.v_heading[1]"}),
    ("yaw rate", "rad/s", {"wanted": "motion_command.yaw_rate", "estimated": "body_state.omega_world[2]",
                           "true": "ground_truth.omega_world[2]"}),
    ("height", "m", {"estimated": "body_state.position[2]", "true": "ground_truth.position[2]"}),
    ("roll", "rad", {"wanted": "motion_command.roll", "estimated": "body_state.rpy[0]", "true": "ground_truth.rpy[0]"}),
    ("pitch", "rad", {"wanted": "motion_command.pitch", "estimated": "body_state.rpy[1]",
                      "true": "ground_truth.rpy[1]"}),
    ("gyro", "rad/s", {"x": "imu.gyro[0]", "y": "imu.gyro[1]", "z": "imu.gyro[2]"}),
    ("specific force", "m/s²", {"x": "imu.accel[0]", "y": "imu.accel[1]", "z": "imu.accel[2]"}),
    ("MPC iterations", "", {"iterations": "mpc_debug.iterations"}),
)  # fmt: skip
LEG = (
    ("force up", "N", {"planned": "mpc_debug.forces[{leg}][2]", "estimated": "leg_state.foot_force[{leg}][2]",
                       "true": "ground_truth.foot_force[{leg}][2]"}),
    ("contact", "", {"planned": "contact_plan.stance[{leg}]", "felt": "body_state.contact[{leg}]"}),
    ("foot height", "m", {"wanted": "leg_command.p_des[{leg}][2]", "measured": "leg_state.p[{leg}][2]"}),
)  # fmt: skip
JOINT = (
    ("angle", "rad", {"wanted": "joint_command.q_des[{joint}]", "measured": "joint_state.q[{joint}]"}),
    ("velocity", "rad/s", {"wanted": "joint_command.qd_des[{joint}]", "measured": "joint_state.qd[{joint}]"}),
    ("torque", "N m", {"feed-forward": "joint_command.tau_ff[{joint}]", "measured": "joint_state.tau[{joint}]",
                       "true": "ground_truth.tau[{joint}]"}),
)  # fmt: skip


def charts(robot: Robot) -> dict[str, Chart]:
    """All charts of the table by title, those of legs and joints once for each."""
    out = {title: chart(title, unit, **paths) for title, unit, paths in BODY}
    for rows, names, key in ((LEG, robot.leg_names, "leg"), (JOINT, robot.joint_names, "joint")):
        for i, name in enumerate(names):
            for what, unit, paths in rows:
                title = f"{name} {what}"
                out[title] = chart(title, unit, **{label: path.format(**{key: i}) for label, path in paths.items()})
    return out
