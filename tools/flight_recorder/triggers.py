"""What counts as something going wrong: estop, damping or a fall out of a driven mode, a plant in damping, a fault on
the robot's buses, a process that died or fell silent. Pure: messages and a time in, a reason out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from lcmtypes.channels import BUS_STATUS, CHANNELS, ESTOP, MODE_STATE, PROC_HEALTH
from lcmtypes.message import DecodeError
from procs.controller.modes import DRIVEN, FORCED
from tools.flight_recorder.ring import Block
from tools.processes import UP
from tools.up.supervisor import SILENT

LASTING = 0.5  # s; a single bad answer of a motor is predicted and forgotten
TROUBLE = ("damping", "latched", "lost")  # states of a plant that does not obey the controller


class Triggers:
    """Remembers what it saw; `look` says why the recorder must save now, empty if it need not."""

    def __init__(self) -> None:
        self.stopping = False  # `up` is ending the run: what follows is no fault
        self._mode = ""
        self._estop: tuple[str, int, int] | None = None
        self._states: dict[str, str] = {}  # process -> state it reported last
        self._heard: dict[str, float] = {}
        self._death = ""
        self._bus = ""
        self._faults: dict[tuple[int, str], float] = {}  # motor and its fault: since when, s
        self._told: set[tuple[int, str]] = set()
        self._watched: dict[str, Callable[[Any, float], str]] = {
            ESTOP.name: self._on_estop,  # the first reason names the file: the nearest to the cause comes first
            BUS_STATUS.name: self._on_bus,
            PROC_HEALTH.name: self._on_health,
        }

    def look(self, block: Block) -> str:
        """Reasons found in the newest messages, and in who is silent."""
        newest = dict(zip(block.names, block.datas, strict=True))
        reasons = []
        for name, judge in self._watched.items():
            if name in newest:
                reasons += [judge(m, block.now) for m in _decoded(name, block)]
        if MODE_STATE.name in newest:  # at 500 Hz the newest is enough: no mode lasts less than a block
            reasons += [self._on_mode(m) for m in _decode(MODE_STATE.name, newest[MODE_STATE.name])]
        for name, heard in list(self._heard.items()):
            if block.now - heard > SILENT:
                del self._heard[name]
                reasons.append(f"{name} is silent")
        found = [r for r in reasons if r]
        return "" if self.stopping else "; ".join(dict.fromkeys(found))

    def _on_mode(self, message: Any) -> str:
        before, self._mode = self._mode, message.mode
        if message.mode in FORCED and before in DRIVEN:
            return message.reason if message.reason.startswith(("fall", "estop")) else f"damping: {message.reason}"
        return ""

    def _on_estop(self, message: Any, _now: float) -> str:
        key = (message.source, message.seq, message.utime)
        before, self._estop = self._estop, key
        if key == before:
            return ""
        ours = message.source.split(":", 1)[0] == UP  # says which process was lost
        return message.reason if ours else f"estop by {message.source}: {message.reason}"

    def _on_health(self, message: Any, now: float) -> str:
        name, state = message.name, message.state
        before = self._states.get(name)
        self._states[name] = state
        if state in ("starting", "stopping"):
            self._heard.pop(name, None)
        else:
            self._heard[name] = now
        if name == UP:
            self.stopping = state == "stopping"
            death, self._death = self._death, message.last_error
            return message.last_error if message.last_error != death else ""
        if state in TROUBLE and before == "running":
            return f"{name} {state}: {message.last_error}"
        return ""

    def _on_bus(self, message: Any, now: float) -> str:
        before, self._bus = self._bus, message.state
        faults = {(k, text) for k, text in enumerate(message.fault) if text}
        self._faults = {fault: self._faults.get(fault, now) for fault in faults}
        lasting = {fault for fault, since in self._faults.items() if now - since >= LASTING}
        new, self._told = lasting - self._told, lasting
        if message.state == "fault" and before != "fault":
            return f"bus fault: {message.reason}"
        return f"motor fault: {', '.join(f'{k} {text}' for k, text in sorted(new))}" if new else ""


def _decoded(name: str, block: Block) -> Iterator[Any]:
    """All messages of a channel."""
    for other, data in zip(block.names, block.datas, strict=True):
        if other == name:
            yield from _decode(name, data)


def _decode(name: str, data: bytes) -> Iterator[Any]:
    try:
        yield CHANNELS[name].type.decode(data)
    except DecodeError:  # a foreign message is no fault of the robot
        return
