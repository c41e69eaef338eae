"""Page Drive: take control, choose a mode and a gait, speeds by sliders or by a pad that counts while it is held."""

from __future__ import annotations

from typing import Any

from procs.controller.modes import TARGETS
from tools.dashboard import style
from tools.dashboard.commands import POSTURE, SPEEDS
from tools.dashboard.page import Context, set_changed

SLIDERS = (  # field of motion_command, label, step
    ("vx", "forward m/s", 0.05),
    ("vy", "left m/s", 0.05),
    ("yaw_rate", "turn rad/s", 0.05),
    ("height", "height m", 0.005),
    ("roll", "roll rad", 0.02),
    ("pitch", "pitch rad", 0.02),
)
PAD = (  # icon, label, field, sign; three in a row
    ("⟲", "yaw_rate", +1), ("▲", "vx", +1), ("⟳", "yaw_rate", -1),
    ("◀", "vy", +1), ("▼", "vx", -1), ("▶", "vy", -1),
)  # fmt: skip
PAD_HZ = 15.0
MODES = tuple(m for m in TARGETS if m != "idle")


class Drive:
    """Builds the controls and keeps them true to what the controller says."""

    def __init__(self, context: Context) -> None:
        self._context = context
        gui, commands = context.server.gui, context.commands
        self._control = gui.add_button("Take control", color="teal")
        self._banner = gui.add_html("")
        self._modes = {mode: gui.add_button(mode.replace("_", " "), color="gray") for mode in MODES}
        self._reason = gui.add_html("")
        limits = context.robot.description.control
        gaits = list(limits.gaits)
        self._gait = gui.add_dropdown("gait", gaits, initial_value=limits.default_gait)
        self._sliders = {name: self._slider(name, label, step) for name, label, step in SLIDERS}
        self._zero = gui.add_button("Stop: zero speed", color="gray")
        gui.add_html('<div class="d-head">hold to drive</div>')
        self._pad = [gui.add_button(icon, color="gray") for icon, _, _ in PAD]
        self._share = gui.add_slider("pad, % of limit", min=5, max=100, step=5, initial_value=30)
        gui.add_html(style.sheet(style.in_columns(self._modes.values(), 4), style.in_columns(self._pad, 3)))
        self._connect(commands)

    def _slider(self, name: str, label: str, step: float) -> Any:
        control = self._context.robot.description.control
        lower, upper = getattr(control.limits, name)
        start = control.nominal_height if name == "height" else 0.0
        return self._context.server.gui.add_slider(
            label, min=lower, max=upper, step=step, initial_value=min(max(start, lower), upper)
        )

    def _connect(self, commands: Any) -> None:
        @self._control.on_click
        async def _(event: Any) -> None:
            if commands.owns(event.client_id):
                commands.release(event.client_id, "given back")
            elif commands.take(event.client_id):
                self._begin()

        for mode, button in self._modes.items():
            button.on_click(self._asker(mode))

        @self._gait.on_update
        async def _(event: Any) -> None:
            commands.ask_gait(event.client_id, self._gait.value)

        for name, slider in self._sliders.items():
            slider.on_update(self._setter(name, slider))

        @self._zero.on_click
        async def _(_event: Any) -> None:
            commands.halt()

        for button, (_icon, axis, sign) in zip(self._pad, PAD, strict=True):
            button.on_hold(self._holder(axis, sign), callback_hz=PAD_HZ)

    def _begin(self) -> None:
        """Control begins with no speed and the nominal posture."""
        control = self._context.robot.description.control
        gait: Any = self._gait
        gait.value = control.default_gait
        for name, slider in self._sliders.items():
            slider.value = control.nominal_height if name == "height" else 0.0

    def _asker(self, mode: str) -> Any:
        async def on_click(event: Any) -> None:
            self._context.commands.ask_gait(event.client_id, self._gait.value)
            self._context.commands.ask_mode(event.client_id, mode)

        return on_click

    def _setter(self, name: str, slider: Any) -> Any:
        async def on_update(event: Any) -> None:
            if event.client_id is not None:  # moved by a person, not by us
                self._context.commands.set(event.client_id, name, slider.value)

        return on_update

    def _holder(self, name: str, sign: int) -> Any:
        lower, upper = getattr(self._context.robot.description.control.limits, name)

        async def on_hold(event: Any) -> None:
            value = sign * 0.01 * self._share.value * min(-lower, upper)
            self._context.commands.hold(event.client_id, name, value)

        return on_hold

    def update(self, now: float) -> None:
        """Buttons follow mode_state.allowed; sliders follow what is really asked for."""
        state, commands = self._context.state, self._context.commands
        owned, mode = commands.owner is not None, state.mode(now)
        set_changed(
            self._control, label="Give control back" if owned else "Take control", color="orange" if owned else "teal"
        )
        set_changed(self._banner, content=banner(mode, commands.source, owned))
        why = {name: refusal(name, mode, owned) for name in MODES}
        for name, button in self._modes.items():
            at = mode is not None and name in (mode.mode, mode.target)
            set_changed(button, disabled=bool(why[name]), color="teal" if at else "gray")
        set_changed(self._reason, content=reasons(mode, why))
        for control in (self._gait, self._zero, *self._pad, *self._sliders.values()):
            set_changed(control, disabled=not owned)
        for name, slider in self._sliders.items():
            wanted = commands.wanted.values[name]
            if name in SPEEDS or (name in POSTURE and wanted):
                set_changed(slider, value=wanted)


def refusal(name: str, mode: Any, owned: bool) -> str:
    """Why a mode cannot be asked for now; empty if it can."""
    if mode is None:
        return "no controller is heard"
    if not owned:
        return "take control first"
    if name == mode.mode and not mode.busy:
        return "that is the mode"
    if mode.busy and name != "shutdown":
        return f"busy: {mode.mode}" + (f" on the way to {mode.target}" if mode.target != mode.mode else "")
    return "" if name in mode.allowed else f"no way from {mode.mode}"


def banner(mode: Any, own: str, owned: bool) -> str:
    """Who commands the robot, in one line."""
    source = "" if mode is None else mode.source
    if owned and source in ("", own):
        text = "<b>You are in control.</b> It ends when this page closes."
    elif owned:
        text = f"You send commands, but {style.coloured(source, 'warning')} is obeyed."
    elif source:
        text = f"{style.safe(source)} is in control. This page only looks."
    else:
        text = "Nobody is in control. This page only looks."
    return f'<div class="d-reason">{text}</div>'


def reasons(mode: Any, why: dict[str, str]) -> str:
    """The controller's refusal, then why buttons are off, each reason once."""
    lines = []
    if mode is not None and mode.reason:
        lines.append(style.coloured(mode.reason, "error" if mode.mode in ("damping", "estop") else "warning"))
    grouped: dict[str, list[str]] = {}
    for name, reason in why.items():
        if reason and reason != "that is the mode":
            grouped.setdefault(reason, []).append(name.replace("_", " "))
    if len(grouped) == 1 and len(next(iter(grouped.values()))) >= len(why) - 1:
        lines.append(style.dim(next(iter(grouped))))
    else:
        lines += [style.dim(f"{', '.join(names)}: {reason}") for reason, names in grouped.items()]
    return f'<div class="d-reason">{"<br>".join(lines)}</div>'
