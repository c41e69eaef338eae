"""Who is obeyed when several operators send motion_command: the fresh source of the highest priority.

A source is dropped when it says nothing new for `command_timeout`. One that was overruled while it asked for speed
must first ask for none before its speeds count: when the keyboard dies the robot stops, whatever the script below it
goes on asking. Ages are counted in ticks of the pipeline: operators' clocks may differ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from lcmtypes.generated import MotionCommand
from procs.model.robot import Robot

MOST = 16  # operators remembered

Key = tuple[int, int, int]


@dataclass
class Source:
    """One operator."""

    name: str
    key: Key
    command: MotionCommand
    age: float  # s since it last said something new; inf: left over from an earlier run
    priority: int
    overruled: bool = False  # asked for speed while another was obeyed, and has not asked for none since


class Operators:
    """Keeps the newest command of each source and chooses one."""

    def __init__(self, robot: Robot) -> None:
        control = robot.description.control
        self._priorities, self._timeout, self._dt = control.sources, control.limits.command_timeout, robot.dt
        self.reset()

    def reset(self) -> None:
        """A new run."""
        self._sources: dict[str, Source] = {}
        self._first = True
        self.chosen: Source | None = None

    @property
    def age(self) -> float:
        """s since the one who is obeyed said something new; inf if there is none."""
        return math.inf if self.chosen is None else self.chosen.age

    @property
    def fresh(self) -> bool:
        """Someone is obeyed, and has not fallen silent."""
        return self.age <= self._timeout

    def update(self, command: MotionCommand | None, run: int) -> Source | None:
        """One tick of the plant's `run` with the newest motion_command there is; its source if it is a new message."""
        for source in self._sources.values():
            source.age += self._dt
        new = None if command is None or not command.finite() else self._take(command, run)
        self._first = False
        self._choose(new)
        return new

    def _take(self, command: MotionCommand, run: int) -> Source | None:
        key = (command.run, command.seq, command.utime)
        source = self._sources.get(command.source)
        if source is not None and source.key == key:
            return None
        if self._first and command.run != run:  # held from an earlier run: nobody knows how old it is
            self._remember(command, key, math.inf)
            return None
        if source is None or source.age > self._timeout:  # also one that comes back: it begins anew
            return self._remember(command, key, 0.0)
        source.key, source.command, source.age = key, command, 0.0
        return source

    def _remember(self, command: MotionCommand, key: Key, age: float) -> Source:
        name = command.source
        if name not in self._sources and len(self._sources) >= MOST:
            oldest = max((s for s in self._sources.values() if s is not self.chosen), key=lambda s: s.age)
            del self._sources[oldest.name]
        source = Source(name, key, command, age, self._priorities.get(name.split(":", 1)[0], 0))
        self._sources[name] = source
        if self.chosen is not None and self.chosen.name == name:
            self.chosen = source
        return source

    def _choose(self, new: Source | None) -> None:
        fresh = [s for s in self._sources.values() if s.age <= self._timeout]
        if fresh:  # of equals the one that is obeyed already, else the newest
            self.chosen = max(fresh, key=lambda s: (s.priority, s is self.chosen, -s.age))
        if new is not None:
            moves = any((new.command.vx, new.command.vy, new.command.yaw_rate))
            new.overruled = moves and (new.overruled or new is not self.chosen)
