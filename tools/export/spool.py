"""Columns too long for memory: pieces are appended to one temporary file and read again row by row."""

from __future__ import annotations

import tempfile
from bisect import bisect_right
from pathlib import Path
from typing import IO

import numpy as np

from tools.export.decode import padded


class Stored:
    """One column (n, *shape). Text is stored as codes of `words`."""

    def __init__(self, file: IO[bytes], name: str, text: bool) -> None:
        self.name, self.text = name, text
        self.words: list[str] = []
        self.dtype = np.dtype(np.int32)
        self.shape: tuple[int, ...] = ()
        self._codes: dict[str, int] = {}
        self._file = file
        self._pieces: list[tuple[int, tuple[int, ...]]] = []  # offset in the file, shape
        self._starts: list[int] = []
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def append(self, values: np.ndarray) -> None:
        """Further rows."""
        if self.text:
            values = self._coded(values)
        if not self._pieces:
            self.dtype, self.shape = values.dtype, values.shape[1:]
        self.shape = tuple(np.maximum(self.shape, values.shape[1:]).tolist()) if self.shape else values.shape[1:]
        self._starts.append(self._length)
        self._pieces.append((self._file.seek(0, 2), values.shape))
        self._file.write(np.ascontiguousarray(values).data)
        self._length += len(values)

    def _coded(self, values: np.ndarray) -> np.ndarray:
        flat = values.ravel().tolist()
        codes = self._codes
        for word in set(flat):
            if word not in codes:
                codes[word] = len(codes)
                self.words.append(word)
        return np.array([codes[w] for w in flat], np.int32).reshape(values.shape)

    def read(self, start: int, stop: int) -> np.ndarray:
        """Rows `start` to `stop`; codes of a text."""
        out = []
        k = max(0, bisect_right(self._starts, start) - 1)
        while start < stop and k < len(self._pieces):
            offset, shape = self._pieces[k]
            a, b = start - self._starts[k], min(stop - self._starts[k], shape[0])
            row = int(np.prod(shape[1:], dtype=np.int64)) * self.dtype.itemsize
            self._file.seek(offset + a * row)
            raw = np.frombuffer(self._file.read((b - a) * row), self.dtype).reshape(b - a, *shape[1:])
            out.append(padded(raw, self.shape))
            start, k = self._starts[k] + b, k + 1
        if not out:
            return np.zeros((0, *self.shape), self.dtype)
        return out[0] if len(out) == 1 else np.concatenate(out)

    def decoded(self, codes: np.ndarray) -> np.ndarray:
        """The words of codes, as objects; "" for -1."""
        return np.array([*self.words, ""], object)[codes]


class Spool:
    """The temporary file and its columns; it lies beside the output and vanishes by itself."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = tempfile.TemporaryFile(dir=folder, prefix=".export-")  # noqa: SIM115 (open as long as we are)
        self.columns: dict[str, Stored] = {}

    def column(self, name: str, text: bool = False) -> Stored:
        """The column of this name, new if need be."""
        if name not in self.columns:
            self.columns[name] = Stored(self._file, name, text)
        return self.columns[name]

    def close(self) -> None:
        """Give the space back."""
        self._file.close()

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
