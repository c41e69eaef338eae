"""Say what is in an LCM log: channels, rates, gaps, losses, runs, modes, faults, robot; foreign types too.

A damaged or cut-off log is read as far as possible. Losses are counted on the channels that every tick has: a tick
(run, seq) that is missing between the first and the last is lost, one that comes after a later one is late, one that
comes again is re-sent. MIT's types are told by their fingerprint, whatever the channel is called.
Exit code 0: read to its end; 1: damaged or cut off; 2: usage, or not a log.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from rich.console import Console

from procs.runtime.eventfile import LogError
from tools.inspect.show import print_summary
from tools.inspect.summary import scan
from tools.inspect.values import as_values
from tools.progress import bar


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.inspect", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("log", type=Path)
    parser.add_argument("--json", action="store_true", help="everything as JSON on the standard output")
    args = parser.parse_args()
    try:
        size = args.log.stat().st_size if args.log.is_file() else 0
        with bar(Console(stderr=True)) as progress:
            task = progress.add_task("reading", total=size)
            summary = scan(args.log, lambda done: progress.update(task, completed=done))
        if args.json:
            print(json.dumps(as_values(summary), indent=1, allow_nan=False))
        else:
            console = Console()
            print_summary(Console(width=None if console.is_terminal else max(console.width, 140)), summary)
    except (LogError, OSError) as error:
        if isinstance(error, BrokenPipeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        print(f"inspect: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("inspect: interrupted", file=sys.stderr)
        return 130
    return 1 if summary.damage_count else 0


if __name__ == "__main__":
    sys.exit(main())
