"""Decodes many messages of one type at once: messages whose strings and arrays have equal sizes lie alike in memory."""

from __future__ import annotations

import struct as pystruct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from lcmtypes.lcmfile import Member, Struct
from lcmtypes.message import DecodeError

DTYPES = {
    "int8_t": ">i1", "int16_t": ">i2", "int32_t": ">i4", "int64_t": ">i8",
    "float": ">f4", "double": ">f8", "boolean": ">i1", "byte": ">u1",
}  # fmt: skip
FINGERPRINT = 8  # bytes before the first member
Rows = Callable[[np.ndarray, int, int], np.ndarray]  # indices (k,), start, stop -> those bytes (k, stop - start)
REMEMBERED = 16  # layouts of one size tried before a message is looked at anew


@dataclass(frozen=True)
class Place:
    """Where a member lies: `start` to `stop` in the message; strings have one pair per string."""

    member: Member
    shape: tuple[int, ...]
    start: int
    stop: int
    texts: tuple[tuple[int, int], ...] = ()  # of each string, without the closing zero

    @property
    def is_text(self) -> bool:
        """True for strings and arrays of strings."""
        return self.member.type == "string"


def sizes_of(struct: Struct) -> set[str]:
    """Names of the members that only hold sizes of others."""
    return {dim for member in struct.members for dim in member.dims if not dim.isdigit()}


@dataclass
class Layout:
    """The places of all members in messages of one type and one set of sizes."""

    struct: Struct
    size: int = FINGERPRINT  # bytes of the whole message
    places: dict[str, Place] = field(default_factory=dict)
    _fixed: list[int] = field(default_factory=list)  # offsets of the bytes that hold sizes
    _want: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint8))
    _mask: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint8))

    @classmethod
    def of(cls, struct: Struct, data: bytes) -> Layout:
        """Read the sizes in one message; DecodeError if it is not exactly one message of this type."""
        self, sizes = cls(struct), dict[str, int]()
        at, named = FINGERPRINT, sizes_of(struct)
        for member in struct.members:
            shape = tuple(int(d) if d.isdigit() else sizes[d] for d in member.dims)
            count = int(np.prod(shape, dtype=np.int64))
            start, texts = at, []
            if member.type == "string":
                for _ in range(count):
                    length = self._size(data, at, member.name, 4)
                    texts.append((at + 4, at + 3 + length))
                    at += 4 + length
                    if length < 1 or at > len(data):
                        raise DecodeError(f"{struct.name}: {member.name} is cut off")
            else:
                width = np.dtype(DTYPES[member.type]).itemsize
                if member.name in named:
                    sizes[member.name] = self._size(data, at, member.name, width)
                at += count * width
            self.places[member.name] = Place(member, shape, start, at, tuple(texts))
            if at > len(data):
                raise DecodeError(f"{struct.name}: cut off in {member.name}: {len(data)} bytes")
        if at != len(data):
            raise DecodeError(f"{struct.name}: {len(data)} bytes, {at} expected")
        self.size = at
        start, stop = self.head
        self._want = np.frombuffer(data, np.uint8)[start:stop]
        self._mask = np.zeros(stop - start, np.uint8)
        self._mask[np.array(self._fixed, int) - start] = 255
        return self

    def _size(self, data: bytes, at: int, name: str, width: int) -> int:
        try:
            (value,) = pystruct.unpack_from({1: ">b", 2: ">h", 4: ">i", 8: ">q"}[width], data, at)
        except pystruct.error as error:
            raise DecodeError(f"{self.struct.name}: cut off in {name}") from error
        if not 0 <= value <= len(data):
            raise DecodeError(f"{self.struct.name}: the size of {name} is {value}")
        self._fixed.extend(range(at, at + width))
        return int(value)

    @property
    def head(self) -> tuple[int, int]:
        """Range of the bytes in which the sizes lie (empty: none)."""
        return (self._fixed[0], self._fixed[-1] + 1) if self._fixed else (0, 0)

    def fits(self, heads: np.ndarray) -> np.ndarray:
        """(n,) true where a message has the same sizes, and so the same layout; `heads` (n, ...): its range `head`."""
        return np.asarray(~((heads ^ self._want) & self._mask).any(1))

    def numbers(self, raw: np.ndarray, name: str) -> np.ndarray:
        """(n, *shape) values of a numeric member, in the machine's byte order; `raw` (n, stop - start) its bytes."""
        place = self.places[name]
        dtype = np.dtype(DTYPES[place.member.type])
        values = np.ascontiguousarray(raw).view(dtype).reshape(len(raw), *place.shape)
        return values.astype(dtype.newbyteorder("="))

    def words(self, raw: np.ndarray, name: str) -> np.ndarray:
        """(n, strings) objects: the strings of a text member; `raw` (n, stop - start) its bytes."""
        place = self.places[name]
        out = np.empty((len(raw), len(place.texts)), object)
        for k, (start, stop) in enumerate(place.texts):
            chars = raw[:, start - place.start : stop - place.start]
            if start == stop or bool((chars == chars[:1]).all()):
                out[:, k] = chars[0].tobytes().decode(errors="replace") if len(raw) else ""
                continue
            packed = np.ascontiguousarray(chars).view(f"S{stop - start}").ravel()
            values, codes = np.unique(packed, return_inverse=True)
            out[:, k] = np.array([v.decode(errors="replace") for v in values.tolist()], object)[codes]
        return out


class Layouts:
    """Finds the layouts in groups of messages of one type; remembers those it has seen."""

    def __init__(self, struct: Struct) -> None:
        self.struct = struct
        self._seen: dict[int, list[Layout]] = {}  # by size, the last used first
        self.bad = 0  # messages that are none of this type
        self.last_error = ""

    def split(self, size: int, count: int, rows: Rows) -> Iterator[tuple[Layout, np.ndarray]]:
        """Layout and indices (k,), ascending, of those of `count` messages of one size that have it.

        What cannot be decoded is counted in `bad`.
        """
        left = np.arange(count)
        seen = self._seen.setdefault(size, [])
        for layout in list(seen):
            if not left.size:
                return
            fits = layout.fits(rows(left, *layout.head))
            if fits.any():
                seen.remove(layout)
                seen.insert(0, layout)
                yield layout, left[fits]
                left = left[~fits]
        while left.size:
            try:
                layout = Layout.of(self.struct, rows(left[:1], 0, size).tobytes())
            except DecodeError as error:
                self.bad += 1
                self.last_error = str(error)
                left = left[1:]
                continue
            seen.insert(0, layout)
            del seen[REMEMBERED:]
            fits = layout.fits(rows(left, *layout.head))
            yield layout, left[fits]
            left = left[~fits]
