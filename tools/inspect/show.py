"""The summary of a log in the terminal."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lcmtypes.channels import CHANNELS, MODE_STATE
from tools.inspect.spans import Span
from tools.inspect.summary import Stream, Summary
from tools.inspect.watch import WATCHED

COLOURS = {
    "idle": "grey50", "ready": "cyan", "down": "blue", "stand": "green", "walk": "bright_magenta", "estop": "red",
    "joint_test": "yellow", "recover": "orange3", "damping": "orange3", "shutdown": "grey50",
}  # fmt: skip
KINDS = {"estop": "red", "fault": "red", "error": "red", "disabled": "yellow", "limited": "yellow", "mode": "yellow"}
BAR = 72  # characters of the mode bar at the most
SELF_TEST = "LCM_SELF_TEST"  # sent by the LCM library when a process opens UDP
SHOWN = 30  # rows of a list; --json has all


@dataclass
class Note:
    """Something that was said, maybe several times."""

    kind: str
    where: str
    text: str
    first: int  # us
    last: int
    times: int = 0
    messages: int = 0


def notes(summary: Summary) -> list[Note]:
    """What watched channels said; equal texts of a channel together, numbers aside."""
    found: dict[tuple[str, str, str], Note] = {}
    for (channel, sender), spans in summary.watched.items():
        watched = WATCHED[channel]
        for span in spans.spans:
            text = watched.say(*span.value)
            if not text:
                continue
            key = (channel, sender, re.sub(r"\d+", "0", text))
            note = found.setdefault(key, Note(watched.kind, f"{channel} {sender}".strip(), text, span.begin, span.end))
            note.last = max(note.last, span.end)
            note.times += 1
            note.messages += span.count
    return sorted(found.values(), key=lambda n: n.first)


def mode_bar(spans: list[Span], begin: int, end: int, width: int = BAR) -> Text:
    """The modes over the log's time as coloured cells; the mode that holds longest in a cell counts."""
    bar = Text()
    cell = max(end - begin, 1) / width
    for k in range(width):
        a, b = begin + k * cell, begin + (k + 1) * cell
        times: dict[str, float] = {}
        for i, span in enumerate(spans):
            until = spans[i + 1].begin if i + 1 < len(spans) else span.end
            shared = min(b, until) - max(a, span.begin)
            if shared > 0:
                times[span.value[0]] = times.get(span.value[0], 0) + shared
        mode = max(times, key=lambda m: times[m]) if times else ""
        bar.append("█" if mode else "·", style=COLOURS.get(mode, "white" if mode else "dim"))
    return bar


def print_summary(console: Console, summary: Summary) -> None:
    """All of it, for a person."""
    _head(console, summary)
    _channels(console, summary)
    _modes(console, summary)
    _notes(console, summary)
    _health(console, summary)
    _damage(console, summary)


def _seconds(summary: Summary, stamp: int) -> str:
    return f"{(stamp - summary.first) / 1e6:.3f}"


def _head(console: Console, s: Summary) -> None:
    began = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(s.first / 1e6)) if s.first > 1e15 else "no wall clock"
    table = Table.grid(padding=(0, 2))
    table.add_row("log", f"{s.path}: {s.size / 1e6:.1f} MB, {s.events} events")
    table.add_row("time", f"{(s.last - s.first) / 1e6:.3f} s from {began}")
    for span in s.configs.spans[:5]:
        robot, digest, revision, cpu = span.value
        table.add_row("robot", f"{robot}, description {digest[:12]}, revision {revision}, CPU {cpu}")
    for run in s.runs[:SHOWN]:
        what = f"ticks {run.first_seq}-{run.last_seq}, {(run.last_utime - run.first_utime) / 1e6:.3f} s"
        table.add_row("run", f"{run.run} from {_seconds(s, run.begin)} s: {what}")
    if s.back:
        table.add_row("stamps", f"{s.back} go back in time")
    console.print(table)


def _losses(stream: Stream) -> tuple[str, str, str]:
    if not stream.losses:
        return "-", "-", "-"
    lost, late, resent = (sum(getattr(x, k) for x in stream.losses.values()) for k in ("lost", "late", "resent"))
    return (f"[red]{lost}[/]" if lost else "0"), str(late), str(resent)


def _type(stream: Stream) -> str:
    if stream.native:
        return ""
    if stream.channel == SELF_TEST:
        return "LCM's own test of the network"
    if stream.channel in CHANNELS:
        ours = CHANNELS[stream.channel].type.TYPE
        return f"[yellow]{stream.type_name}[/], not this revision's {ours}"
    return stream.type_name + (" (MIT)" if stream.known and not stream.known.native else "")


