"""The report as one HTML page without anything outside of it: session in, text out. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from procs.model.robot import Robot
from tools.bring_up.session import Record, Session
from tools.report.page import Html, cell, document, heading, listed, paragraph, table, verdict

STEPS = (
    ("bit-rate", "Bit rates"),
    ("listen", "Listen only"),
    ("roll-call", "Roll-call"),
    ("step", "One joint at a time"),
    ("zero", "Zero offsets"),
    ("quantum", "Quanta of the numbers"),
    ("silence", "When the host falls silent"),
    ("words", "Accepted in words"),
    ("rig", "Stand in the rig"),
    ("ground", "Ground"),
)
W, H = 180, 44


def page(
    robot: Robot, session: Session, changed: Sequence[str], lacking: Sequence[str], signed: str, at: str, accepted: bool
) -> str:
    """The whole page."""
    title = f"Bring-up of {robot.description.title or robot.name}"
    facts = f"{at} · session {session.path.name} · {len(session.records)} results"
    emulated = "On emulated hardware: this says nothing about a real robot."
    parts = [
        heading(title, 1),
        paragraph(facts, "m"),
        paragraph(emulated, "bad") if session.emulated else "",
        _result(lacking, signed, at, accepted),
        heading("Changes to the description"),
        listed(changed) if changed else paragraph("None: the wiring is as described."),
    ]
    for step, name in STEPS:
        records = session.latest(step)
        if records:
            parts += [heading(name), _table(step, records)]
    history = ([cell(r.at, "m"), r.step, r.target, r.verdict] for r in session.records)
    parts += [heading("Everything, in order"), table(("when", "step", "joint or bus", "verdict"), history)]
    return document(title, parts)


def _result(lacking: Sequence[str], signed: str, at: str, accepted: bool) -> str:
    lines = ["The drives have no watchdog; this was accepted in so many words."] if accepted else []
    lines.append(f"Signed off by {signed or 'nobody'}, {at}.")
    box = verdict("bad", "Not done", lines) if lacking else verdict("ok", "All steps have passed.", lines)
    return heading("Result") + box + (listed(lacking) if lacking else "")


def _table(step: str, records: Sequence[Record]) -> str:
    extra = {"listen": _node, "roll-call": _node, "step": _trace}.get(step)
    head = ("joint or bus", "verdict", "in words", *(("measured",) if extra else ()), "when")
    rows = []
    for r in records:
        more = [cell(Html(extra(r)))] if extra else []
        rows.append([r.target, cell(r.verdict, "ok" if r.passed else "bad"), r.words, *more, cell(r.at, "m")])
    return table(head, rows)


def _node(r: Record) -> str:
    d = r.data
    age = "" if d.get("age") is None else f", {d['age']:.2f} s ago"
    return escape(f"{d.get('bus', '')} × {d.get('id', '')} × {d.get('state') or '-'}{age}")


def _trace(r: Record) -> str:
    """Asked (grey) and done (blue), deg over s."""
    points = r.data.get("trace") or []
    if len(points) < 2:
        return ""
    t1 = points[-1][0] or 1.0
    values = [p[k] for p in points for k in (1, 2)]
    low, span = min(values), (max(values) - min(values)) or 1.0

    def line(k: int, kind: str) -> str:
        xy = " ".join(f"{W * p[0] / t1:.1f},{H - 2 - (H - 4) * (p[k] - low) / span:.1f}" for p in points)
        return f'<polyline class="{kind}" fill="none" stroke-width="1.5" points="{xy}"/>'

    most = r.data.get("torque_most")
    torque = "" if most is None else f'<br><span class="m">at most {most:.1f} N m</span>'
    return f'<svg width="{W}" height="{H}">{line(1, "asked")}{line(2, "done")}</svg>{torque}'
