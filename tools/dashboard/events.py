"""Events: what the messages say that a person should read, once each. Pure: messages and times in, lines out."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lcmtypes.channels import (
    BODY_STATE,
    BUS_STATUS,
    ESTOP,
    IMU,
    JOINT_COMMAND,
    JOINT_STATE,
    LEG_COMMAND,
    MODE_STATE,
    PROC_HEALTH,
    RESET,
    ROBOT_CONFIG,
    Channel,
)

LEVELS = ("info", "warning", "error")
KEPT = 500  # events
FOLD = 5.0  # s within which the same line is counted instead of repeated
FORCED = ("damping", "estop")
FAULTS = {1: ("warning", "sample rejected and predicted"), 2: ("error", "faulty for too long")}
NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")
COUNTERS = ("missed", "decode_errors", "not_finite", "refused")  # of proc_health: events when they grow
BUS_COUNTERS = ("checksum_errors", "stale", "intruders")


@dataclass
class Event:
    """One line of the console."""

    t: float  # s, wall clock
    level: str
    source: str
    text: str
    times: int = 1
    key: str = ""  # what is counted together


class EventLog:
    """The last events. The same again within a short time is counted, so that nothing floods the console."""

    def __init__(self) -> None:
        self.events: deque[Event] = deque(maxlen=KEPT)
        self.changes = 0  # grows with every change: who draws compares it

    def add(self, t: float, level: str, source: str, text: str, key: str = "") -> None:
        """One line; lines of one key (default: the text but for its numbers) are one, the newest."""
        self.changes += 1
        key = key or NUMBER.sub("#", text)
        for event in reversed(self.events):
            if t - event.t > FOLD:
                break
            if (event.level, event.source, event.key) == (level, source, key):
                event.times += 1
                event.t, event.text = t, text
                self.events.remove(event)
                self.events.append(event)
                return
        self.events.append(Event(t, level, source, text, key=key))

    def chosen(self, level: str, text: str, most: int) -> list[Event]:
        """The newest `most` events of at least this level that contain the text, newest first."""
        least, wanted = LEVELS.index(level), text.lower()
        found = [e for e in self.events if LEVELS.index(e.level) >= least and wanted in f"{e.source} {e.text}".lower()]
        return found[-most:][::-1]


class EventFinder:
    """Compares each message with what was said before and adds a line for what is new."""

    def __init__(self, log: EventLog, joint_names: tuple[str, ...] = ()) -> None:
        self.log, self._joints = log, joint_names
        self._said: dict[tuple[str, ...], Any] = {}
        self._t = 0.0
        self._finders: dict[Channel, Callable[[Any], None]] = {
            MODE_STATE: self._mode,
            ESTOP: lambda m: self._add("error", m.source or "operator", f"ESTOP pressed: {m.reason}"),
            RESET: lambda m: self._add("info", m.source or "operator", f"reset: {m.reason}"),
            PROC_HEALTH: self._health,
            BUS_STATUS: self._bus,
            JOINT_STATE: self._joint_state,
            IMU: lambda m: self._said_if_bad("imu", "valid", bool(m.valid), m.status),
            BODY_STATE: lambda m: self._said_if_bad("estimator", "valid", bool(m.valid), m.reason),
            JOINT_COMMAND: lambda m: self._reason("packer", m.reason, "warning"),
            LEG_COMMAND: lambda m: self._reason("controller", m.reason, "warning", "leg command: "),
            ROBOT_CONFIG: self._config,
        }  # fmt: skip

    def take(self, channel: Channel, message: Any, t: float) -> None:
        """Look at one message heard at wall clock t, s."""
        finder = self._finders.get(channel)
        if finder is not None:
            self._t = t
            finder(message)

    def note(self, t: float, level: str, source: str, text: str) -> None:
        """Something the dashboard itself has to say."""
        self.log.add(t, level, source, text)

    def _add(self, level: str, source: str, text: str, key: str = "") -> None:
        self.log.add(self._t, level, source, text, key)

    def _new(self, value: Any, *key: str) -> tuple[bool, Any]:
        """Whether a value is another than before, and what it was (None at first)."""
        before = self._said.get(key)
        self._said[key] = value
        return before != value, before

    def _mode(self, m: Any) -> None:
        changed, before = self._new(m.mode, "mode")
        if changed:
            text = m.mode if before is None else f"{before} → {m.mode}"
            forced = m.mode in FORCED
            self._add("error" if forced else "info", "mode", f"{text}: {m.reason}" if forced and m.reason else text)
        changed_target, _ = self._new(m.target, "target")
        if changed_target and m.target not in (m.mode, ""):
            self._add("info", "mode", f"asked for {m.target}")
        changed_reason, _ = self._new(m.reason, "reason")
        if changed_reason and m.reason and not (changed and m.mode in FORCED):
            self._add("warning", "mode", m.reason)
        changed_source, before = self._new(m.source, "source")
        if changed_source and (m.source or before):
            self._add("info", "control", f"{m.source} is obeyed" if m.source else f"nobody is obeyed (was {before})")
        changed_run, before = self._new(m.run, "run")
        if changed_run and before is not None:
            self._add("info", "plant", "a new run begins")

    def _health(self, m: Any) -> None:
        new, before = self._new(m.instance, m.name, "instance")
        if new:
            self._add("info" if before is None else "warning", m.name, "started" if before is None else "started again")
            for counter in COUNTERS:
                self._said[m.name, counter] = getattr(m, counter)
        changed, before = self._new(m.state, m.name, "state")
        if changed and before is not None:
            self._add("warning" if m.state == "lost" else "info", m.name, m.state)
        changed, _ = self._new(m.last_error, m.name, "error")
        if changed and m.last_error:
            self._add("warning", m.name, m.last_error, "last error")
        self._grown(m, m.name, COUNTERS)

    def _grown(self, m: Any, name: str, counters: tuple[str, ...]) -> None:
        for counter in counters:
            value = getattr(m, counter)
            changed, before = self._new(value, name, counter)
            if changed and before is not None and value > before:
                self._add("warning", name, f"{counter.replace('_', ' ')}: {value - before} more ({value})", counter)

    def _bus(self, m: Any) -> None:
        changed, before = self._new(m.state, "bus", "state")
        if changed:
            self._add("info", "bus", m.state)
        changed, _ = self._new(m.reason, "bus", "reason")
        if changed and m.reason:
            self._add("warning", "bus", m.reason)
        self._grown(m, "bus", BUS_COUNTERS)
        for i, fault in enumerate(m.fault):
            changed, before = self._new(fault, "motor", str(i))
            if changed and (fault or before):
                self._add("error" if fault else "info", self._joint(i), f"motor: {fault or 'no fault any more'}")

    def _joint_state(self, m: Any) -> None:
        self._said_if_bad("joints", "status", not m.status, m.status)
        for i, fault in enumerate(m.fault):
            changed, before = self._new(int(fault), "joint", str(i))
            if changed and (fault or before):
                level, text = FAULTS.get(int(fault), ("info", "good samples again"))
                self._add(level, self._joint(i), text)

    def _said_if_bad(self, source: str, what: str, good: bool, why: str) -> None:
        changed, before = self._new((good, why if not good else ""), source, what)
        if changed and not good:
            self._add("warning", source, why or f"not {what}")
        elif changed and before is not None:
            self._add("info", source, f"{what} again" if what == "valid" else "well again")

    def _reason(self, source: str, reason: str, level: str, prefix: str = "") -> None:
        changed, _ = self._new(reason, source, prefix, "reason")
        if changed and reason:
            self._add(level, source, prefix + reason)

    def _config(self, m: Any) -> None:
        changed, before = self._new(m.hash, "config")
        if changed:
            self._add(
                "info" if before is None else "warning", "robot", f"{m.robot}, description {m.hash[:8]}, {m.revision}"
            )

    def _joint(self, i: int) -> str:
        return self._joints[i] if i < len(self._joints) else f"joint {i}"
