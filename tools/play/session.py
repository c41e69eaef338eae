"""Player, keys and bus together: waits, sends, shows."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable

from procs.runtime.eventfile import EventFile
from tools.play.index import Index
from tools.play.keys import Keys
from tools.play.player import Player

Send = Callable[[str, bytes], None]
SPEEDS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
SEEKS = {"left": -1.0, "right": 1.0, "down": -5.0, "up": 5.0}  # s
HELP = "space pause · ← → 1 s · ↓ ↑ 5 s · . step · + - speed · l loop · home · q quit"
AT_ONCE = 500  # messages between two looks at the keys
LONGEST_WAIT = 0.1  # s
SHOW = 0.1  # s between two lines
GAP = 65_536  # bytes between two messages that are still read together
BAR = 30
BEHIND = 0.05  # s of log time from which on it is said


class Session:
    """Plays an indexed log."""

    def __init__(self, log: EventFile, index: Index, player: Player, send: Send) -> None:
        self._log, self._index, self._player, self._send = log, index, player, send
        self.sent = 0
        self.latest = 0.0  # s, the most that a message was sent behind its time
        self._shown = 0.0
        self._quit = False

    def run(self, keys: Keys) -> None:
        """Until the end, or q."""
        player = self._player
        self._publish(player.start(time.monotonic()))
        while not self._quit and not player.finished(now := time.monotonic()):
            wait = player.wait(now)
            if wait is not None and wait <= 0:
                self.latest = max(self.latest, -wait)
                self._publish(player.due(now, AT_ONCE))
                wait = 0.0
            if keys.active or wait != 0.0:
                for key in keys.wait(LONGEST_WAIT if wait is None else min(wait, LONGEST_WAIT)):
                    self.key(key)
            if keys.active and (now := time.monotonic()) - self._shown > SHOW:
                self._shown = now
                width = shutil.get_terminal_size().columns
                sys.stdout.write("\r\x1b[K" + self.line(now)[: width - 1])
                sys.stdout.flush()

    def key(self, key: str) -> None:
        """What a key does."""
        player, now = self._player, time.monotonic()
        self._shown = 0.0
        if key == " ":
            player.pause(now, not player.paused)
        elif key in SEEKS:
            self._publish(player.seek(now, player.position(now) + 1e6 * SEEKS[key]))
        elif key == "home":
            self._publish(player.seek(now, player.begin))
        elif key == ".":
            self._publish(player.step(now))
        elif key in "+=":
            player.set_speed(now, next((s for s in SPEEDS if s > player.speed * 1.001), SPEEDS[-1]))
        elif key in "-_":
            player.set_speed(now, next((s for s in reversed(SPEEDS) if s < player.speed * 0.999), SPEEDS[0]))
        elif key == "l":
            player.loop = not player.loop
        elif key in ("q", "\x04"):
            self._quit = True

    def line(self, now: float) -> str:
        """One line of status."""
        player = self._player
        here, length = player.position(now), max(player.end - player.begin, 1)
        cells = round(BAR * (here - player.begin) / length)
        to_next = player.until_next(now)
        if to_next is None:
            what = "no more"
        else:
            what = f"next in {1e3 * max(to_next, 0.0):.1f} ms" if to_next > -BEHIND else f"behind by {-to_next:.2f} s"
        return (
            f"{'||' if player.paused else '> '} {here / 1e6:9.3f} of {player.end / 1e6:.3f} s "
            f"[{'#' * cells}{'.' * (BAR - cells)}] {player.speed:g}x{' loop' if player.loop else ''}  {what}  "
            f"{self.sent} sent"
        )

    def _publish(self, which: list[int]) -> None:
        """Send messages; those that lie close together in the file are read at once."""
        index, k = self._index, 0
        while k < len(which):
            first = last = which[k]
            while k + 1 < len(which) and which[k + 1] == last + 1 and index.at[last + 1] - index.at[last] < GAP:
                k += 1
                last = which[k]
            base = int(index.at[first])
            data = self._log.read(base, int(index.at[last] + index.size[last]) - base)
            part = slice(first, last + 1)
            starts, sizes = (index.at[part] - base).tolist(), index.size[part].tolist()
            for start, size, channel in zip(starts, sizes, index.channel[part].tolist(), strict=True):
                self._send(index.channels[channel], data[start : start + size])
            self.sent += last + 1 - first
            k += 1
