"""The stack as processes over LCM: lock-step speed; in real time latency, lateness, ticks and messages lost."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from config.load import load_robot, load_scenario, robot_text
from lcmtypes.channels import MPC_DEBUG, PIPELINE, PROC_HEALTH
from procs.runtime.bus import Bus
from procs.runtime.logs import raw_events, read_log
from tools.launch import ROOT, Launcher, private_url
from tools.lcm_run import RunError
from tools.processes import Run
from tools.stack import SPECS

SCENARIO = "trot_forward"
START = 60.0  # s of wall time in which everything must have started
SEQ = slice(24, 32)  # in a message's bytes, behind fingerprint, utime and run


def period(scenario_name: str = SCENARIO) -> float:
    """Control period of the scenario's robot, s."""
    return 1.0 / load_robot(load_scenario(scenario_name).robot).control.rate


def run_stack(
    duration: float,
    log: Path,
    *,
    real_time: bool,
    rt: bool = False,
    progress: Callable[[float], None] = lambda t: None,
) -> None:
    """Walk for a while with a recorder; nothing else listens. RunError if a process dies."""
    scenario, dt = load_scenario(SCENARIO, [f"duration={duration}"]), period()
    with tempfile.TemporaryDirectory(prefix="bench-") as temporary:
        folder = Path(temporary)
        robot_file, scenario_file = folder / "robot.yaml", folder / "scenario.yaml"
        robot_file.write_text(robot_text(scenario.robot))
        scenario_file.write_text(yaml.safe_dump(scenario.model_dump(mode="json", exclude_unset=True)))
        url = private_url()
        common = ["--robot", str(robot_file), *(["--rt"] if rt else [])]
        with Launcher(url, folder) as launcher:
            bus = Bus(url)
            health: dict[str, Any] = {}
            bus.subscribe((PROC_HEALTH,), lambda _channel, m: health.update({m.name: m}))
            launcher.start("recorder", "tools.record", "--out", str(log), *common)
            end = time.monotonic() + START
            while "recorder" not in health:
                bus.wait(0.1)
                _check(launcher, time.monotonic() > end)
            run = Run(folder, "max", scenario_file, 1, real_time=real_time)
            launcher.start_stack(str(robot_file), "sim", run, *(["--rt"] if rt else []))
            while not launcher.over():
                bus.wait(0.2)
                _check(launcher, False)
                if "sim" in health:
                    progress(health["sim"].ticks * dt)
            _check(launcher, False)


def _check(launcher: Launcher, overdue: bool) -> None:
    for child in launcher.failed():
        raise RunError(f"{child.name} ended with code {child.process.returncode}:\n{child.last_words()}")
    if overdue:
        raise RunError(f"the recorder has not started within {START:g} s")


def reports(log: Path) -> dict[str, list[Any]]:
    """proc_health messages per process."""
    out: dict[str, list[Any]] = {}
    for event in read_log(log, {PROC_HEALTH}):
        message: Any = event.message
        out.setdefault(message.name, []).append(message)
    return out


def recorded(log: Path) -> dict[str, int]:
    """Different ticks of the run in the log, per channel of the pipeline. Bounded memory: only counts are kept."""
    names = {c.name for c in PIPELINE}
    newest: dict[str, int] = {}
    count = dict.fromkeys(names, 0)
    for _stamp, name, data in raw_events(log):
        if name in names:
            seq = int.from_bytes(data[SEQ], "big", signed=True)
            if seq > newest.get(name, -1):
                newest[name] = seq
                count[name] += 1
    return count


def losses(log: Path) -> dict[str, Any]:
    """Ticks that processes missed, and messages that were sent but are not in the log."""
    health, count = reports(log), recorded(log)
    ticks = health["sim"][-1].ticks
    sent = {c.name: ticks for c in PIPELINE if c.by in ("plant", "sim")}
    for name, spec in SPECS.items():
        sent.update({c.name: health[name][-1].ticks for c in spec.writes if c in PIPELINE and c is not MPC_DEBUG})
    lost = {name: n - count[name] for name, n in sent.items()}
    missed = {name: health[name][-1].missed for name in SPECS} | {"sim": health["sim"][-1].missed}
    return {"ticks": ticks, "missed": missed, "recorded": count, "lost": lost, "lost_messages": sum(lost.values())}


def step_times(health: dict[str, list[Any]]) -> dict[str, dict[str, float]]:
    """Live step times with sending: median of the seconds' p50 and p99, and the largest, us."""
    out = {}
    for name in ("sim", *SPECS):
        running = [m for m in health[name] if m.state == "running" and m.step_max > 0][1:] or health[name]
        out[name] = {
            "p50": float(np.median([m.step_p50 for m in running])),
            "p99": float(np.median([m.step_p99 for m in running])),
            "max": float(max(m.step_max for m in running)),
        }
    return out


def bench_lock_step(duration: float, progress: Callable[[float], None] = lambda t: None) -> dict[str, Any]:
    """Real-time factor between the plant's first and last report while running."""
    with tempfile.TemporaryDirectory(prefix="bench-", dir=_build()) as folder:
        log = Path(folder) / "lock_step.lcmlog"
        run_stack(duration, log, real_time=False, progress=progress)
        plant = [m for m in reports(log)["sim"] if m.state in ("running", "stopping")]
        first, last = plant[0], plant[-1]
        simulated = (last.ticks - first.ticks) * period()
        return {
            "sim_time_s": simulated,
            "real_time_factor": simulated / (1e-6 * max(1, last.utime - first.utime)),
            "step_us": step_times(reports(log)),
        }


def bench_real_time(
    duration: float, rt: bool = False, progress: Callable[[float], None] = lambda t: None
) -> dict[str, Any]:
    """Latency, lateness, step times, missed ticks and lost messages of a walk with a tick every 2 ms."""
    with tempfile.TemporaryDirectory(prefix="bench-", dir=_build()) as folder:
        log = Path(folder) / "real_time.lcmlog"
        run_stack(duration, log, real_time=True, rt=rt, progress=progress)
        health = reports(log)
        seconds = [m for m in health["sim"] if m.latency_max > 0 and m.state != "paused"]
        seconds = seconds[1:] or seconds  # the first second holds the start
        trouble = sum(m.state in ("latched", "damping", "lost") for m in health["sim"])
        return {
            "seconds": duration,
            "rt": rt,
            "latency_ms": {
                "p50": float(np.median([m.latency_p50 for m in seconds])),
                "p99": float(np.median([m.latency_p99 for m in seconds])),
                "p99_worst_second": float(max(m.latency_p99 for m in seconds)),
                "max": float(max(m.latency_max for m in seconds)),
            },
            "late_p99_ms": {
                "median": float(np.median([m.late_p99 for m in seconds])),
                "worst_second": float(max(m.late_p99 for m in seconds)),
            },
            "step_us": step_times(health),
            "losses": losses(log),
            "trouble": trouble,
        }


def _build() -> Path:
    folder = ROOT / "build"
    folder.mkdir(exist_ok=True)
    return folder
