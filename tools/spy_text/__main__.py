"""Text spy: all channels of an LCM URL with type, rate, age, jitter, bandwidth and losses, and the fields of one.

Needs only a terminal (the real lcm-spy needs Java and a display). Our types and MIT's are told by their fingerprint;
others are shown as bytes. Enter opens a channel or an array, / filters, p pauses, esc goes back, q quits.

jitter: standard deviation of the time between messages; gap: the longest time; lost: holes in the plant's tick of
channels sent every tick; errors: messages of a wrong type or that cannot be decoded; from: how many senders.
All but totals are taken over the last 5 s. It sends nothing.

Exit code 0; 1: --once heard nothing; 2: bad usage or no LCM.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
import time

from procs.runtime.bus import DEFAULT_URL, BusError
from procs.runtime.onlooker import stand_back
from tools.spy_text.sources import BusSource, SocketSource, open_source
from tools.spy_text.table import as_data, header, line, summary
from tools.spy_text.traffic import Traffic

ONCE = 3.0  # s


def parser() -> argparse.ArgumentParser:
    """The command line."""
    out = argparse.ArgumentParser(
        prog="python -m tools.spy_text", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    out.add_argument("--lcm-url", default=DEFAULT_URL)
    out.add_argument(
        "--filter", default="", metavar="WORDS", help="only channels whose name or type contains all words"
    )
    out.add_argument(
        "--once", nargs="?", const=ONCE, type=float, metavar="S",
        help=f"listen for S seconds (default {ONCE:g}), print the table, end; needs no terminal",
    )  # fmt: skip
    out.add_argument("--json", action="store_true", help="as --once, as JSON (s, Hz, bytes/s)")
    return out


def once(source: SocketSource | BusSource, url: str, seconds: float, words: str, as_json: bool) -> int:
    """Listen, print; Ctrl-C prints what there is. The exit code."""
    ended, traffic, begin = threading.Event(), Traffic(), time.monotonic()
    for sig in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sig, lambda *_: ended.set())
    while not ended.is_set() and time.monotonic() < begin + seconds:
        ended.wait(min(source.nap, max(0.0, begin + seconds - time.monotonic())))
        for arrival in source.read():
            traffic.add(*arrival)
    traffic.check()
    passed = time.monotonic() - begin
    rows = traffic.rows(time.time(), source.exact, words)
    lost = max(0, source.lost() - source.dropped), source.dropped
    if as_json:
        print(json.dumps(as_data(rows, *lost, passed, url), indent=1))
    elif rows:
        print(header(), *map(line, rows), summary(rows, *lost, passed), sep="\n")
    if not rows:
        kept = f" of {len(traffic.channels)} channels none matches {words!r}" if traffic.channels else " nothing heard"
        print(f"spy:{kept} in {passed:.1f} s on {url}. Does the stack run on this URL?", file=sys.stderr)
    return 0 if rows else 1


def main() -> int:
    """Entry point."""
    usage = parser()
    args = usage.parse_args()
    seconds = ONCE if args.once is None and args.json else args.once
    if seconds is not None and not 0 < seconds < float("inf"):
        usage.error(f"--once is {seconds:g} s, want more than 0")
    if seconds is None and not (sys.stdin.isatty() and sys.stderr.isatty()):
        usage.error("no terminal: use --once or --json")
    try:
        source = open_source(args.lcm_url)
    except BusError as error:
        print(f"spy: {error}", file=sys.stderr)
        return 2
    stand_back()
    try:
        if seconds is not None:
            return once(source, args.lcm_url, seconds, args.filter, args.json)
        from tools.spy_text.screen import Spy  # noqa: PLC0415 - textual: only with a screen

        app = Spy(source, args.lcm_url, args.filter)
        app.run()
        return app.return_code or 0
    finally:
        source.close()


if __name__ == "__main__":
    sys.exit(main())
