"""What every page is given, and what it must do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from procs.model.robot import Robot
from procs.runtime.bus import Bus
from tools.dashboard.commands import Commands
from tools.dashboard.events import EventLog
from tools.dashboard.heartbeat import PATIENCE
from tools.dashboard.state import State
from tools.operator import Operator

if TYPE_CHECKING:  # pages can be tested where viser is not installed
    import viser

    from tools.dashboard.scene import Scene


@dataclass(frozen=True)
class Context:
    """The parts of a running dashboard."""

    server: viser.ViserServer
    url: str
    robot: Robot
    state: State
    events: EventLog
    scene: Scene
    commands: Commands
    bus: Bus
    operator: Operator  # of the pages, for the loop's thread alone; commands have their own
    note: Callable[[str, str], None]  # level, text: a line of the dashboard's own in the console
    patience: float = PATIENCE  # s a browser may be silent


class Page(Protocol):
    """Built once inside its tab; updated some ten times a second while a browser looks."""

    def update(self, now: float) -> None:
        """Show the present state; only what changed is sent."""


@dataclass(frozen=True)
class PageSpec:
    """A line of the table of pages."""

    title: str
    build: Callable[[Context], Page]
    column: str = "right"  # right: a tab of the main panel; left: a panel of its own, one below the other
    every: int = 3  # looks between updates


def set_changed(handle: Any, **values: Any) -> None:
    """Assign only what differs: every assignment is a message to each browser."""
    for name, value in values.items():
        if getattr(handle, name) != value:
            setattr(handle, name, value)
