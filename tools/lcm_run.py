"""Runs a scenario over LCM: separate processes in lock step, recorded; metrics come from the log."""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from config.load import robot_text
from config.scenario import Scenario
from lcmtypes.channels import BODY_STATE, JOINT_STATE, MODE_STATE, PROC_HEALTH, RESET, Channel
from lcmtypes.generated import ModeState, Reset
from lcmtypes.message import DecodeError
from procs.runtime.bus import Bus
from procs.runtime.logs import LogError
from tools.launch import Launcher, private_url
from tools.processes import Run
from tools.recording import Recording

if TYPE_CHECKING:
    from procs.model.robot import Robot  # compiles kernels, which a supervisor does not need

LOG = logging.getLogger(__name__)
GLANCE = 0.03  # s between two looks at the running stack
PATIENCE = 30.0  # s for a process to say that it is there


class RunError(LogError):
    """A process of the run died by itself, with its last words."""


class Watch:
    """What a launcher wants to know of a running stack. Keeps the newest bytes and decodes when it is asked."""

    def __init__(self, bus: Bus) -> None:
        self.bus = bus
        self.health: dict[str, Any] = {}
        self.heard: dict[str, float] = {}  # process -> when it reported last, by our own clock: theirs may differ
        self._newest: dict[Channel, bytes] = {}
        bus.subscribe_newest((JOINT_STATE, MODE_STATE, BODY_STATE), self._newest)
        bus.subscribe((PROC_HEALTH,), self._on_health)

    def _on_health(self, _channel: Channel, message: Any) -> None:
        before = self.health.get(message.name)
        self.health[message.name], self.heard[message.name] = message, time.monotonic()
        if message.last_error and (before is None or before.last_error != message.last_error):
            LOG.warning("%s: %s", message.name, message.last_error)

    def look(self) -> None:
        """Take what has come in a moment; without waking for each message."""
        time.sleep(GLANCE)
        self.bus.drain()

    def _of(self, channel: Channel) -> Any:
        try:
            return channel.type.decode(self._newest[channel])
        except (KeyError, DecodeError):
            return None

    @property
    def ticks(self) -> int:
        """seq of the newest sample."""
        sample = self._of(JOINT_STATE)
        return sample.seq if sample is not None else 0

    @property
    def t(self) -> float:
        """Time of the run, s."""
        sample = self._of(JOINT_STATE)
        return sample.utime * 1e-6 if sample is not None else 0.0

    @property
    def mode(self) -> ModeState | None:
        """The controller's newest mode_state."""
        return self._of(MODE_STATE)

    @property
    def speed(self) -> tuple[float, float]:
        """Estimated speed, m/s, body axes."""
        body = self._of(BODY_STATE)
        return (float(body.v_body[0]), float(body.v_body[1])) if body is not None else (0.0, 0.0)

    def reset(self, source: str, reason: str) -> None:
        """Publish a reset."""
        message = Reset()
        message.utime = message.seq = time.monotonic_ns() // 1000
        message.source, message.reason = source, reason
        self.bus.publish(RESET, message)


def run_over_lcm(
    scenario: Scenario,
    robot: Robot,
    robot_name: str,
    overrides: list[str],
    *,
    seed: int,
    log: Path | None = None,
    gui: bool = False,
    progress: Callable[[float], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
    url: str | None = None,
    pace: str = "max",
    real_time: bool = False,
    plant: str = "sim",
    observe: Callable[[Watch], None] | None = None,
) -> Recording:
    """Run to the scenario's end; RunError with the last words if a process dies that no fault killed.

    After a `kill` with restart the plant begins a new run, which lasts the scenario's whole duration: it has the most
    ticks in the log and is the one the returned recording, and so the metrics, are of.
    """
    with tempfile.TemporaryDirectory(prefix="scenario-") as temporary:
        directory = Path(temporary)
        robot_file, scenario_file = write_inputs(directory, robot_name, overrides, scenario)
        log = log or directory / "run.lcmlog"
        url = url or private_url()
        run = Run(directory, pace, scenario_file, seed, gui, real_time)
        with Launcher(url, directory) as launcher:
            watch = Watch(Bus(url))
            launcher.start("recorder", "tools.record", "--out", str(log), "--robot", str(robot_file))
            wait_for(watch, launcher, "recorder", stop)
            if not stop():
                launcher.start_stack(str(robot_file), plant, run)
                _follow(scenario, watch, launcher, progress, stop, observe)
        return Recording.from_log(log) if log.exists() or not stop() else Recording()


def write_inputs(directory: Path, robot_name: str, overrides: list[str], scenario: Scenario) -> tuple[Path, Path]:
    """Robot and scenario with their overrides as the files that the processes read."""
    robot_file, scenario_file = directory / f"{Path(robot_name).stem}.yaml", directory / "scenario.yaml"
    robot_file.write_text(robot_text(robot_name, overrides))
    scenario_file.write_text(yaml.safe_dump(scenario.model_dump(mode="json", exclude_unset=True)))
    return robot_file, scenario_file


def wait_for(watch: Watch, launcher: Launcher, name: str, stop: Callable[[], bool]) -> None:
    """Return when a process has reported itself past its start, or when `stop`; RunError if it died or never does."""
    watch.health.pop(name, None)
    end = time.monotonic() + PATIENCE
    while not stop():
        watch.look()
        if name in watch.health and watch.health[name].state not in ("starting", "stopping"):
            return
        _check(launcher)
        if time.monotonic() > end:
            words = launcher.children[name].last_words()
            raise RunError(f"{name} does not report within {PATIENCE:g} s. Its last words:\n{words}")


def _check(launcher: Launcher) -> None:
    for child in launcher.failed():
        raise RunError(child.obituary())


def _follow(
    scenario: Scenario,
    watch: Watch,
    launcher: Launcher,
    progress: Callable[[float], None] | None,
    stop: Callable[[], bool],
    observe: Callable[[Watch], None] | None,
) -> None:
    kills = sorted((f for f in scenario.faults if f.kind == "kill"), key=lambda f: f.t)
    for fault in kills:
        if fault.process not in launcher.children:
            raise RunError(f"fault kill: no process {fault.process!r}, there are {', '.join(launcher.children)}")
    revive: list[tuple[float, str]] = []
    while (revive or not launcher.over()) and not stop():
        watch.look()
        if kills and watch.t >= kills[0].t:
            fault = kills.pop(0)
            assert fault.process is not None
            launcher.kill(fault.process)
            if fault.restart_after is not None:
                revive.append((time.monotonic() + fault.restart_after, fault.process))
        for due, name in list(revive):
            if time.monotonic() >= due:
                revive.remove((due, name))
                launcher.restart(name)
                wait_for(watch, launcher, name, stop)
                if launcher.over():
                    LOG.warning("%s is back, but the run is over: the scenario ends too soon after its kill", name)
                elif name != launcher.plant:  # which begins a new run by itself
                    watch.reset("scenario", f"{name} restarted")
        _check(launcher)
        if progress is not None:
            progress(watch.t)
        if observe is not None:
            observe(watch)
    if not stop():
        _check(launcher)
