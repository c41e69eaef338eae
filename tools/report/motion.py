"""Second part of a report: how the body and the feet moved."""

from __future__ import annotations

import numpy as np

from lcmtypes.channels import BODY_STATE
from tools.report import page
from tools.report.charts import Charts
from tools.report.context import Context
from tools.report.feet import stances
from tools.report.gait import Footfall, footfalls, hildebrand
from tools.report.rotation import heading_frame


def body(c: Context, charts: Charts) -> str:
    """Speeds, height, attitude: wanted, estimated, true."""
    s = c.signals
    if s.rpy is None and s.true_rpy is None:
        return page.paragraph("No body_state in this log.", "m")
    parts = []

    def column(x: np.ndarray | None, k: int) -> np.ndarray | None:
        return None if x is None else x[:, k]

    paced = np.c_[s.paced_speed, s.wanted_speed[:, 2]]
    for k, (name, unit) in enumerate((("vx, ahead", "m/s"), ("vy, to the left", "m/s"), ("yaw rate", "rad/s"))):
        curves = [
            ("wanted", "wanted", paced[:, k]),
            ("estimated", "est", column(s.speed, k)),
            ("true", "true", column(s.true_speed, k)),
        ]
        parts.append(charts.lines(name, unit, curves, least=0.2))
    height = [("wanted", "wanted", s.wanted_height), ("estimated", "est", s.height), ("true", "true", s.true_height)]
    parts.append(charts.lines("height over the ground", "m", height, least=0.05))
    for k, name in enumerate(("roll", "pitch", "yaw")):
        asked = np.degrees(s.command[:, 4 + k]) if k < 2 else None
        wanted = None if asked is None else np.where(np.isin(s.mode, ("stand", "walk")), asked, np.nan)
        curves = [
            ("wanted", "wanted", wanted),
            ("estimated", "est", column(s.rpy, k)),
            ("true", "true", column(s.true_rpy, k)),
        ]
        parts.append(charts.lines(name, "deg", curves, least=4.0))
    if s.speed is not None:
        vz = c.run.field(BODY_STATE, "v_world")
        parts.append(charts.lines("vertical speed", "m/s", [("estimated", "est", column(vz, 2))], least=0.2))
    return (
        f'<div class="two">{"".join(parts)}</div>' if any(parts) else page.paragraph("No body_state in this log.", "m")
    )


def contacts(c: Context, charts: Charts, until: float) -> str:
    """Planned against felt, and the footfall patterns."""
    feet, out = c.feet, []
    planned = None if feet.planned is None else feet.planned > 0
    sources = (
        ("planned", "band", 0.86, planned), ("felt by the estimator", "felt", 0.44, feet.felt),
        ("true load", "load", 0.12, feet.loaded),
    )  # fmt: skip
    there = [(n, colour, share, stances(c.run, m)) for n, colour, share, m in sources if m is not None]
    if not there:
        return page.paragraph("No contacts in this log.", "m")
    rows = [
        (name, [(colour, share, spans[leg]) for _, colour, share, spans in there])
        for leg, name in enumerate(c.robot.leg_names)
    ]
    out.append(charts.lanes("stances", rows, [(n, colour) for n, colour, _, _ in there], height=24))  # type: ignore[arg-type]
    found = footfalls(c, until)
    if not found:
        return "".join(out)
    gaits = c.robot.description.control.gaits
    names = c.robot.leg_names
    body_rows = []
    for f in found:
        gait = gaits.get(f.gait)
        asked = "" if gait is None else f" ({gait.period:.3f})"
        duty = "" if gait is None else f" ({gait.duty:.2f})"
        share = ", ".join(f"{n}: {100 * x:.0f} %" for n, x in enumerate(f.support) if x >= 0.005)
        lags = " ".join(f"{x:.2f}" for x in f.lag)
        body_rows.append(
            [f"{f.begin:.2f}–{f.end:.2f}", f.gait, f.strides, f"{f.period:.3f}{asked}", f"{1e3 * f.spread:.0f}",
             " ".join(f"{x:.2f}" for x in f.duty) + duty, lags, share]
        )  # fmt: skip
    columns = ("t, s", "gait", "strides", "period, s (wanted)", "spread, ms", f"duty {' '.join(names)} (wanted)",
               f"phase after {names[0]}: {' '.join(names)}", "time on n feet")  # fmt: skip
    out.append(page.heading("Footfall pattern", 3))
    out.append(page.table(columns, body_rows, (2, 3, 4)))
    shown = {f.gait: f for f in found}
    diagrams = "".join(_diagram(c, f) for f in shown.values())
    return "".join(out) + f'<div class="gaits">{diagrams}</div>'


