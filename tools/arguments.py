"""What command lines share: types of arguments, how they are interrupted."""

from __future__ import annotations

import argparse
import math
import signal


def seconds(text: str) -> float:
    """A finite number of seconds."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return value


def interruptible() -> None:
    """SIGINT and SIGTERM raise KeyboardInterrupt, also in a shell's background job, where SIGINT is ignored."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
