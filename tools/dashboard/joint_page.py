"""Page Joint test: one joint of a robot in a rig follows a position, a sine or a step while it is held.

It is held from the press of `Hold to drive` until anything is not as it must be: see joint_hold.py. Only the browser
that has control can hold, so one at a time.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from lcmtypes.channels import JOINT_COMMAND, JOINT_STATE
from tools.dashboard import style
from tools.dashboard.joint_controls import Controls
from tools.dashboard.joint_hold import MODE, JointPageState, first_settings
from tools.dashboard.joint_plots import JointPlots
from tools.dashboard.joint_presence import Presence
from tools.dashboard.joint_sender import BUTTON, JointSender
from tools.dashboard.page import Context, set_changed
from tools.joint_test.signals import Settings
from tools.joint_test.tracking import Error, Tracking, write_csv
from tools.launch import ROOT
from tools.operator import Operator

SLOW, SELDOM = 3, 30  # looks between two drawings; of the plots in another mode
LOGS = ROOT / "logs"


class JointPage:
    """Builds the controls; every look takes the tracking error, every third draws."""

    def __init__(self, context: Context) -> None:
        self._context = context
        gui, robot, commands = context.server.gui, context.robot, context.commands
        self._page = JointPageState(robot, commands.source)
        self._tracking, self._tracked = Tracking(robot), (0, 0)
        self._said = ("info", "")
        self._looks = 0
        presence = Presence(context.server, context.patience / 3)
        self._sender = JointSender(
            self._page, context.state, commands, Operator(context.bus, "dashboard"), presence, context.note
        )
        self._enter = gui.add_button(f"Enter {MODE}", color="teal")
        self._leave = gui.add_button("Leave to ready", color="gray")
        self._banner = gui.add_html("")
        self._hold = gui.add_button("Hold to drive", color="teal")
        self._controls = Controls(gui, robot, self._edited)
        self._plots = JointPlots(gui, 0)
        self._table = gui.add_html("")
        self._clear = gui.add_button("Clear", color="gray")
        self._save = gui.add_button("Save CSV", color="gray")
        self._result = gui.add_html("")
        big = f'[id="{style.element_id(self._hold)}"]{{height:44px!important;font-size:17px}}'
        rows = ((self._enter, self._leave), (self._clear, self._save))
        gui.add_html(style.sheet(big, *(style.in_columns(row, 2) for row in rows)))
        self._connect()
        self._show(time.monotonic())

    def _connect(self) -> None:
        commands = self._context.commands

        @self._enter.on_click
        async def _(event: Any) -> None:
            if self._take(event.client_id):
                commands.ask_mode(event.client_id, MODE)

        @self._leave.on_click
        async def _(event: Any) -> None:
            if self._take(event.client_id):
                self._sender.let_go("the mode was left")
                commands.ask_mode(event.client_id, "ready")

        @self._hold.on_click
        async def _(event: Any) -> None:
            if self._page.held:
                self._sender.let_go(BUTTON)
            else:
                self._sender.hold(event.client_id)

        @self._controls.joint.on_update
        async def _(event: Any) -> None:
            if event.client_id is not None:
                joints = self._context.state.fresh(JOINT_STATE, time.monotonic())
                first = first_settings(
                    self._context.robot, self._controls.chosen(), None if joints is None else joints.q
                )
                self._sender.edit(event.client_id, first)

        @self._clear.on_click
        async def _(_event: Any) -> None:
            self._tracking.clear()
            self._said = ("info", "")

        @self._save.on_click
        async def _(_event: Any) -> None:
            self._said = save(LOGS / time.strftime("joint_test_%Y%m%d_%H%M%S.csv"), self._tracking)

    def _take(self, client: int) -> bool:
        """Control for this browser, if no other has it."""
        taken = self._context.commands.take(client)
        if not taken:
            self._context.note("warning", "joint test: another browser has control of this dashboard")
        return taken

    def _edited(self, client: int) -> None:
        """The sliders were moved; those of a browser without control go back where they were."""
        self._sender.edit(client, self._controls.read())

    # -- updates ------------------------------------------------------------------------------------------------------

    def update(self, now: float) -> None:
        """Take the error of this look; draw now and then."""
        self._track(now)
        self._looks += 1
        if self._looks % SLOW == 0:
            self._show(now)

    def _track(self, now: float) -> None:
        """Looks are fewer than ticks: a sample of them."""
        state = self._context.state
        told, joints, tracked = (
            state.fresh(JOINT_COMMAND, now), state.fresh(JOINT_STATE, now), self._page.tracked(now),
        )  # fmt: skip
        if told is None or joints is None or tracked is None or (joints.run, joints.seq) == self._tracked:
            return
        self._tracked = joints.run, joints.seq
        self._tracking.command(told)
        self._tracking.state(joints, *tracked)

    def _show(self, now: float) -> None:
        page, commands, mode = self._page, self._context.commands, self._context.state.mode(now)
        owned, held, settings = commands.owner is not None, page.held, page.settings
        asked = owned and commands.wanted.mode == MODE
        entering = refused_to_enter(mode, commands.source, asked)
        inside = mode is not None and mode.mode == MODE
        why = self._sender.refusal(now) if owned and inside else ""
        ready = owned and inside and not why and not page.problems
        set_changed(self._enter, disabled=bool(entering))
        set_changed(self._leave, disabled=not inside)
        set_changed(
            self._hold, label="LET GO" if held else "Hold to drive", color="orange" if held else "teal",
            disabled=not (held or ready),
        )  # fmt: skip
        set_changed(self._banner, content=self._text(settings, why if inside else entering, inside and owned))
        self._controls.show(settings, locked=held)
        self._plots.choose(settings.joint)
        if inside or self._looks % SELDOM == 0:
            self._plots.update(self._context.state.history, now)
        errors = self._tracking.by_joint()
        for button in (self._clear, self._save):
            set_changed(button, disabled=not errors)
        set_changed(self._table, content=error_table(errors, self._tracking.by_class()))
        set_changed(self._result, content=f'<div class="d-reason">{style.coloured(*self._said[::-1])}</div>')

    def _text(self, settings: Settings, why: str, inside: bool) -> str:
        page, name = self._page, style.safe(self._context.robot.joint_names[settings.joint])
        lines = []
        if page.held:
            lines.append(f"<b>{name} is held.</b> Leaving or closing this page lets it go.")
        else:
            if page.why:
                lines.append(style.coloured(f"let go: {page.why}", "warning"))
            if why:
                lines.append(style.dim(why))
            elif inside and not page.problems:
                lines.append(f"{name} would go slowly to {settings.centre:.2f} rad. All other joints are damped.")
            elif not inside:
                lines.append("Only with the robot hanging in its rig: in this mode all other joints are damped.")
        lines += [style.coloured(p, "error") for p in page.problems]
        if page.held and page.problems:
            lines.append(style.dim("it goes on with the last settings that were good"))
        return f'<div class="d-reason">{"<br>".join(lines)}</div>'


def refused_to_enter(mode: Any, own: str, asked: bool) -> str:
    """Why the mode cannot be entered now; empty if it can."""
    if mode is None:
        return "no controller is heard"
    if mode.source not in ("", own):
        return f"{mode.source} is obeyed, not this dashboard"
    if mode.mode == MODE:
        return "that is the mode" if asked else ""
    if mode.busy:
        return f"busy: {mode.mode}"
    return "" if MODE in mode.allowed else f"no way from {mode.mode} to {MODE}: from ready it can be entered"


def error_table(joints: dict[str, Error], classes: dict[str, Error]) -> str:
    """Tracking errors in mrad."""
    head = '<div class="d-head">tracking error |wanted − measured|, mrad</div>'
    if not joints:
        return head + f'<div class="d-reason">{style.dim("no joint has been held with full gains yet")}</div>'
    rows = [[f"<b>{style.safe(n)}</b>", *_cells(e)] for n, e in joints.items()]
    rows += [[style.dim(f"all of class {n}"), *_cells(e)] for n, e in classes.items()]
    return head + style.table(("joint", "mean", "σ", "max", "samples"), rows, right=(1, 2, 3, 4))


def _cells(e: Error) -> list[str]:
    return [f"{1e3 * e.mean:.1f}", f"{1e3 * e.sigma:.1f}", f"{1e3 * e.most:.1f}", str(e.count)]


def save(path: Path, tracking: Tracking) -> tuple[str, str]:
    """Write the table; level and what to say."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_csv(path, tracking)
    except OSError as error:
        return "error", f"cannot write {path}: {error.strerror}"
    return "info", f"saved {path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}"
