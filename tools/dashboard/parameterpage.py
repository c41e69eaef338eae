"""Page Parameters: live parameters by group, with ranges; set what was edited, save what differs as an overlay.

Asking is publishing too: without control the page shows the description's values and asks nobody.
"""

from __future__ import annotations

import math
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from config.live import LiveParameter
from tools.dashboard import style
from tools.dashboard.page import Context, set_changed
from tools.launch import ROOT
from tools.parameters import AGAIN, PATIENCE, ParameterClient, overlay


@dataclass
class Request:
    """One question that waits for its answer; a process reads only the newest of a tick, so one at a time."""

    name: str
    value: float | None  # None: read
    numbers: list[int] = field(default_factory=list)
    sent: float = 0.0
    began: float = 0.0


class ParameterPage:
    """Inputs of one group, built again for another."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._client = ParameterClient(context.bus, context.operator, context.robot.description)
        self._table = self._client.table
        self._values = {name: p.value for name, p in self._table.items()}
        self._known: set[str] = set()  # read from the process, not only from the description
        self._waiting: deque[Request] = deque()
        self._owned = False
        self._message = ("info", "")
        gui = context.server.gui
        groups = tuple(dict.fromkeys(map(group_of, self._table)))
        self._info = gui.add_html("")
        if not groups:
            return
        self._group = gui.add_dropdown("group", groups, initial_value=groups[0])
        self._folder = gui.add_folder(None)
        self._inputs: dict[str, Any] = {}
        self._drawn = ""
        self._set = gui.add_button("Set what was edited", color="teal")
        self._set.on_click(self._send_edited)
        self._path = gui.add_text("overlay", f"logs/{context.robot.name}_tuned.yaml")
        self._save = gui.add_button("Save overlay", color="gray")
        self._save.on_click(self._write)

    # -- what a person does -------------------------------------------------------------------------------------------

    async def _send_edited(self, event: Any) -> None:
        if not self._context.commands.owns(event.client_id):
            return
        edited = {n: float(h.value) for n, h in self._inputs.items() if abs(h.value - self._values[n]) > 1e-12}
        self._waiting.extend(Request(name, value) for name, value in edited.items())
        self._message = ("info", f"setting {len(edited)} …" if edited else "nothing was edited")

    async def _write(self, _event: Any) -> None:
        path = Path(self._path.value)
        path = path if path.is_absolute() else ROOT / path
        unread = len(self._table) - len(self._known)
        try:
            self._message = save(path, self._table, self._values, unread)
        except OSError as error:
            self._message = ("error", f"cannot write {path}: {error.strerror}")

    # -- updates ------------------------------------------------------------------------------------------------------

    def update(self, now: float) -> None:
        """Answers in, one request out, what is shown."""
        if not self._table:
            set_changed(self._info, content=self._text("this robot marks no parameter as live (section `live`)"))
            return
        owned = self._context.commands.owner is not None
        if owned and not self._owned:
            self._waiting.extend(Request(name, None) for name in self._table)
        elif not owned:
            self._waiting.clear()
        self._owned = owned
        self._exchange(time.monotonic())
        if self._group.value != self._drawn:
            self._build(self._group.value)
        set_changed(self._set, disabled=not owned)
        state = "" if owned else "take control to read and set; shown are the description's values"
        if owned and len(self._known) < len(self._table):
            state = f"{len(self._known)} of {len(self._table)} read"
        set_changed(self._info, content=self._text(state))

    def _text(self, state: str) -> str:
        level, said = self._message
        lines = [style.dim(state)] * bool(state) + [style.coloured(said, level)] * bool(said)
        return f'<div class="d-reason">{"<br>".join(lines) or "&nbsp;"}</div>'

    def _exchange(self, now: float) -> None:
        if not self._waiting:
            return
        request = self._waiting[0]
        for number in request.numbers:
            answer = self._client.answers.pop(number, None)
            if answer is not None:
                self._waiting.popleft()
                self._take(request, answer)
                return
        request.began = request.began or now
        if now - request.began > PATIENCE:
            process = self._table[request.name].process
            self._waiting.clear()
            self._message = ("warning", f"{process} does not answer: does the plant tick?")
        elif now - request.sent > AGAIN:
            request.sent = now
            request.numbers.append(self._client.send(request.name, request.value))

    def _take(self, request: Request, answer: Any) -> None:
        self._values[request.name] = answer.value
        self._known.add(request.name)
        if request.name in self._inputs and (request.value is not None or not self._edited(request.name, answer)):
            set_changed(self._inputs[request.name], value=answer.value)
        if not answer.ok:
            self._message = ("error", f"{request.name}: {answer.reason}")
            self._context.note("warning", f"{request.name} refused: {answer.reason}")
        elif request.value is not None:
            self._message = ("info", f"{request.name} = {answer.value:g}")
            self._context.note("info", f"{request.name} set to {answer.value:g}")

    def _edited(self, name: str, answer: Any) -> bool:
        return self._inputs[name].value not in (self._table[name].value, answer.value)

    def _build(self, group: str) -> None:
        self._drawn = group
        for handle in self._inputs.values():
            handle.remove()
        self._inputs = {}
        with self._folder:
            for name in (n for n in self._table if group_of(n) == group):
                p = self._table[name]
                self._inputs[name] = self._context.server.gui.add_number(
                    f"{name[len(group) + 1 :]}", self._values[name], step=step_of(p),
                    hint=f"{name}: {p.value:g} in the description, from {p.minimum:g} to {p.maximum:g}",
                )  # fmt: skip


def group_of(name: str) -> str:
    """`control.stand` of `control.stand.kp.0`: what is shown together."""
    parts = [p for p in name.split(".") if not p.isdigit()]
    return ".".join(parts[:-1]) or parts[0]


def step_of(p: LiveParameter) -> float:
    """A power of ten that divides the range into a hundred parts or more."""
    return float(10.0 ** math.floor(math.log10((p.maximum - p.minimum) / 100.0)))


def save(path: Path, table: dict[str, LiveParameter], values: dict[str, float], unread: int) -> tuple[str, str]:
    """Write the overlay; level and what to say."""
    changed = sum(value != table[name].value for name, value in values.items())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(overlay(table, values))
    text = f"{changed} changed value{'s' * (changed != 1)} in {path}; start with it: --set @{path}"
    return ("warning", f"{text} ({unread} were never read)") if unread else ("info", text)
