"""The bar at the top: robot, age of the data, mode, who is in control; E-stop and reset, always there."""

from __future__ import annotations

from typing import Any, Literal

from tools.dashboard import style
from tools.dashboard.page import Context, set_changed
from tools.dashboard.state import Connection, State

ESTOP_KEY: Literal["space"] = "space"
REFRESH = 5  # updates between two renewals of the bar though nothing changed: it must not look cut off


class Bar:
    """Built before the tabs, so that it is never inside one."""

    def __init__(self, context: Context) -> None:
        self._context = context
        gui = context.server.gui
        self._html = gui.add_html("")
        self._estop = gui.add_button("E-STOP", color="red", icon=None)
        self._reset = gui.add_button("Reset", color="gray")
        gui.add_html(
            style.sheet(style.SHEET, style.pinned(self._estop, 10, 240, 21), style.pinned(self._reset, 270, 96, 15))
        )
        self._count = 0
        self._text = ""
        # A held button reports when it goes down, a click when it comes up again: the first counts.
        self._estop.on_hold(self._pressed("E-STOP button"), callback_hz=1.0)
        self._estop.on_click(self._pressed("E-STOP button"))
        command = gui.add_command("E-STOP", description="latched damping", hotkey=ESTOP_KEY)
        command.on_trigger(self._pressed("key"))

        @self._reset.on_click
        async def _(_event: Any) -> None:
            context.commands.reset("reset button")

    def _pressed(self, what: str) -> Any:
        commands = self._context.commands

        async def on_press(_event: Any) -> None:  # async: at once in the server's loop, behind no other callback
            commands.estop(what)

        return on_press

    def update(self, now: float) -> None:
        """Renew the text."""
        self._count += 1
        text = bar_text(self._context, now)
        if text != self._text or self._count % REFRESH == 0:
            self._text = text
            lost = f'<div class="d-lost" data-n="{self._count}">cut off: all that is shown is old</div>'
            set_changed(self._html, content=f'<div class="d-bar">{text}</div>{lost}')


def bar_text(context: Context, now: float) -> str:
    """HTML of the bar."""
    state, owner = context.state, context.commands.owner is not None
    title = context.robot.description.title
    connection = state.connection(now)
    parts = [f"<b>{style.safe(title)}</b>", connection_text(connection), mode_badge(state, now)]
    mode = state.mode(now)
    if mode is not None:
        if mode.mode == "walk":
            parts.append(f"<span>{style.dim('gait')} {style.safe(mode.gait)}</span>")
        parts.append(
            f"<span>{style.dim('obeys')} {style.safe(obeyed(mode.source, context.commands.source, owner))}</span>"
        )
    clock = max((m.utime for m in state.messages.values() if hasattr(m, "used") and m.seq >= 0 and m.run), default=0)
    if connection.kind == "live" and clock:
        parts.append(style.dim(f"{1e-6 * clock:.0f} s"))
    return "".join(parts)


def obeyed(source: str, own: str, owner: bool) -> str:
    """Who is obeyed, in words."""
    if not source:
        return "nobody"
    return "this dashboard" if source == own and owner else source


def connection_text(connection: Connection) -> str:
    """Dot and word: live, or how old, or nothing yet."""
    colour, word = {
        "live": ("#2fbf71", "live"),
        "stale": ("#8a929b", f"stale for {connection.age:.0f} s"),
        "none": ("#e0a030", "no data yet"),
    }[connection.kind]
    return f'<span><span class="d-dot" style="background:{colour}"></span>{word}</span>'


def mode_badge(state: State, now: float) -> str:
    """The mode; grey with a question mark when it is not known now."""
    mode = state.mode(now)
    if mode is None:
        return '<span class="d-badge" style="background:#4b5158">mode unknown</span>'
    colour = style.MODE_COLOURS.get(mode.mode, "#6b7280")
    text = style.safe(mode.mode) + (" … busy" if mode.busy else "")
    target = f" {style.dim('→')} <b>{style.safe(mode.target)}</b>" if mode.target not in ("", mode.mode) else ""
    return f'<span><span class="d-badge" style="background:{colour}">{text}</span>{target}</span>'
