"""How the processes are, as a table for a terminal and as one line for a journal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psutil
from rich.table import Table

from lcmtypes.generated import ModeState, ProcHealth
from tools.lcm_run import Watch
from tools.processes import UP
from tools.up.supervisor import SILENT, Supervisor, Tracked

COLUMNS = (  # title, right-aligned
    ("process", False), ("state", False), ("Hz", True), ("latency p50/p99", True), ("step p50", True), ("missed", True),
    ("CPU %", True), ("MB", True), ("restarts", True), ("last warning", False),
)  # fmt: skip
WIDE = 120  # characters in which all columns and some words of a warning have room
SPARED = ("latency p50/p99", "step p50", "MB")


class Rates:
    """Ticks per second from one proc_health to the next."""

    def __init__(self) -> None:
        self._last: dict[str, ProcHealth] = {}
        self._rate: dict[str, float] = {}

    def of(self, health: ProcHealth) -> float:
        """Hz."""
        last = self._last.get(health.name)
        if last is not None and last.instance == health.instance and health.utime > last.utime:
            self._rate[health.name] = max(0, health.ticks - last.ticks) / (1e-6 * (health.utime - last.utime))
        self._last[health.name] = health
        return self._rate.get(health.name, 0.0)


class Usage:
    """Share of a core and memory of processes, since the last time they were asked for."""

    def __init__(self) -> None:
        self._known: dict[int, psutil.Process] = {}

    def of(self, pid: int) -> tuple[float, float]:
        """CPU in %, resident memory in MB; zeros for one that is gone."""
        try:
            process = self._known.setdefault(pid, psutil.Process(pid))
            return process.cpu_percent(None), 1e-6 * process.memory_info().rss
        except psutil.Error:
            self._known.pop(pid, None)
            return 0.0, 0.0


@dataclass
class Row:
    """What is shown of one process."""

    name: str
    state: str
    rate: float  # Hz
    latency: tuple[float, float]  # ms, p50 and p99; zeros: it has none
    step: float  # us, p50
    missed: int
    cpu: float  # % of a core
    memory: float  # MB
    restarts: int
    warning: str

    def cells(self) -> list[str]:
        """As text, in the order of COLUMNS."""
        return [
            self.name,
            self.state,
            f"{self.rate:.0f}",
            f"{self.latency[0]:.2f}/{self.latency[1]:.2f} ms" if any(self.latency) else "",
            f"{self.step:.0f} us" if self.step else "",
            str(self.missed),
            f"{self.cpu:.0f}",
            f"{self.memory:.0f}",
            str(self.restarts) if self.restarts else "",
            self.warning,
        ]


class Status:
    """Collects the rows once per refresh."""

    def __init__(self, supervisor: Supervisor, watch: Watch, pid: int) -> None:
        self._supervisor, self._watch, self._pid = supervisor, watch, pid
        self._rates, self._usage = Rates(), Usage()

    def rows(self, now: float) -> list[Row]:
        """One per process, `up` itself last; whoever else reports on this URL is shown too."""
        tracked, health = self._supervisor.tracked, self._watch.health
        names = [*tracked, *sorted(n for n in health if n not in tracked and n != UP), *([UP] if UP in health else [])]
        return [self._row(name, tracked.get(name), health.get(name), now) for name in names]

    def _row(self, name: str, tracked: Tracked | None, health: Any, now: float) -> Row:
        child = self._supervisor.launcher.children.get(name)
        pid = child.process.pid if child is not None else self._pid if name == UP else 0
        cpu, memory = self._usage.of(pid) if pid else (0.0, 0.0)
        state = "starting" if health is None else health.state
        age = now - self._watch.heard.get(name, now)
        if tracked is not None and (tracked.due is not None or tracked.over):
            state = "dead"
        elif age > SILENT:
            state = f"silent for {age:.0f} s"
        warning = (health.last_error if health is not None else "") or (tracked.warning if tracked is not None else "")
        restarts = tracked.restarts.total if tracked is not None else 0
        if health is None or state == "dead":
            return Row(name, state, 0.0, (0.0, 0.0), 0.0, 0, cpu, memory, restarts, warning)
        return Row(
            name, state, self._rates.of(health), (health.latency_p50, health.latency_p99), health.step_p50,
            health.missed, cpu, memory, restarts, warning if name != UP else "",
        )  # fmt: skip


def table(rows: list[Row], caption: str, width: int = WIDE) -> Table:
    """A row per process; below it time, mode and refusal. On a narrow terminal without some of the figures."""
    out = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", caption_justify="left", caption_style="")
    shown = [k for k, (title, _) in enumerate(COLUMNS) if width >= WIDE or title not in SPARED]
    for title, right in (COLUMNS[k] for k in shown):
        # Warnings wrap, figures never do.
        out.add_column(title, justify="right" if right else "left", no_wrap=title != "last warning")
    for row in rows:
        style = "red" if row.state in ("dead", "lost", "damping", "latched") or row.state.startswith("silent") else None
        cells = row.cells()
        out.add_row(*(cells[k] for k in shown), style=style)
    out.caption = caption
    return out


def line(rows: list[Row]) -> str:
    """The same for a journal."""
    parts = []
    for row in rows:
        latency = f", latency {row.latency[0]:.2f}/{row.latency[1]:.2f} ms" if any(row.latency) else ""
        parts.append(f"{row.name} {row.state} {row.rate:.0f} Hz{latency}, missed {row.missed}, CPU {row.cpu:.0f} %")
    return "; ".join(parts)


def in_words(mode: ModeState | None, t: float) -> str:
    """Time of the run, mode and refusal."""
    if mode is None:
        return f"{t:.1f} s   no controller yet"
    return f"{t:.1f} s   {mode.mode}{' (busy)' if mode.busy else ''} {mode.reason}".rstrip()
