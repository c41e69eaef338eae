"""Where in a log the messages to be played lie: arrays, some 25 bytes per message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lcmtypes.channels import (
    ESTOP,
    JOINT_TEST,
    PARAMETER_REQUEST,
    PARAMETER_RESPONSE,
    PROC_HEALTH,
    RESET,
)
from lcmtypes.message import DecodeError
from procs.runtime.eventfile import EventFile

# Said once and then over; every other channel tells a state, whose newest message stays true.
EVENTS = {c.name for c in (ESTOP, RESET, JOINT_TEST, PARAMETER_REQUEST, PARAMETER_RESPONSE)} | {"LCM_SELF_TEST"}


@dataclass(frozen=True)
class Index:
    """The chosen messages in log order."""

    stamp: np.ndarray  # (n,) us since the log's start, never falling
    at: np.ndarray  # (n,) offset of the message in the file
    size: np.ndarray  # (n,) bytes
    channel: np.ndarray  # (n,) index into `channels`
    stream: np.ndarray  # (n,) messages whose newest replaces the others; -1: of no state
    channels: list[str]
    left_out: dict[str, int]  # messages per channel that is not played
    end: int  # us, the log's last stamp

    def __len__(self) -> int:
        return len(self.stamp)


def build(log: EventFile, chosen: Callable[[str], bool], progress: Callable[[int], None]) -> Index:
    """Read a log once."""
    parts: list[tuple[np.ndarray, ...]] = []
    streams: dict[tuple[str, str], int] = {}
    left_out: dict[str, int] = {}
    start, end = None, 0
    for block in log.blocks(progress):
        if start is None:
            start = int(block.stamp[0])
        stamp = np.maximum.accumulate(np.maximum(block.stamp, end or start))
        end = int(stamp[-1])
        keep, stream = np.zeros(len(block), bool), np.full(len(block), -1, np.int32)
        for number, which in block.by_channel():
            name = log.channels[number]
            if not chosen(name):
                left_out[name] = left_out.get(name, 0) + len(which)
                continue
            keep[which] = True
            if name == PROC_HEALTH.name:  # many senders on one channel
                senders = [_sender(block.data[block.at[k] : block.at[k] + block.size[k]]) for k in which.tolist()]
                stream[which] = [streams.setdefault((name, s), len(streams)) for s in senders]
            elif name not in EVENTS:
                stream[which] = streams.setdefault((name, ""), len(streams))
        arrays = (stamp - start, block.base + block.at, block.size.astype(np.int32), block.channel.astype(np.int32))
        parts.append(tuple(a[keep] for a in (*arrays, stream)))
    stamps, ats, sizes, channels, of_streams = (np.concatenate(x) for x in zip(*parts, strict=True))
    return Index(stamps, ats, sizes, channels, of_streams, log.channels, left_out, end - (start or 0))


def _sender(data: bytes) -> str:
    try:
        return str(getattr(PROC_HEALTH.type.decode(data), "name", ""))
    except DecodeError:
        return ""
