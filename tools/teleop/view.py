"""RobotView: what the robot says of itself, with its age. Keeps the newest bytes and decodes when it is looked at."""

from __future__ import annotations

import math
from typing import Any

from config.load import ConfigError, parse_robot
from config.schema import RobotDescription
from lcmtypes.channels import BODY_STATE, MODE_STATE, PROC_HEALTH, ROBOT_CONFIG, Channel
from lcmtypes.generated import BodyState, ModeState, ProcHealth, RobotConfig
from lcmtypes.message import DecodeError
from procs.runtime.bus import Bus

OLD = 0.5  # s of age beyond which nothing of a channel is believed
SHOWN = 5.0  # s for which an error of a process is shown


class RobotView:
    """Newest mode_state and body_state, the robot's description, new errors of processes."""

    def __init__(self, bus: Bus) -> None:
        self._newest: dict[Channel, bytes] = {}
        self._seen: dict[Channel, tuple[bytes, float]] = {}  # bytes and when they came, s
        self._read: dict[Channel, tuple[bytes, Any]] = {}  # what was decoded last
        self._errors: dict[str, tuple[str, float]] = {}  # process -> last error and when it was new
        self._now = 0.0
        self.description: RobotDescription | None = None
        self.complaint = ""  # about the description on the bus
        self._hash: str | None = None
        bus.subscribe_newest((MODE_STATE, BODY_STATE), self._newest)
        bus.subscribe((ROBOT_CONFIG, PROC_HEALTH), self._on_message)

    def look(self, t: float) -> None:
        """Note what has come until t; to be called after the bus was drained."""
        self._now = t
        for channel, data in self._newest.items():
            if channel not in self._seen or self._seen[channel][0] is not data:
                self._seen[channel] = (data, t)

    def age(self, channel: Channel) -> float:
        """s since the newest message; inf if there was none."""
        return self._now - self._seen[channel][1] if channel in self._seen else math.inf

    @property
    def mode(self) -> ModeState | None:
        """The controller's state; None if there is none or it is old."""
        return self._fresh(MODE_STATE)

    @property
    def body(self) -> BodyState | None:
        """The estimate; None if there is none or it is old."""
        return self._fresh(BODY_STATE)

    def speeds(self) -> tuple[float, float, float] | None:
        """Measured forward, sideways (m/s, heading frame) and yaw rate (rad/s)."""
        body = self.body
        if body is None:
            return None
        (vx, vy), yaw = body.v_world[:2], float(body.rpy[2])
        c, s = math.cos(yaw), math.sin(yaw)
        return float(c * vx + s * vy), float(c * vy - s * vx), float(body.omega_world[2])

    def warnings(self) -> list[str]:
        """What the operator should know, the gravest first."""
        out = []
        for channel, what in ((MODE_STATE, "controller"), (BODY_STATE, "estimator")):
            age = self.age(channel)
            if age > OLD:
                out.append(f"no {what} ({channel.name} " + ("never seen)" if age == math.inf else f"{age:.0f} s old)"))
        body = self.body
        if body is not None and not body.valid:
            out.append(f"estimate not valid: {body.reason}")
        if self.complaint:
            out.append(self.complaint)
        out += [f"{name}: {text}" for name, (text, at) in self._errors.items() if self._now - at < SHOWN]
        return out

    def _fresh(self, channel: Channel) -> Any:
        if self.age(channel) > OLD:
            return None
        data = self._seen[channel][0]
        if channel not in self._read or self._read[channel][0] is not data:
            try:
                self._read[channel] = data, channel.type.decode(data)
            except DecodeError:  # of another revision
                self._read[channel] = data, None
                self.complaint = f"{channel.name} cannot be read: is the robot of the same revision?"
        return self._read[channel][1]

    def _on_message(self, channel: Channel, message: RobotConfig | ProcHealth) -> None:
        if isinstance(message, RobotConfig):
            self._take(message)
        elif message.last_error and self._errors.get(message.name, ("", 0))[0] != message.last_error:
            self._errors[message.name] = message.last_error, self._now

    def _take(self, config: RobotConfig) -> None:
        if config.hash == self._hash:
            return
        self._hash = config.hash
        try:
            self.description = parse_robot(config.yaml, where=f"robot_config of {config.robot}")
            self.complaint = ""
        except ConfigError as error:
            self.complaint = str(error).splitlines()[0]
