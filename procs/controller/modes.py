"""The state machine of modes, as data. The commanded mode is a held target; the machine walks the chain to it."""

from __future__ import annotations

from collections import deque
from functools import cache

# From each mode the modes that can follow it. `damping` is where faults lead, `estop` where the button leads.
EDGES: dict[str, tuple[str, ...]] = {
    "idle": ("ready",),
    "ready": ("down", "stand", "recover", "joint_test", "shutdown"),
    "down": ("stand", "shutdown"),
    "stand": ("down", "walk", "shutdown"),
    "walk": ("stand",),
    "recover": ("stand", "shutdown"),
    "joint_test": ("ready", "shutdown"),
    "shutdown": ("idle",),
    "damping": ("ready",),
    "estop": (),
}
FORCED = ("damping", "estop")  # entered by faults and by the button, never on request
TARGETS = tuple(mode for mode in EDGES if mode not in FORCED)
# Modes in which a tilted body is a fall.
UPRIGHT = ("down", "stand", "walk")
# Modes in which joints are driven: there they must keep within their limits, and inputs must be fresh.
DRIVEN = ("down", "stand", "walk", "recover", "joint_test", "shutdown")
SHOWN = 40  # characters of an unknown name that are repeated


def path(start: str, target: str) -> list[str]:
    """Shortest chain of modes after `start` up to `target`, not passing through a shutdown nobody asked for.

    Empty if there is none or it is reached.
    """
    return list(_path(start, target))


@cache
def _path(start: str, target: str) -> tuple[str, ...]:
    """`path`, found once for each pair."""
    queue, came = deque([start]), {start: start}
    while queue:
        mode = queue.popleft()
        if mode == target:
            chain = []
            while mode != start:
                chain.append(mode)
                mode = came[mode]
            return tuple(chain[::-1])
        for following in EDGES[mode]:
            if following not in came and (mode != "shutdown" or mode == start):
                came[following] = mode
                queue.append(following)
    return ()


class ModeMachine:
    """Holds the mode and the target; transitions end when the behaviour of the mode says so."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """A new run: idle, nothing asked."""
        self.mode, self.target = "idle", "idle"
        self.busy = False
        self.reason = ""  # why the last request was refused or the mode forced
        self.cause = ""  # why the mode was forced last
        self.since = 0  # ticks in this mode

    def ask(self, target: str) -> None:
        """A new request. What cannot be is refused with the reason and changes nothing."""
        if target not in TARGETS:
            self.reason = f"{target[:SHOWN]!r} is not a mode; there are {', '.join(TARGETS)}"
        elif self.busy and self.mode == "shutdown":
            self.reason = "busy shutting down"
        elif target != self.mode and not path(self.mode, target):
            self.reason = f"no way from {self.mode} to {target}"
        else:
            self.target, self.reason = target, ""

    def next(self) -> str:
        """The mode to enter now on the way to the target, or the present one."""
        if self.busy and (self.target != "shutdown" or self.mode in ("walk", "shutdown")):
            return self.mode
        chain = path(self.mode, self.target)
        return chain[0] if chain else self.mode

    def enter(self, mode: str, busy: bool) -> None:
        """Go to a mode; busy until `done`."""
        self.mode, self.busy, self.since = mode, busy, 0

    def done(self) -> None:
        """The transition is complete."""
        self.busy = False

    def refuse(self, reason: str) -> None:
        """A guard on the way to the target fails: stay, say why, drop the target."""
        self.target, self.reason = self.mode, reason

    def force(self, mode: str, reason: str) -> None:
        """Damping or estop: what was asked for no longer counts, only a new request leads on."""
        self.enter(mode, busy=False)
        self.target, self.reason, self.cause = mode, reason, reason

    def allowed(self) -> list[str]:
        """Targets that would be accepted now."""
        return [m for m in TARGETS if m != self.mode and path(self.mode, m)]
