"""The report as one HTML page without anything outside of it: session in, text out. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from procs.model.robot import Robot
from tools.bring_up.session import Record, Session

STEPS = (
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
STYLE = """
body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em;color:#222}
table{border-collapse:collapse;width:100%;margin:.4em 0 1.4em}td,th{border-bottom:1px solid #ddd;padding:.3em .6em;
text-align:left;vertical-align:top}.ok{color:#176b2c}.bad{color:#a11313;font-weight:600}.m{color:#666}svg{background:#fafafa}
@media print{body{margin:0}}
"""
W, H = 180, 44


def page(
    robot: Robot, session: Session, changed: Sequence[str], lacking: Sequence[str], signed: str, at: str, accepted: bool
) -> str:
    """The whole page."""
    name = escape(robot.description.title or robot.name)
    parts = [
        f"<!doctype html><html lang=en><meta charset=utf-8><title>Bring-up of {name}</title><style>{STYLE}</style>",
        f"<h1>Bring-up of {name}</h1><p class=m>{escape(at)} · session {escape(session.path.name)} · "
        f"{len(session.records)} results</p>",
        "<p class=bad>On emulated hardware: this says nothing about a real robot.</p>" if session.emulated else "",
        _result(lacking, signed, at, accepted),
        "<h2>Changes to the description</h2>",
        _list(changed) if changed else "<p>None: the wiring is as described.</p>",
    ]
    for step, title in STEPS:
        records = session.latest(step)
        if records:
            parts += [f"<h2>{title}</h2>", _table(step, records)]
    parts += ["<h2>Everything, in order</h2>", _history(session.records), "</html>"]
    return "\n".join(parts)


def _result(lacking: Sequence[str], signed: str, at: str, accepted: bool) -> str:
    out = ["<h2>Result</h2>"]
    out.append(
        "<p class=ok>All steps have passed.</p>" if not lacking else "<p class=bad>Not done:</p>" + _list(lacking)
    )
    if accepted:
        out.append("<p class=bad>The drives have no watchdog; this was accepted in so many words.</p>")
    out.append(f"<p>Signed off by <b>{escape(signed) or 'nobody'}</b>, {escape(at)}.</p>")
    return "".join(out)


def _list(lines: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def _table(step: str, records: Sequence[Record]) -> str:
    extra = {"listen": _node, "roll-call": _node, "step": _trace}.get(step)
    rows = []
    for r in records:
        kind = "ok" if r.passed else "bad"
        more = f"<td>{extra(r)}</td>" if extra else ""
        rows.append(
            f"<tr><td>{escape(r.target)}<td class={kind}>{escape(r.verdict)}<td>{escape(r.words)}{more}"
            f"<td class=m>{escape(r.at)}"
        )
    head = "<tr><th>joint or bus<th>verdict<th>in words" + ("<th>measured" if extra else "") + "<th>when"
    return f"<table>{head}{''.join(rows)}</table>"


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

    def line(k: int, colour: str) -> str:
        xy = " ".join(f"{W * p[0] / t1:.1f},{H - 2 - (H - 4) * (p[k] - low) / span:.1f}" for p in points)
        return f'<polyline fill="none" stroke="{colour}" stroke-width="1.5" points="{xy}"/>'

    most = r.data.get("torque_most")
    torque = "" if most is None else f"<br><span class=m>at most {most:.1f} N m</span>"
    return f'<svg width="{W}" height="{H}">{line(1, "#999")}{line(2, "#1b62b5")}</svg>{torque}'


def _history(records: Sequence[Record]) -> str:
    rows = [
        f"<tr><td class=m>{escape(r.at)}<td>{escape(r.step)}<td>{escape(r.target)}<td>{escape(r.verdict)}"
        for r in records
    ]
    return f"<table>{''.join(rows)}</table>"
