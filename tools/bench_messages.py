"""Costs of one message of each channel: encode, decode, finiteness check, publish over UDP."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from lcmtypes.channels import PIPELINE
from procs.runtime.bus import Bus
from tools.launch import private_url
from tools.recording import Recording

ROUNDS = 5


def best_us(call: Callable[[], object], repeats: int) -> float:
    """Best mean over a few rounds, us per call."""
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        for _ in range(repeats):
            call()
        best = min(best, (time.perf_counter() - begin) / repeats)
    return 1e6 * best


def bench_messages(recording: Recording, repeats: int = 2000) -> dict[str, dict[str, Any]]:
    """Per channel of the pipeline: bytes and us of each operation."""
    bus = Bus(private_url())
    out: dict[str, dict[str, Any]] = {}
    for channel in PIPELINE:
        message = recording.of(channel)[-1]
        data = message.encode()
        decode = channel.type.decode
        out[channel.name] = {
            "bytes": len(data),
            "encode": best_us(message.encode, repeats),
            "decode": best_us(lambda d=data, f=decode: f(d), repeats),  # type: ignore[misc]
            "finite": best_us(message.finite, repeats),
            "publish": best_us(lambda c=channel, m=message: bus.publish(c, m), repeats),  # type: ignore[misc]
        }
    return out
