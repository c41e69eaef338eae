"""One export: look at the log, decode it, write the file; the name appears only when it is complete."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np

from procs.runtime.eventfile import EventFile
from tools.export.arrays import TIME, write_mat, write_npz
from tools.export.decode import Decoder, Span
from tools.export.mcap_file import write_mcap
from tools.export.select import ExportError, Source, sources
from tools.export.spool import Spool
from tools.export.tables import write_csv
from tools.inspect.summary import Run, Summary, scan

FORMATS = ("csv", "npz", "mat", "mcap")
PART = ".part"
Report = Callable[[str, int, int], None]  # what is being done, how far, of how much


@dataclass(frozen=True)
class Wish:
    """What is asked for."""

    log: Path
    out: Path
    fields: Sequence[str] = ()
    begin: float | None = None  # s since the log's start
    end: float | None = None
    run: str | None = None  # id, first, last or longest
    hold: bool = False


@dataclass
class Done:
    """What came out."""

    files: list[Path] = field(default_factory=list)
    messages: int = 0
    sources: list[Source] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    broken: bool = False  # the log is damaged, or something could not be decoded


def export(wish: Wish, report: Report = lambda what, done, total: None) -> Done:
    """Write wish.out; ExportError or LogError say why it cannot be. Nothing is left under the final name then."""
    kind = wish.out.suffix.lstrip(".").lower()
    if kind not in FORMATS:
        raise ExportError(f"{wish.out}: the ending says the format; it must be one of {', '.join(FORMATS)}")
    if wish.out.exists() and wish.log.exists() and wish.out.samefile(wish.log):
        raise ExportError(f"{wish.out} is the log itself; give another name")
    size = wish.log.stat().st_size if wish.log.is_file() else 0
    summary = scan(wish.log, lambda done: report("reading", done, size))
    done = Done()
    done.sources, done.notes = sources(summary, wish.fields, text=kind == "mcap")
    span = _span(wish, summary)
    files = _Files()
    try:
        with EventFile(wish.log) as log:
            decoder = Decoder(log, done.sources, span)

            def decoding(at: int) -> None:
                report("decoding", at, size)

            if kind == "mcap":
                done.messages = write_mcap(files.part(wish.out), decoder.blocks(decoding), summary)
            else:
                with Spool(wish.out.parent) as spool:
                    _fill(decoder, spool, done, summary.first, decoding)
                    _write(kind, wish, files, spool, done, summary.first, report)
            bad = decoder.finish()
        if not done.messages:
            raise ExportError("there is no message of the wanted channels in this span")
    except BaseException:
        files.remove()
        raise
    done.notes += [*bad, *(f"{wish.log}: {damage}" for damage in summary.damages[:5])]
    done.broken = bool(bad or summary.damage_count)
    done.files = files.rename()
    return done


def _write(kind: str, wish: Wish, files: _Files, spool: Spool, done: Done, start_us: int, report: Report) -> None:
    total = sum(len(column) for column in spool.columns.values())

    def writing(rows: int) -> None:
        report("writing", rows, total)

    present = [s for s in done.sources if f"{s.name}.{TIME}" in spool.columns]
    if kind == "csv":
        write_csv(files.part, wish.out, spool, present, wish.hold, writing)
    else:
        write = write_npz if kind == "npz" else write_mat
        write(files.part(wish.out), spool, present, start_us, writing)


def _fill(decoder: Decoder, spool: Spool, done: Done, start_us: int, progress: Callable[[int], None]) -> None:
    for piece in chain.from_iterable(decoder.blocks(progress)):
        name = piece.source.name
        spool.column(f"{name}.{TIME}").append((piece.stamp - start_us) / 1e6)
        spool.column(f"{name}/order").append(piece.order)
        for column, values in zip(piece.source.columns, piece.columns, strict=True):
            spool.column(f"{name}.{column.name}", column.text).append(values)
        done.messages += len(piece.order)


def _span(wish: Wish, summary: Summary) -> Span:
    low, high = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    begin = low if wish.begin is None else summary.first + round(1e6 * wish.begin)
    end = high if wish.end is None else summary.first + round(1e6 * wish.end)
    if end < begin:
        raise ExportError(f"--from {wish.begin} is behind --to {wish.end}")
    if begin > summary.last:
        raise ExportError(f"--from {wish.begin}: the log ends at {(summary.last - summary.first) / 1e6:.3f} s")
    return Span(int(begin), int(end), _run(wish.run, summary.runs))


def _run(wanted: str | None, runs: list[Run]) -> Run | None:
    if wanted is None:
        return None
    if not runs:
        raise ExportError("--run: there is no run in the log (no imu, no joint_state)")
    if wanted in ("first", "last"):
        return runs[0 if wanted == "first" else -1]
    if wanted == "longest":
        return max(runs, key=lambda r: r.last_seq - r.first_seq)
    for run in runs:
        if str(run.run) == wanted:
            return run
    raise ExportError(f"--run {wanted}: the log has {', '.join(str(r.run) for r in runs)}; or first, last, longest")


class _Files:
    """Files under way: written as NAME.part, renamed together at the end."""

    def __init__(self) -> None:
        self._finals: list[Path] = []

    def part(self, final: Path) -> Path:
        """Where to write what shall become `final`."""
        final.parent.mkdir(parents=True, exist_ok=True)
        self._finals.append(final)
        return final.with_name(final.name + PART)

    def remove(self) -> None:
        """Give up."""
        for final in self._finals:
            final.with_name(final.name + PART).unlink(missing_ok=True)

    def rename(self) -> list[Path]:
        """All is complete."""
        for final in self._finals:
            os.replace(final.with_name(final.name + PART), final)
        return self._finals
