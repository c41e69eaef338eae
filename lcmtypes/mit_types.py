"""MIT's message types as classes, made from lcmtypes/mit/*.lcm: fixed size, so a message is one big-endian record.

They carry no header; `utime`, `run`, `seq` and `used` are set beside the bytes by whoever makes a message, so that
runners, buses and logs treat them like our own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from lcmtypes import lcmfile
from lcmtypes.lcmfile import Struct
from lcmtypes.message import DecodeError, Message

FOLDER = Path(__file__).parent / "mit"
CODE = {"int8_t": "i1", "int16_t": ">i2", "int32_t": ">i4", "int64_t": ">i8", "float": ">f4", "double": ">f8"}
HASH = "fingerprint"  # the record's first field

_all, _isfinite, _frombuffer = (
    np.logical_and.reduce,
    np.isfinite,
    np.frombuffer,
)  # looked up thousands of times a second


class MitMessage(Message):
    """A message of MIT's stack: its bytes, and a view of them. Fields are read as attributes; it never changes."""

    __slots__ = ("data",)
    DTYPE: ClassVar[np.dtype]
    HEAD: ClassVar[bytes]  # the fingerprint
    FLOATS: ClassVar[tuple[tuple[np.dtype, int, int], ...]]  # kind, first byte, how many: runs of floating-point fields

    data: bytes

    def __init__(self, **fields: Any) -> None:
        record = np.zeros((), self.DTYPE)
        record[HASH] = self.FINGERPRINT
        with np.errstate(over="ignore"):  # what 32 bits cannot hold becomes infinite, and `finite` says so
            for name, value in fields.items():
                if name not in self.FIELDS:
                    raise TypeError(f"{self.TYPE} has no field {name!r}; it has {', '.join(self.FIELDS)}")
                record[name] = value
        self._set(record.tobytes())

    def _set(self, data: bytes) -> None:
        self.data = data
        self.utime = self.run = self.seq = 0
        self.used = []

    @classmethod
    def of(cls, *body: bytes) -> Self:
        """The message with these bytes behind the fingerprint, unchecked: for those that pack it themselves."""
        self = cls.__new__(cls)
        self._set(b"".join((cls.HEAD, *body)))
        return self

    @property
    def record(self) -> np.void:
        """The bytes as numpy sees them, read-only; all fields at once."""
        view: np.void = np.frombuffer(self.data, self.DTYPE)[0]
        return view

    def __getattr__(self, name: str) -> Any:
        if name in type(self).FIELDS:
            value = np.frombuffer(self.data, self.DTYPE)[name][0]
            return value if value.ndim else value.item()
        raise AttributeError(f"{self.TYPE} has no field {name!r}")

    def encode(self) -> bytes:
        """The bytes on the wire."""
        return self.data

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Read the bytes on the wire; DecodeError if they are not exactly one message of this type."""
        if len(data) != cls.DTYPE.itemsize:
            raise DecodeError(f"{cls.TYPE}: {len(data)} bytes, not {cls.DTYPE.itemsize}")
        if data[:8] != cls.HEAD:
            raise DecodeError(f"{cls.TYPE}: fingerprint of another type")
        self = cls.__new__(cls)
        self._set(bytes(data))
        return self

    def copy(self) -> Self:
        """The same bytes and what stands beside them."""
        other = type(self).decode(self.data)
        other.utime, other.run, other.seq, other.used = self.utime, self.run, self.seq, list(self.used)
        return other

    def finite(self) -> bool:
        """True if every floating-point number is finite."""
        for kind, at, n in self.FLOATS:  # noqa: SIM110  a generator costs as much again
            if not _all(_isfinite(_frombuffer(self.data, kind, n, at))):
                return False
        return True


def _runs(dtype: np.dtype) -> tuple[tuple[np.dtype, int, int], ...]:
    """Neighbouring floating-point fields of one kind as one run each."""
    runs: list[tuple[np.dtype, int, int]] = []
    assert dtype.fields is not None
    for field, at, *_ in dtype.fields.values():
        kind, n = field.base, int(np.prod(field.shape))
        if kind.kind != "f":
            continue
        if runs and runs[-1][0] == kind and runs[-1][1] + runs[-1][2] * kind.itemsize == at:
            _, start, before = runs.pop()
            runs.append((kind, start, before + n))
        else:
            runs.append((kind, at, n))
    return tuple(runs)


def message_class(struct: Struct) -> type[MitMessage]:
    """The class of a struct of fixed size; ValueError if its size is not fixed."""
    fields: list[tuple[Any, ...]] = [(HASH, ">u8")]
    for m in struct.members:
        if m.type not in CODE or not all(d.isdigit() for d in m.dims):
            raise ValueError(f"{struct.name}.{m.name}: not of a fixed size")
        fields.append((m.name, CODE[m.type], tuple(map(int, m.dims))))
    dtype = np.dtype(fields)
    return type(
        "".join(part.capitalize() for part in struct.name.split("_")),
        (MitMessage,),
        {
            "__slots__": (),
            "__doc__": f"{struct.name} of MIT's stack.",
            "TYPE": struct.name,
            "FINGERPRINT": struct.fingerprint,
            "HEAD": struct.fingerprint.to_bytes(8, "big"),
            "FIELDS": tuple(m.name for m in struct.members),
            "DTYPE": dtype,
            "FLOATS": _runs(dtype),
        },
    )


_STRUCTS = [lcmfile.read(path) for path in sorted(FOLDER.glob("*.lcm"))]

# sim_command_t is left out: the only one of variable size, of a legacy set that nothing sends.
MIT_TYPES: dict[str, type[MitMessage]] = {s.name: message_class(s) for s in _STRUCTS if s.name != "sim_command_t"}
