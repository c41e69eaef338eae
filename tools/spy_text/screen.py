"""The spy's screen: the list of channels, and one channel opened with its fields and their recent course."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable
from typing import ClassVar

from rich.style import Style
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, Static

from lcmtypes.channels import CHANNELS
from tools.spy_text.fields import Field, History, fields, hex_rows, sparkline
from tools.spy_text.rowlist import PLAIN, Line, RowList
from tools.spy_text.sources import BusSource, SocketSource
from tools.spy_text.table import header, is_bad, line, summary
from tools.spy_text.traffic import Channel, Traffic

LIST_PERIOD = 0.5  # s between two pictures of the list
FIELD_PERIOD = 0.2  # s between two pictures of the fields
SAMPLE_PERIOD = 0.1  # s between two decoded messages of the opened channel, and none of the others
CHECK_PERIOD = 2.0  # s between two trials to decode the newest message of each channel
KEPT = 300  # samples of each field: 30 s
NAME_WIDTH, VALUE_WIDTH, LEAST_SPARK = 26, 36, 10
BAD, QUIET, BRANCH = Style(color="red"), Style(dim=True), Style(color="cyan")
OLD = 2.0  # s of age from which a channel is dim
LIST_KEYS = "enter open   / filter   p pause   c clear   q quit"
FIELD_KEYS = "enter open or close an array   / filter   p pause   esc back   q quit"


class Spy(App[None]):
    """Reads a source and shows it. `clock` is the wall clock, as the time stamps are."""

    CSS = """
    #title { dock: top; height: 1; background: $panel; padding: 0 1; }
    #header { height: 1; text-style: bold; }
    #keys { dock: bottom; height: 1; background: $panel; padding: 0 1; }
    #words { display: none; height: 1; border: none; padding: 0 1; }
    RowList { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", show=False),
        Binding("ctrl+c,ctrl+q", "quit", priority=True, show=False),
        Binding("escape,backspace", "close", show=False),
        Binding("p,space", "pause", show=False),
        Binding("c", "clear", show=False),
        Binding("slash", "filter", show=False),
    ]
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self, source: SocketSource | BusSource, url: str, words: str = "", clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__()
        self.source, self.url, self._clock = source, url, clock
        self.traffic, self._begin = Traffic(), clock()
        self._before = source.lost(), source.dropped
        self.opened: str | None = None  # the channel whose fields are shown
        self.arrays: set[str] = set()  # those shown with their elements
        self.words = {"list": words, "fields": ""}
        self.paused = False
        self._history = History(KEPT)
        self._rows: list[Field] = []
        self._sampled = b""
        self._title_end = ""

    def compose(self) -> ComposeResult:
        """Title, column titles, lines, filter, keys."""
        yield Static(id="title", markup=False)
        yield Static(id="header", markup=False)
        yield RowList(id="rows")
        yield Input(id="words", placeholder="words that name and type must contain; enter")
        yield Static(id="keys", markup=False)

    def on_mount(self) -> None:
        """Begin to read."""
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self.exit)
        self.set_interval(self.source.nap, self.take)
        self.set_interval(SAMPLE_PERIOD, self.sample)
        self.set_interval(LIST_PERIOD, self._draw_list)
        self.set_interval(FIELD_PERIOD, self._draw_fields)
        self.set_interval(CHECK_PERIOD, self.traffic_check)
        self.query_one(RowList).focus()
        self.draw()

    # -- reading ------------------------------------------------------------------------------------------------------

    def take(self) -> None:
        """Count what has come."""
        add = self.traffic.add
        for arrival in self.source.read():
            add(*arrival)

    def traffic_check(self) -> None:
        """Find what cannot be decoded."""
        self.traffic.check()

    def sample(self) -> None:
        """Decode the newest message of the opened channel."""
        channel = self._channel()
        if self.paused or channel is None or channel.newest is self._sampled:
            return
        self._sampled = channel.newest
        message = channel.message()
        if isinstance(message, str):
            self._rows = [Field("error", 0, message), *hex_rows(channel.newest)]
        else:
            self._rows = fields(message, self.arrays)
        self._history.add(self._rows)

    def _channel(self) -> Channel | None:
        return self.traffic.channels.get(self.opened) if self.opened else None

    # -- drawing ------------------------------------------------------------------------------------------------------

    def draw(self) -> None:
        """Now, whatever is shown."""
        at = "fields" if self.opened else "list"
        self.query_one("#keys", Static).update(FIELD_KEYS if self.opened else LIST_KEYS)
        self.query_one("#header", Static).update("" if self.opened else header())
        words = self.words[at]
        self._title_end = (f"   filter: {words}" if words else "") + ("   PAUSED" if self.paused else "")
        self._draw_list(force=True)
        self._draw_fields(force=True)

    def _draw_list(self, force: bool = False) -> None:
        if self.opened or (self.paused and not force):
            return
        now = self._clock()
        rows = self.traffic.rows(now, self.source.exact, self.words["list"])
        lost, dropped = self.source.lost() - self._before[0], self.source.dropped - self._before[1]
        about = summary(rows, max(0, lost - dropped), dropped, now - self._begin)
        self.query_one("#title", Static).update(f"spy   {self.url}   {about}{self._title_end}", layout=False)
        styles = [BAD if is_bad(r) else QUIET if r.age > OLD else PLAIN for r in rows]
        lines = [(line(r), style) for r, style in zip(rows, styles, strict=True)]
        keys = [r.name for r in rows]
        if not rows:
            what = (
                "no channel matches the filter"
                if self.traffic.channels
                else "nothing heard: does the stack run on this URL?"
            )
            keys, lines = [""], [(what, QUIET)]
        self.query_one(RowList).show(keys, lines)

    def _draw_fields(self, force: bool = False) -> None:
        channel = self._channel()
        if channel is None or (self.paused and not force):
            return
        row = channel.row(self._clock(), self.source.exact)
        known = CHANNELS.get(row.name)
        doc = f" ({known.doc})" if known is not None else ""
        about = f"{row.name}{doc}   {row.type}   {row.rate:.1f} Hz   {len(channel.newest)} bytes   {row.total} messages"
        error = f"   {row.errors} errors, last: {channel.error}" if row.errors else ""
        self.query_one("#title", Static).update(f"{about}{error}{self._title_end}", layout=False)
        wanted = self.words["fields"].lower().split()
        rows = [f for f in self._rows if all(w in f.path.lower() for w in wanted)]
        list_ = self.query_one(RowList)
        room = max(LEAST_SPARK, list_.size.width - NAME_WIDTH - VALUE_WIDTH - 4)
        list_.show([f.path for f in rows], [self._field_line(f, room) for f in rows])

    def _field_line(self, row: Field, room: int) -> Line:
        mark = ("- " if row.path in self.arrays else "+ ") if row.array else "  "
        name = ("  " * row.depth + mark + row.path)[:NAME_WIDTH]
        if row.number is None:
            return f"{name:<{NAME_WIDTH}} {row.text}", PLAIN
        value = row.text if len(row.text) <= VALUE_WIDTH else row.text[: VALUE_WIDTH - 1] + "…"
        spark = sparkline(self._history.of(row.path), room)
        return f"{name:<{NAME_WIDTH}} {value:<{VALUE_WIDTH}} {spark}", BRANCH if row.array else PLAIN

    # -- keys ---------------------------------------------------------------------------------------------------------

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        """Open a channel, or open and close an array."""
        if self.opened is None:
            self._show_channel(event.key)
        elif any(row.path == event.key and row.array for row in self._rows):
            self.arrays ^= {event.key}
            message = channel.message() if (channel := self._channel()) is not None else ""
            if not isinstance(message, str):
                self._rows = fields(message, self.arrays)
            self.draw()

    def _show_channel(self, name: str | None) -> None:
        self.opened, self.words["fields"], self._sampled, self._rows = name, "", b"", []
        self.arrays.clear()
        self._history.clear()
        paused, self.paused = self.paused, False
        self.sample()
        self.paused = paused
        self.query_one(RowList).cursor = 0
        self.draw()

    def action_close(self) -> None:
        """Close the filter, else the channel."""
        if self.query_one("#words").display:
            self._end_filter()
        elif self.opened is not None:
            was = self.opened
            self._show_channel(None)
            self.query_one(RowList).select(was)

    def action_pause(self) -> None:
        """Freeze the picture; what comes is counted all the same."""
        self.paused = not self.paused
        self.draw()

    def action_clear(self) -> None:
        """Count from zero."""
        self.traffic, self._begin = Traffic(), self._clock()
        self._before = self.source.lost(), self.source.dropped
        self.draw()

    def action_filter(self) -> None:
        """Ask for words."""
        words = self.query_one("#words", Input)
        words.value = self.words["fields" if self.opened else "list"]
        words.display = True
        words.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter while typing."""
        if self.query_one("#words").display:
            self.words["fields" if self.opened else "list"] = event.value
            self.draw()

    def on_input_submitted(self, _event: Input.Submitted) -> None:
        """Keep the words."""
        self._end_filter()

    def _end_filter(self) -> None:
        self.query_one("#words").display = False
        self.query_one(RowList).focus()
