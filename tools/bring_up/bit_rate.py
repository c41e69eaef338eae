"""Step `bit-rate` (not one frame sent): whether host and drives speak at one bit rate, bus by bus.

At a wrong rate nothing can be read: silence, and error frames whenever somebody speaks. Where the host can set its rate
the others are tried; a socketcan interface's rate is shown as it is set, and the commands that change it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from config.bus import CanLine
from procs.bridge.can_bus import Link
from tools.bring_up.bench import Bench
from tools.bring_up.interface import Interface, read_interface, show
from tools.bring_up.nodes import TALKATIVE
from tools.bring_up.session import Record, Verdict

RATES = (1_000_000, 500_000, 250_000, 125_000)  # what drives can be set to; GIM6010 leave the factory at 500 000
SETTLE = 0.01  # s
NOISE = 0.01  # of the frames: more error frames are no chance hit
SET = "ip link set {0} down; ip link set {0} up type can bitrate {1} listen-only on restart-ms 100"


@dataclass(frozen=True)
class Heard:
    """Frames and error frames of one bus."""

    frames: int
    errors: int

    @property
    def good(self) -> bool:
        """Somebody speaks, and is understood."""
        return self.frames > 0 and self.errors <= NOISE * self.frames

    @property
    def garbled(self) -> bool:
        """Somebody speaks, and nothing can be read."""
        return self.frames == 0 and self.errors > 0


def bit_rate(bench: Bench, seconds: float, show_: Callable[[str], str] = show) -> Iterator[Record]:
    """A record for each bus."""
    can = bench.bus.can
    if can is None:
        yield Record("bit-rate", "boards", Verdict.UNHEARD, "drives sit behind SPIne boards: their CAN is the boards'")
        return
    heard = _hear(bench, seconds)
    for line, place in enumerate(can.buses):
        interface = read_interface(show_(place.channel)) if place.interface == "socketcan" else None
        yield _judge(bench, line, place, heard[line], interface, seconds)


def _hear(bench: Bench, seconds: float) -> list[Heard]:
    bench.pause(SETTLE)  # what waits may be of another rate
    before, frames = [link.errors for link in bench.links], [0] * len(bench.links)
    for _, line, _ in bench.hear(seconds):
        frames[line] += 1
    return [Heard(n, link.errors - e) for n, link, e in zip(frames, bench.links, before, strict=True)]


def _judge(
    bench: Bench, line: int, place: CanLine, heard: Heard, interface: Interface | None, seconds: float
) -> Record:
    rate = interface.bitrate if interface is not None else place.bitrate
    data = {"bus": place.channel, "rate": rate, "described": place.bitrate, "frames": heard.frames,
            "errors": heard.errors, "tried": []}  # fmt: skip
    note = _note(place, interface)

    def record(verdict: Verdict, words: str) -> Record:
        return Record("bit-rate", place.channel, verdict, words + note, data)

    if rate != place.bitrate:
        words = f"the interface runs at {rate} bit/s, described {place.bitrate}"
        return record(Verdict.BIT_RATE, f"{words}: {SET.format(place.channel, place.bitrate)}")
    if heard.garbled:
        return _search(bench, line, rate, seconds, record, data)
    if heard.good:
        return record(Verdict.OK, f"{heard.frames} frames at {rate} bit/s, {heard.errors} errors")
    if heard.frames:
        words = f"{heard.errors} error frames among {heard.frames} good ones at {rate} bit/s"
        return record(Verdict.ERROR, f"{words}: termination, cable, or one node at another rate")
    assert bench.bus.can is not None
    if bench.bus.can.protocol in TALKATIVE:
        return record(Verdict.MISSING, f"silence at {rate} bit/s, not even errors: power, cable, or nothing is there")
    words = f"silence at {rate} bit/s, which proves nothing: such drives speak only when asked"
    return record(Verdict.UNHEARD, f"{words}; at a wrong rate roll-call ends in error frames and bus-off")


def _search(
    bench: Bench, line: int, rate: int, seconds: float, record: Callable[[Verdict, str], Record], data: dict
) -> Record:
    """Other rates, where they can be set from here."""
    link: Link = bench.links[line]
    words = f"only error frames ({data['errors']}) at {rate} bit/s: wrong bit rate"
    found = None
    try:
        for other in (r for r in RATES if r != rate):
            if not link.retune(other):
                tries = " or ".join(str(r) for r in RATES if r != rate)
                return record(Verdict.BIT_RATE, f"{words}; try {tries}: {SET.format(link.name, 'RATE')}")
            heard = _hear(bench, seconds)[line]
            data["tried"].append([other, heard.frames, heard.errors])
            if heard.good:
                found = other
                break
    finally:
        link.retune(rate)
    if found is None:
        return record(Verdict.ERROR, f"{words}, and none of {', '.join(map(str, RATES))} is right: shorted cable?")
    data["found"] = found
    return record(Verdict.BIT_RATE, f"{words}; drives speak at {found}: set them or bus.can.buses.{line}.bitrate")


def _note(place: CanLine, interface: Interface | None) -> str:
    """What the interface's settings have to say besides."""
    if interface is None:
        return ""
    notes = []
    if interface.state not in ("", "ERROR-ACTIVE"):
        notes.append(f"the interface is {interface.state}")
    if not interface.listen_only:
        notes.append("it is not listen-only, so it acknowledges, and at a wrong rate disturbs the others")
    if not interface.restart_ms:
        notes.append("no restart-ms: after a bus-off it stays off")
    return f" ({'; '.join(notes)})" if notes else ""
