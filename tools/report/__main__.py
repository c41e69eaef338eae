"""Write a report of a log: one HTML page with the verdict, what left its normal range first, and charts of everything.

The page needs no network. Exit code 0: nothing stopped the robot; 1: it fell or was stopped; 2: bad file or usage.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from rich.console import Console

from config.load import ConfigError
from procs.runtime.logs import LogError
from tools.arguments import interruptible, seconds
from tools.report.build import report

TOLD = 5  # anomalies that are printed


def main() -> int:
    """Entry point."""
    p = argparse.ArgumentParser(prog="python -m tools.report", description=__doc__)
    p.add_argument(
        "log", type=Path, help="an LCM event log, as tools.scenario --log, make walk and make record write them"
    )
    p.add_argument("--out", type=Path, metavar="OUT.html", help="default: beside the log")
    p.add_argument(
        "--run",
        type=int,
        metavar="N",
        help="of several runs the Nth (default: the longest that fell, else the longest)",
    )
    p.add_argument("--from", dest="begin", type=seconds, metavar="S", help="begin at this time of the run, s")
    p.add_argument("--to", dest="end", type=seconds, metavar="S", help="end at this time of the run, s")
    p.add_argument("--title", help="heading of the page")
    p.add_argument("--robot", help="description to use instead of the log's own")
    args = p.parse_args()
    interruptible()
    console = Console(highlight=False, soft_wrap=True)
    out = args.out or args.log.with_suffix(".html")
    if out.resolve() == args.log.resolve():
        p.error(f"--out {out} is the log itself")
    try:
        with console.status(f"reading {args.log.name}"):
            text, verdict = report(
                args.log, robot=args.robot, run=args.run, begin=args.begin, end=args.end, title=args.title
            )
        out.parent.mkdir(parents=True, exist_ok=True)
        part = out.with_name(f".{out.name}.part")  # an interrupted run leaves the page of before
        part.write_text(text, encoding="utf-8")
        os.replace(part, out)
    except (LogError, ConfigError, OSError) as error:
        print(f"report: {error}", file=sys.stderr)
        if isinstance(error, ConfigError) and args.robot is None:
            print("report: the log's own description is of another revision; name one with --robot", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("report: interrupted, nothing written", file=sys.stderr)
        return 130
    console.print(f"[bold]{verdict.head}[/]")
    if verdict.why:
        console.print(f"  {verdict.why}", markup=False)
    for a in verdict.found[:TOLD]:
        console.print(f"  {a.begin:8.3f} s  {a.title}", markup=False)
    if len(verdict.found) > TOLD:
        console.print(f"  and {len(verdict.found) - TOLD} more")
    console.print(f"report   {out} ({out.stat().st_size / 1e6:.1f} MB)")
    return 1 if verdict.kind == "bad" else 0


if __name__ == "__main__":
    sys.exit(main())
