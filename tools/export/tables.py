"""CSV: one row per tick, joined on (run, seq); channels that do not tick in a file each.

Numbers have 17 significant digits, enough to give back every double exactly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import IO

import numpy as np

from tools.export.arrays import TIME
from tools.export.select import HEADER, Column, ExportError, Source
from tools.export.spool import Spool, Stored

ROWS = 2000  # formatted at once
SEQ_BITS = 47  # of the join's key; the rest numbers the runs


def write_csv(
    part: Callable[[Path], Path],
    out: Path,
    spool: Spool,
    sources: Sequence[Source],
    hold: bool,
    done: Callable[[int], None],
) -> None:
    """`part` gives the place to write a file to. With `hold` all goes into one table."""
    ticking = [s for s in sources if s.by_tick]
    others = [s for s in sources if not s.by_tick]
    if hold and not ticking:
        raise ExportError("--hold needs a channel that ticks (imu, body_state, leg_state ...) to hold values in")
    rows = 0
    if ticking:
        table = _Ticks(spool, ticking, others if hold else [], hold)
        with part(out).open("w", newline="") as file:
            for lines in table.lines():
                file.write(lines)
                rows += ROWS * len(table.sources)
                done(rows)
    for source in others if not hold else ():
        alone = len(others) == 1 and not ticking
        channel = re.sub(r"[^\w@.-]", "_", source.name)
        target = out if alone else out.with_name(f"{out.stem}.{channel}{out.suffix}")
        with part(target).open("w", newline="") as file:
            _messages(file, spool, source)
        rows += source.count
        done(rows)


class _Formatter:
    """Rows of one source as text, without the columns that stand in front of the row."""

    def __init__(self, spool: Spool, source: Source, columns: Sequence[Column]) -> None:
        self._stored = [spool.column(f"{source.name}.{c.name}") for c in columns]
        self.titles: list[str] = []
        formats: list[str] = []
        for column, stored in zip(columns, self._stored, strict=True):
            form = "%s" if column.text else "%.17g" if stored.dtype.kind == "f" else "%d"
            for index in product(*map(range, stored.shape)):
                self.titles.append(f"{source.name}.{column.name}" + "".join(f"[{i}]" for i in index))
                formats.append(form)
        self._format = ",".join(formats)
        self.empty = "," * (len(formats) - 1)

    def rows(self, start: int, stop: int) -> list[str]:
        """Texts of the messages `start` to `stop`."""
        values: list[list[object]] = []
        for stored in self._stored:
            read = stored.read(start, stop)
            read = _quoted(stored, read) if stored.text else read
            values.extend(read.reshape(len(read), -1).T.tolist())
        if not values:
            return [""] * (stop - start)
        form = self._format
        return [form % row for row in zip(*values, strict=True)]


def _quoted(stored: Stored, codes: np.ndarray) -> np.ndarray:
    words = ['"' + w.replace('"', '""') + '"' if re.search(r'[",\r\n]', w) else w for w in (*stored.words, "")]
    return np.array(words, object)[codes]


class _Ticks:
    """The joined table."""

    def __init__(self, spool: Spool, ticking: Sequence[Source], held: Sequence[Source], hold: bool) -> None:
        self.sources = (*ticking, *held)
        keys, self._runs = _keys(spool, ticking)
        table = np.unique(np.concatenate([np.unique(k) for k in keys]))
        self._run, self._seq = table >> SEQ_BITS, table & ((1 << SEQ_BITS) - 1)
        self._t = np.full(len(table), np.inf)
        last = np.zeros(len(table), np.int64)  # event number of a tick's last message
        self._rows: list[np.ndarray] = []  # per source: the message of each row, -1 without
        for source, key in zip(ticking, keys, strict=True):
            _, first = np.unique(key, return_index=True)  # what was sent again is the same
            at = np.searchsorted(table, key[first])
            self._rows.append(_index(len(table), at, first, hold))
            self._t[at] = np.minimum(self._t[at], _all(spool.column(f"{source.name}.{TIME}"))[first])
            last[at] = np.maximum(last[at], _all(spool.column(f"{source.name}/order"))[first])
        for source in held:
            order = _all(spool.column(f"{source.name}/order"))
            self._rows.append(np.searchsorted(order, last, side="right") - 1)
        self._formatters = [
            _Formatter(spool, s, [c for c in s.columns if c.name not in HEADER or s in held]) for s in self.sources
        ]

    def lines(self) -> Iterator[str]:
        """Title and rows, some thousand at once."""
        shown = [k for k, f in enumerate(self._formatters) if f.titles]
        yield ",".join([TIME, "run", "seq", *(t for k in shown for t in self._formatters[k].titles)]) + "\n"
        for start in range(0, len(self._t), ROWS):
            stop = min(start + ROWS, len(self._t))
            front = zip(
                self._t[start:stop].tolist(),
                [self._runs[r] for r in self._run[start:stop].tolist()],
                self._seq[start:stop].tolist(),
                strict=True,
            )
            parts = [[f"{t:.17g},{run},{seq}" for t, run, seq in front]]
            parts += [self._cells(k, start, stop) for k in shown]
            yield "\n".join(map(",".join, zip(*parts, strict=True))) + "\n"

    def _cells(self, k: int, start: int, stop: int) -> list[str]:
        index, formatter = self._rows[k][start:stop], self._formatters[k]
        there = index[index >= 0]
        if not len(there):
            return [formatter.empty] * (stop - start)
        first, end = int(there.min()), int(there.max()) + 1
        if end - first > 4 * ROWS:  # far out of order: one by one
            return [formatter.rows(i, i + 1)[0] if i >= 0 else formatter.empty for i in index.tolist()]
        texts = formatter.rows(first, end)
        return [texts[i - first] if i >= 0 else formatter.empty for i in index.tolist()]


def _index(n: int, at: np.ndarray, message: np.ndarray, hold: bool) -> np.ndarray:
    out = np.full(n, -1, np.int64)
    out[at] = message
    if hold:
        newest = np.maximum.accumulate(np.where(out >= 0, np.arange(n), -1))
        out = np.where(newest >= 0, out[newest], -1)
    return out


def _keys(spool: Spool, ticking: Sequence[Source]) -> tuple[list[np.ndarray], list[int]]:
    """One integer per message that stands for (run, seq), in the order of runs; and the runs."""
    runs: dict[int, tuple[float, int]] = {}
    keys = []
    for source in ticking:
        run, t = _all(spool.column(f"{source.name}.run")), _all(spool.column(f"{source.name}.{TIME}"))
        values, first = np.unique(run, return_index=True)
        for value, when in zip(values.tolist(), t[first].tolist(), strict=True):
            runs[value] = min(runs.get(value, (when, value)), (when, value))
    order = sorted(runs, key=lambda r: runs[r])
    number = {run: k for k, run in enumerate(order)}
    if len(order) >= 1 << (62 - SEQ_BITS):
        raise ExportError(f"{len(order)} runs in one log; choose one with --run")
    for source in ticking:
        run, seq = _all(spool.column(f"{source.name}.run")), _all(spool.column(f"{source.name}.seq"))
        if ((seq < 0) | (seq >= 1 << SEQ_BITS)).any():
            raise ExportError(f"{source.name}: a seq out of 0..2^{SEQ_BITS}; is the log damaged?")
        values, inverse = np.unique(run, return_inverse=True)
        keys.append((np.array([number[v] for v in values.tolist()], np.int64)[inverse] << SEQ_BITS) | seq)
    return keys, order


def _all(stored: Stored) -> np.ndarray:
    return stored.read(0, len(stored))


def _messages(file: IO[str], spool: Spool, source: Source) -> None:
    """One row per message."""
    time, formatter = spool.column(f"{source.name}.{TIME}"), _Formatter(spool, source, source.columns)
    file.write(",".join([TIME, *formatter.titles]) + "\n")
    for start in range(0, len(time), ROWS):
        stop = min(start + ROWS, len(time))
        rows = zip(time.read(start, stop).tolist(), formatter.rows(start, stop), strict=True)
        file.writelines(f"{t:.17g},{row}\n" for t, row in rows)
