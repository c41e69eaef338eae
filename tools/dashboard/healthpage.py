"""Page Health: processes with rates, step times and latency (p50/p99) and losses; buses and motors."""

from __future__ import annotations

import re
import time
from typing import Any

import psutil

from lcmtypes.channels import BUS_STATUS
from tools.dashboard import style
from tools.dashboard.page import Context, set_changed
from tools.dashboard.state import State

RESCAN = 5.0  # s between searches for processes of our URL
HOT, LOW_VOLTAGE = 70.0, 1.0  # deg C; V below which a voltage is not reported
SHOWN_STATES = {"running": "info", "paused": "info", "waiting": "info", "starting": "info"}


class Load:
    """CPU of the processes on this machine that have our URL on their command line."""

    def __init__(self, url: str) -> None:
        self._url = re.sub(r"[?&]recv_buf_size=\d+$", "", url)  # as it stands on command lines
        self._found: dict[str, psutil.Process] = {}
        self._due = 0.0

    def read(self, now: float) -> dict[str, float]:
        """Percent of a core by process name since the last call."""
        if now >= self._due:
            self._due = now + RESCAN
            self._search()
        out = {}
        for name, process in list(self._found.items()):
            try:
                out[name] = process.cpu_percent(None)
            except psutil.Error:
                del self._found[name]
        return out

    def _search(self) -> None:
        known = {p.pid for p in self._found.values()}
        for process in psutil.process_iter():
            if process.pid in known:
                continue
            try:
                line = process.cmdline()
                if self._url in line and "-m" in line:
                    name = line[line.index("-m") + 1].rsplit(".", 1)[-1]
                    process.cpu_percent(None)
                    self._found[name] = process
            except (psutil.Error, IndexError):
                continue


class HealthPage:
    """Two tables."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._load = Load(context.url)
        gui = context.server.gui
        self._processes = gui.add_html("")
        self._bus = gui.add_html("")
        self._due = 0.0

    def update(self, now: float) -> None:
        """Once a second."""
        if now < self._due:
            return
        self._due = now + 1.0
        state = self._context.state
        set_changed(self._processes, content=process_table(state, self._load.read(time.monotonic()), now))
        set_changed(self._bus, content=bus_table(state, now))


def process_table(state: State, load: dict[str, float], now: float) -> str:
    """A row per process that has reported, and those on this machine that do not report."""
    rows = []
    for name, health in sorted(state.health.items()):
        silent = state.silent(name, now)
        word = style.coloured(f"silent {silent:.0f} s", "error") if silent and health.state != "stopping" else (
            style.coloured(health.state, SHOWN_STATES.get(health.state, "warning"))
        )  # fmt: skip
        latency = f"{health.latency_p50:.1f}/{health.latency_p99:.1f}" if health.latency_p99 else ""
        cells = [
            f"<b>{style.safe(name)}</b>",
            word,
            "" if silent else f"{state.rates.get(name, 0.0):.0f}",
            f"{health.step_p50:.0f}/{health.step_p99:.0f}" if health.step_p99 else "",
            latency,
            str(health.missed),
            f"{load[name]:.0f}" if name in load else "",
        ]
        rows.append(cells)
    others = [n for n in sorted(load) if n not in state.health]
    rows += [[style.safe(n), "", "", "", "", "", f"{load[n]:.0f}"] for n in others]
    titles = ("process", "state", "Hz", "step µs", "lat. ms", "missed", "CPU %")
    head = '<div class="d-head">processes</div>'
    if not rows:
        return head + f'<div class="d-reason">{style.dim("no process has reported")}</div>'
    errors = [
        f"<b>{style.safe(name)}</b> {style.coloured(health.last_error, 'warning')}"
        for name, health in sorted(state.health.items())
        if health.last_error
    ]
    below = f'<div class="d-head">last errors</div><div class="d-reason">{"<br>".join(errors)}</div>' if errors else ""
    return head + style.table(titles, rows, right=(2, 3, 4, 5, 6)) + below


def bus_table(state: State, now: float) -> str:
    """Buses and motors, where a bridge reports them."""
    status: Any = state.messages.get(BUS_STATUS)
    head = '<div class="d-head">bus</div>'
    if status is None:
        return (
            head
            + f'<div class="d-reason">{style.dim("no bridge reports: the plant is a simulator, or is not there")}</div>'
        )
    age = state.age(BUS_STATUS, now)
    old = style.coloured(f" (heard {age:.0f} s ago)", "error") if age > 3.0 else ""
    line = (
        f'<div class="d-reason"><b>{style.safe(status.state)}</b>{old} {style.coloured(status.reason, "warning")}</div>'
    )
    counters = ("frames", "checksum_errors", "stale", "retries", "intruders")
    table = style.table(
        [c.replace("_", " ") for c in counters], [[str(getattr(status, c)) for c in counters]], right=range(5)
    )
    names = state.robot.joint_names
    rows = []
    for i in range(status.num_motors):
        hot, fault = float(status.temperature[i]), status.fault[i]
        volts = float(status.voltage[i])
        rows.append(
            [
                style.safe(names[i] if i < len(names) else i),
                style.coloured(f"{hot:.0f}", "warning" if hot > HOT else "info"),
                f"{volts:.1f}" if volts > LOW_VOLTAGE else "",
                style.coloured(fault, "error") if fault else style.dim("none"),
            ]
        )
    motors = style.table(("motor", "°C", "V", "fault"), rows, right=(1, 2)) if rows else ""
    return head + line + table + motors
