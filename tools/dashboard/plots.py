"""Page Plots: curves of the last seconds, chosen from the table of charts or by path."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from tools.dashboard import style
from tools.dashboard.fields import Chart, FieldError, charts, own_chart
from tools.dashboard.page import Context, set_changed
from tools.dashboard.state import HISTORY, Snapshot

if TYPE_CHECKING:
    import viser

COLOURS = ("#f0a83c", "#4dabf7", "#63d297", "#e67fd6", "#c9cdd2", "#ff6b6b")
OWN = "own fields …"
FIRST = ("speed forward", "height")
HEIGHT = 138  # px
POINTS = 300
AXIS: dict[str, Any] = {
    "stroke": "#8a929b",
    "grid": {"stroke": "#2d3136", "width": 1},
    "ticks": {"stroke": "#2d3136", "width": 1},
}


class Curves:
    """Values of one chart over the history; only what is new is read."""

    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self._t: list[float] = []
        self._values: list[list[float]] = [[] for _ in chart.lines]

    def extend(self, history: Iterable[Snapshot], now: float) -> tuple[np.ndarray, ...]:
        """Seconds before now and one array per line; NaN where there was nothing."""
        last = self._t[-1] if self._t else -np.inf
        for snapshot in history:
            if snapshot.t > last:
                self._t.append(snapshot.t)
                for values, line in zip(self._values, self.chart.lines, strict=True):
                    values.append(line.field.value(snapshot.messages))
        old = int(np.searchsorted(self._t, now - HISTORY))
        if old:
            del self._t[:old]
            for values in self._values:
                del values[:old]
        return np.array(self._t) - now, *(np.array(v) for v in self._values)


def drawable(data: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """The curves with one more point in front of each: uPlot finds no range for a curve that begins with a NaN.

    A gap behind it keeps the point from being seen.
    """
    t, *values = data
    finite = [v[np.isfinite(v)] for v in values]
    some = next((float(f[0]) for f in finite if len(f)), 0.0)
    first = [float(f[0]) if len(f) else some for f in finite]
    front = (-HISTORY, -HISTORY + 1e-6)
    return np.append(front, t), *(np.append((start, np.nan), v) for start, v in zip(first, values, strict=True))


class Plots:
    """Two charts below each other."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._charts = charts(context.robot)
        self._views = [Plot(context.server.gui, self._charts, first) for first in FIRST]

    def update(self, now: float) -> None:
        """New data."""
        for view in self._views:
            view.update(self._context.state.history, now)


class Plot:
    """A chart with its choice."""

    def __init__(self, gui: viser.GuiApi, table: dict[str, Chart], first: str) -> None:
        self._gui, self._table = gui, table
        self._folder = gui.add_folder(None)
        with self._folder:
            self._choice = gui.add_dropdown("show", (*table, OWN), initial_value=first)
            self._paths = gui.add_text("fields", "leg_state.q[2], joint_command.q_des[2]", visible=False)
            self._error = gui.add_html("", visible=False)
            self._place = gui.add_folder(None)
        self._drawn: tuple[str, str] | None = None
        self._curves: Curves | None = None
        self._uplot: Any = None

    def update(self, history: Iterable[Snapshot], now: float) -> None:
        """Build again when the choice changed, else send the new curves."""
        key = (self._choice.value, self._paths.value if self._choice.value == OWN else "")
        if key != self._drawn:
            self._drawn = key
            self._choose(*key)
        if self._curves is None:
            return
        data = drawable(self._curves.extend(history, now))
        if self._uplot is None:
            self._uplot = self._build(data)
        else:
            self._uplot.data = data

    def _choose(self, title: str, paths: str) -> None:
        if self._uplot is not None:
            self._uplot.remove()
        self._uplot = self._curves = None
        set_changed(self._paths, visible=title == OWN)
        try:
            self._curves = Curves(own_chart(paths) if title == OWN else self._table[title])
            set_changed(self._error, visible=False)
        except FieldError as error:
            set_changed(
                self._error, visible=True, content=f'<div class="d-reason">{style.coloured(error, "error")}</div>'
            )

    def _build(self, data: tuple[np.ndarray, ...]) -> Any:
        assert self._curves is not None
        chart = self._curves.chart
        series: list[Any] = [{"label": "t s"}]
        series += [
            {"label": line.label, "stroke": COLOURS[i % len(COLOURS)], "width": 1.5, "points": {"show": False}}
            for i, line in enumerate(chart.lines)
        ]
        unit: dict[str, Any] = (
            {"label": chart.unit, "labelSize": 14, "labelFont": "11px sans-serif"} if chart.unit else {}
        )
        axes: Any = ({**AXIS, "size": 32}, {**AXIS, **unit, "size": 54})
        with self._place:
            return self._gui.add_uplot(
                data,
                tuple(series),
                scales={"x": {"time": False, "range": (-HISTORY, 0.0)}},
                axes=axes,
                legend={"show": True, "live": False},
                height=HEIGHT,
                padding=(8, 10, 0, 0),
            )
