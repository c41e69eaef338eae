"""The summary of a log as plain values for --json."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tools.inspect.show import notes
from tools.inspect.summary import Stream, Summary
from tools.inspect.watch import CONFIG, MODES


def as_values(s: Summary) -> dict[str, Any]:
    """Times in s since the first event; fingerprints in hex."""

    def t(stamp: int) -> float:
        return (stamp - s.first) / 1e6

    def stream(x: Stream) -> dict[str, Any]:
        return {
            "channel": x.channel, "type": x.known.name if x.known else None, "native": x.native,
            "fingerprint": None if x.fingerprint is None else f"{x.fingerprint:016x}",
            "messages": x.count, "bytes": x.bytes, "rate_hz": x.rate, "first_s": t(x.first), "last_s": t(x.last),
            "longest_gap_s": x.gap / 1e6, "longest_gap_at_s": t(x.gap_at) if x.gap else None, "undecoded": x.undecoded,
            "runs": {
                str(run): {k: getattr(q, k) for k in ("first", "last", "count", "lost", "late", "resent", "holes")}
                for run, q in x.losses.items()
            },
        }  # fmt: skip

    return {
        "log": str(s.path), "bytes": s.size, "events": s.events, "duration_s": t(s.last), "first_stamp_us": s.first,
        "stamps_going_back": s.back,
        "robots": [{"t": t(x.begin), **dict(zip(CONFIG, x.value, strict=True))} for x in s.configs.spans],
        "runs": [{**asdict(r), "begin": t(r.begin), "end": t(r.end)} for r in s.runs],
        "channels": [stream(x) for x in s.streams],
        "modes": [{"t0": t(x.begin), "t1": t(x.end), **dict(zip(MODES, x.value, strict=True))} for x in s.modes.spans],
        "notes": [{**asdict(n), "first": t(n.first), "last": t(n.last)} for n in notes(s)],
        "processes": s.health,
        "damages": [asdict(d) for d in s.damages], "damage_count": s.damage_count, "bytes_skipped": s.skipped,
    }  # fmt: skip
