"""What looking on costs: dashboard, text spy, recorder and relay beside a stack that walks in real time.

Rounds without and with them alternate on one machine: CPU of each, and how the pipeline's latency changes.
"""

from __future__ import annotations

import importlib.util
import os
import pty
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import yaml

from config.load import load_scenario, robot_text
from lcmtypes.channels import PROC_HEALTH
from procs.runtime.bus import Bus
from tools.bench_lcm import SCENARIO
from tools.launch import ROOT, Launcher, private_url
from tools.lcm_run import RunError
from tools.processes import Run

SETTLE = 4.0  # s of walking that do not count, or as many as count
START = 60.0  # s
CAMERA = {
    "type": "ViewerCameraMessage", "wxyz": (1.0, 0.0, 0.0, 0.0), "position": (1.0, 1.0, 1.0), "fov": 1.0, "near": 0.01,
    "far": 100.0, "image_height": 800, "image_width": 1400, "look_at": (0.0, 0.0, 0.0), "up_direction": (0.0, 0.0, 1.0),
}  # fmt: skip


def bench_watchers(seconds: float, rounds: int, progress: Callable[[float], None] = lambda t: None) -> dict[str, Any]:
    """CPU in % of a core by watcher; latency p50 ms without and with them, medians over the rounds' seconds."""
    plain, watched = [], []
    cpu: dict[str, list[float]] = {}
    for k in range(rounds):
        plain += _round(seconds, None)
        progress((2 * k + 1) * seconds)
        watched += _round(seconds, cpu)
        progress((2 * k + 2) * seconds)
    percent = {name: float(np.mean(values)) for name, values in cpu.items()}
    return {
        "cpu_percent": percent,
        "cpu_percent_total": sum(percent.values()),
        "latency_p50_ms": {"without": float(np.median(plain)), "with": float(np.median(watched))},
        "latency_change_percent": 100.0 * (float(np.median(watched)) / float(np.median(plain)) - 1.0),
    }


def _round(seconds: float, cpu: dict[str, list[float]] | None) -> list[float]:
    """The latencies (p50 ms) of the seconds of one walk; with `cpu`: watched, and the watchers' CPU is added to it."""
    scenario = load_scenario(SCENARIO, [f"duration={2 * seconds + 30}"])
    with tempfile.TemporaryDirectory(prefix="bench-") as temporary, ExitStack() as stack:
        folder, url = Path(temporary), private_url()
        robot_file, scenario_file = folder / "robot.yaml", folder / "scenario.yaml"
        robot_file.write_text(robot_text(scenario.robot))
        scenario_file.write_text(yaml.safe_dump(scenario.model_dump(mode="json", exclude_unset=True)))
        launcher = stack.enter_context(Launcher(url, folder))
        bus, latencies = Bus(url), []
        counting = False

        def on_health(_channel: object, health: Any) -> None:
            if counting and health.name == "sim" and health.latency_max > 0:
                latencies.append(health.latency_p50)

        bus.subscribe((PROC_HEALTH,), on_health)
        watchers = _watchers(launcher, stack, robot_file, folder, url) if cpu is not None else {}
        launcher.start_stack(str(robot_file), "sim", Run(folder, "max", scenario_file, 1, real_time=True))
        _wait(bus, START, until=lambda: bool(latencies) or _walks(launcher, bus))
        _wait(bus, min(SETTLE, seconds))
        counting, before, begin = True, {n: _cpu(p) for n, p in watchers.items()}, time.monotonic()
        _wait(bus, seconds)
        _wait(bus, START, until=lambda: bool(latencies))  # a busy machine may have taken its time
        passed = time.monotonic() - begin
        for name, process in watchers.items():
            assert cpu is not None
            cpu.setdefault(name, []).append(100.0 * (_cpu(process) - before[name]) / passed)
        for child in launcher.failed():
            raise RunError(f"{child.name} ended with code {child.process.returncode}:\n{child.last_words()}")
        if not latencies:
            raise RunError(f"the plant has reported no latency for {START:g} s: it does not tick")
        return latencies


def _walks(launcher: Launcher, bus: Bus) -> bool:
    """The plant ticks: it says so once a second."""
    ticks: list[int] = []
    handles = bus.subscribe((PROC_HEALTH,), lambda _c, m: ticks.append(m.ticks if m.name == "sim" else 0))
    bus.wait(1.2)
    bus.unsubscribe(handles)
    return any(ticks) or launcher.over()


def _wait(bus: Bus, seconds: float, until: Callable[[], bool] = lambda: False) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and not until():
        bus.wait(min(left, 0.5))


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _watchers(launcher: Launcher, stack: ExitStack, robot: Path, folder: Path, url: str) -> dict[str, psutil.Process]:
    """Start them all, each as a user would have it."""
    started = {
        "relay": launcher.start("mit_relay", "procs.mit_relay", "--robot", str(robot)),
        "recorder": launcher.start(
            "flight_recorder", "tools.flight_recorder", "--robot", str(robot), "--folder", str(folder), "--record",
            str(folder / "watched.lcmlog"),
        ),
    }  # fmt: skip
    out = {name: psutil.Process(child.process.pid) for name, child in started.items()}
    out["spy"] = stack.enter_context(_in_terminal("tools.spy_text", url))
    if importlib.util.find_spec("viser") is not None:
        out["dashboard"] = stack.enter_context(_dashboard(url))
    return out


@contextmanager
def _in_terminal(module: str, url: str) -> Iterator[psutil.Process]:
    """A tool with a terminal of its own, whose output is thrown away."""
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "160", "LINES": "50"}
    process = subprocess.Popen(
        [sys.executable, "-m", module, "--lcm-url", url], cwd=ROOT, stdin=slave, stdout=slave, stderr=slave,
        env=environment, start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    threading.Thread(target=_drain, args=(master,), daemon=True).start()
    try:
        yield psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait()


def _drain(terminal: int) -> None:
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:  # the other end is closed
        os.close(terminal)


@contextmanager
def _dashboard(url: str) -> Iterator[psutil.Process]:
    """A dashboard with one client that takes what it is sent; a browser would draw it, on this machine's two cores."""
    from websockets.sync.client import connect  # noqa: PLC0415 (comes with viser)

    process = subprocess.Popen(
        [sys.executable, "-m", "tools.dashboard", "--port", "0", "--lcm-url", url, "--robot", "mini_cheetah"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split()[1].removeprefix("http://")
        import msgspec  # noqa: PLC0415
        import viser  # noqa: PLC0415

        protocol: Any = f"viser-v{viser.__version__}"
        with connect(f"ws://{address}", origin=f"http://{address}", subprotocols=[protocol], max_size=None) as socket:  # type: ignore[arg-type]
            socket.send(msgspec.msgpack.encode(CAMERA))
            threading.Thread(target=lambda: [None for _ in socket], daemon=True).start()
            yield psutil.Process(process.pid)
    finally:
        process.terminate()
        process.communicate()
