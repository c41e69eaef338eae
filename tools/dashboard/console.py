"""Page Console: warnings and events of all processes, by level and text."""

from __future__ import annotations

import time

from tools.dashboard import style
from tools.dashboard.events import LEVELS, Event
from tools.dashboard.page import Context, set_changed

SHOWN = 80  # lines


class Console:
    """Newest line on top."""

    def __init__(self, context: Context) -> None:
        self._events = context.events
        gui = context.server.gui
        self._level = gui.add_dropdown("level", LEVELS, initial_value="info")
        self._text = gui.add_text("filter", "")
        self._html = gui.add_html("")
        self._drawn: tuple[int, str, str] | None = None

    def update(self, _now: float) -> None:
        """Draw again when there is a new line or another filter."""
        key = (self._events.changes, self._level.value, self._text.value)
        if key != self._drawn:
            self._drawn = key
            lines = "".join(map(line, self._events.chosen(self._level.value, self._text.value, SHOWN)))
            empty = style.dim("nothing yet" if not self._events.events else "nothing passes the filter")
            set_changed(self._html, content=f'<div class="d-log">{lines or empty}</div>')


def line(event: Event) -> str:
    """One event: time, who, what."""
    clock = time.strftime("%H:%M:%S", time.localtime(event.t)) + f".{int(event.t % 1 * 10)}"
    times = style.dim(f" ×{event.times}") if event.times > 1 else ""
    text = style.coloured(event.text, event.level) if event.level != "info" else style.safe(event.text)
    return f"<div>{style.dim(clock)} {style.dim(event.source)} {text}{times}</div>"
