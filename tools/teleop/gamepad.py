"""Gamepad: events of the Linux gamepad API in, held fractions and actions out. The map is data; no device here.

Speeds count only while the enable button is held (and it must be pressed anew after the device was lost): a pad that
lies on its stick drives nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from tools.teleop.keymap import ESTOP, Action

# linux/input-event-codes.h; the same numbers as in evdev.ecodes, which need not be installed here.
EV_SYN, EV_KEY, EV_ABS, SYN_DROPPED = 0, 1, 3, 3
ABS_X, ABS_Y, ABS_Z, ABS_RX, ABS_RY, ABS_RZ, ABS_HAT0X, ABS_HAT0Y = 0, 1, 2, 3, 4, 5, 16, 17
BTN_SOUTH, BTN_EAST, BTN_NORTH, BTN_WEST, BTN_TL, BTN_TR = 304, 305, 307, 308, 310, 311
BTN_SELECT, BTN_START, BTN_THUMBR = 314, 315, 318

DEAD_ZONE = 0.12  # of the stick's way: worn sticks rest as far from their middle
EXPO = 0.6  # 0: linear; 1: cubic, fine around the middle


class Axis(NamedTuple):
    """A stick's axis that is held: which speed, and the sign (evdev: right and down are positive)."""

    speed: str
    sign: float


@dataclass(frozen=True)
class Layout:
    """What a pad's axes and buttons do. NORTH and WEST are exchanged on some pads: nothing that matters is on them."""

    sticks: dict[int, Axis]
    hats: dict[tuple[int, int], Action]  # (axis, direction) -> action when it is pressed
    buttons: dict[int, Action]
    enable: int = BTN_TL


_HATS = {
    (ABS_HAT0Y, -1): Action("change", "height", 1),
    (ABS_HAT0Y, 1): Action("change", "height", -1),
    (ABS_HAT0X, -1): Action("change_level", "", -1),
    (ABS_HAT0X, 1): Action("change_level", "", 1),
}
_BUTTONS = {
    BTN_EAST: ESTOP,
    BTN_SOUTH: Action("request", "stand"),
    BTN_START: Action("request", "walk"),
    BTN_SELECT: Action("request", "down"),
    BTN_NORTH: Action("next_gait", "", 1),
    BTN_WEST: Action("next_gait", "", -1),
    BTN_TR: Action("reset"),
    BTN_THUMBR: Action("level_out"),
}
_LEFT = {ABS_Y: Axis("vx", -1.0), ABS_X: Axis("vy", -1.0)}

LAYOUTS: tuple[Layout, ...] = (  # the first whose sticks the device has
    Layout({**_LEFT, ABS_RX: Axis("yaw_rate", -1.0)}, _HATS, _BUTTONS),
    Layout({**_LEFT, ABS_Z: Axis("yaw_rate", -1.0)}, _HATS, _BUTTONS),  # older drivers: right stick on Z, RZ
)

GUIDE: tuple[tuple[str, str], ...] = (
    ("B, circle", "E-STOP"),
    ("hold L1", "enable: sticks count only while it is held"),
    ("left stick", "forward, sideways"),
    ("right stick", "turn"),
    ("Start, A (cross), Back", "walk, stand, down"),
    ("X, Y", "gait before, next"),
    ("cross up, down", "body higher, lower"),
    ("cross left, right", "slower, faster"),
    ("R1", "reset (twice, unless the robot lies in damping)"),
    ("right stick pressed", "level, nominal height"),
)


class Event(NamedTuple):
    """An input event: type, code, value as the kernel gives them (evdev.InputEvent has these too)."""

    type: int
    code: int
    value: int


class EventLike(Protocol):
    """What is read of an event."""

    @property
    def type(self) -> int: ...
    @property
    def code(self) -> int: ...
    @property
    def value(self) -> int: ...


def shaped(value: float, dead_zone: float = DEAD_ZONE, expo: float = EXPO) -> float:
    """A stick's position -1..1 as a fraction: zero in the dead zone, continuous at its edge, fine in the middle."""
    size = min(max(abs(value) - dead_zone, 0.0) / (1.0 - dead_zone), 1.0)
    size = (1.0 - expo) * size + expo * size**3
    return size if value > 0 else -size


@dataclass
class Pad:
    """The state of one pad. `ranges`: axis code -> (lowest, highest) raw value."""

    layout: Layout
    ranges: dict[int, tuple[int, int]]
    enabled: bool = False
    position: dict[int, float] = field(default_factory=dict)  # axis -> -1..1

    def feed(self, events: Iterable[EventLike]) -> list[Action]:
        """Take events; the actions of what was pressed."""
        actions = []
        for event in events:
            if event.type == EV_SYN and event.code == SYN_DROPPED:
                self.enabled = False  # events were lost, perhaps the release: enable must be pressed anew
            elif event.type == EV_KEY and event.code == self.layout.enable:
                self.enabled = event.value != 0
            elif event.type == EV_KEY and event.value == 1 and event.code in self.layout.buttons:
                actions.append(self.layout.buttons[event.code])
            elif event.type == EV_ABS and event.code in self.layout.sticks:
                self.position[event.code] = self._normal(event.code, event.value)
            elif event.type == EV_ABS:
                action = self.layout.hats.get((event.code, event.value))
                actions += [action] if action else []
        return actions

    def fractions(self) -> dict[str, float]:
        """Speed -> fraction -1..1; nothing while the enable button is not held."""
        if not self.enabled:
            return {}
        sticks = self.layout.sticks.items()
        held = {axis.speed: axis.sign * shaped(self.position.get(code, 0.0)) for code, axis in sticks}
        return {speed: fraction for speed, fraction in held.items() if fraction}

    def _normal(self, code: int, raw: int) -> float:
        low, high = self.ranges[code]
        return min(max(2.0 * (raw - low) / (high - low) - 1.0, -1.0), 1.0)


class Gamepad(Protocol):
    """A source of a pad's events that may come and go."""

    problem: str  # why it is not connected

    @property
    def connected(self) -> bool:
        """A pad is there."""

    def poll(self, t: float) -> list[Action]:
        """Read what there is at t, without waiting; the actions of what was pressed."""

    def fractions(self) -> dict[str, float]:
        """What is held."""
