"""Live parameters of one process: requests checked, answered with the value in force, gains ramped.

Pure: a request is an input like any other, so a log with it replays bit for bit. A new run begins with what the
description says; who wants a value for longer saves an overlay and starts with it.
"""

from __future__ import annotations

import math

from config.live import live_parameters, with_values
from config.schema import RobotDescription
from lcmtypes.generated import ParameterRequest, ParameterResponse
from procs.model.robot import Robot

SHOWN = 60  # characters of an unknown name that are repeated


class LiveParameters:
    """What of the description `process` lets be changed, and the description with what is in force."""

    def __init__(self, robot: Robot, process: str) -> None:
        self._process, self._dt = process, robot.dt
        self._original = robot.description
        self._table = {n: p for n, p in live_parameters(robot.description).items() if p.process == process}
        self.reset()

    def reset(self) -> None:
        """A new run."""
        self.description: RobotDescription = self._original
        self._goal = {name: p.value for name, p in self._table.items()}
        self._now = dict(self._goal)
        self._speed: dict[str, float] = {}  # what still moves, per s
        self._key: tuple[str, int, int, int] | None = None
        self._first = True

    def update(self, request: ParameterRequest | None, run: int) -> tuple[ParameterResponse | None, bool]:
        """One tick of `run`: the answer to a new request, and whether `description` is another one now."""
        response = None if request is None else self._answer(request, run)
        self._first = False
        return response, self._move()

    def _answer(self, request: ParameterRequest, run: int) -> ParameterResponse | None:
        key = (request.source, request.run, request.seq, request.utime)
        left_over = self._first and request.run != run  # from an earlier run
        known, self._key = key == self._key or left_over, key
        if known or request.process != self._process:
            return None
        response = ParameterResponse()
        response.process, response.name, response.request = self._process, request.name, request.seq
        response.reason = self._set(request) if request.set else self._unknown(request.name)
        response.ok = int(not response.reason)
        response.value = self._goal.get(request.name, 0.0)
        return response

    def _unknown(self, name: str) -> str:
        return "" if name in self._table else f"{name[:SHOWN]!r} is not marked live in the description"

    def _set(self, request: ParameterRequest) -> str:
        """Why not; empty: done."""
        parameter, value = self._table.get(request.name), request.value
        if parameter is None:
            return self._unknown(request.name)
        if not math.isfinite(value) or not parameter.minimum <= value <= parameter.maximum:
            return f"{value:g} is not within {parameter.minimum:g} to {parameter.maximum:g}"
        self._goal[request.name] = value
        # A ramp of no time is one of a single tick.
        self._speed[request.name] = abs(value - self._now[request.name]) / max(parameter.ramp, self._dt)
        return ""

    def _move(self) -> bool:
        if not self._speed:
            return False
        for name, speed in list(self._speed.items()):
            left = self._goal[name] - self._now[name]
            step = speed * self._dt
            if abs(left) <= step * (1 + 1e-9):
                self._now[name] = self._goal[name]
                del self._speed[name]
            else:
                self._now[name] += math.copysign(step, left)
        self.description = with_values(self._original, self._now)
        return True
