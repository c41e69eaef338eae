"""Replay runner: steps one process from a log with exactly the inputs it used, and compares what comes out."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np

from config.load import parse_robot
from lcmtypes.channels import PROC_HEALTH, ROBOT_CONFIG, Channel
from lcmtypes.message import Message
from procs.model.robot import Robot
from procs.runtime.engine import Engine
from procs.runtime.logs import LogError, read_log
from procs.runtime.spec import Inputs, ProcessSpec

LATE_START = 2.0  # s after which a replay that missed the first step compares, with a tolerance
TOLERANCE = 1e-9


@dataclass
class Difference:
    """One field that differs."""

    channel: str
    run: int
    seq: int
    field: str
    index: tuple[int, ...]
    recorded: object
    replayed: object

    def __str__(self) -> str:
        where = self.field + "".join(f"[{i}]" for i in self.index)
        return f"{self.channel} seq {self.seq}: {where} recorded {self.recorded!r}, replayed {self.replayed!r}"


@dataclass
class ReplayResult:
    """What a replay found."""

    process: str
    steps: int = 0
    messages: int = 0
    compared: int = 0
    different: int = 0
    unfed: int = 0  # steps whose inputs are not in the log
    tolerance: float = 0.0  # within which was compared; 0: bit for bit
    first: Difference | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def exact(self) -> bool:
        """Every step could be fed, every compared message was equal (within the tolerance), and there were some."""
        return self.different == self.unfed == 0 and self.compared > 0


class LogIndex:
    """Messages of a process's channels by (run, seq), and operators' messages by place in the log."""

    def __init__(self, path: Path, spec: ProcessSpec) -> None:
        held = {r.channel for r in spec.reads if r.kind == "latest"}
        wanted = {*spec.channels, *spec.writes, ROBOT_CONFIG, PROC_HEALTH}
        self.ticks: dict[Channel, dict[tuple[int, int], Any]] = {c: {} for c in wanted}
        self.held: dict[Channel, tuple[list[int], list[Any]]] = {c: ([], []) for c in held}
        self.steps: list[tuple[int, Message]] = []  # place in the log and the message that ends each recorded step
        self.restarts: deque[int] = deque()  # places in the log from which on another instance of the process answers
        self.config: Any = None
        announced: dict[int, int] = {}  # instance -> place of its first word
        alive: set[int] = set()
        last = spec.writes[-1]
        for place, event in enumerate(read_log(path, wanted)):
            channel, message = event.channel, cast(Any, event.message)
            if channel is ROBOT_CONFIG:
                self.config = self.config or message
            elif channel is PROC_HEALTH:
                if message.name != spec.name:
                    continue
                announced.setdefault(message.instance, place)
                if message.state != "starting" and message.instance not in alive:  # not one that was refused
                    if alive:
                        self.restarts.append(announced[message.instance])
                    alive.add(message.instance)
            elif channel in self.held:
                self.held[channel][0].append(place)
                self.held[channel][1].append(message)
            else:
                known = self.ticks[channel].setdefault((message.run, message.seq), message)
                if known is message and channel is last:
                    self.steps.append((place, message))

    def operator(self, channel: Channel, seq: int, place: int) -> Any:
        """The newest message of an operator before `place` with this counter, or else the first after it.

        LCM may have delivered to the recorder in another order than to the process.
        """
        places, messages = self.held[channel]
        at = bisect_left(places, place)
        return next(
            (messages[k] for k in (*range(at - 1, -1, -1), *range(at, len(places))) if messages[k].seq == seq), None
        )


def recorded_inputs(index: LogIndex, spec: ProcessSpec, place: int, output: Message) -> tuple[Inputs | None, str]:
    """The inputs named by `used` of a recorded output; None and what is missing if the log lacks one."""
    trigger = index.ticks[spec.trigger].get((output.run, output.seq))
    if trigger is None:
        return None, f"{spec.trigger.name} seq {output.seq}"
    inputs: Inputs = {spec.trigger: trigger}
    if len(output.used) != len(spec.reads):
        raise LogError(
            f"the log's {spec.name} used {len(output.used)} inputs, today's reads {len(spec.reads)}: it was recorded "
            "with another revision (tools.inspect says which); replay it with that one"
        )
    for read, seq in zip(spec.reads, output.used, strict=True):
        found = None
        if seq >= 0 and read.kind == "latest":
            found = index.operator(read.channel, seq, place)
        elif seq >= 0:
            found = index.ticks[read.channel].get((output.run, seq))
        if seq >= 0 and found is None:
            return None, f"{read.channel.name} seq {seq}"
        inputs[read.channel] = found
    return inputs, ""


def compare(channel: Channel, recorded: Message, replayed: Message, tolerance: float) -> Difference | None:
    """The first field that differs by more than the tolerance (0: bit for bit)."""
    if recorded.encode() == replayed.encode():
        return None
    for name in recorded.FIELDS:
        a, b = getattr(recorded, name), getattr(replayed, name)
        for place, x, y in _pairs(a, b):
            if isinstance(x, float) and isinstance(y, float):
                same = (
                    x == y and np.signbit(x) == np.signbit(y)
                    if tolerance == 0
                    else abs(x - y) <= tolerance * max(1, abs(x))
                )
            else:
                same = x == y
            if not same:
                return Difference(channel.name, recorded.run, recorded.seq, name, place, x, y)
    return None


def _pairs(a: Any, b: Any) -> Iterator[tuple[tuple[int, ...], object, object]]:
    if isinstance(a, np.ndarray):
        if a.shape != b.shape:
            yield (), a.shape, b.shape
            return
        for place in np.ndindex(a.shape):
            yield place, a[place].item(), b[place].item()
    elif isinstance(a, list):
        yield (), len(a), len(b)
        for k, (x, y) in enumerate(zip(a, b, strict=False)):
            yield (k,), x, y
    else:
        yield (), a, b


def replay(path: Path, spec: ProcessSpec, robot: Robot | None = None) -> ReplayResult:
    """Step `spec` from the log; the robot is the log's own unless one is given."""
    index = LogIndex(path, spec)
    result = ReplayResult(spec.name)
    if robot is None:
        if index.config is None:
            raise LogError(f"{path}: no robot_config in the log; give the robot with --robot")
        robot = Robot(parse_robot(index.config.yaml, where=f"{path.name} robot_config"))
        result.notes.append(f"recorded with revision {index.config.revision} on {index.config.cpu}")
    if not index.steps:
        raise LogError(f"{path}: no {spec.writes[-1].name} in the log, nothing to replay")
    engine = Engine(spec, robot)
    run, tolerance, warm = None, 0.0, 0
    for place, output in index.steps:
        if index.restarts and place > index.restarts[0]:
            index.restarts.popleft()
            engine = Engine(spec, robot)
            run, tolerance, warm = output.run, 0.0, 0  # its first step is here: bit for bit from there on
            result.notes.append(f"the process was started again before step {output.seq}")
        inputs, lacking = recorded_inputs(index, spec, place, output)
        if inputs is None:
            result.notes.append(f"step {output.seq} cannot be fed: {lacking} is not in the log")
            result.unfed += 1
            continue
        if output.run != run:
            run = output.run
            late = output.seq > 0
            tolerance, warm = (TOLERANCE, output.seq + round(LATE_START / robot.dt)) if late else (0.0, 0)
            result.tolerance = max(result.tolerance, tolerance)
            if late:
                result.notes.append(
                    f"the first step in the log is {output.seq}: compared after {LATE_START:g} s "
                    f"within {TOLERANCE:g}, not bit for bit"
                )
        result.steps += 1
        for channel, message in engine.step(inputs):
            result.messages += 1
            recorded = index.ticks[channel].get((message.run, message.seq))
            if output.seq < warm or recorded is None:
                continue
            result.compared += 1
            difference = compare(channel, recorded, message, tolerance)
            if difference is not None:
                result.different += 1
                result.first = result.first or difference
    return result
