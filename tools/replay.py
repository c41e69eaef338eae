"""Step a process again from a log and compare bit for bit. Exit code 0: identical; 1: not; 2: usage or log."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from config.load import ConfigError, load_robot
from procs.model.robot import Robot
from procs.runtime.logs import LogError
from procs.runtime.replay import replay
from tools.record import cpu_kind, revision
from tools.stack import SPECS


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m tools.replay", description=__doc__)
    parser.add_argument("log", type=Path)
    parser.add_argument("--process", choices=(*SPECS, "all"), default="all")
    parser.add_argument("--robot", help="instead of the description in the log")
    args = parser.parse_args()
    code = 0
    try:
        robot = Robot(load_robot(args.robot)) if args.robot else None
        for name in SPECS if args.process == "all" else (args.process,):
            begin = time.perf_counter()
            result = replay(args.log, SPECS[name], robot)
            wall = time.perf_counter() - begin
            for note in result.notes[:5]:
                print(f"  {note}")
            if result.exact:
                how = f"agree within {result.tolerance:g}" if result.tolerance else "are identical"
                print(f"{name}: {result.compared} messages of {result.steps} steps {how} ({wall:.1f} s)")
            else:
                code = 1
                if result.unfed:
                    print(f"{name}: {result.unfed} steps lack inputs in the log")
                if not result.compared:
                    print(f"{name}: nothing to compare in {result.steps} steps")
                elif result.different:
                    print(f"{name}: {result.different} of {result.compared} messages differ; first: {result.first}")
                print(f"  this is revision {revision()} on {cpu_kind()}")
    except (LogError, ConfigError) as error:
        print(f"replay: {error}", file=sys.stderr)
        return 2
    return code


if __name__ == "__main__":
    sys.exit(main())
