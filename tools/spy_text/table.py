"""The list of channels as text: columns, numbers with units, and as plain data for --json."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, NamedTuple

from tools.spy_text.traffic import Row


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{1e3 * value:.2f}" if value < 1 else f"{1e3 * value:.0f}"


def _age(value: float) -> str:
    return f"{1e3 * value:.0f} ms" if value < 1 else f"{value:.1f} s" if value < 100 else f"{value:.0f} s"


def _rate(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


class Column(NamedTuple):
    """A column of the list."""

    title: str
    width: int
    left: bool
    text: Callable[[Row], str]


COLUMNS: tuple[Column, ...] = (  # what matters most fits into 80 characters
    Column("channel", 20, True, lambda r: r.name),
    Column("Hz", 6, False, lambda r: _rate(r.rate)),
    Column("age", 7, False, lambda r: _age(r.age)),
    Column("jitter ms", 9, False, lambda r: _ms(r.jitter)),
    Column("gap ms", 7, False, lambda r: _ms(r.longest)),
    Column("kB/s", 7, False, lambda r: f"{1e-3 * r.bandwidth:.1f}"),
    Column("lost", 6, False, lambda r: "-" if r.lost is None else str(r.lost)),
    Column("errors", 6, False, lambda r: str(r.errors)),
    Column("from", 4, False, lambda r: str(r.senders)),
    Column("total", 9, False, lambda r: str(r.total)),
    Column("type", 26, True, lambda r: r.type),
)


def _cell(text: str, column: Column) -> str:
    if len(text) > column.width:
        text = text[: column.width - 1] + "…"
    return f"{text:<{column.width}}" if column.left else f"{text:>{column.width}}"


def header() -> str:
    """The titles."""
    return " ".join(_cell(c.title, c) for c in COLUMNS)


def line(row: Row) -> str:
    """One channel."""
    return " ".join(_cell(c.text(row), c) for c in COLUMNS)


def is_bad(row: Row) -> bool:
    """Something of this channel needs a look."""
    return bool(row.errors or row.lost)


def summary(rows: list[Row], lost: int, dropped: int, seconds: float) -> str:
    """One line about all channels."""
    rate, bandwidth = sum(r.rate for r in rows), sum(r.bandwidth for r in rows)
    text = f"{len(rows)} channels, {rate:.0f} messages/s, {1e-6 * bandwidth:.2f} MB/s in {seconds:.0f} s"
    text += f", {lost} lost before us" if lost else ""
    return text + (f", {dropped} dropped here: this spy was too slow" if dropped else "")


def as_data(rows: list[Row], lost: int, dropped: int, seconds: float, url: str) -> dict[str, Any]:
    """For --json: SI units (s, Hz, bytes/s), null where nothing is known."""
    channels = [{k: v for k, v in asdict(row).items()} for row in rows]
    for channel in channels:
        for key, value in channel.items():
            if isinstance(value, float) and not math.isfinite(value):
                channel[key] = None
    return {"url": url, "seconds": seconds, "lost": lost, "dropped": dropped, "channels": channels}
