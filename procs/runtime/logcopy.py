"""Copies a log event by event: same stamps, same bytes, without some channels."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from pathlib import Path

import lcm

from procs.runtime.logs import LogError, raw_events

EVENT_HEADER = 28  # bytes in the file before an event's channel name
REPORT = 1000  # events between two reports of progress


def copy_log(
    source: Path, target: Path, without: Collection[str] = (), progress: Callable[[int], None] = lambda done: None
) -> tuple[int, int]:
    """Copy all but some channels; events written and left out. `progress` gets the bytes read so far.

    One event is in memory at a time. The target appears only once it is complete.
    """
    if target.exists() and source.exists() and target.samefile(source):
        raise LogError(f"{target} is the log itself; give another name for the copy")
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    try:
        out = lcm.EventLog(str(part), "w", overwrite=True)
    except (ValueError, OSError) as error:
        raise LogError(f"cannot write {part}: {error}") from error
    written = left_out = done = 0
    try:
        for stamp, name, data in raw_events(source):
            done += EVENT_HEADER + len(name.encode()) + len(data)
            if name in without:
                left_out += 1
            else:
                out.write_event(stamp, name, data)
                written += 1
            if (written + left_out) % REPORT == 0:
                progress(done)
        progress(done)
        if not written + left_out:
            raise LogError(f"{source} holds no LCM events")
    except BaseException:
        out.close()
        part.unlink(missing_ok=True)
        raise
    out.close()
    os.replace(part, target)
    return written, left_out
