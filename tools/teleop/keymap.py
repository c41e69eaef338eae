"""The key map as data: key -> action. The help is made from it."""

from __future__ import annotations

from typing import NamedTuple


class Action(NamedTuple):
    """What a key or a button does: the name of a method of Session, and its arguments."""

    do: str
    what: str = ""
    amount: float = 0.0


ESTOP = Action("estop")
QUIT = Action("quit")
HELP = Action("help")

# Keys as textual names them. Driving keys are held, the others pressed.
DRIVING: dict[str, tuple[str, float]] = {
    "w": ("vx", 1.0), "s": ("vx", -1.0),
    "a": ("vy", 1.0), "d": ("vy", -1.0),
    "q": ("yaw_rate", 1.0), "e": ("yaw_rate", -1.0),
}  # fmt: skip

PRESSED: dict[str, Action] = {
    "space": ESTOP,
    "u": Action("reset"),
    "z": Action("request", "down"),
    "c": Action("request", "stand"),
    "v": Action("request", "walk"),
    "b": Action("request", "recover"),
    "n": Action("request", "ready"),
    "o": Action("request", "shutdown"),
    **{str(n): Action("choose_gait", "", n - 1) for n in range(1, 10)},
    "left_square_bracket": Action("change_level", "", -1),
    "right_square_bracket": Action("change_level", "", 1),
    "r": Action("change", "height", 1), "f": Action("change", "height", -1),
    "up": Action("change", "pitch", -1), "down": Action("change", "pitch", 1),  # pitch: nose down is positive

    "left": Action("change", "roll", -1), "right": Action("change", "roll", 1),
    "g": Action("level_out"),
    "p": Action("hand_over"),
    "h": HELP, "question_mark": HELP,
    "x": QUIT, "escape": QUIT, "ctrl+c": QUIT, "ctrl+q": QUIT, "ctrl+d": QUIT,
}  # fmt: skip

# For the help: keys as they are printed, and what they do.
GUIDE: tuple[tuple[str, str], ...] = (
    ("SPACE", "E-STOP: damping at once, latched; the robot sinks down"),
    ("U", "reset: releases the E-STOP; a robot not in damping asks for it twice"),
    ("hold W S", "forward, backward"),
    ("hold A D", "sideways, left and right"),
    ("hold Q E", "turn left, right; with W or S a curve"),
    ("[ ]", "slower, faster (the stride follows the speed)"),
    ("C V Z", "stand, walk, down (park)"),
    ("B N O", "recover (get up), ready, shutdown (off)"),
    ("1 ... 9", "gait, in the order shown"),
    ("R F", "body higher, lower"),
    ("arrows", "nose up, down; lean left, right; G: level, nominal height"),
    ("P", "hand over: nothing is sent until P is pressed again"),
    ("H ?", "this help"),
    ("X Esc", "quit; the robot stops, and stands after 2 s"),
)
