"""Export an LCM log as CSV, npz, MAT or MCAP: python -m tools.export LOG OUT.npz [--field PATH ...] [--from S] [--to S]

Without --field all numeric fields of all channels (mcap: strings too); with it those that are named, of any kind:
    --field leg_state.q[3]  --field body_state.position  --field mode_state.mode  --field imu
Each message has t (s since the log's first event), and utime, run and seq where it is ours. MIT's types export too.

npz   data["leg_state.q"] is (messages, joints); data["leg_state.t"] its times; log_start_us what t counts from.
mat   a struct per channel: leg_state.q, leg_state.t; text as cells.
csv   17 significant digits: every number comes back exactly. OUT.csv has one row per tick of the plant, joined on
      (run, seq); t is that of the tick's first message; a cell is empty where the channel said nothing in that tick.
      Channels that do not tick (motion_command, proc_health, foreign ones ...) go to OUT.<channel>.csv, one row per
      message. With --hold there is one file: each row has the newest value of every channel.
mcap  one JSON object per message, with a JSON schema per type; opens in Foxglove.

Arrays whose length changes are filled up with nan, -1 or "". Memory stays bounded: columns wait on disk beside OUT.
Exit code 0: done; 1: done, but the log is damaged or has messages that cannot be decoded; 2: usage, or not a log.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console

from procs.runtime.eventfile import LogError
from tools.arguments import interruptible, seconds
from tools.export.export import Wish, export
from tools.export.select import ExportError
from tools.progress import bar


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.export", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("log", type=Path)
    parser.add_argument("out", type=Path, help="its ending says the format: csv, npz, mat or mcap")
    parser.add_argument(
        "--field", action="append", default=[], metavar="PATH", help="channel, field or element; repeat"
    )
    parser.add_argument("--from", dest="begin", type=seconds, metavar="S", help="s since the log's start")
    parser.add_argument("--to", dest="end", type=seconds, metavar="S")
    parser.add_argument("--run", metavar="RUN", help="only this run of the plant: its id, first, last or longest")
    parser.add_argument(
        "--hold", action="store_true", help="csv: newest values in every row, one file for all channels"
    )
    args = parser.parse_args()
    console = Console(stderr=True)
    interruptible()
    try:
        with bar(console) as progress:
            task = progress.add_task("reading", total=None)
            done = export(
                Wish(args.log, args.out, args.field, args.begin, args.end, args.run, args.hold),
                lambda what, at, total: progress.update(task, description=what, completed=at, total=total),
            )
    except (ExportError, LogError, OSError) as error:
        print(f"export: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("export: interrupted, nothing written", file=sys.stderr)
        return 130
    for note in done.notes:
        print(f"note: {note}", file=sys.stderr)
    for path in done.files:
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    columns = sum(len(s.columns) for s in done.sources)
    print(f"{done.messages} messages of {len(done.sources)} channels, {columns} fields")
    return 1 if done.broken else 0


if __name__ == "__main__":
    sys.exit(main())
