"""Builds the report of a log: file in, page out."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tools.report import machine, motion, overview, page
from tools.report.charts import Charts
from tools.report.context import Context
from tools.report.log import LogFile
from tools.report.verdict import Verdict, judge

LINKS = [
    ("first", "First anomalies"), ("timeline", "Timeline"), ("body", "Body"), ("contacts", "Contacts"),
    ("balance", "Balance"), ("joints", "Joints"), ("estimator", "Estimator"), ("mpc", "MPC"),
    ("processes", "Processes"), ("log", "Log"),
]  # fmt: skip


def report(
    path: Path, *, robot: str | None = None, run: int | None = None, begin: float | None = None,
    end: float | None = None, title: str | None = None,
) -> tuple[str, Verdict]:  # fmt: skip
    """The page of a log and its verdict; raises LogError or ConfigError."""
    log = LogFile.read(path)
    index = log.choose(run)
    context = Context(log.run(index, log.robot(robot), begin, end))
    with np.errstate(all="ignore"):  # a falling robot gives every number there is
        verdict = judge(context)
        return _page(context, log, index, verdict, title), verdict


def _page(c: Context, log: LogFile, index: int, v: Verdict, title: str | None) -> str:
    moment = v.stop if v.stop is not None else v.cause.begin if v.cause is not None else None
    charts = Charts(c.t, moment)
    nav = overview.navigator(c, charts, LINKS)
    parts = [
        overview.head(c, log, index, title),
        overview.verdict(v),
        overview.key_figures(c, v),
        page.heading("First anomalies", 2, "first"),
        overview.anomalies(v),
        page.heading("Timeline", 2, "timeline"),
        overview.timeline(c, v, charts),
        overview.events(c),
        page.heading("Body", 2, "body"),
        motion.body(c, charts),
        page.heading("Contacts", 2, "contacts"),
        motion.contacts(c, charts, v.calm),
        page.heading("Balance", 2, "balance"),
        motion.balance(c, charts),
        page.heading("Joints", 2, "joints"),
        machine.joints(c, charts, np.inf if v.stop is None else v.stop),
        page.heading("Estimator", 2, "estimator"),
        motion.estimator(c, charts),
        page.heading("MPC", 2, "mpc"),
        machine.mpc(c, charts),
        page.heading("Processes", 2, "processes"),
        machine.processes(c, charts),
        machine.bus(c, charts),
        page.heading("Log", 2, "log"),
        machine.contents(c, log, index),
    ]
    marks = [] if v.stop is None else [{"t": v.stop, "kind": "bad"}]
    if v.cause is not None:
        marks.append({"t": v.cause.begin, "kind": "warn"})
    data = {"time": charts.time, "charts": charts.specs, "modes": overview.modes(c), "marks": marks}
    return page.document(title or f"{c.robot.name}: {log.path.stem}", parts, data, nav)
