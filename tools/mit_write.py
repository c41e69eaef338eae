"""A log of ours tick by tick through the core of mit_relay."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lcmtypes.message import DecodeError
from procs.mit_relay.relay import SPEC
from procs.model.robot import Robot
from procs.runtime.engine import Engine, Sent
from procs.runtime.logs import raw_events
from procs.runtime.spec import Inputs

WINDOW = 16  # ticks within which the recorder may have mixed up the order
EVENT_HEADER = 28  # bytes in the file before an event's channel name


def relayed(source: Path, robot: Robot) -> Iterator[tuple[int, int, Sent]]:
    """Bytes of the log read since the last, stamp us of the tick's joint_command, MIT's messages of each tick."""
    channels = {c.name: c for c in SPEC.channels}
    engine = Engine(SPEC, robot)
    ticks: dict[tuple[int, int], tuple[Inputs, list[int]]] = {}
    read = 0

    def oldest() -> tuple[int, Sent]:
        run = next(iter(ticks))[0]
        inputs, stamps = ticks.pop(min(key for key in ticks if key[0] == run))
        if SPEC.trigger not in inputs:
            return 0, []
        return stamps[0], engine.step({c: inputs.get(c) for c in SPEC.channels})

    for stamp, name, data in raw_events(source):
        read += EVENT_HEADER + len(name) + len(data)
        channel = channels.get(name)
        if channel is None:
            continue
        try:
            message = channel.type.decode(data)
        except DecodeError:
            continue
        inputs, stamps = ticks.setdefault((message.run, message.seq), ({}, []))
        inputs.setdefault(channel, message)
        if channel is SPEC.trigger:
            stamps.append(stamp)
        if len(ticks) > WINDOW:
            yield read, *oldest()
            read = 0
    while ticks:
        yield read, *oldest()
        read = 0