def _channels(console: Console, s: Summary) -> None:
    table = Table(title="channels", title_justify="left")
    foreign = any(not x.native for x in s.streams)
    for name in ("channel", "messages", "MB", "Hz", "longest gap, s", "at, s", "lost", "late", "re-sent"):
        table.add_column(name, justify="left" if name == "channel" else "right")
    if foreign:
        table.add_column("type, where it is not ours")
    for x in s.streams[: 4 * SHOWN]:
        gap = (f"{x.gap / 1e6:.3f}", _seconds(s, x.gap_at)) if x.gap else ("-", "-")
        rate = f"{x.rate:.1f}" if x.rate else "-"
        row = (x.channel, str(x.count), f"{x.bytes / 1e6:.2f}", rate, *gap, *_losses(x))
        table.add_row(*row, *((_type(x),) if foreign else ()))
    console.print(table)
    for x in s.streams:
        if x.undecoded:
            console.print(f"[red]{x.channel}: {x.undecoded} messages cannot be decoded[/]: {x.error}")
        for run, losses in x.losses.items():
            if losses.holes:
                holes = ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in losses.holes[:8])
                more = f" and {len(losses.holes) - 8} more" if len(losses.holes) > 8 else ""
                console.print(f"[red]lost[/] {x.channel}, run {run}: ticks {holes}{more}", highlight=False)
            entry = next((r for r in s.runs if r.run == run), None)
            if entry and (losses.first > entry.first_seq + 1 or losses.last < entry.last_seq - 1):
                console.print(
                    f"[yellow]{x.channel}[/], run {run}: only ticks {losses.first}-{losses.last} "
                    f"of {entry.first_seq}-{entry.last_seq}",
                    highlight=False,
                )  # fmt: skip


def _modes(console: Console, s: Summary) -> None:
    spans = s.modes.spans
    if not spans:
        if any(x.channel == MODE_STATE.name for x in s.streams):
            console.print("no modes: mode_state is not this revision's type")
        return
    console.print()
    console.print(Text("modes  ").append(mode_bar(spans, s.first, s.last)))
    table = Table.grid(padding=(0, 2))
    for span in spans[:SHOWN]:
        mode, gait, busy = span.value
        table.add_row(
            f"       {_seconds(s, span.begin):>9} - {_seconds(s, span.end):>9} s",
            f"[{COLOURS.get(mode, 'white')}]{mode}[/]",
            (gait if mode == "walk" else "") + (" (busy)" if busy else ""),
        )
    console.print(table)
    _more(console, len(spans) - SHOWN + s.modes.dropped)


def _notes(console: Console, s: Summary) -> None:
    said = notes(s)
    if not said:
        if s.watched:  # else nothing of ours is in the log that could have said something
            console.print("no faults, estops, refusals or limits")
        return
    table = Table(title="faults, estops, refusals, limits", title_justify="left")
    for name in ("first, s", "last, s", "times", "messages", "what", "channel", "said"):
        table.add_column(name, justify="left" if name in ("what", "channel", "said") else "right")
    for n in said[:SHOWN]:
        style = KINDS.get(n.kind, "")
        kind = f"[{style}]{n.kind}[/]" if style else n.kind
        row = (_seconds(s, n.first), _seconds(s, n.last), str(n.times), str(n.messages), kind, n.where)
        table.add_row(*row, Text(n.text))
    console.print(table)
    _more(console, len(said) - SHOWN)


def _health(console: Console, s: Summary) -> None:
    if not s.health:
        return
    names = list(next(iter(s.health.values())))
    table = Table(title="processes, as they said last", title_justify="left")
    table.add_column("process")
    for name in names:
        table.add_column(name.replace("_", " "), justify="left" if name == "state" else "right")
    for process, values in sorted(s.health.items()):
        table.add_row(process, *(str(values[n]) for n in names))
    console.print(table)


def _damage(console: Console, s: Summary) -> None:
    for damage in s.damages[:SHOWN]:
        console.print(f"[red]{damage}[/]", highlight=False)
    _more(console, s.damage_count - SHOWN)
    if s.damage_count:
        console.print(f"[red]{s.damage_count} places broken, {s.skipped} of {s.size} bytes skipped[/]", highlight=False)


def _more(console: Console, count: int) -> None:
    if count > 0:
        console.print(f"... and {count} more (--json has them)")
