"""The status of robot and operator as rich renderables, and as one line for where there is no screen."""

from __future__ import annotations

import math

from rich.text import Text

from tools.teleop.drive import LEVELS
from tools.teleop.envelope import SPEEDS
from tools.teleop.session import Session

UNITS = {"vx": "m/s", "vy": "m/s", "yaw_rate": "rad/s"}
NAMES = {"vx": "forward", "vy": "left", "yaw_rate": "turn left"}
WIDTH = 24  # characters of a bar, half to each side
DEGREES = 180.0 / math.pi
ALARM = ("estop", "damping")
ROBOT_LINES, SPEED_LINES, WARNING_LINES = 7, 4, 8


def bar(wanted: float, measured: float | None, lowest: float, highest: float) -> Text:
    """A line from lowest to highest: `=` from zero to wanted, `o` at what is measured."""
    span = max(-lowest, highest, 1e-9)
    middle = WIDTH // 2

    def cell(value: float) -> int:
        return middle + round(max(-1.0, min(1.0, value / span)) * middle)

    cells = ["·"] * (WIDTH + 1)
    for i in range(min(middle, cell(wanted)), max(middle, cell(wanted)) + 1):
        cells[i] = "="
    cells[middle] = "|"
    if measured is not None:
        cells[cell(measured)] = "o"
    return Text("".join(cells), style="cyan")


def robot_lines(session: Session) -> Text:
    """Mode, gait, control, settings: ROBOT_LINES lines."""
    mode, drive = session.view.mode, session.drive
    if mode is None:
        now, allowed, reason = Text("not heard of", style="bold red"), Text("-"), Text("-")
    else:
        now = Text(f" {mode.mode} ", style="bold white on red" if mode.mode in ALARM else "bold green")
        now.append(f" -> {mode.target}" if mode.target and mode.target != mode.mode else "", style="not bold default")
        now.append("  busy" if mode.busy else "", style="yellow")
        allowed = Text(", ".join(mode.allowed) or "nothing")
        reason = Text(mode.reason or "-", style="yellow" if mode.reason else "dim")
    height, roll, pitch = (drive.settings[name] for name in ("height", "roll", "pitch"))
    shown = f"{height:.3f} m" if height else "nominal"
    body = Text(f"height {shown}   roll {DEGREES * roll:+.1f}°   pitch {DEGREES * pitch:+.1f}°")
    rows = {
        "mode": now, "allowed": allowed, "reason": reason, "in control": _control(session), "gait": _gaits(session),
        "body": body, "data": _age(session),
    }  # fmt: skip
    return _lines(
        [
            Text(f"{label:<12}", style="dim").append_text(Text("", style="not dim") + text)
            for label, text in rows.items()
        ]
    )


def speed_lines(session: Session) -> Text:
    """Wanted and measured speeds, with the set speed's range as a bar: SPEED_LINES lines."""
    drive, measured = session.drive, session.view.speeds()
    lines = [
        Text(f"{'speed':<12}{'wanted':>7}{'measured':>10}{'':8}{LEVELS[drive.level]:.0%} of the limits", style="dim")
    ]
    for i, axis in enumerate(SPEEDS):
        low, high = drive.envelope.speed(axis, drive.gait or drive.robot_gait) if drive.envelope else (0.0, 0.0)
        low, high = LEVELS[drive.level] * low, LEVELS[drive.level] * high
        is_there = None if measured is None else measured[i]
        told = "-" if is_there is None else f"{is_there:+.2f}"
        row = Text.assemble((f"{NAMES[axis]:<12}", "dim"), f"{drive.speeds[axis]:>+7.2f}{told:>10} {UNITS[axis]:<7}")
        lines.append(row + bar(drive.speeds[axis], is_there, low, high))
    return _lines(lines)


def _lines(lines: list[Text]) -> Text:
    return Text("\n", no_wrap=True, overflow="ellipsis").join(lines)


def warning_lines(session: Session) -> Text:
    """One line each, at most WARNING_LINES."""
    lines = [Text(f"! {line}", style="bold yellow") for line in session.warnings()[:WARNING_LINES]]
    return _lines(lines)


def line(session: Session) -> str:
    """All of it in one line."""
    mode, drive, measured = session.view.mode, session.drive, session.view.speeds()
    said = "no controller" if mode is None else f"{mode.mode}{' (busy)' if mode.busy else ''} {mode.gait}"
    wanted = " ".join(f"{drive.speeds[axis]:+.2f}" for axis in SPEEDS)
    is_there = " ".join(f"{v:+.2f}" for v in measured) if measured else "-"
    reason = f"  {mode.reason}" if mode is not None and mode.reason else ""
    warnings = "".join(f"  ! {w}" for w in session.warnings())
    return f"{said}  wanted {wanted}  measured {is_there}{reason}{warnings}"


def _control(session: Session) -> Text:
    mode = session.view.mode
    if session.in_control():
        return Text("you", style="green") + Text(f"  ({session.operator.source})", style="dim")
    source = mode.source if mode is not None else ""
    return Text(source or "nobody", style="yellow") + Text(f"  (you are {session.operator.source})", style="dim")


def _gaits(session: Session) -> Text:
    drive = session.drive
    present, text = drive.gait or drive.robot_gait, Text()
    names = list(drive.envelope.gaits) if drive.envelope else []
    for number, name in enumerate(names, 1):
        here = name == present
        text.append(f"{number} {name}", style="bold reverse" if here else "dim").append("   ")
    return text if names else Text(present or "-")


def _age(session: Session) -> Text:
    age = session.age()
    shown = "none yet" if age == math.inf else f"{1e3 * age:.0f} ms old" if age < 1 else f"{age:.0f} s old"
    return Text(shown, style="dim" if age < 0.1 else "bold red")
