"""RowList: a long list of lines with a cursor, of which only the visible ones are drawn. Cheap to update often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

PLAIN, CURSOR = Style(), Style(reverse=True)

Line = tuple[str, Style]


class RowList(ScrollView, can_focus=True):
    """Lines; the cursor keeps to its key when lines come and go."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "move(-1000000)", show=False),
        Binding("end", "move(1000000)", show=False),
        Binding("enter", "choose", show=False),
    ]

    class Chosen(Message):
        """Enter was pressed on a line."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, **options: str) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self._keys: Sequence[str] = ()
        self._lines: Sequence[Line] = ()
        self.cursor = 0

    def show(self, keys: Sequence[str], lines: Sequence[Line]) -> None:
        """Replace all lines."""
        here = self.key
        self._keys, self._lines = keys, lines
        if here in keys:
            self.cursor = keys.index(here)
        self.cursor = max(0, min(self.cursor, len(keys) - 1))
        size = Size(max((len(text) for text, _ in lines), default=0), len(lines))
        if size != self.virtual_size:
            self.virtual_size = size
        self.refresh()

    @property
    def key(self) -> str:
        """Key of the line under the cursor; empty if there is none."""
        return self._keys[self.cursor] if self.cursor < len(self._keys) else ""

    def select(self, key: str) -> None:
        """Put the cursor on a line, if it is there."""
        if key in self._keys:
            self.cursor = 0
            self.action_move(self._keys.index(key))

    def action_move(self, step: int) -> None:
        """Up or down."""
        self.cursor = max(0, min(self.cursor + step, len(self._keys) - 1))
        self.scroll_to_region(Region(self.scroll_offset.x, self.cursor, 1, 1), animate=False)
        self.refresh()

    def action_page(self, step: int) -> None:
        """A page up or down."""
        self.action_move(step * max(1, self.size.height - 1))

    def action_choose(self) -> None:
        """Enter."""
        if self.key:
            self.post_message(self.Chosen(self.key))

    def render_line(self, y: int) -> Strip:
        """One visible line."""
        x, top = self.scroll_offset
        width, at = self.size.width, y + top
        if at >= len(self._lines):
            return Strip.blank(width)
        text, style = self._lines[at]
        style += CURSOR if at == self.cursor and self.has_focus else PLAIN
        return Strip([Segment(text.ljust(x + width), style)]).crop(x, x + width)