def _diagram(c: Context, f: Footfall) -> str:
    words = f"{f.gait}, {f.begin:.1f}–{f.end:.1f} s: one stride, planned (wide) and felt (narrow)"
    drawn = hildebrand(f, c.robot.description.control.gaits.get(f.gait), c.robot.leg_names)
    return f"<div>{page.paragraph(words, 'm')}{drawn}</div>"


def balance(c: Context, charts: Charts) -> str:
    """Centre of pressure, margins, path."""
    feet, rpy = c.feet, c.signals.true_rpy if c.signals.has_truth else c.signals.rpy
    parts = []
    if feet.pressure is not None and feet.centre_of_mass is not None and rpy is not None:
        away = np.c_[feet.pressure - feet.centre_of_mass[:, :2], np.zeros(len(c.t))]
        away = heading_frame(away, np.radians(rpy[:, 2]))
        curves = [("ahead", "c0", away[:, 0]), ("to the left", "c1", away[:, 1])]
        parts.append(charts.lines("centre of pressure from the centre of mass", "m", curves, least=0.05))
    margins = [
        ("centre of mass in the standing feet", "c0", feet.support_margin),
        ("capture point in all feet", "c1", feet.capture_margin),
    ]
    parts.append(charts.lines("margin inside of the support polygon", "m", margins, limits=[(0.0, "")], least=0.05))
    name = "mm in one stance, true" if c.signals.has_truth else "mm in one stance, by the estimate"
    slips = [
        (leg, f"c{k % 6}", feet.slip[:, k] if feet.slip is not None else None)
        for k, leg in enumerate(c.robot.leg_names)
    ]
    parts.append(charts.lines("foot slip", name, slips, limits=[(8.0, "normal range")], least=5.0))
    late = [
        (leg, f"c{k % 6}", 1e3 * feet.late[:, k] if feet.late is not None else None)
        for k, leg in enumerate(c.robot.leg_names)
    ]
    parts.append(charts.lines("contact later than planned", "ms", late, least=20.0))
    return f'<div class="two">{"".join(parts)}</div>' + path(c, charts)


def path(c: Context, charts: Charts) -> str:
    """Top view with footsteps."""
    feet = c.feet
    own = c.run.field(BODY_STATE, "position")
    tracks = []
    if c.signals.has_truth and feet.body is not None:
        tracks.append(("true", "true", feet.body[:, :2]))
    if own is not None:
        tracks.append(("estimated", "est", own[:, :2]))
    standing = feet.loaded if feet.loaded is not None else feet.felt
    if not tracks or feet.position is None or standing is None:
        return ""
    steps = []
    for leg, spans in enumerate(stances(c.run, standing)):
        for a, b in spans:
            if b - a > 0.03:
                k = min(len(c.t) - 1, int(np.searchsorted(c.t, (a + b) / 2)))
                x, y = feet.position[k, leg, :2]
                if np.isfinite(x + y):
                    steps.append((a, float(x), float(y), leg))
    return charts.path("Path from above, with footsteps", tracks, steps, c.robot.leg_names)


def estimator(c: Context, charts: Charts) -> str:
    """What the estimate is worth."""
    s, std = c.signals, c.run.field(BODY_STATE, "velocity_std")
    parts = []
    if std is not None:
        curves = [(n, f"c{k}", std[:, k]) for k, n in enumerate("xyz")]
        parts.append(charts.lines("standard deviation of the velocity", "m/s", curves, least=0.05))
    if s.speed is not None and s.true_speed is not None:
        curves = [(n, f"c{k}", (s.speed - s.true_speed)[:, k]) for k, n in enumerate(("vx", "vy", "yaw rate"))]
        parts.append(charts.lines("error of the speeds (estimated − true)", "m/s, rad/s", curves, least=0.05))
    if s.rpy is not None and s.true_rpy is not None:
        curves = [(n, f"c{k}", (s.rpy - s.true_rpy)[:, k]) for k, n in enumerate(("roll", "pitch"))]
        parts.append(charts.lines("error of the attitude", "deg", curves, least=1.0))
    own, true = c.run.field(BODY_STATE, "position"), c.feet.body
    if own is not None and true is not None and s.has_truth:
        curves = [(n, f"c{k}", (own - true)[:, k]) for k, n in enumerate("xyz")]
        parts.append(charts.lines("drift of the position", "m", curves, least=0.02))
    parts.append(
        charts.lines(
            "force on the body that no leg explains",
            "N, horizontal",
            [("force", "c3", s.unexplained_force)],
            least=20.0,
        )
    )
    parts.append(
        charts.lines("gyro against attitude", "rad/s over 0.1 s", [("difference", "c4", s.gyro_error(0.1))], least=0.2)
    )
    return f'<div class="two">{"".join(parts)}</div>'
