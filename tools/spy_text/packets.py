"""LCM's UDP packets: bytes in, whole messages out; and what each sender numbered but did not reach us. Pure.

Packet, big-endian: "LC02", number of the sender's message, channel, 0, message. A message too long for one packet comes
in fragments: "LC03", number, length of the message, offset, fragment, fragments, then in the first fragment channel, 0.
Source: lcm/udpm_util.h of the LCM library.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

SHORT, LONG = int.from_bytes(b"LC02", "big"), int.from_bytes(b"LC03", "big")
HEAD = struct.Struct(">II")
FRAGMENT = struct.Struct(">IIIIHH")
LONGEST_NAME = 63
MOST_OPEN = 16  # messages in fragments that are incomplete at a time
MOST_BYTES = 1 << 26  # of a message in fragments
RESTART = 1000  # a number that many lower than the last is a new program on an old port, not a late packet

Sender = tuple[str, int]  # address and port: one per LCM instance


@dataclass
class Numbers:
    """The sender's numbering: one for each message, on whatever channel."""

    last: int
    lost: int = 0

    def take(self, number: int) -> None:
        """Count what is missing between the last number and this one."""
        ahead = (number - self.last) & 0xFFFFFFFF
        if 0 < ahead < 1 << 31:
            self.lost += ahead - 1
            self.last = number
        elif self.last - number > RESTART or number == 0:
            self.last = number
        elif ahead:
            self.lost = max(0, self.lost - 1)  # late, but here


@dataclass
class _Open:
    """A message of which fragments are missing."""

    name: str
    data: bytearray
    missing: set[int]


@dataclass
class Assembler:
    """Packets to messages; counts what is no LCM packet and what was lost."""

    foreign: int = 0
    senders: dict[Sender, Numbers] = field(default_factory=dict)
    _open: dict[tuple[Sender, int], _Open] = field(default_factory=dict)

    @property
    def lost(self) -> int:
        """Messages that were sent and did not come, of all senders."""
        return sum(numbers.lost for numbers in self.senders.values())

    def feed(self, packet: bytes | bytearray | memoryview, sender: Sender) -> tuple[str, bytes] | None:
        """One packet; channel and message if it completes one."""
        packet = bytes(packet)
        if len(packet) < HEAD.size:
            self.foreign += 1
            return None
        magic, number = HEAD.unpack_from(packet)
        if magic == SHORT:
            end = packet.find(b"\0", HEAD.size, HEAD.size + LONGEST_NAME + 1)
            if end < 0:
                self.foreign += 1
                return None
            self._number(sender, number)
            return packet[HEAD.size : end].decode(errors="replace"), packet[end + 1 :]
        if magic == LONG and len(packet) >= FRAGMENT.size:
            return self._fragment(packet, sender)
        self.foreign += 1
        return None

    def _number(self, sender: Sender, number: int) -> None:
        numbers = self.senders.get(sender)
        if numbers is None:
            self.senders[sender] = Numbers(number)
        else:
            numbers.take(number)

    def _fragment(self, packet: bytes, sender: Sender) -> tuple[str, bytes] | None:
        _, number, size, offset, index, count = FRAGMENT.unpack_from(packet)
        body = packet[FRAGMENT.size :]
        if size > MOST_BYTES or not index < count:
            self.foreign += 1
            return None
        key = sender, number
        if key not in self._open:
            if sender not in self.senders or self.senders[sender].last != number:
                self._number(sender, number)
            while len(self._open) >= MOST_OPEN:
                del self._open[next(iter(self._open))]
            self._open[key] = _Open("", bytearray(size), set(range(count)))
        message = self._open[key]
        if index == 0:
            name, _, body = body.partition(b"\0")
            message.name = name.decode(errors="replace")
        if offset + len(body) > len(message.data) or index not in message.missing:
            return None  # nonsense, or a second time
        message.data[offset : offset + len(body)] = body
        message.missing.discard(index)
        if message.missing:
            return None
        del self._open[key]
        return message.name, bytes(message.data)
