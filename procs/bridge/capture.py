"""All CAN frames, sent and received, as candump lines, so that a run of the bus can be fed to the bridge again.

Every exchange has one stamp, its beginning: late frames found then and all sent frames carry it, and frames received in
the exchange a later one. So the file itself says which frame belongs to which tick.
"""

from __future__ import annotations

import time
from pathlib import Path

from procs.bridge.can_bus import Link
from procs.wire.candump import Logged, format_line
from procs.wire.frame import CanFrame

FLUSH = 500  # exchanges between two flushes of the file


class Capture:
    """The file and the stamp of the present exchange."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="ascii", buffering=1 << 20)
        self.stamp = 0
        self._exchanges = 0

    def begin(self) -> None:
        """A new exchange; stamps never repeat."""
        self.stamp = max(self.now(), self.stamp + 2)
        self._exchanges += 1
        if self._exchanges % FLUSH == 0:
            self._file.flush()

    @staticmethod
    def now() -> int:
        """Wall clock, us, as candump writes it."""
        return time.time_ns() // 1000

    def write(self, channel: str, frame: CanFrame, sent: bool, stamp: int) -> None:
        """One line."""
        self._file.write(format_line(Logged(stamp, channel, frame, sent)) + "\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class CapturedLink:
    """A link whose frames are written down."""

    def __init__(self, link: Link, capture: Capture, channel: str) -> None:
        self.link, self.capture, self.channel = link, capture, channel
        self.name = link.name
        self._sent_at = -1

    @property
    def last_error(self) -> str:
        """Of the link."""
        return self.link.last_error

    @property
    def errors(self) -> int:
        """Of the link."""
        return self.link.errors

    def open(self) -> None:
        """Open the link."""
        self.link.open()

    def close(self) -> None:
        """Close the link."""
        self.link.close()

    def retune(self, bitrate: int) -> bool:
        """As the link does it."""
        return self.link.retune(bitrate)

    def send(self, frame: CanFrame) -> bool:
        """Send and note; what the driver refused is not noted."""
        sent = self.link.send(frame)
        if sent:
            self._sent_at = self.capture.stamp
            self.capture.write(self.channel, frame, True, self.capture.stamp)
        return sent

    def receive(self, wait: float) -> CanFrame | None:
        """Receive and note; before the first frame sent in this exchange it is a late one."""
        frame = self.link.receive(wait)
        if frame is not None:
            stamp = self.capture.stamp
            if self._sent_at == stamp:
                stamp = max(self.capture.now(), stamp + 1)
            self.capture.write(self.channel, frame, False, stamp)
        return frame
