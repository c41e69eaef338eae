"""Kernel filter for LCM's receiving socket: a packet of a channel nobody here reads does not wake the process.

On one multicast group every process gets every packet, and LCM's receiving thread wakes for each: on two cores that
costs more than the control itself. A classic BPF program on the socket drops, unread, what is not subscribed.
Where the socket cannot be found or the kernel refuses, nothing is filtered and all works as before, only slower.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import re
import socket
import struct
from collections.abc import Iterable

LOG = logging.getLogger(__name__)

SO_ATTACH_FILTER, SO_DETACH_FILTER = 26, 27  # linux/socket.h
LOAD = {4: 0x20, 2: 0x28, 1: 0x30}  # BPF_LD | BPF_ABS | size
JUMP_IF_EQUAL, RETURN = 0x15, 0x06
MAGIC, NAME = 8, 16  # offsets behind the 8 bytes of the UDP header: "LC02", sequence number, channel, 0
SHORT = int.from_bytes(b"LC02", "big")  # a message in one packet; fragments ("LC03") always pass
ALL, NONE = 0x40000, 0
MOST = 16  # channels; a longer program costs more than it saves

Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, operand


def program(names: Iterable[str]) -> list[Instruction]:
    """BPF instructions that pass these channels and all fragments."""
    out: list[Instruction] = [(LOAD[4], 0, 0, MAGIC), (JUMP_IF_EQUAL, 1, 0, SHORT), (RETURN, 0, 0, ALL)]
    for name in names:
        raw, parts = name.encode() + b"\0", []
        while raw:
            size = next(s for s in LOAD if s <= len(raw))
            parts.append(raw[:size])
            raw = raw[size:]
        at, behind = NAME, 2 * len(parts) - 1  # where a mismatch goes: behind this channel's RETURN
        for part in parts:
            out += [(LOAD[len(part)], 0, 0, at), (JUMP_IF_EQUAL, 0, behind, int.from_bytes(part, "big"))]
            at += len(part)
            behind -= 2
        out.append((RETURN, 0, 0, ALL))
    return [*out, (RETURN, 0, 0, NONE)]


class PacketFilter:
    """Finds LCM's receiving socket among the descriptors that the first subscription opens; make it before that."""

    def __init__(self, url: str) -> None:
        match = re.match(r"udpm://[\d.]*:(\d+)", url)
        self._port = int(match.group(1)) if match else 0
        self._before = _sockets() if self._port else set()
        self._found: int | None = None

    def set(self, names: Iterable[str] | None) -> bool:
        """Pass only these channels; None: all. False if nothing is filtered."""
        wanted = None if names is None else sorted(names)
        if self._found is None:
            self._found = self._find()
        if self._found is None:
            return False
        try:
            with socket.socket(fileno=os.dup(self._found)) as sock:  # the option stays with LCM's descriptor
                if wanted is None or len(wanted) > MOST:
                    with contextlib.suppress(FileNotFoundError):  # there was none
                        sock.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)
                    return False
                code = b"".join(struct.pack("HBBI", *line) for line in program(wanted))
                kept = ctypes.create_string_buffer(code, len(code))
                head = struct.pack("HL", len(code) // 8, ctypes.addressof(kept))
                sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, head)
        except OSError as error:
            LOG.debug("no packet filter: %s", error)
            return False
        return True

    def _find(self) -> int | None:
        for fd in _sockets() - self._before if self._port else ():
            with contextlib.suppress(OSError), socket.socket(fileno=os.dup(fd)) as sock:
                if sock.type == socket.SOCK_DGRAM and sock.getsockname()[1] == self._port:
                    return fd
        return None


def _sockets() -> set[int]:
    """Descriptors of this process that are sockets; empty where there is no /proc."""
    found = set()
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):  # the listing's own descriptor is closed again
                if os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                    found.add(int(name))
    return found
