"""What a socketcan interface is set to, as `ip -details -json link show` tells it: bit rate, state, listen-only."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass

PATIENCE = 5.0  # s


@dataclass(frozen=True)
class Interface:
    """Settings and state of one interface."""

    bitrate: int
    state: str = ""  # ERROR-ACTIVE, ERROR-PASSIVE, BUS-OFF, STOPPED
    listen_only: bool = False
    restart_ms: int = 0  # 0: after a bus-off it stays off


def show(channel: str) -> str:
    """The command's output; empty where there is no such command or interface."""
    command = ["ip", "-details", "-json", "link", "show", channel]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def read_interface(text: str) -> Interface | None:
    """From the command's output; None where it tells no bit rate (a virtual bus, an interface that is down)."""
    try:
        info = json.loads(text)[0]["linkinfo"]["info_data"]
        return Interface(
            int(info["bittiming"]["bitrate"]), str(info.get("state", "")),
            "LISTEN-ONLY" in info.get("ctrlmode", ()), int(info.get("restart_ms", 0)),
        )  # fmt: skip
    except (ValueError, KeyError, IndexError, TypeError):
        return None
