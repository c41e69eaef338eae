"""Third part of a report: joints, MPC, processes, and what is in the log."""

from __future__ import annotations

from typing import Any

import numpy as np

from lcmtypes.channels import BUS_STATUS, JOINT_STATE, MPC_DEBUG, PROC_HEALTH
from tools.report import page
from tools.report.charts import Charts, Span
from tools.report.context import CHAIN, Context
from tools.report.log import TICKED, LogFile, intervals
from tools.report.sources import COUNTED, temperature

Reports = dict[str, list[tuple[float, Any]]]  # process -> (time s, proc_health)
PROCESS = ("process", "state at the end", "ticks", "step p50, µs", "p99", "max", "missed", "old", "repeated",
           "undecodable", "not finite", "refused", "last error")  # fmt: skip
HOT = 0.9  # share of a limit that is shown in bold
NEAR = -0.01  # rad inside of a limit below which it is
COLUMNS = ("joint", "peak torque, N m", "of the limit", "at a limit", "rms, N m", "peak speed of the limit",
           "range, rad", "nearest to a limit, rad", "rejected ticks", "hottest, °C")  # fmt: skip


def joints(c: Context, charts: Charts, until: float) -> str:
    """Table of peaks until the stop, small multiples of torque, position and velocity."""
    j = c.joints
    if j.tau is None or j.q is None or j.qd is None:
        return page.paragraph("No joint_state in this log.", "m")
    names, robot = c.robot.joint_names, c.robot
    out = [page.table(COLUMNS, [_row(c, k, c.t < until) for k in range(len(names))], tuple(range(1, len(COLUMNS))))]
    told = j.told[0] if j.told is not None else None
    small = []
    for k, name in enumerate(names):
        top = robot.tau_max[k]
        curves = [
            ("told", "wanted", told[:, k] if told is not None else None),
            (j.tau_source or "torque", "c0", j.tau[:, k]),
        ]
        small.append(charts.lines(name, "N m", curves, height=110, limits=[(top, ""), (-top, "")], least=0.3 * top))
    positions, speeds = [], []
    for k, name in enumerate(names):
        low, high = robot.q_lower[k], robot.q_upper[k]
        positions.append(
            charts.lines(
                name, "rad", [("position", "c0", j.q[:, k])], height=100, limits=[(low, ""), (high, "")], least=0.3
            )
        )
        top = robot.qd_max[k]
        speeds.append(
            charts.lines(
                name, "rad/s", [("velocity", "c2", j.qd[:, k])], height=100, limits=[(top, ""), (-top, "")], least=1.0
            )
        )
    out += [
        page.heading("Torques (dashed: what the command asks of the drive; dotted: limits)", 3),
        f'<div class="many">{"".join(small)}</div>',
        page.folded("Joint positions and their limits", f'<div class="many">{"".join(positions)}</div>'),
        page.folded("Joint velocities and their limits", f'<div class="many">{"".join(speeds)}</div>'),
    ]
    return "".join(out)


def _row(c: Context, k: int, shown: np.ndarray) -> list[object]:
    j, hot = c.joints, temperature(c)
    q, tau, fault = j.q[shown, k], j.tau[shown, k], np.nan_to_num(j.fault[shown, k])  # type: ignore[index]
    torque, speed = np.nanmax(j.torque_share[shown, k]), np.nanmax(j.speed_share[shown, k])  # type: ignore[index]
    margin = np.nanmin(j.limit_margin[shown, k])  # type: ignore[index]
    warm = 0.0 if hot is None else np.nanmax(hot[:, k])
    return [
        c.robot.joint_names[k], f"{np.nanmax(np.abs(tau)):.1f} of {c.robot.tau_max[k]:g}",
        _marked(torque >= HOT, f"{100 * torque:.0f} %"), f"{100 * np.nanmean(j.saturated[shown, k]):.2f} %",  # type: ignore[index]
        f"{np.sqrt(np.nanmean(tau**2)):.2f}", _marked(speed >= HOT, f"{100 * speed:.0f} %"),
        f"{np.nanmin(q):+.2f} … {np.nanmax(q):+.2f}", _marked(margin < NEAR, f"{margin:.2f}"),
        int((fault > 0).sum()), f"{warm:.0f}" if warm > 0 else "–",
    ]  # fmt: skip


