"""EvdevGamepad: finds a gamepad among the kernel's input devices, reads it, and waits for it when it is unplugged."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from tools.teleop.gamepad import EV_ABS, EV_KEY, LAYOUTS, Pad
from tools.teleop.keymap import Action

SEARCH = 1.0  # s between two looks for a device
INPUTS = "/dev/input"
INSTALL = "gamepads need the package evdev: .venv/bin/python -m pip install evdev (or evdev-binary: no compiler needed)"


class GamepadError(RuntimeError):
    """No gamepad can be used at all; the text says what to do."""


def load_evdev() -> Any:
    """The package; GamepadError with how to install it."""
    try:
        import evdev  # type: ignore[import-not-found,unused-ignore] # noqa: PLC0415 - an extra
    except ImportError as error:
        raise GamepadError(f"{INSTALL} [{error}]") from error
    return evdev


class EvdevGamepad:
    """One pad: the device given, or the first that has two sticks and the enable button.

    Unplugged it is not connected, everything held is forgotten, and it is looked for again every second.
    """

    def __init__(self, device: str = "", evdev: Any = None) -> None:
        """`device`: a path such as /dev/input/event5, or part of a name; GamepadError if evdev is missing."""
        self._evdev = evdev if evdev is not None else load_evdev()
        self._wanted = device
        self._input: Any = None
        self._pad: Pad | None = None
        self._next = 0.0
        self.name = ""
        self.problem = "not looked for yet"

    @property
    def connected(self) -> bool:
        """A pad is there."""
        return self._pad is not None

    def poll(self, t: float) -> list[Action]:
        """Read what there is, without waiting; look for a pad if there is none."""
        if self._pad is None and t >= self._next:
            self._next = t + SEARCH
            self._find()
        if self._pad is None:
            return []
        try:
            return self._pad.feed(list(self._input.read()))
        except BlockingIOError:
            return []
        except OSError as error:  # ENODEV: unplugged
            self.close()
            self.problem = f"{self.name} is unplugged ({error.strerror or error}); plug it in again"
            return []

    def fractions(self) -> dict[str, float]:
        """What is held."""
        return self._pad.fractions() if self._pad is not None else {}

    def close(self) -> None:
        """Let go of the device."""
        if self._input is not None:
            with contextlib.suppress(OSError):
                self._input.close()
        self._input = self._pad = None

    def _find(self) -> None:
        refused = []
        is_path = self._wanted.startswith("/")
        paths = [self._wanted] if is_path else sorted(map(str, self._evdev.list_devices()))
        for path in paths:
            try:
                found = self._evdev.InputDevice(path)
            except OSError as error:
                refused.append(f"{path}: {error.strerror or error}")
                continue
            if (is_path or self._wanted.lower() in found.name.lower()) and self._open(found):
                return
            refused += [f"{path} ({found.name}): no pad with two sticks and L1"] if is_path else []
            found.close()
        if self.name:
            return  # unplugged, as was said
        self.problem = "; ".join(refused) or self._nothing()

    def _open(self, found: Any) -> bool:
        can = found.capabilities(absinfo=True)
        axes, keys = dict(can.get(EV_ABS, ())), set(can.get(EV_KEY, ()))
        for layout in LAYOUTS:
            if layout.enable in keys and all(
                code in axes and axes[code].max > axes[code].min for code in layout.sticks
            ):
                ranges = {code: (axes[code].min, axes[code].max) for code in layout.sticks}
                self._input, self._pad, self.name = found, Pad(layout, ranges), found.name
                return True
        return False

    def _nothing(self) -> str:
        if not Path(INPUTS).exists():
            return f"there is no {INPUTS}: no input devices here"
        named = f" whose name has {self._wanted!r}" if self._wanted else ""
        return f"none found in {INPUTS}{named} (readable for this user? group `input`)"
