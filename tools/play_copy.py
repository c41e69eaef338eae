"""Copy a log without joint_command, for players: what is played can be watched, never obeyed by a robot."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console

from lcmtypes.channels import JOINT_COMMAND
from procs.runtime.logcopy import copy_log
from procs.runtime.logs import LogError
from tools.progress import bar

WITHOUT = (JOINT_COMMAND.name,)


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m tools.play_copy", description=__doc__)
    parser.add_argument("log", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    console = Console()
    try:
        size = args.log.stat().st_size if args.log.is_file() else 0
        with bar(console) as progress:
            task = progress.add_task("copying", total=size)
            written, left_out = copy_log(
                args.log, args.out, WITHOUT, lambda done: progress.update(task, completed=done)
            )
    except (LogError, OSError) as error:
        print(f"play_copy: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("play_copy: interrupted, no copy made", file=sys.stderr)
        return 130
    console.print(f"{args.out}: {written} events, without {left_out} of {', '.join(WITHOUT)}", highlight=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
