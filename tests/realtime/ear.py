"""Listens on an LCM URL and prints each new mode of the controller; run by path, in a network namespace of its own."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lcmtypes.channels import JOINT_STATE, MODE_STATE
from procs.runtime.bus import Bus

newest = {}
bus = Bus(sys.argv[1])
bus.subscribe_newest((MODE_STATE, JOINT_STATE), newest)
said, due = None, 0.0
while True:
    bus.wait(0.1)
    if MODE_STATE in newest:
        message = MODE_STATE.type.decode(newest[MODE_STATE])
        state = (message.mode, message.busy)
        if state != said:
            said = state
            print(f"mode {message.mode}{' busy' if message.busy else ''}", flush=True)
    if JOINT_STATE in newest and time.monotonic() > due:
        due = time.monotonic() + 0.5
        print(f"tick {JOINT_STATE.type.decode(newest[JOINT_STATE]).seq}", flush=True)
