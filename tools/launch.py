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

from tools.processes import LISTENER, PLANTS, Process, Run, processes

LOG = logging.getLogger(__name__)
ROOT = Path(__file__).resolve().parent.parent
GRACE = 3.0  # s from SIGTERM to SIGKILL
GRACE_LAST = 10.0  # s of those that have files to finish
LAST_WORDS = 12  # lines of a dead process's output that are kept
TAIL = 8192  # bytes they are looked for in


def private_url() -> str:
    """A multicast group and port of one's own, so that runs on one machine do not meet; below the ports that the kernel
    gives to others."""
    r = random.SystemRandom()
    return f"udpm://239.255.{r.randrange(80, 250)}.{r.randrange(1, 255)}:{r.randrange(20000, 32000)}?ttl=0"


@dataclass
class Child:
    """A started process."""

    name: str
    command: list[str]
    output: Path
    process: subprocess.Popen[bytes] = field(repr=False)
    began: int = 0  # bytes in the output file before it: words of an earlier process of this name

    def last_words(self) -> str:
        """The end of its output."""
        try:
            with self.output.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(self.began, size - TAIL))
                lines = file.read().decode(errors="replace").splitlines()
        except OSError:
            return ""
        return "\n".join(lines[-LAST_WORDS:])

    def ending(self) -> str:
        """How it ended, in words."""
        code = self.process.returncode
        if code is None:
            return "still runs"
        if code >= 0:
            return f"ended with code {code}"
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return f"was killed by {name} (code {code})"

    def obituary(self) -> str:
        """Name, ending and last words: what a person must be told of a dead process."""
        return f"{self.name} {self.ending()}. Its last words:\n{self.last_words() or '(it said nothing)'}"


class Launcher:
    """Processes of one stack on one LCM URL. Use as a context manager: leaving stops all, the plant last.

    `directory` keeps the files with their output.
    """

    def __init__(self, url: str, directory: Path) -> None:
        self.url, self.directory = url, directory
        self.children: dict[str, Child] = {}
        self.killed: set[str] = set()  # by a fault, and not started again
        self.plant = ""  # name of the process with the timer
        self._stops: dict[str, int] = {}
        directory.mkdir(parents=True, exist_ok=True)

    def start(self, name: str, module: str, *options: str) -> Child:
        """Start `python -m module` on our URL; its output goes to a file in the directory."""
        command = [sys.executable, "-m", module, "--lcm-url", self.url, "--with-parent", str(os.getpid()), *options]
        output = self.directory / f"{name}.out"
        environment = {
            **os.environ,
            "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1", "PYTHONFAULTHANDLER": "1",
        }  # fmt: skip
        environment.pop("NOTIFY_SOCKET", None)  # systemd is told by the launcher alone
        with output.open("ab") as sink:
            began = sink.tell()
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
        self.children[name] = Child(name, command, output, process, began)
        return self.children[name]

    def start_process(self, process: Process, robot: str, run: Run, *options: str) -> Child:
        """Start a line of the tables; `robot` is a path or a name."""
        self._stops[process.name] = process.stops
        return self.start(process.name, process.module, "--robot", robot, *options, *process.options(run))

    def start_stack(self, robot: str, plant: str, run: Run, *options: str) -> None:
        """Plant and pipeline of the tables; options go to all of them."""
        self.plant = PLANTS[plant][-1].name
        for process in processes(plant):
            self.start_process(process, robot, run, *options)

    def over(self) -> bool:
        """The plant has ended."""
        return self.children[self.plant].process.poll() is not None

    def failed(self) -> list[Child]:
        """Dead children that should live: all but those a fault killed, a plant at the end of its scenario and what
        stands behind it, which ends by itself as soon as the plant has let go of it."""
        ends = {self.plant, *(n for n, stops in self._stops.items() if stops > 1)} if self.plant else set()
        return [
            c for c in self.dead() if c.name not in self.killed and not (c.name in ends and not c.process.returncode)
        ]

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
        """SIGTERM in the order of the tables, the listeners last; SIGKILL what does not go."""
        rank = {name: self._stops.get(name, LISTENER) for name in self.children}
        for level in sorted(set(rank.values())):
            group = [c for n, c in self.children.items() if rank[n] == level and (names is None or n in names)]
            for child in group:
                if child.process.poll() is None:
                    child.process.send_signal(signal.SIGTERM)
            end = time.monotonic() + (GRACE_LAST if level == LISTENER else GRACE)
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
