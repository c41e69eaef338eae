"""Blocks of a log as arrays per column, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcmtypes.layout import Layouts
from procs.runtime.eventblock import Block, by_type
from procs.runtime.eventfile import EventFile
from tools.export.select import BY_TICK, Column, ExportError, Source
from tools.inspect.summary import Run

HEAD = 8  # bytes of the fingerprint


@dataclass(frozen=True)
class Span:
    """Events that count: stamps in us, both ends included; and the plant's run, if only one is wanted."""

    begin: int
    end: int
    run: Run | None = None


@dataclass(frozen=True)
class Piece:
    """Messages of one source in one block."""

    source: Source
    order: np.ndarray  # (n,) number of each event in the log
    stamp: np.ndarray  # (n,) us
    columns: list[np.ndarray]  # (n, ...) per column of the source; strings as objects


def fill(dtype: np.dtype) -> Any:
    """What stands for an element that an array of changing length lacks."""
    return "" if dtype.kind == "O" else np.nan if dtype.kind == "f" else -1


def padded(values: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """(n, ...) values as (n, *shape), missing elements filled."""
    if values.shape[1:] == tuple(shape):
        return values
    out = np.full((len(values), *shape), fill(values.dtype), values.dtype)
    out[tuple(slice(k) for k in values.shape)] = values
    return out


class Decoder:
    """Reads the wanted columns of a log."""

    def __init__(self, log: EventFile, sources: Sequence[Source], span: Span) -> None:
        self._log, self._span = log, span
        self._sources = {(s.channel, s.fingerprint): s for s in sources}
        self._layouts = {s.name: Layouts(s.known.struct) for s in sources}
        self._enough = {s.name: [not c.index for c in s.columns] for s in sources}  # index seen to exist

    def blocks(self, progress: Callable[[int], None]) -> Iterator[list[Piece]]:
        """Everything, block by block; within a block source by source."""
        before = 0
        for block in self._log.blocks(progress):
            pieces = []
            inside = (block.stamp >= self._span.begin) & (block.stamp <= self._span.end)
            for channel, which in block.by_channel() if inside.any() else ():
                for fingerprint, part in by_type(block, which[inside[which]]):
                    source = self._sources.get((self._log.channels[channel], fingerprint or 0))
                    if source is not None:
                        mine = self._of_run(block, part, source)
                        good, columns = self._table(block, mine, source)
                        if len(good):
                            pieces.append(Piece(source, before + mine[good], block.stamp[mine[good]], columns))
            yield pieces
            before += len(block)

    def finish(self) -> list[str]:
        """Notes on what could not be decoded; ExportError if an element asked for never existed."""
        for source in self._sources.values():
            for column, enough in zip(source.columns, self._enough[source.name], strict=True):
                if not enough:
                    raise ExportError(f"--field {source.name}.{column.name}: the arrays in the log are shorter")
        return [
            f"{name}: {x.bad} messages cannot be decoded ({x.last_error})" for name, x in self._layouts.items() if x.bad
        ]

    def _of_run(self, block: Block, part: np.ndarray, source: Source) -> np.ndarray:
        run = self._span.run
        if run is None or not len(part):
            return part
        if source.known.native and source.channel in BY_TICK:
            part = part[block.size[part] >= HEAD + 16]
            return part[block.rows(part, HEAD + 8, HEAD + 16).view(">i8")[:, 0] == run.run]
        return part[(block.stamp[part] >= run.begin) & (block.stamp[part] <= run.end)]

    def _table(self, block: Block, which: np.ndarray, source: Source) -> tuple[np.ndarray, list[np.ndarray]]:
        """Indices (k,) of the messages that can be decoded, and their columns."""
        layouts, names = self._layouts[source.name], list(dict.fromkeys(c.member for c in source.columns))
        found: list[tuple[np.ndarray, list[np.ndarray]]] = []
        sizes = block.size[which]
        for size in np.unique(sizes).tolist():
            same = np.flatnonzero(sizes == size)
            mine = which[same]
            for layout, part in layouts.split(size, len(same), block.reader(mine)):
                places = [layout.places[name] for name in names]
                start, stop = min(p.start for p in places), max(p.stop for p in places)
                raw = block.rows(mine[part], start, stop)
                values = [
                    (layout.words if p.is_text else layout.numbers)(raw[:, p.start - start : p.stop - start], name)
                    for p, name in zip(places, names, strict=True)
                ]
                shaped = [v.reshape(len(part), *p.shape) for v, p in zip(values, places, strict=True)]
                found.append((same[part], shaped))
        if not found:
            return np.zeros(0, int), []
        if len(found) == 1:
            good, merged = found[0]
        else:
            good = np.sort(np.concatenate([at for at, _ in found]))
            merged = [_merge(good, [(at, values[k]) for at, values in found]) for k in range(len(names))]
        members = dict(zip(names, merged, strict=True))
        return good, [self._element(source, k, c, members[c.member]) for k, c in enumerate(source.columns)]

    def _element(self, source: Source, k: int, column: Column, values: np.ndarray) -> np.ndarray:
        if not column.index:
            return values
        if any(i >= n for i, n in zip(column.index, values.shape[1:], strict=False)):
            rest = values.shape[1 + len(column.index) :]
            return np.full((len(values), *rest), fill(values.dtype), values.dtype)
        self._enough[source.name][k] = True
        where: tuple[Any, ...] = (slice(None), *column.index)
        return values[where]


def _merge(good: np.ndarray, parts: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Values of several layouts in the order of the messages `good`."""
    shape = tuple(np.max([values.shape[1:] for _, values in parts], axis=0).astype(int)) if parts[0][1].ndim > 1 else ()
    first = parts[0][1]
    out = np.full((len(good), *shape), fill(first.dtype), first.dtype)
    for at, values in parts:
        out[np.searchsorted(good, at)] = padded(values, shape)
    return out
