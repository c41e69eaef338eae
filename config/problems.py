"""Problem and ConfigError: what is wrong in a configuration, all of it at once."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from typing import NamedTuple

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60
_SHORT.maxlist = _SHORT.maxtuple = 12
_SHORT.maxdict = 4


class Problem(NamedTuple):
    """One thing wrong: dotted path, the value there, what is allowed."""

    path: str
    value: object
    allowed: str

    def __str__(self) -> str:
        shown = self.value if isinstance(self.value, Absent) else _SHORT.repr(self.value)
        return f"{self.path}: {shown}: {self.allowed}"


class Absent(str):
    """Text shown in place of a value that is not there."""


class ConfigError(ValueError):
    """A configuration that cannot be used; `problems` holds a line for every reason found."""

    def __init__(self, where: str, problems: Iterable[Problem]) -> None:
        self.where = where
        self.problems = tuple(dict.fromkeys(map(str, problems)))
        count = f"{len(self.problems)} problem{'s' if len(self.problems) != 1 else ''}"
        super().__init__("\n  ".join([f"{where}: {count}", *self.problems]))
