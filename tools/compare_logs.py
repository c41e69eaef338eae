"""Compare the pipeline's messages of two logs of the same scenario and seed (run ids aside). Exit code 0: identical."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from lcmtypes.channels import PIPELINE, Channel
from procs.runtime.logs import LogError
from procs.runtime.replay import compare
from tools.recording import Recording


def differences(a: Recording, b: Recording) -> list[str]:
    """One line per channel that is not the same in both."""
    out = []
    for channel in PIPELINE:
        line = _channel(channel, a.of(channel), b.of(channel))
        if line:
            out.append(line)
    return out


def _channel(channel: Channel, a: list[Any], b: list[Any]) -> str:
    left, right = {m.seq: m for m in a}, {m.seq: m for m in b}
    if left.keys() != right.keys():
        only = sorted(left.keys() ^ right.keys())
        return f"{channel.name}: {len(left)} and {len(right)} ticks, first that only one has: {only[0]}"
    for seq in sorted(left):
        x, y = left[seq].copy(), right[seq].copy()
        x.run = y.run = 0
        if channel.name == "joint_state":
            y.lock_step = x.lock_step  # says how the plant was run, not what it measured
        difference = compare(channel, x, y, 0.0)
        if difference:
            return str(difference)
    return ""


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m tools.compare_logs", description=__doc__)
    parser.add_argument("logs", type=Path, nargs=2)
    args = parser.parse_args()
    try:
        lines = differences(*(Recording.from_log(path) for path in args.logs))
    except LogError as error:
        print(f"compare_logs: {error}", file=sys.stderr)
        return 2
    for line in lines:
        print(line)
    if not lines:
        print(f"identical on {', '.join(c.name for c in PIPELINE)}")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
