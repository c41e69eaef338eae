"""Runs steps by name: words of the command line in, records out, each kept in the session at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from procs.bridge.plant import bus_of
from tools.bring_up.ask import Asker, UnansweredError
from tools.bring_up.bench import Bench
from tools.bring_up.bit_rate import bit_rate
from tools.bring_up.gate import GROUND, gate
from tools.bring_up.listen import LISTEN, listen, roll_call
from tools.bring_up.quantum import quantum
from tools.bring_up.report import report
from tools.bring_up.session import Record, Session, Verdict
from tools.bring_up.silence import silence
from tools.bring_up.step import TRAVEL, step
from tools.bring_up.wiring import corrected
from tools.bring_up.zero import zero

OF_JOINTS = ("step", "quantum", "silence")  # followed by joints, legs, or all
STEPS = ("bit-rate", "listen", "roll-call", "step", "zero", "quantum", "silence", "report", *GROUND)
Job = tuple[str, tuple[str, ...]]


class UsageError(ValueError):
    """Words that are no steps."""


def jobs(words: Sequence[str], joints: Sequence[str]) -> list[Job]:
    """`listen step FR.hip FR.knee report` as steps with their joints; a leg's name means its joints."""
    out: list[tuple[str, list[str]]] = []
    for word in words:
        if word in STEPS:
            out.append((word, []))
            continue
        meant = [j for j in joints if word in (j, j.split(".")[0], "all")]
        if not meant or not out or out[-1][0] not in OF_JOINTS:
            after = " after step, quantum or silence" if meant else ""
            raise UsageError(f"{word!r}: want {', '.join(STEPS)}; joints, legs or `all`{after}")
        out[-1][1].extend(meant)
    for name, targets in out:
        if name in OF_JOINTS and not targets:
            raise UsageError(f"{name}: of which joint? {', '.join(joints)}, a leg, or all")
    return [(name, tuple(targets)) for name, targets in out]


class Runner:
    """Steps on a bench."""

    def __init__(
        self, bench: Bench, session: Session, asker: Asker, folder: Path, show: Callable[[Record], None],
        *, travel: float = TRAVEL, hold: float = 0.5, seconds: float = LISTEN, pose: str | None = None,
    ) -> None:  # fmt: skip
        self.bench, self.session, self.asker, self.folder, self.show = bench, session, asker, folder, show
        self.travel, self.hold, self.seconds, self.pose = travel, hold, seconds, pose

    def run(self, job: Job) -> list[Record]:
        """One step; what was not finished when it is interrupted is recorded as such."""
        name, targets = job
        out = []
        current = targets[0] if targets else "all"
        self.bench.wire(corrected(self.bench.robot, self.session))
        try:
            for record in self._records(name, targets):
                current = record.target
                if not record.at:
                    self.session.add(record)
                self.show(record)
                out.append(record)
        except UnansweredError as error:
            out.append(self.session.add(Record(name, current, Verdict.REFUSED, f"nobody answered: {error}")))
            self.show(out[-1])
        except BaseException as error:
            self.session.add(Record(name, current, Verdict.INTERRUPTED, type(error).__name__))
            raise
        finally:
            self.bench.off()
        return out

    def _records(self, name: str, targets: Sequence[str]) -> Iterator[Record]:
        bench, asker = self.bench, self.asker
        if name == "bit-rate":
            yield from bit_rate(bench, self.seconds)
        elif name == "listen":
            yield from listen(bench, self.seconds)
        elif name == "roll-call":
            yield from roll_call(bench, asker)
        elif name == "zero":
            yield from zero(bench, asker, self.session, self.pose)
        elif name == "report":
            yield report(bench.robot, self.session, asker, self.folder)
        elif name in GROUND:
            yield gate(bench.robot, self.session, asker, name)
        else:
            yield from self._joints(name, targets)

    def _joints(self, name: str, targets: Sequence[str]) -> Iterator[Record]:
        for target in targets:
            self.bench.wire(corrected(self.bench.robot, self.session))  # what the last joint taught counts at once
            called = self.session.latest("roll-call", target)
            if called and called[-1].verdict is Verdict.DUPLICATE:
                yield Record(name, target, Verdict.REFUSED, f"both would move: {called[-1].words}")
                continue
            try:
                if name == "step":
                    yield step(self.bench, self.asker, target, self.travel, self.hold)
                else:
                    yield {"quantum": quantum, "silence": silence}[name](self.bench, self.asker, target)
            except UnansweredError as error:
                yield Record(name, target, Verdict.REFUSED, f"nobody answered: {error}")


def protocol_of(bench: Bench) -> str:
    """For the headline."""
    bus = bus_of(bench.robot)
    return f"SPIne {bus.spine.variant}" if bus.spine is not None else bus.can.protocol if bus.can is not None else "-"
