"""Checks of LCM: multicast route, round trip, buffers, who else is on the URL, the computers' clocks."""

from __future__ import annotations

import re
import socket
import struct

from procs.runtime.bus import RECEIVE_BYTES
from tools.doctor.machine import Finding, Machine, fail, ok, warn
from tools.processes import PLANTS

ROUTE = "sudo ip link set lo multicast on && sudo ip route add 224.0.0.0/4 dev lo"
ANOTHER = 1.0  # s between two monotonic clocks that makes them two computers'
PLANT_NAMES = sorted({plant[-1].name for plant in PLANTS.values()})


def _group(url: str) -> tuple[str, int]:
    """Multicast group and ttl of a URL."""
    match = re.match(r"udpm://([\d.]+):\d+", url)
    ttl = re.search(r"ttl=(\d+)", url)
    return (match.group(1) if match else "239.255.76.67"), int(ttl.group(1)) if ttl else 0


def route(machine: Machine) -> Finding:
    """The kernel knows a way to LCM's group."""
    group, _ = _group(machine.url)
    (address,) = struct.unpack("<I", socket.inet_aton(group))
    best: tuple[int, str] | None = None
    for line in (machine.read("/proc/net/route") or "").splitlines()[1:]:
        words = line.split()
        if len(words) > 7 and int(words[3], 16) & 1:
            mask = int(words[7], 16)
            if address & mask == int(words[1], 16) and (best is None or mask.bit_count() > best[0]):
                best = mask.bit_count(), words[0]
    if best is None:
        return fail(f"no route to {group}: LCM cannot open", ROUTE)
    bits, device = best
    if bits == 0:
        return warn(f"{group} by the default route over {device}: LCM ends when that cable is pulled", ROUTE)
    return ok(f"{group} over {device}")


def loop(machine: Machine) -> Finding:
    """Messages to ourselves come back, also in a burst, also of several packets."""
    result = machine.loop_back()
    if result.error:
        return fail(result.error, ROUTE)
    if result.received < result.sent:
        lost = result.sent - result.received
        mend = "sudo iptables -L -n" if not result.received else "top -o %CPU"
        return fail(f"{lost} of {result.sent} messages to ourselves were lost", mend)
    return ok(f"{result.sent} messages came back, the first after {result.milliseconds:.1f} ms")


def buffers(machine: Machine) -> Finding:
    """The receive buffer that every process asks for."""
    text = machine.read("/proc/sys/net/core/rmem_max") or ""
    if not text.isdigit():
        return warn("net.core.rmem_max cannot be read", "sysctl net.core.rmem_max")
    if int(text) >= RECEIVE_BYTES:
        return ok(f"{int(text)} bytes, {RECEIVE_BYTES} are asked for")
    short = f"{int(text)} bytes, {RECEIVE_BYTES} are asked for: a busy process loses messages"
    return warn(short, f"sudo sysctl -w net.core.rmem_max={2 * RECEIVE_BYTES}")


def reach(machine: Machine) -> Finding:
    """How far the URL carries."""
    group, ttl = _group(machine.url)
    if ttl == 0:
        return ok(f"{machine.url} stays on this machine")
    if ttl == 1:
        return ok(f"{machine.url} reaches the local network")
    mend = f"use --lcm-url '{re.sub(r'ttl=[0-9]+', 'ttl=1', machine.url)}'"
    return warn(f"ttl={ttl}: commands to {group} pass routers", mend)


def stack(machine: Machine) -> Finding:
    """Nobody is on the URL yet; at the most one plant."""
    heard = machine.heard
    if heard.error:
        return fail(heard.error, ROUTE)
    names = sorted({voice.name for voice in heard.voices})
    mend = "stop one of them, or use another --lcm-url"
    if len(set(heard.runs)) < len(heard.runs):  # a run that comes again was not restarted: two plants take turns
        return fail(f"two plants send joint_state (runs {', '.join(f'{r:x}' for r in sorted(set(heard.runs)))})", mend)
    plants = [(v.name, v.instance) for v in heard.voices if v.name in PLANT_NAMES and v.state != "stopping"]
    doubled = sorted({name for name, _ in plants if sum(n == name for n, _ in plants) > 1})
    if doubled:
        return fail(f"two processes named {' and '.join(doubled)}", mend)
    if names:
        return warn(f"a stack is running: {', '.join(names)}", "stop it first, or use another --lcm-url")
    if heard.runs:
        return warn("joint_state is sent by something that does not speak as our processes do", mend)
    return ok("nobody else on the URL")


def clocks(machine: Machine) -> Finding:
    """Other computers on the URL and how their clocks stand to ours."""
    others = [v for v in machine.heard.voices if abs(v.behind) > ANOTHER]
    if not machine.heard.voices:
        return ok("nobody to compare with")
    if not others:
        return ok("all processes heard are on this computer")
    by = {round(v.behind): [o.name for o in others if round(o.behind) == round(v.behind)] for v in others}
    said = "; ".join(
        f"{', '.join(names)}: {abs(s)} s {'behind' if s > 0 else 'ahead of'} ours" for s, names in by.items()
    )
    return ok(
        f"clocks differ: {said}; nothing depends on it but which of two processes of one name stays (the clocks count "
        "from each computer's start)"
    )
