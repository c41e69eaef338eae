"""npz and MAT: one array per field, (messages, ...)."""

from __future__ import annotations

import re
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import savemat

from tools.export.select import ExportError, Source
from tools.export.spool import Spool, Stored

ROWS_BYTES = 8 << 20  # read at once
TIME = "t"  # s since the log's start, of each message
START = "log_start_us"  # event time stamp that t counts from
LONGEST_MAT_NAME = 63
MOST_MAT_BYTES = 2**32 - 1  # of one variable: MAT version 5 counts them in 32 bits


def names(source: Source) -> list[str]:
    """Names of a source's arrays, without the channel."""
    return [TIME, *(c.name for c in source.columns)]


def chunks(column: Stored) -> Iterator[np.ndarray]:
    """A column piece by piece, text decoded to fixed-width strings."""
    words = np.array([*column.words, ""], f"U{max([1, *map(len, column.words)])}") if column.text else None
    item = column.dtype.itemsize if words is None else words.itemsize
    step = max(1, ROWS_BYTES // max(1, item * int(np.prod(column.shape, dtype=np.int64))))
    for start in range(0, len(column), step):
        values = column.read(start, min(len(column), start + step))
        yield values if words is None else words[values]


def write_npz(out: Path, spool: Spool, sources: Sequence[Source], start_us: int, done: Callable[[int], None]) -> None:
    """numpy.load(out)["leg_state.q"] is (messages, joints); uncompressed."""
    rows = 0
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        with archive.open(f"{START}.npy", "w") as member:
            np.lib.format.write_array(member, np.array(start_us))
        for source in sources:
            for name in names(source):
                column = spool.column(f"{source.name}.{name}")
                with archive.open(f"{source.name}.{name}.npy", "w", force_zip64=True) as member:
                    _npy(member, column)
                rows += len(column)
                done(rows)


def _npy(member: Any, column: Stored) -> None:
    header: dict[str, Any] | None = None
    for values in chunks(column):
        if header is None:
            descr = np.lib.format.dtype_to_descr(values.dtype)
            header = {"descr": descr, "fortran_order": False, "shape": (len(column), *column.shape)}
            np.lib.format.write_array_header_2_0(member, header)
        member.write(np.ascontiguousarray(values).view(np.uint8).data if values.size else b"")
    if header is None:
        np.lib.format.write_array(member, np.zeros((0, *column.shape), column.dtype))


def write_mat(out: Path, spool: Spool, sources: Sequence[Source], start_us: int, done: Callable[[int], None]) -> None:
    """MATLAB's load(out): a struct per channel, leg_state.q is (messages, joints); text is a cell array."""
    rows = 0
    used: set[str] = {START}
    with out.open("wb") as file:
        savemat(file, {START: float(start_us)}, long_field_names=True)
        for source in sources:
            with ExitStack() as stack:
                fields: dict[str, Any] = {}
                for name in names(source):
                    column = spool.column(f"{source.name}.{name}")
                    fields[_identifier(name, set(fields))] = _mapped(column, out.parent, stack)
                    rows += len(column)
                size = sum(x.nbytes for x in fields.values())
                if size > MOST_MAT_BYTES:
                    raise ExportError(
                        f"{source.name} has {size / 1e9:.1f} GB; a MAT variable holds 4.29 GB at the most. "
                        "Choose fields with --field, a part with --from and --to, or write npz"
                    )
                variable = _identifier(source.name, used)
                used.add(variable)
                savemat(file, {variable: fields}, long_field_names=True, oned_as="column")
            done(rows)


def _mapped(column: Stored, folder: Path, stack: ExitStack) -> np.ndarray:
    """The whole column as an array on disk: its pages need no memory for long."""
    if column.text:
        words = [column.decoded(column.read(a, min(len(column), a + 65536))) for a in range(0, len(column), 65536)]
        return np.concatenate(words) if words else np.zeros(0, object)
    if not len(column) or not all(column.shape):
        return np.zeros((len(column), *column.shape), column.dtype)
    file = stack.enter_context(tempfile.TemporaryFile(dir=folder, prefix=".export-"))  # noqa: SIM115
    for values in chunks(column):
        file.write(np.ascontiguousarray(values).data)
    file.flush()
    return np.memmap(file, column.dtype, "r", shape=(len(column), *column.shape))


def _identifier(name: str, taken: set[str]) -> str:
    """A name that MATLAB allows and that is not taken: q[3] -> q_3."""
    base = re.sub(r"\W+", "_", name).strip("_")
    base = (base if base[:1].isalpha() else f"x_{base}")[: LONGEST_MAT_NAME - 4]
    found, k = base, 2
    while found in taken:
        found, k = f"{base}_{k}", k + 1
    return found
