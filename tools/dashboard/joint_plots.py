"""Charts of the joint page: position, velocity and torque of one joint, wanted against measured, the last 10 s."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcmtypes.channels import JOINT_COMMAND, JOINT_STATE, Channel
from tools.dashboard.fields import Chart, Field, Line, chart, field
from tools.dashboard.plots import AXIS, COLOURS, Curves, drawable
from tools.dashboard.state import HISTORY, Snapshot

HEIGHT = 120  # px


@dataclass(frozen=True)
class WantedTorque(Field):
    """N m: what the drive makes of its command at the measured angle and speed, joint side."""

    def value(self, messages: Mapping[Channel, Any]) -> float:
        """The number, or NaN where there is none."""
        told, joints, j = messages.get(JOINT_COMMAND), messages.get(JOINT_STATE), self.indices[0]
        if told is None or joints is None or not told.enable[j]:
            return math.nan
        pd = told.kp[j] * (told.q_des[j] - joints.q[j]) + told.kd[j] * (told.qd_des[j] - joints.qd[j])
        return float(told.tau_ff[j] + pd)


def joint_charts(joint: int) -> tuple[Chart, ...]:
    """The three charts of a joint."""
    wanted = WantedTorque(f"torque wanted of joint {joint}", JOINT_COMMAND, lambda m: m.tau_ff, (joint,))
    measured = field(f"joint_state.tau[{joint}]")
    return (
        chart("position", "rad", wanted=f"joint_command.q_des[{joint}]", measured=f"joint_state.q[{joint}]"),
        chart("velocity", "rad/s", wanted=f"joint_command.qd_des[{joint}]", measured=f"joint_state.qd[{joint}]"),
        Chart("torque", "N m", (Line("wanted", wanted), Line("measured", measured))),
    )


class JointPlots:
    """Three charts, one below the other."""

    def __init__(self, gui: Any, joint: int) -> None:
        self._gui, self._joint = gui, joint
        self._curves = [Curves(c) for c in joint_charts(joint)]
        self._plots = [self._build(curves.chart) for curves in self._curves]

    def choose(self, joint: int) -> None:
        """Another joint."""
        if joint != self._joint:
            self._joint = joint
            self._curves = [Curves(c) for c in joint_charts(joint)]

    def update(self, history: Iterable[Snapshot], now: float) -> None:
        """Send the curves."""
        for curves, plot in zip(self._curves, self._plots, strict=True):
            plot.data = drawable(curves.extend(history, now))

    def _build(self, chart: Chart) -> Any:
        series: list[Any] = [{"label": "t s"}]
        series += [
            {"label": line.label, "stroke": COLOURS[i], "width": 1.5, "points": {"show": False}}
            for i, line in enumerate(chart.lines)
        ]
        unit = {"label": f"{chart.title} {chart.unit}", "labelSize": 14, "labelFont": "11px sans-serif"}
        axes: Any = ({**AXIS, "size": 34}, {**AXIS, **unit, "size": 44})
        return self._gui.add_uplot(
            tuple(np.zeros(1) for _ in series),
            tuple(series),
            scales={"x": {"time": False, "range": (-HISTORY, 0.0)}},
            axes=axes,
            legend={"show": True, "live": False},
            height=HEIGHT,
            padding=(6, 10, 0, 0),
        )
