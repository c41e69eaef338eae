"""First part of a report: what it is of, how it ended, key figures, what left its range, the timeline."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from lcmtypes.channels import BUS_STATUS, ESTOP, MODE_STATE, PARAMETER_RESPONSE, PROC_HEALTH, RESET
from tools.report import page
from tools.report.anomalies import Anomaly, rules
from tools.report.charts import Charts, Span
from tools.report.context import Context
from tools.report.log import LogFile, intervals
from tools.report.sources import refused
from tools.report.verdict import Verdict

SHOWN = 40  # rows of anomalies


def head(c: Context, log: LogFile, index: int, title: str | None) -> str:
    """Title and what the log is of."""
    data, config = log.runs[index], log.config
    begin, _ = data.span()
    date = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(begin / 1e6)) if begin > 1e15 else "no date"
    facts = [
        f"{c.robot.description.title} ({c.robot.name})", date, f"{c.t[0]:.2f} to {c.t[-1]:.2f} s of the run's time",
        f"run {index + 1} of {len(log.runs)}" if len(log.runs) > 1 else "one run", f"log {log.path.name}",
    ]  # fmt: skip
    if config is not None:
        facts += [
            f"software {config.revision or 'unknown'}",
            f"CPU {config.cpu or 'unknown'}",
            f"description {config.hash[:12]}",
        ]
    kind = (
        "simulated (ground truth in the log)"
        if c.signals.has_truth
        else "no ground truth in the log: all of it is the robot's own estimate"
    )
    return page.heading(title or f"{c.robot.name}: {log.path.stem}", 1) + page.paragraph(
        " · ".join([*facts, kind]), "m"
    )


def verdict(v: Verdict) -> str:
    """The verdict box."""
    lines = [v.why] if v.why else []
    if v.cause is not None:
        a = v.cause
        lead = "" if v.stop is None else f", {1e3 * max(0.0, v.stop - a.begin):.0f} ms before the end"
        said = f" ({a.said})" if a.said else ""
        lines.append(f"First out of range: {a.title}{said}, from {a.begin:.3f} s on{lead}. {a.rule.means}")
    elif v.stop is not None:
        lines.append("Nothing had left its normal range before.")
    return page.verdict(v.kind, v.head, lines)


def key_figures(c: Context, v: Verdict) -> str:
    """Cards."""
    out: list[tuple[str, str, str]] = [("duration", f"{c.t[-1] - c.t[0] + c.dt:.1f} s", f"{len(c.t)} ticks")]
    steady = c.signals.steady(1.0) & (c.t < v.calm)
    when = "steady" if v.stop is None else f"steady, until {v.calm:.2f} s"
    if not steady.any() and v.stop is not None:
        steady, when = c.signals.carrying & (c.t < v.stop), "until the stop"

    def stat(name: str, x: np.ndarray | None, of: Callable[[np.ndarray], str], remark: str = "") -> None:
        part = None if x is None else x[steady & np.isfinite(x if x.ndim == 1 else x.sum(axis=1))]
        if part is not None and len(part):
            out.append((name, of(part), remark))

    body = c.feet.body
    if body is not None and np.isfinite(body).any():
        known = body[np.isfinite(body).all(axis=1)]
        way = float(np.linalg.norm(np.diff(known[:: max(1, round(0.05 / c.dt))], axis=0)[:, :2], axis=1).sum())
        out.append(("way", f"{way:.2f} m", f"{np.linalg.norm((known[-1] - known[0])[:2]):.2f} m straight"))
    speed = c.signals.true_speed if c.signals.has_truth else c.signals.speed
    if speed is not None and c.signals.walking.any():
        error = np.linalg.norm(speed[:, :2] - c.signals.paced_speed, axis=1)
        part = error[steady & c.signals.walking & np.isfinite(error)]
        if len(part):
            out.append(("speed error", f"{np.sqrt((part**2).mean()):.3f} m/s", f"rms, walking {when}"))
    height = c.signals.true_height if c.signals.has_truth else c.signals.height
    stat("height", height, lambda x: f"{x.mean():.3f} m", f"mean, {when}")
    stat("tilt", c.signals.tilt, lambda x: f"{x.max():.1f}°", f"largest, {when}")
    if c.joints.torque_share is not None and np.isfinite(c.joints.torque_share).any():
        peak = np.nanmax(c.joints.torque_share[c.t < (np.inf if v.stop is None else v.stop)], axis=0)
        out.append(
            ("peak torque", f"{100 * peak.max():.0f} %", f"of the limit, {c.robot.joint_names[int(peak.argmax())]}")
        )
    out += _from_metrics(v.values)
    rejected = 0 if c.joints.fault is None else int((np.nan_to_num(c.joints.fault) > 0).any(axis=1).sum())
    out.append(("rejected samples", str(rejected), "ticks with a joint predicted"))
    return page.cards(out)


def _from_metrics(values: dict[str, Any]) -> list[tuple[str, str, str]]:
    out: list[tuple[str, str, str]] = []
    slip, cost, est = values.get("foot_slip_mm") or {}, values.get("cost_of_transport"), values.get("estimator") or {}
    if slip.get("p95") is not None:
        out.append(("foot slip", f"{slip['p95']:.1f} mm", f"95 % of stances, most {slip['max']:.1f}"))
    if cost is not None:
        out.append(("cost of transport", f"{cost:.2f}", "mechanical"))
    if est.get("drift_percent") is not None:
        out.append(("drift", f"{est['drift_percent']:.2f} %", "of the way"))
    if (rmse := (est.get("velocity_rmse") or [None])[0]) is not None:
        out.append(("velocity estimate", f"{rmse:.3f} m/s", "rms error ahead"))
    return out


def anomalies(v: Verdict) -> str:
    """The list, causes first."""
    if not v.found and v.stop is None:
        return page.paragraph("Nothing left its normal range.", "ok")
    rows: list[page.Row] = []
    for a in v.found[:SHOWN]:
        kind = "cause" if a is v.cause else "note" if a.rule.note else ""
        rows.append(page.Row(_cells(a), kind, a.begin, a.end))
    if v.stop is not None:
        rows.append(page.Row([f"{v.stop:.3f}", "", v.head, "", "", v.why], "end", v.stop, v.stop))
    more = len(v.found) - SHOWN
    text = (
        "In the order in which it began; what began together is ordered from cause to effect. "
        "A click shows the moment in all charts."
    )
    return (
        page.paragraph(text, "m")
        + page.table(("t, s", "for, s", "what", "worst", "normal", "what it means · where to look"), rows, (0, 1))
        + (page.paragraph(f"{more} more are not shown.", "m") if more > 0 else "")
    )


def _cells(a: Anomaly) -> list[object]:
    what = page.escape(a.title) + (f'<br><span class="m">{page.escape(a.said)}</span>' if a.said else "")
    times = f'<br><span class="m">{a.times} times until {a.end:.2f} s</span>' if a.times > 1 else ""
    advice = f'{page.escape(a.rule.means)} <span class="m">{page.escape(a.rule.look)}</span>'
    worst = f"{a.worst:.3g} {a.rule.unit}".strip() if a.rule.unit else ""
    return [
        f"{a.begin:.3f}", f"{a.seconds:.3f}", page.Html(what + times), worst, a.normal, page.Html(advice),
    ]  # fmt: skip


def modes(c: Context) -> list[Span]:
    """(begin, end, mode) of each stretch."""
    mode = c.signals.mode
    edges = np.flatnonzero(np.r_[True, mode[1:] != mode[:-1], True])
    return [(float(c.t[a]), float(c.t[b - 1] + c.dt), str(mode[a])) for a, b in pairwise(edges)]


def navigator(c: Context, charts: Charts, links: list[tuple[str, str]]) -> str:
    """The bar at the top: links, and the modes over the whole time."""
    rows = [("mode", [(f"m-{m[2]}", 0.9, [m]) for m in modes(c)])]  # type: ignore[misc]
    bar = charts.lanes("", rows, navigator=True, height=22)
    anchors = "".join(f'<a href="#{a}">{page.escape(n)}</a>' for a, n in links)
    return f'<nav><div class="in"><div class="links"><output></output>{anchors}</div>{bar}</div></nav>'


def timeline(c: Context, v: Verdict, charts: Charts) -> str:
    """Modes, gaits and everything that happened, as lanes."""
    rows: list[tuple[str, list[tuple[str, float, list[Span]]]]] = [
        ("mode", [(f"m-{m[2]}", 0.9, [m]) for m in modes(c)]),  # type: ignore[misc]
        ("gait", [("m-walk", 0.9, _named(c, c.signals.gait))]),
    ]
    busy: list[Span] = [(float(c.t[a]), float(c.t[b - 1] + c.dt)) for a, b in intervals(c.signals.busy)]
    if busy:
        rows.append(("transition", [("m-ready", 0.7, busy)]))
    said = ""
    for rule in rules():
        spans: list[Span] = [
            (a.begin, max(a.end, a.begin + c.dt), a.title) for a in v.found if a.rule.name == rule.name
        ]
        if spans:
            rows.append((rule.group if rule.group != said else "", [("warn", 0.5, spans)]))
            said = rule.group
    stops: list[Span] = [(t, t + 0.02, f"estop {m.source}") for t, m in c.run.events(ESTOP)]
    stops += [(t, t + 0.02, f"reset {m.source}") for t, m in c.run.events(RESET)]
    if stops:
        rows.append(("operator", [("bad", 0.8, stops)]))
    return charts.lanes("", rows, height=20)


def _named(c: Context, words: np.ndarray) -> list[Span]:
    edges = np.flatnonzero(np.r_[True, words[1:] != words[:-1], True])
    return [(float(c.t[a]), float(c.t[b - 1] + c.dt), str(words[a])) for a, b in pairwise(edges) if words[a]]


def events(c: Context) -> str:
    """Refusals, errors of processes, live parameters, states of the bus, in words."""
    rows: list[page.Row] = []
    reasons = c.run.words(MODE_STATE, "reason")
    for k in np.flatnonzero(refused(c) > 0):
        rows.append(page.Row([f"{c.t[k]:.3f}", "controller", reasons[k]], at=float(c.t[k])))
    said: dict[str, str] = {}
    for t, m in c.run.events(PROC_HEALTH):
        if m.last_error and m.last_error != said.get(m.name):
            rows.append(page.Row([f"{t:.3f}", m.name, m.last_error], at=t))
        said[m.name] = m.last_error
    for t, m in c.run.events(PARAMETER_RESPONSE):
        words = f"{m.name} = {m.value:g}" if m.ok else f"{m.name} refused: {m.reason}"
        rows.append(page.Row([f"{t:.3f}", m.process, words], at=t))
    state = None
    for t, m in c.run.events(BUS_STATUS):
        if m.state != state:
            rows.append(page.Row([f"{t:.3f}", "bus", f"{m.state}: {m.reason}" if m.reason else m.state], at=t))
        state = m.state
    rows.sort(key=lambda r: float(str(r[0])))
    return page.table(("t, s", "who", "said"), rows[:SHOWN], (0,)) if rows else ""
