"""Keeps bridge and emulated hardware in step (procs.wire.emulated); on real hardware there is nothing to do."""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path
from typing import Protocol

from procs.bridge.spi import WAIT_FOR_EMULATOR, connect
from procs.wire.emulated import ACK, DONE, SYNC, tick


class Sync(Protocol):
    """Brackets each tick."""

    emulated: bool

    def open(self) -> None:
        """Connect."""

    def begin(self, run: int, seq: int) -> bool:
        """Tick `seq` of `run` begins; seq below 0: drives are being started. False: nobody is there."""

    def done(self) -> None:
        """The last frame of the tick has been exchanged."""

    def close(self) -> None:
        """Disconnect."""


class NoSync:
    """Real hardware keeps its own time."""

    emulated = False

    def open(self) -> None:
        """Nothing."""

    def begin(self, run: int, seq: int) -> bool:
        """Nothing."""
        return True

    def done(self) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


class SocketSync:
    """TICK and ACK over DIR/sync; DONE where frames do not count themselves (CAN)."""

    emulated = True

    def __init__(self, directory: Path, says_done: bool, timeout: float, wait: float = WAIT_FOR_EMULATOR) -> None:
        self.path = directory / SYNC
        self._says_done, self._timeout, self._wait = says_done, timeout, wait
        self._socket: socket.socket | None = None

    def open(self) -> None:
        """Connect, waiting for the emulator to appear."""
        self._socket = connect(self.path, self._wait, self._timeout)

    def begin(self, run: int, seq: int) -> bool:
        """Open the tick and wait until the IMU's bytes are out."""
        if self._socket is None:
            return False
        try:
            self._socket.send(tick(run, seq))
            return self._socket.recv(64) == ACK
        except OSError:
            return False

    def done(self) -> None:
        """Close the tick."""
        if self._says_done and self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.send(DONE)

    def close(self) -> None:
        """Disconnect."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