def _marked(bad: bool, text: str) -> object:
    return page.cell(text, "n bad") if bad else text


def mpc(c: Context, charts: Charts) -> str:
    """Solves, iterations, failures."""
    if not c.run.has(MPC_DEBUG):
        return page.paragraph("No mpc_debug in this log: the robot never walked, or it was not recorded.", "m")
    messages, at = c.run.messages(MPC_DEBUG)
    if not messages:
        return page.paragraph("No solve in this part of the log.", "m")
    status: dict[str, int] = {}
    for m in messages:
        status[m.status] = status.get(m.status, 0) + 1
    iterations = np.array([m.iterations for m in messages])
    words = ", ".join(f"{n} {name}" for name, n in sorted(status.items(), key=lambda kv: -kv[1]))
    text = (
        f"{len(messages)} solves: {words}. Iterations: median {np.median(iterations):.0f}, "
        f"99 % {np.percentile(iterations, 99):.0f}, most {iterations.max()}."
    )
    every = np.full(len(c.t), np.nan)
    every[at] = iterations
    held = at[np.maximum(0, np.searchsorted(at, np.arange(len(c.t)), side="right") - 1)]
    shown = np.where(c.signals.walking, every[held], np.nan)
    bad = np.zeros(len(c.t), bool)
    bad[[k for k, m in zip(at, messages, strict=True) if m.status != "solved"]] = True
    out = page.paragraph(text, "bad" if status.keys() - {"solved"} else "")
    out += charts.lines("iterations of the MPC", "", [("iterations", "c4", shown)], height=120, span=(0.0, 4.0))
    if bad.any():
        spans: list[Span] = [(float(c.t[a]), float(c.t[b - 1]) + 4 * c.dt) for a, b in intervals(bad)]
        out += charts.lanes("solves that failed", [("failed", [("bad", 0.8, spans)])])
    return out


def processes(c: Context, charts: Charts) -> str:
    """Step times, latency, lateness, losses."""
    reports: Reports = {}
    for t, m in c.run.events(PROC_HEALTH):
        reports.setdefault(m.name, []).append((t, m))
    if not reports:
        return page.paragraph("No proc_health in this log (a rollout in one process sends none).", "m")
    lock_step = c.run.field(JOINT_STATE, "lock_step")
    waits = lock_step is not None and float(np.nanmean(lock_step)) > 0.5
    watchdog = 1e3 * c.robot.description.safety.watchdog
    if waits:
        note = "The plant waited for each answer (lock step): latency and lateness are no danger here."
    else:
        note = f"Real time: an answer later than {watchdog:.0f} ms means damping."
    # The recorder's steps are no part of the pipeline; the plant is the process that reports latencies.
    steppers = [(n, sent) for n, sent in sorted(reports.items()) if any(m.step_max > 0 for _, m in sent)]
    plant = next((sent for sent in reports.values() if any(m.latency_max or m.late_p99 for _, m in sent)), [])
    latency = [(n, s, _curve(c, plant, f"latency_{n}")) for n, s in (("p50", "c0"), ("p99", "c1"), ("max", "c3"))]
    steps = [(n, f"c{k % 6}", _curve(c, sent, "step_p99")) for k, (n, sent) in enumerate(steppers)]
    missed = [(n, f"c{k % 6}", _curve(c, sent, "missed")) for k, (n, sent) in enumerate(steppers)]
    limits = [] if waits else [(watchdog, "watchdog")]
    charted = [
        charts.lines("latency, sample to command", "ms", latency, limits=limits, span=(0.0, 1.0)),
        charts.lines("ticks late", "ms", [("p99", "c1", _curve(c, plant, "late_p99"))], span=(0.0, 1.0)),
        charts.lines("step times", "µs, p99", steps, span=(0.0, 100.0)),
        charts.lines("triggers missed", "in all", missed, span=(0.0, 1.0)),
    ]
    rows = [_process(name, sent) for name, sent in sorted(reports.items())]
    return (
        page.paragraph(note, "m")
        + page.table(PROCESS, rows, range(2, 12))
        + f'<div class="two">{"".join(charted)}</div>'
    )


