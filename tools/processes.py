"""The processes of a stack as tables: the pipeline, the plants it can be put on with one word, and who only listens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

UP = "up"  # the supervisor's own name in proc_health
PLANT, BEHIND, LISTENER = 1, 2, 9  # levels of stopping; the pipeline is 0


@dataclass(frozen=True)
class Run:
    """What the processes are told: how fast, what scenario, which seed. `directory` is the run's own."""

    directory: Path
    pace: str = "1"
    scenario: Path | None = None
    seed: int | None = None
    gui: bool = False
    no_drive_watchdog: bool = False  # real drives without one are driven all the same
    real_time: bool = False
    record: Path | None = None  # log of all channels
    flight: Path | None = None  # folder of the flight recorder's files

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
    return [*run.common(), *(["--without-drive-watchdog"] if run.no_drive_watchdog else [])]


def _recorder(run: Run) -> list[str]:
    return ["--out", str(run.record), "--no-overwrite"] if run.record is not None else []


def _flight_recorder(run: Run) -> list[str]:
    folder = ["--folder", str(run.flight)] if run.flight is not None else []
    return [*folder, *(["--record", str(run.record)] if run.record is not None else [])]


def _none(_run: Run) -> list[str]:
    return []


@dataclass(frozen=True)
class Process:
    """One line of the table. Stopped in the order of `stops`: pipeline 0, plant, what stands behind it, listeners."""

    name: str
    module: str
    stops: int = 0
    options: Callable[[Run], list[str]] = field(default=_none, repr=False)
    restart: bool = True  # `up` starts it again when it dies. A plant with motors: never, a person has to look first
    essential: bool = True  # without it the robot cannot be driven: `up` ends when it cannot be had
    alive: float = 60.0  # s from its start to its first report; a kernel that is not compiled yet takes most of it


PIPELINE = (
    Process("estimator", "procs.estimator"),
    Process("controller", "procs.controller", alive=180.0),
    Process("packer", "procs.packer"),
)
# The last process of each is the plant: the one with the timer, whose end is the end of the run.
PLANTS: dict[str, tuple[Process, ...]] = {
    "sim": (Process("sim", "sim", PLANT, _sim),),
    "emulated": (
        Process("sim", "sim", BEHIND, _emulated_hardware, restart=False),
        Process("bridge", "procs.bridge", PLANT, _bridge_to_emulated, restart=False),
    ),
    "bridge": (Process("bridge", "procs.bridge", PLANT, _bridge, restart=False),),
}
# They send nothing that the pipeline reads; started before it so that they miss nothing, stopped after it.
LISTENERS: dict[str, Process] = {
    "flight_recorder": Process("flight_recorder", "tools.flight_recorder", LISTENER, _flight_recorder, essential=False),
    "recorder": Process("recorder", "tools.record", LISTENER, _recorder, essential=False),
    "relay": Process("mit_relay", "procs.mit_relay", LISTENER, essential=False),
}
ALWAYS = ("flight_recorder",)  # listeners that `up` starts without being asked


def processes(plant: str) -> tuple[Process, ...]:
    """All processes on a plant, in the order of starting."""
    return (*PLANTS[plant], *PIPELINE)


def listeners(names: list[str]) -> list[Process]:
    """The named listeners, each once. The flight recorder does the recorder's work too: half the cost."""
    chosen = [LISTENERS[name] for name in LISTENERS if name in names]
    return [p for p in chosen if not (p.name == "recorder" and "flight_recorder" in names)]


def available() -> list[str]:
    """Listeners whose module is there."""
    return [name for name, process in LISTENERS.items() if find_spec(process.module) is not None]
