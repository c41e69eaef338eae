"""Session file of a bring-up: every result as soon as it is there, so that steps can be repeated and resumed."""

from __future__ import annotations

import datetime
import json
import random
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

VERSION = 1


class Verdict(StrEnum):
    """What a step found, in words."""

    OK = "ok"
    UNHEARD = "not heard"  # it speaks only when asked
    MISSING = "missing"
    DUPLICATE = "duplicate"
    WRONG_BUS = "wrong bus"
    FOREIGN = "foreign"
    ERROR = "error"
    SWAPPED = "swapped nodes"
    SIGN = "inverted sign"
    RATIO = "wrong ratio"
    RANGE = "wrong range"
    BIT_RATE = "wrong bit rate"
    SLIP = "slipped coupling"
    STILL = "did not move"
    OVER_TRAVEL = "over-travel"
    OVER_TORQUE = "too much torque"
    NO_WATCHDOG = "no watchdog"
    UNCLEAR = "unclear"
    REFUSED = "refused"
    INTERRUPTED = "interrupted"


@dataclass
class Record:
    """One result: which step, of which joint or bus, what was found, in words, with what was measured."""

    step: str
    target: str
    verdict: Verdict
    words: str
    data: dict[str, Any] = field(default_factory=dict)
    at: str = ""

    @property
    def passed(self) -> bool:
        """Nothing to be done about it."""
        return self.verdict is Verdict.OK


class SessionError(ValueError):
    """A session file that cannot be used."""


class Session:
    """Records in their order, written to the file at every change."""

    def __init__(self, path: Path, robot: str, emulated: bool = False) -> None:
        self.path, self.robot, self.emulated = path, robot, emulated
        self.run = random.SystemRandom().randrange(1, 1 << 31)
        self.records: list[Record] = []
        if path.exists():
            self._read()

    def _read(self) -> None:
        try:
            data = json.loads(self.path.read_text(encoding="utf-8"))
            robot, version = data["robot"], data["version"]
            records = [Record(**{**r, "verdict": Verdict(r["verdict"])}) for r in data["records"]]
            self.run = int(data["run"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SessionError(f"{self.path}: no session file ({error!r}); give another --session") from error
        if version != VERSION or robot != self.robot:
            raise SessionError(f"{self.path}: session of {robot}, version {version}; give another --session")
        if bool(data.get("emulated")) != self.emulated:
            kind = "emulated" if data.get("emulated") else "real"
            raise SessionError(
                f"{self.path}: session of {kind} hardware, which proves nothing here; give another --session"
            )
        self.records = records

    def add(self, record: Record) -> Record:
        """Keep a result and write the file."""
        record.at = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
        self.records.append(record)
        self.save()
        return record

    def save(self) -> None:
        """Write all; a half-written file never replaces a whole one."""
        head = {"version": VERSION, "robot": self.robot, "emulated": self.emulated, "run": self.run}
        data = head | {"records": [asdict(r) for r in self.records]}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(self.path.suffix + ".part")
        part.write_text(json.dumps(data, indent=1), encoding="utf-8")
        part.replace(self.path)

    def latest(self, step: str, target: str | None = None) -> list[Record]:
        """The newest record of each target of a step (or of one), in the order in which the targets came up first."""
        found = {r.target: r for r in self.records if r.step == step and target in (None, r.target)}
        return list(found.values())

    def passed(self, step: str, target: str) -> bool:
        """Whether the newest record of a step for a target is good."""
        return any(r.passed for r in self.latest(step, target))
