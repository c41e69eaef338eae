"""The processes of a stack as tables: the pipeline, and the plants it can be put on with one word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Run:
    """What a plant is told: how fast, what scenario, which seed. `directory` is the run's own."""

    directory: Path
    pace: str = "1"
    scenario: Path | None = None
    seed: int | None = None
    gui: bool = False
    real_time: bool = False

    def common(self) -> list[str]:
        """Options of every plant."""
        return ["--scenario", str(self.scenario)] if self.scenario is not None else []

    def world(self) -> list[str]:
        """Options of the physics."""
        seed = ["--seed", str(self.seed)] if self.seed is not None else []
        return [*self.common(), *seed, *(["--gui"] if self.gui else [])]


def _sim(run: Run) -> list[str]:
    return [*run.world(), "--pace", run.pace, *(["--real-time"] if run.real_time else [])]


def _emulated_hardware(run: Run) -> list[str]:
    return [*run.world(), "--serve-bus", str(run.directory / "bus")]


def _bridge_to_emulated(run: Run) -> list[str]:
    lock_step = [] if run.real_time else ["--lock-step", "--pace", run.pace]
    return [*run.common(), "--bus-dir", str(run.directory / "bus"), *lock_step]


def _bridge(run: Run) -> list[str]:
    return run.common()


def _none(_run: Run) -> list[str]:
    return []


@dataclass(frozen=True)
class Process:
    """One line of the table. Stopped in the order of `stops`: pipeline 0, plant 1, what stands behind it 2."""

    name: str
    module: str
    stops: int
    options: Callable[[Run], list[str]] = _none


PIPELINE = (
    Process("estimator", "procs.estimator", 0),
    Process("controller", "procs.controller", 0),
    Process("packer", "procs.packer", 0),
)
# The last process of each is the plant: the one with the timer, whose end is the end of the run.
PLANTS: dict[str, tuple[Process, ...]] = {
    "sim": (Process("sim", "sim", 1, _sim),),
    "emulated": (
        Process("sim", "sim", 2, _emulated_hardware),
        Process("bridge", "procs.bridge", 1, _bridge_to_emulated),
    ),
    "bridge": (Process("bridge", "procs.bridge", 1, _bridge),),
}


def processes(plant: str) -> tuple[Process, ...]:
    """All processes on a plant, in the order of starting."""
    return (*PLANTS[plant], *PIPELINE)