def _process(name: str, sent: list[tuple[float, Any]]) -> list[object]:
    last, steps = sent[-1][1], [m for _, m in sent if m.step_max > 0]
    p50, p99 = (np.median([getattr(m, f) for m in steps]) if steps else 0 for f in ("step_p50", "step_p99"))
    most = max((m.step_max for m in steps), default=0)
    times = [f"{x:.0f}" if steps else "–" for x in (p50, p99, most)]
    counts = [getattr(last, f) for f in ("missed", "old", "repeated", "decode_errors", "not_finite", "refused")]
    return [name, last.state, last.ticks, *times, *counts, last.last_error or "–"]


def _curve(c: Context, sent: list[tuple[float, Any]], field: str) -> np.ndarray | None:
    """A report's value for the time before it."""
    if not sent:
        return None
    times = np.array([t for t, _ in sent])
    values = np.array([getattr(m, field) for _, m in sent], dtype=float)
    at = np.searchsorted(times, c.t)
    return np.where(at < len(values), values[np.minimum(at, len(values) - 1)], np.nan)


def bus(c: Context, charts: Charts) -> str:
    """Counters, temperatures and voltages of the bridge."""
    if not c.run.has(BUS_STATUS):
        return ""
    counts = c.run.held(BUS_STATUS, COUNTED)
    curves = [(n.replace("_", " "), f"c{k}", counts[:, k]) for k, n in enumerate(COUNTED)]
    parts = [charts.lines("errors on the buses", "in all", curves, span=(0.0, 1.0))]
    hot = temperature(c)
    if hot is not None and np.nanmax(hot) > 0:
        shown = [(n, f"c{k % 6}", hot[:, k]) for k, n in enumerate(c.robot.joint_names)]
        parts.append(charts.lines("drive temperatures", "°C", shown, least=5.0))
    return page.heading("Bus", 2, "bus") + f'<div class="two">{"".join(parts)}</div>'


def contents(c: Context, log: LogFile, index: int) -> str:
    """Channels, runs."""
    run, rows = c.run, []
    span = max(c.dt, float(c.t[-1] - c.t[0]))
    for channel, messages in sorted(run.data.recording.messages.items(), key=lambda kv: kv[0].name):
        inside = len(run.messages(channel)[0]) if channel in TICKED else len(run.events(channel))
        missing = len(c.t) - inside if channel in CHAIN else None
        if inside:
            rows.append(
                [
                    channel.name,
                    channel.by,
                    inside,
                    f"{inside / span:.1f}",
                    "–" if missing is None else missing,
                    channel.doc,
                ]
            )
        elif messages:
            rows.append([channel.name, channel.by, 0, "–", "–", "outside of the part shown"])
    out = page.table(("channel", "from", "messages", "per s", "ticks without", "carries"), rows, (2, 3, 4))
    if run.data.repeated:
        out += page.paragraph(f"{run.data.repeated} messages came again and were counted once.", "m")
    if len(log.runs) > 1:
        lines = [
            f"run {k + 1}: {r.ticks} ticks"
            + (f", {r.forced}" if r.forced else "")
            + (" (this page)" if k == index else f" (--run {k + 1})")
            for k, r in enumerate(log.runs)
        ]
        out += page.heading("Runs in this log", 3) + page.listed(lines)
    return out
