"""Probes on LCM: a round trip on a private group, and what is said on a URL."""

from __future__ import annotations

import struct
import time
from dataclasses import dataclass, field

from lcmtypes.channels import JOINT_STATE, PROC_HEALTH
from lcmtypes.generated import ProcHealth
from procs.runtime.bus import Bus, BusError
from tools.launch import private_url

LISTEN = 2.2  # s: every process speaks once a second
BURST = 200  # messages: a tenth of a second of the pipeline
LARGE = 200_000  # bytes: more than one packet holds
WAIT = 2.0  # s


@dataclass
class LoopResult:
    """What came back of what was sent to ourselves."""

    sent: int = 0
    received: int = 0
    milliseconds: float = 0.0  # until the first one
    error: str = ""


@dataclass
class Voice:
    """One process heard of."""

    name: str
    instance: int
    state: str
    behind: float  # s, our CLOCK_MONOTONIC minus the one in its message


@dataclass
class Heard:
    """What was said on a URL."""

    voices: list[Voice] = field(default_factory=list)
    runs: list[int] = field(default_factory=list)  # of the joint_states, in order, neighbours that are equal once
    error: str = ""


def loop_back() -> LoopResult:
    """Send a burst of small messages and a large one to a group of our own."""
    result = LoopResult(sent=BURST + 1)
    try:
        bus, seen = Bus(private_url()), [0]

        def count(_name: str, _data: bytes) -> None:
            result.milliseconds = result.milliseconds or 1e3 * (time.monotonic() - begin)
            seen[0] += 1

        bus.subscribe_raw("doctor", count)
        begin = time.monotonic()
        for _ in range(BURST):
            bus.publish_raw("doctor", bytes(1000))
        bus.publish_raw("doctor", bytes(LARGE))
        while seen[0] < result.sent and time.monotonic() - begin < WAIT:
            bus.wait(0.05)
        result.received = seen[0]
    except BusError as error:
        result.error = str(error)
    return result


def listen(url: str) -> Heard:
    """Listen for a while; says nothing itself."""
    heard, voices = Heard(), dict[tuple[str, int], Voice]()

    def on_health(_channel: object, message: ProcHealth) -> None:
        behind = 1e-9 * time.monotonic_ns() - 1e-6 * message.utime
        before = voices.get((message.name, message.instance))
        if before is not None:
            behind = min(behind, before.behind, key=abs)  # the one that lay the shortest in a queue
        voices[message.name, message.instance] = Voice(message.name, message.instance, message.state, behind)

    def on_joints(_name: str, data: bytes) -> None:
        if len(data) >= 24:
            (run,) = struct.unpack_from(">q", data, 16)
            if not heard.runs or heard.runs[-1] != run:
                heard.runs.append(run)

    try:
        bus = Bus(url)
        bus.subscribe((PROC_HEALTH,), on_health)
        bus.subscribe_raw(JOINT_STATE.name, on_joints)
        end = time.monotonic() + LISTEN
        while (left := end - time.monotonic()) > 0:
            bus.wait(left)
    except BusError as error:
        heard.error = str(error)
    heard.voices = sorted(voices.values(), key=lambda v: (v.name, v.instance))
    return heard
