"""Runs a scenario over LCM: separate processes in lock step, recorded; metrics come from the log."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from config.load import robot_text
from config.scenario import Fault, Scenario
from lcmtypes.channels import BODY_STATE, JOINT_STATE, MODE_STATE, PROC_HEALTH, RESET, Channel
from lcmtypes.generated import ModeState, Reset
from procs.model.robot import Robot
from procs.runtime.bus import Bus
from procs.runtime.logs import LogError
from tools.launch import Launcher, private_url
from tools.recording import Recording


class RunError(LogError):
    """A process of the run died by itself, with its last words."""


class Watch:
    """What a launcher wants to know of a running stack; cheap, since most channels are not read."""

    def __init__(self, bus: Bus) -> None:
        self.bus = bus
        self.t = 0.0  # s of the run
        self.ticks = 0
        self.mode: ModeState | None = None
        self.health: dict[str, Any] = {}
        self.speed = (0.0, 0.0)  # m/s estimated, body axes
        bus.subscribe((JOINT_STATE, MODE_STATE, PROC_HEALTH, BODY_STATE), self._on_message)

    def _on_message(self, channel: Channel, message: Any) -> None:
        if channel is JOINT_STATE:
            self.t, self.ticks = message.utime * 1e-6, message.seq
        elif channel is MODE_STATE:
            self.mode = message
        elif channel is BODY_STATE:
            self.speed = (float(message.v_body[0]), float(message.v_body[1]))
        else:
            self.health[message.name] = message

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
    observe: Callable[[Watch], None] | None = None,
) -> Recording:
    """Run to the scenario's end; RunError with the last words if a process dies that no fault killed."""
    with tempfile.TemporaryDirectory(prefix="scenario-") as temporary:
        directory = Path(temporary)
        robot_file, scenario_file = directory / f"{robot.name}.yaml", directory / "scenario.yaml"
        robot_file.write_text(robot_text(robot_name, overrides))
        scenario_file.write_text(yaml.safe_dump(scenario.model_dump(mode="json", exclude_unset=True)))
        log = log or directory / "run.lcmlog"
        url = url or private_url()
        options = ["--scenario", str(scenario_file), "--seed", str(seed), "--pace", pace]
        options += ["--gui"] * gui + ["--real-time"] * real_time
        with Launcher(url, directory) as launcher:
            watch = Watch(Bus(url))
            launcher.start("recorder", "tools.record", "--out", str(log), "--robot", str(robot_file))
            _wait_for(watch, launcher, "recorder", stop)
            launcher.start_pipeline(str(robot_file), tuple(options))
            _follow(scenario, watch, launcher, progress, stop, observe)
        return Recording.from_log(log)


def _wait_for(watch: Watch, launcher: Launcher, name: str, stop: Callable[[], bool]) -> None:
    while name not in watch.health and not stop():
        watch.bus.wait(0.1)
        _check(launcher, set())


def _check(launcher: Launcher, killed: set[str]) -> None:
    for child in launcher.dead():
        if child.name not in killed and not (child.name == "sim" and child.process.returncode == 0):
            raise RunError(
                f"{child.name} ended with code {child.process.returncode}. Its last words:\n{child.last_words()}"
            )


def _follow(
    scenario: Scenario,
    watch: Watch,
    launcher: Launcher,
    progress: Callable[[float], None] | None,
    stop: Callable[[], bool],
    observe: Callable[[Watch], None] | None,
) -> None:
    kills = sorted((f for f in scenario.faults if f.kind == "kill"), key=lambda f: f.t)
    killed: set[str] = set()
    revive: list[tuple[float, Fault]] = []
    while launcher.children["sim"].process.poll() is None and not stop():
        watch.bus.wait(0.05)
        if kills and watch.t >= kills[0].t:
            fault = kills.pop(0)
            assert fault.process is not None
            killed.add(fault.process)
            launcher.kill(fault.process)
            if fault.restart_after is not None:
                revive.append((time.monotonic() + fault.restart_after, fault))
        for due, fault in list(revive):
            if time.monotonic() >= due and fault.process is not None:
                revive.remove((due, fault))
                launcher.restart(fault.process)
                killed.discard(fault.process)
                _wait_for_health(watch, launcher, fault.process)
                watch.reset("scenario", f"{fault.process} restarted")
        _check(launcher, killed)
        if progress is not None:
            progress(watch.t)
        if observe is not None:
            observe(watch)


def _wait_for_health(watch: Watch, launcher: Launcher, name: str) -> None:
    watch.health.pop(name, None)
    end = time.monotonic() + 30.0
    while time.monotonic() < end:
        watch.bus.wait(0.05)
        health = watch.health.get(name)
        if health is not None and health.state != "starting":
            return
        if launcher.children[name].process.poll() is not None:
            return
