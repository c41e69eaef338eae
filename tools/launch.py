"""Starts and stops the processes of the table; none is ever left behind."""

from __future__ import annotations

import logging
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from tools.stack import PROCESSES

LOG = logging.getLogger(__name__)
ROOT = Path(__file__).resolve().parent.parent
GRACE = 3.0  # s from SIGTERM to SIGKILL
LAST_WORDS = 12  # lines of a dead process's output that are kept


def private_url() -> str:
    """A multicast group and port of one's own, so that runs on one machine do not meet."""
    r = random.SystemRandom()
    return f"udpm://239.255.{r.randrange(80, 250)}.{r.randrange(1, 255)}:{r.randrange(20000, 60000)}?ttl=0"


@dataclass
class Child:
    """A started process."""

    name: str
    command: list[str]
    output: Path
    process: subprocess.Popen[bytes] = field(repr=False)

    def last_words(self) -> str:
        """The end of its output."""
        lines = self.output.read_text(errors="replace").splitlines() if self.output.exists() else []
        return "\n".join(lines[-LAST_WORDS:])


class Launcher:
    """Processes of one stack on one LCM URL. Use as a context manager: leaving stops all, the plant last."""

    def __init__(self, url: str, directory: Path) -> None:
        self.url, self.directory = url, directory
        self.children: dict[str, Child] = {}
        self.killed: set[str] = set()  # by a fault, and not started again
        directory.mkdir(parents=True, exist_ok=True)

    def start(self, name: str, module: str, *options: str) -> Child:
        """Start `python -m module` on our URL; its output goes to a file in the directory."""
        command = [sys.executable, "-m", module, "--lcm-url", self.url, "--with-parent", str(os.getpid()), *options]
        output = self.directory / f"{name}.out"
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
        with output.open("ab") as sink:
            # A session of its own: Ctrl-C in the terminal reaches the launcher alone, which then stops all in order.
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                env=environment,
                start_new_session=True,
            )
        self.children[name] = Child(name, command, output, process)
        return self.children[name]

    def start_pipeline(self, robot: str, plant_options: tuple[str, ...] = ()) -> None:
        """Plant and pipeline of the table; `robot` is a path or a name."""
        for process in sorted(PROCESSES, key=lambda p: p.order):
            self.start(process.name, process.module, "--robot", robot, *(plant_options if process.order == 0 else ()))

    def restart(self, name: str) -> Child:
        """Start a dead process again with the same command."""
        old = self.children[name]
        options = old.command[old.command.index("--with-parent") + 2 :]
        self.killed.discard(name)
        return self.start(name, old.command[2], *options)

    def dead(self) -> list[Child]:
        """Children that have ended."""
        return [c for c in self.children.values() if c.process.poll() is not None]

    def kill(self, name: str) -> None:
        """SIGKILL one (a fault of a scenario)."""
        self.killed.add(name)
        self.children[name].process.kill()
        self.children[name].process.wait()

    def stop(self, names: list[str] | None = None) -> None:
        """SIGTERM in order (plant last, recorder after it), SIGKILL what does not go."""
        order = {p.name: p.order for p in PROCESSES}
        rank = {name: (2 if name == "recorder" else 1 if order.get(name) == 0 else 0) for name in self.children}
        for level in (0, 1, 2):
            group = [c for n, c in self.children.items() if rank[n] == level and (names is None or n in names)]
            for child in group:
                if child.process.poll() is None:
                    child.process.send_signal(signal.SIGTERM)
            end = time.monotonic() + GRACE
            for child in group:
                try:
                    child.process.wait(max(0.05, end - time.monotonic()))
                except subprocess.TimeoutExpired:
                    LOG.warning("%s does not stop, killed", child.name)
                    child.process.kill()
                    child.process.wait()

    def __enter__(self) -> Launcher:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
