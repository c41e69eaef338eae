"""Checks of what is installed: Python, packages, kernels, revision, programs that some tools start."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from tools.doctor.machine import Finding, Machine, fail, ok, warn

WANT = (3, 11)
NATIVE = ("lcm", "numpy", "scipy", "numba", "pybullet", "daqp", "can")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "firefox")
INSTALL = ".venv/bin/python -m pip install --require-hashes -r requirements.lock"
LOG_RATE = 2.5e6  # bytes/s of a recorded walk at 500 Hz
SHOWN = 4  # names of a list

_IMPORT = """
import importlib, io, json, sys
out, sys.stdout = {}, io.StringIO()
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except BaseException as error:
        out[name] = f"{type(error).__name__}: {error}"
sys.stdout = sys.__stdout__
print("\\n" + json.dumps(out))
"""


def some(names: list[str]) -> str:
    """The first of some names."""
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def python(machine: Machine) -> Finding:
    """The version the lock is made for."""
    has = ".".join(map(str, machine.python))
    if machine.python[:2] == WANT:
        return ok(has)
    return fail(f"{has}; the packages are pinned for 3.11", "make clean setup PYTHON=/path/to/python3.11")


def packages(machine: Machine) -> Finding:
    """Installed versions against requirements.lock."""
    lock = machine.checkout / "requirements.lock"
    try:
        pins = dict(re.findall(r"^([A-Za-z0-9._-]+)==([^\s\\;]+)", lock.read_text(), re.M))
    except OSError as error:
        return fail(f"cannot read {lock.name}: {error.strerror}", "git checkout requirements.lock")
    has = {name: machine.version(name) for name in pins}
    absent = sorted(name for name, found in has.items() if found is None)
    if absent:
        return fail(f"{len(absent)} of {len(pins)} not installed: {some(absent)}", INSTALL)
    other = sorted(f"{name} {found}, not {pins[name]}" for name, found in has.items() if found != pins[name])
    if other:
        return warn(f"{len(other)} of another version than tested: {some(other)}", INSTALL)
    return ok(f"{len(pins)} as in requirements.lock")


def native(machine: Machine) -> Finding:
    """Packages with compiled parts can be loaded."""
    code, output = machine.run(sys.executable, "-c", _IMPORT, *NATIVE)
    try:
        broken = json.loads(output.strip().splitlines()[-1]) if code == 0 else {"python": f"exit code {code}"}
    except (ValueError, IndexError):
        broken = {"python": "no answer"}
    if broken:
        name, error = next(iter(broken.items()))
        return fail(f"{name} cannot be loaded: {error}", INSTALL)
    return ok(", ".join(NATIVE))


def kernels(machine: Machine) -> Finding:
    """Compiled kernels of the current sources are in the cache."""
    cache = machine.environment.get("NUMBA_CACHE_DIR", "")
    if cache and Path(cache).is_dir() and any(Path(cache).rglob("*.nbi")):
        return ok("compiled")
    return warn("not compiled for these sources: the first run of each process takes a minute", "make setup")


def revision(machine: Machine) -> Finding:
    """A clean checkout: logs name the revision that made them."""
    code, text = machine.run("git", "describe", "--always", "--dirty", "--abbrev=12")
    name = text.strip()
    if code or not name:
        return warn("no git: logs cannot say which revision made them", "git status")
    if name.endswith("-dirty"):
        return warn(f"{name}: logs made now cannot be replayed from a commit", "git status --short")
    return ok(name)


def disk(machine: Machine) -> Finding:
    """Room for logs."""
    folder = machine.checkout / "logs"
    free = machine.free_bytes(folder if folder.is_dir() else machine.checkout)
    text = f"{free / 1e9:.0f} GB free, {free / LOG_RATE / 3600:.1f} h of recording"
    mend = f"du -ah {folder.name} | sort -h | tail"
    if free < LOG_RATE * 600:
        return fail(text, mend)
    return warn(text, mend) if free < LOG_RATE * 7200 else ok(text)


def java(machine: Machine) -> Finding:
    """What lcm-spy needs."""
    absent = [name for name in ("java", "javac") if machine.which(name) is None]
    if absent:
        return warn(f"no {' and no '.join(absent)}: lcm-spy cannot start", "sudo apt-get install default-jdk")
    return ok("java and javac")


def display(machine: Machine) -> Finding:
    """What windows (GUI=1, lcm-spy) need."""
    env = machine.environment
    name = env.get("WAYLAND_DISPLAY") or env.get("DISPLAY")
    if not name:
        return warn("none: no GUI=1, no lcm-spy (films and pictures need none)", "export DISPLAY=:0")
    socket = re.fullmatch(r":(\d+)(?:\.\d+)?", env.get("DISPLAY", ""))
    if socket and not env.get("WAYLAND_DISPLAY") and not machine.path(f"/tmp/.X11-unix/X{socket.group(1)}").exists():
        return warn(f"{name}, but no X server answers there", "export DISPLAY=:0")
    if not machine.glob("/dev/dri/renderD*"):
        return warn(
            f"{name}, no graphics device: windows are drawn by the CPU, which slows the simulator", "ls -l /dev/dri"
        )
    return ok(f"{name} with a graphics device")


def browser(machine: Machine) -> Finding:
    """What the dashboard is looked at with."""
    found = next((name for name in BROWSERS if machine.which(name)), None)
    if found is None:
        return warn("none here: look at the dashboard from another computer", "sudo apt-get install chromium")
    return ok(found)
