"""MIT's channels in a log of ours against what the core of mit_relay makes of the same log: the relay, replayed."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from procs.mit_relay.relay import SPEC
from procs.model.robot import Robot
from procs.runtime.logs import LogError, raw_events
from tools.mit_write import relayed


@dataclass
class Compared:
    """One channel."""

    name: str
    recorded: int = 0
    computed: int = 0
    foreign: int = 0  # recorded, and not what the relay makes of this log

    def __str__(self) -> str:
        text = f"{self.name}: {self.recorded} recorded of {self.computed}"
        return f"{text}, {self.foreign} of them differ" if self.foreign else f"{text}, identical"


def _key(data: bytes) -> int:
    return hash(data)  # equal bytes, equal keys, within this process; 64 bits


def check(source: Path, robot: Robot, progress: Callable[[int], None] = lambda done: None) -> list[Compared]:
    """Channels that were recorded: each recorded message must be one of those computed, in their order.

    A message that the recorder or the relay missed does not count; one that comes from elsewhere does.
    """
    names = {c.name for c in SPEC.writes}
    recorded = {name: array("q") for name in names}
    computed = {name: array("q") for name in names}
    for _, name, data in raw_events(source):
        if name in names:
            recorded[name].append(_key(data))
    if not any(recorded.values()):
        raise LogError(f"{source}: no channel of MIT's in it; was mit_relay running?")
    done = 0
    for size, _, messages in relayed(source, robot):
        done += size
        progress(done)
        for channel, message in messages:
            computed[channel.name].append(_key(message.encode()))
    return [_compare(c.name, recorded[c.name], computed[c.name]) for c in SPEC.writes if recorded[c.name]]


def _compare(name: str, recorded: array[int], computed: array[int]) -> Compared:
    out, at = Compared(name, len(recorded), len(computed)), 0
    for key in recorded:
        try:
            at = computed.index(key, at) + 1
        except ValueError:
            out.foreign += 1
    return out
