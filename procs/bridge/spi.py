"""SPI transports: one full-duplex transfer of a board's 132 bytes. spidev is imported here alone, when it is needed."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from procs.bridge import clock
from procs.bridge.errors import TransportError
from procs.wire.emulated import spi_name
from procs.wire.spine import FRAME_BYTES

WAIT_FOR_EMULATOR = 10.0  # s for its sockets to appear
_DEVICE = re.compile(r"/dev/spidev(\d+)\.(\d+)")


class Board(Protocol):
    """One SPI device."""

    name: str

    def open(self) -> None:
        """Open it; TransportError."""

    def transfer(self, frame: bytes) -> bytes | None:
        """Bytes that came back while `frame` went out; None: the transfer failed."""

    def close(self) -> None:
        """Release it."""


class SpidevBoard:
    """A board behind the Linux SPI driver: mode 0, 8-bit words (procs.wire.spine swaps the bytes of each word)."""

    def __init__(self, device: str, speed_hz: int) -> None:
        self.name, self.speed_hz = device, speed_hz
        self._spi = None

    def open(self) -> None:
        """Open the device."""
        found = _DEVICE.fullmatch(self.name)
        if found is None:
            raise TransportError(f"bus.spine.boards: {self.name!r} is no SPI device, want /dev/spidevB.C")
        try:
            import spidev  # noqa: PLC0415
        except ImportError as error:
            raise TransportError("the package spidev is not installed: make setup-hardware") from error
        spi = spidev.SpiDev()
        try:
            spi.open(int(found[1]), int(found[2]))
            spi.max_speed_hz, spi.mode, spi.bits_per_word = self.speed_hz, 0, 8
        except OSError as error:
            raise TransportError(
                f"{self.name} cannot be opened ({error.strerror or error}): is SPI switched on, is the number right "
                "(ls /dev/spidev*), may this user open it (group spi)?"
            ) from error
        self._spi = spi

    def transfer(self, frame: bytes) -> bytes | None:
        """One transfer; the kernel's error is not hidden behind zeros as in the reference."""
        assert self._spi is not None
        try:
            return bytes(self._spi.xfer2(frame))
        except OSError:
            return None

    def close(self) -> None:
        """Close the device."""
        if self._spi is not None:
            self._spi.close()
            self._spi = None


class SocketBoard:
    """An emulated board: one datagram each way."""

    def __init__(self, directory: Path, board: int, timeout: float, wait: float = WAIT_FOR_EMULATOR) -> None:
        self.path = directory / spi_name(board)
        self.name = str(self.path)
        self._timeout, self._wait = timeout, wait
        self._socket: socket.socket | None = None

    def open(self) -> None:
        """Connect, waiting for the emulator to appear."""
        self._socket = connect(self.path, self._wait, self._timeout)
        self._wait = 0.0  # opened anew within a run, it is there or it is not

    def transfer(self, frame: bytes) -> bytes | None:
        """One transfer."""
        if self._socket is None:
            return None
        try:
            self._socket.send(frame)
            return self._socket.recv(2 * FRAME_BYTES) or None
        except OSError:
            return None

    def close(self) -> None:
        """Disconnect."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


class CallableBoard:
    """A board within the process: a function of the host's bytes."""

    def __init__(self, answer: Callable[[bytes], bytes | None], name: str = "memory") -> None:
        self.name, self.answer = name, answer
        self.opened = False

    def open(self) -> None:
        """Nothing to open."""
        self.opened = True

    def transfer(self, frame: bytes) -> bytes | None:
        """Ask the function."""
        return self.answer(frame)

    def close(self) -> None:
        """Nothing to close."""
        self.opened = False


def connect(path: Path, wait: float, timeout: float) -> socket.socket:
    """A connected SEQPACKET socket, waiting up to `wait` s for the other side."""
    end = clock.monotonic() + wait
    while True:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            sock.connect(str(path))
        except OSError as error:
            sock.close()
            if clock.monotonic() > end:
                raise TransportError(
                    f"{path}: nobody answers ({error.strerror or error}); start the emulated hardware first: "
                    f"python -m sim --serve-bus {path.parent}"
                ) from error
            clock.sleep(0.02)
        else:
            sock.settimeout(timeout)
            return sock
