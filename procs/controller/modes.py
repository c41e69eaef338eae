"""The state machine of modes, as data. The commanded mode is a held target; the machine walks the chain to it."""

from __future__ import annotations

from collections import deque

# From each mode the modes that can follow it. `damping` is where faults lead, `estop` where the button leads.
EDGES: dict[str, tuple[str, ...]] = {
    "idle": ("ready",),
    "ready": ("down", "stand", "recover", "joint_test", "shutdown"),
    "down": ("stand", "shutdown"),
    "stand": ("down", "walk", "shutdown"),
    "walk": ("stand",),
    "recover": ("stand",),
    "joint_test": ("ready", "shutdown"),
    "shutdown": ("idle",),
    "damping": ("ready",),
    "estop": (),
}
TARGETS = tuple(mode for mode in EDGES if mode not in ("damping", "estop"))
# Modes in which the legs carry the robot: tilt and bad states count as a fall here.
CARRYING = ("stand", "walk")
MOVING = ("down", "stand", "walk", "recover")


def path(start: str, target: str) -> list[str]:
    """Shortest chain of modes after `start` up to `target`; empty if there is none or it is reached."""
    queue, came = deque([start]), {start: start}
    while queue:
        mode = queue.popleft()
        if mode == target:
            chain = []
            while mode != start:
                chain.append(mode)
                mode = came[mode]
            return chain[::-1]
        for following in EDGES[mode]:
            if following not in came:
                came[following] = mode
                queue.append(following)
    return []


class ModeMachine:
    """Holds the mode and the target; transitions end when the behaviour of the mode says so."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """A new run: idle, nothing asked."""
        self.mode, self.target = "idle", "idle"
        self.busy = False
        self.reason = ""
        self.since = 0  # ticks in this mode
        self._asked = ""
        self._stale = False  # after damping: the old target does not count, only a new request does

    def ask(self, target: str) -> None:
        """A commanded mode, given again and again while it is held; what cannot be is refused once, with the reason."""
        if target == self._asked or not target:
            return
        self._asked = target
        self._stale = False
        if target not in TARGETS:
            self.reason = f"{target!r} is not a mode; there are {', '.join(TARGETS)}"
        elif target != self.mode and not path(self.mode, target):
            self.reason = f"no way from {self.mode} to {target}"
        elif self.busy and self.mode == "shutdown":
            self.reason = "busy shutting down"
        else:
            self.target, self.reason = target, ""

    def forget_request(self) -> None:
        """The next request counts even if it is the one already held."""
        self._asked = ""

    def next(self) -> str:
        """The mode to enter now on the way to the target, or the present one."""
        if self._stale or (self.busy and self.target != "shutdown"):
            return self.mode
        chain = path(self.mode, self.target)
        return chain[0] if chain else self.mode

    def enter(self, mode: str, busy: bool) -> None:
        """Go to a mode; busy until `done`."""
        self.mode, self.busy, self.since = mode, busy, 0

    def done(self) -> None:
        """The transition into the mode is complete."""
        self.busy = False

    def refuse(self, reason: str) -> None:
        """The target's guard fails: stay, say why, drop the target."""
        self.target, self.reason = self.mode, reason

    def force(self, mode: str, reason: str) -> None:
        """Damping or estop: what was asked for no longer counts."""
        self.enter(mode, busy=False)
        self.target, self.reason = mode, reason
        self._stale = True

    def allowed(self) -> list[str]:
        """Targets that would be accepted now."""
        return [m for m in TARGETS if m != self.mode and path(self.mode, m)]
