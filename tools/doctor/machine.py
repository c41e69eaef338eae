"""The machine as the checks see it: files under a root, programs, and probes. Tests put all of them in place."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Literal

from config.schema import RobotDescription
from procs.runtime.bus import DEFAULT_URL
from tools.doctor.listen import Heard, LoopResult, listen, loop_back

ROOT = Path(__file__).resolve().parents[2]
Status = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Finding:
    """What a check found; `mend` is the one command that puts it right."""

    status: Status
    text: str
    mend: str = ""


def ok(text: str) -> Finding:
    """All is well."""
    return Finding("ok", text)


def warn(text: str, mend: str = "") -> Finding:
    """It works, but worse than it could, or something optional is not there."""
    return Finding("warn", text, mend)


def fail(text: str, mend: str = "") -> Finding:
    """The stack, or what was asked for, does not work."""
    return Finding("fail", text, mend)


def run(*command: str) -> tuple[int, str]:
    """Exit code and output of a program; 127 if it is not there or does not end."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False, cwd=ROOT)
    except (OSError, subprocess.TimeoutExpired) as error:
        return 127, str(error)
    return done.returncode, done.stdout


def version(package: str) -> str | None:
    """Installed version; None if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


@dataclass
class Machine:
    """Where to look. `root` stands for /, so that /proc, /sys and /dev can be others'."""

    root: Path = Path("/")
    checkout: Path = ROOT
    url: str = DEFAULT_URL
    robot: RobotDescription | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    python: tuple[int, int, int] = sys.version_info[:3]
    run: Callable[..., tuple[int, str]] = run
    which: Callable[[str], str | None] = shutil.which
    version: Callable[[str], str | None] = version
    usable: Callable[[Path], bool] = lambda path: os.access(path, os.R_OK | os.W_OK)
    free_bytes: Callable[[Path], int] = lambda path: shutil.disk_usage(path).free
    loop_back: Callable[[], LoopResult] = loop_back
    listen: Callable[[str], Heard] = listen
    _heard: Heard | None = None

    @property
    def heard(self) -> Heard:
        """What is said on the URL; listened to once."""
        if self._heard is None:
            self._heard = self.listen(self.url)
        return self._heard

    def path(self, name: str) -> Path:
        """An absolute path of this machine."""
        return self.root / name.lstrip("/")

    def read(self, name: str) -> str | None:
        """A file's text without blanks around it; None if it cannot be read."""
        try:
            return self.path(name).read_text(errors="replace").strip()
        except OSError:
            return None

    def glob(self, pattern: str) -> list[Path]:
        """Paths of this machine, sorted."""
        return sorted(self.root.glob(pattern.lstrip("/")))
