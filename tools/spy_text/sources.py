"""Where messages come from: the multicast socket itself, with the kernel's time stamps, or any other LCM URL.

Reading the socket after a sleep costs a third of what LCM's thread takes, which wakes for each packet; and the kernel
stamps each packet as it comes, so that rate and jitter are true although it is read later.
"""

from __future__ import annotations

import re
import socket
import struct
import time
from typing import NamedTuple, Protocol

from procs.runtime.bus import Bus, BusError
from tools.spy_text.packets import Assembler

SO_TIMESTAMPNS, SO_RXQ_OVFL = 35, 40  # linux, asm-generic/socket.h
BUFFER = 8_000_000  # bytes asked for; the kernel gives what net.core.rmem_max allows
LARGEST = 65536  # bytes of a packet
PACKET_COST = 2500  # bytes of the kernel's buffer for a message of 1 kB
EXPECTED = 10_000  # messages a second that must fit between two reads
NAP, SHORTEST = 0.1, 0.01  # s between two reads


class Arrival(NamedTuple):
    """A message as it came."""

    t: float  # s, wall clock
    sender: tuple[str, int] | None
    name: str
    data: bytes


class Source(Protocol):
    """Messages of a URL."""

    exact: bool  # times are those of arrival
    nap: float  # s that may pass between two reads

    def read(self, most: int = ...) -> list[Arrival]:
        """What has come, without waiting."""

    def lost(self) -> int:
        """Messages that did not reach this computer or this process."""

    def close(self) -> None:
        """Leave."""


class SocketSource:
    """The multicast group of a udpm URL."""

    exact = True

    def __init__(self, url: str) -> None:
        """Raises BusError if the group cannot be joined."""
        match = re.match(r"udpm://([\d.]+):(\d+)", url)
        if match is None:
            raise BusError(f"no multicast URL: {url}; want udpm://239.255.76.67:7667?ttl=0")
        group, port = match.group(1), int(match.group(2))
        self.assembler, self._dropped, self._dropped_before = Assembler(), 0, None
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
            self._socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
            self._socket.setsockopt(socket.SOL_SOCKET, SO_RXQ_OVFL, 1)
            self._socket.bind((group, port))
            member = socket.inet_aton(group) + socket.inet_aton("0.0.0.0")
            self._socket.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, member)
        except (OSError, OverflowError) as error:
            self._socket.close()
            raise BusError(
                f"cannot join {group}:{port}: {error}. Is there a multicast route? Try: "
                "ip link set lo multicast on && ip route add 224.0.0.0/4 dev lo"
            ) from error
        self._socket.setblocking(False)
        room = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) / PACKET_COST
        self.nap = min(NAP, max(SHORTEST, 0.5 * room / EXPECTED))
        self._buffer = bytearray(LARGEST)
        self._buffers, self._view = [self._buffer], memoryview(self._buffer)

    def read(self, most: int = 5000) -> list[Arrival]:
        """What has come, without waiting."""
        out, receive, view, feed = [], self._socket.recvmsg_into, self._view, self.assembler.feed
        try:
            for _ in range(most):
                size, extras, _, sender = receive(self._buffers, 128)
                t = 0.0
                for _, kind, raw in extras:
                    if kind == SO_TIMESTAMPNS:
                        s, ns = struct.unpack("qq", raw)
                        t = s + 1e-9 * ns
                    elif kind == SO_RXQ_OVFL:
                        (self._dropped,) = struct.unpack("I", raw)
                message = feed(view[:size], sender)
                if message is not None:
                    out.append(Arrival(t or time.time(), sender, *message))
        except BlockingIOError:
            pass
        return out

    def lost(self) -> int:
        """Messages numbered by their senders that did not come (`dropped` of them for want of room here)."""
        return self.assembler.lost

    @property
    def dropped(self) -> int:
        """Packets the kernel had no room for: this process was too slow."""
        return self._dropped

    def close(self) -> None:
        """Leave the group."""
        self._socket.close()


class BusSource:
    """Any other LCM URL (tcpq, memq, file): messages get the time at which they are read."""

    exact = False
    nap = 0.05
    dropped = 0

    def __init__(self, bus: Bus) -> None:
        self.bus = bus
        self._came: list[Arrival] = []
        bus.subscribe_raw(".*", lambda name, data: self._came.append(Arrival(time.time(), None, name, data)))

    def read(self, most: int = 5000) -> list[Arrival]:
        """What has come, without waiting."""
        self._came = []
        self.bus.drain(most)
        return self._came

    def lost(self) -> int:
        """Not known."""
        return 0

    def close(self) -> None:
        """Nothing to do."""


def open_source(url: str) -> SocketSource | BusSource:
    """The source for a URL; raises BusError."""
    return SocketSource(url) if url.startswith("udpm") else BusSource(Bus(url))
