"""A flight file while it is written, little by little, and how many of them are kept."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Iterable
from pathlib import Path

from lcmtypes.channels import ROBOT_CONFIG
from lcmtypes.generated import RobotConfig
from procs.runtime.logs import LogWriter
from tools.flight_recorder.ring import Block
from tools.record import unused

AFTER = 5.0  # s that belong to a file after its last reason
LONGEST = 120.0  # s from the first reason to the end of a file: a storm of faults begins another one
PREFIX, SUFFIX = "flight_", ".lcmlog"
KEEP_FILES, KEEP_BYTES = 20, 2_000_000_000


class Flight:
    """One file: what was in the ring, then what comes until `until`."""

    def __init__(self, folder: Path, config: RobotConfig, before: Iterable[Block], reason: str, now: float) -> None:
        """Raises LogError or OSError if it cannot be written."""
        name = time.strftime("%Y%m%d_%H%M%S_") + slug(reason)
        self.path = unused(folder / f"{PREFIX}{name}{SUFFIX}")
        self.reasons = [reason]
        self._began, self.until = now, now + AFTER
        self._todo = deque(before)
        for block in self._todo:
            block.saved = True
        self._writer = LogWriter(self.path)
        self._writer.write(ROBOT_CONFIG, config, self._todo[0].wall_us if self._todo else time.time_ns() // 1000)

    def again(self, reason: str, now: float) -> None:
        """Another reason within the time of this file."""
        if reason not in self.reasons:
            self.reasons.append(reason)
        self.until = min(now + AFTER, self._began + LONGEST)

    def add(self, block: Block) -> None:
        """What came since."""
        block.saved = True
        self._todo.append(block)

    def write(self, most: int | None = None) -> bool:
        """Write up to `most` messages (None: all); True if nothing is left to write."""
        written = 0
        while self._todo and (most is None or written < most):
            block = self._todo.popleft()
            for name, data in zip(block.names, block.datas, strict=True):
                self._writer.write_raw(name, data, block.wall_us)
            written += len(block.names)
        return not self._todo

    def close(self) -> str:
        """Finish the file; what there is to say of it."""
        self.write()
        self._writer.close()
        more = f" and {len(self.reasons) - 1} more" if len(self.reasons) > 1 else ""
        return f"{self.path} ({self.reasons[0]}{more})"


def slug(reason: str) -> str:
    """The first words of a reason as part of a file name."""
    return "_".join(re.findall(r"[A-Za-z0-9]+", reason)[:5])[:48] or "unknown"


def prune(folder: Path, files: int = KEEP_FILES, size: int = KEEP_BYTES) -> list[Path]:
    """Delete the oldest flight files until at most `files` of `size` bytes in all are left; what was deleted."""
    found = sorted(folder.glob(f"{PREFIX}*{SUFFIX}"), key=lambda p: (p.stat().st_mtime_ns, p.name))
    deleted = []
    total = sum(p.stat().st_size for p in found)
    while found and (len(found) > files or total > size):
        oldest = found.pop(0)
        total -= oldest.stat().st_size
        oldest.unlink()
        deleted.append(oldest)
    return deleted
