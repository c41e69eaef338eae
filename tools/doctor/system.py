"""Checks of the operating system: real-time rights, CPU clock, load, processes left over."""

from __future__ import annotations

import re
import sys

from tools.doctor.machine import Finding, Machine, ok, warn

PRIORITY = 60  # of --rt
IPC_LOCK = 14  # linux/capability.h: no limit counts
LIMITS = "/etc/security/limits.d/99-legged.conf"
CORES = 2
OURS = re.compile(r"^(procs\.\w+|sim|tools\.(record|up|flight_recorder|walk|dashboard|teleop))$")


_TRY = f"""
import ctypes, os
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param({PRIORITY}))
    print("fifo")
except OSError:
    pass
if ctypes.CDLL(None).mlockall(3) == 0:
    print("locked")
"""


def _limit(machine: Machine, name: str) -> str:
    text = machine.read("/proc/self/limits") or ""
    match = re.search(rf"^{name}\s+(\S+)", text, re.M)
    return match.group(1) if match else "unknown"


def _tried(machine: Machine) -> set[str]:
    """What a process of ours is really given."""
    return set(machine.run(sys.executable, "-c", _TRY)[1].split())


def _mend(machine: Machine, item: str) -> str:
    return f"echo '{machine.environment.get('USER') or '*'} - {item}' | sudo tee -a {LIMITS}  # then log in again"


def realtime(machine: Machine) -> Finding:
    """SCHED_FIFO is given (--rt)."""
    if "fifo" in _tried(machine):
        return ok(f"given at priority {PRIORITY}")
    limit = _limit(machine, "Max realtime priority")
    text = f"refused, the limit is {limit}, --rt asks for {PRIORITY}: ticks may come late on hardware"
    return warn(text, _mend(machine, "rtprio 95"))


def memory_lock(machine: Machine) -> Finding:
    """Memory may be locked (--rt): all of it, since a process with compiled kernels is large."""
    status = machine.read("/proc/self/status") or ""
    match = re.search(r"^CapEff:\s*([0-9a-f]+)", status, re.M)
    boundless = bool(match and int(match.group(1), 16) >> IPC_LOCK & 1)
    limit = _limit(machine, "Max locked memory")
    if (limit == "unlimited" or boundless) and "locked" in _tried(machine):
        return ok("given without limit")
    size = f"{int(limit) / 2**20:.0f} MiB" if limit.isdigit() else limit
    return warn(f"refused, the limit is {size}: --rt cannot keep pages in memory", _mend(machine, "memlock unlimited"))


def governor(machine: Machine) -> Finding:
    """The CPU's clock does not follow the load."""
    found = [
        machine.read(f"/{p.relative_to(machine.root)}")
        for p in machine.glob("/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")
    ]
    names = sorted({name for name in found if name})
    if not names:
        return ok("no frequency scaling here")
    if names == ["performance"]:
        return ok(f"performance on {len(found)} cores")
    return warn(
        f"{' and '.join(names)}: a core is slow when a tick wakes it", "sudo cpupower frequency-set -g performance"
    )


def cores(machine: Machine) -> Finding:
    """Cores and what runs on them."""
    count = len(re.findall(r"^cpu\d+ ", machine.read("/proc/stat") or "", re.M))
    load = (machine.read("/proc/loadavg") or "").split()
    busy = float(load[0]) if load else 0.0
    text = f"{count} cores, load {busy:.1f}"
    if count < CORES:
        return warn(f"{text}: the five processes share one core, real time will not hold", "nproc")
    if busy > count:
        return warn(f"{text}: others keep the cores busy, real time may not hold", "top -o %CPU")
    return ok(text)


def left_over(machine: Machine) -> Finding:
    """No process of ours whose parent has died; services of systemd have none and are meant to."""
    orphans: list[tuple[str, str]] = []
    services: list[tuple[str, str]] = []
    for path in machine.glob("/proc/[0-9]*"):
        words = (machine.read(f"/proc/{path.name}/cmdline") or "").split("\0")
        parent = re.search(r"^PPid:\s*(\d+)", machine.read(f"/proc/{path.name}/status") or "", re.M)
        module = words[words.index("-m") + 1] if "-m" in words[:-1] else ""
        if OURS.match(module) and parent and parent.group(1) == "1":
            unit = (machine.read(f"/proc/{path.name}/cgroup") or "").splitlines()
            service = any(line.endswith(".service") for line in unit)
            (services if service else orphans).append((path.name, module))
    if orphans:
        said = ", ".join(f"{module} ({pid})" for pid, module in orphans)
        return warn(f"running without a parent: {said}", f"kill {' '.join(pid for pid, _ in orphans)}")
    return ok(f"none (services: {', '.join(module for _, module in services)})" if services else "none")
