"""Tells systemd how the service is (sd_notify(3)): ready, its status in words, still alive, stopping."""

from __future__ import annotations

import os
import socket


class Notify:
    """Sends to $NOTIFY_SOCKET; does nothing where there is none."""

    def __init__(self, address: str | None = None) -> None:
        address = os.environ.get("NOTIFY_SOCKET", "") if address is None else address
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) if address else None
        self._ready = False

    def send(self, **values: str) -> None:
        """KEY=value lines."""
        if self._socket is not None:
            text = "\n".join(f"{key}={value}" for key, value in values.items())
            try:
                self._socket.sendto(text.encode(), self._address)
            except OSError:  # the service manager is busy or gone: never a reason to stop a robot
                return

    def alive(self, status: str, ready: bool) -> None:
        """The loop turns; `ready` once all processes are there."""
        first = ready and not self._ready
        self._ready |= ready
        self.send(WATCHDOG="1", STATUS=status, **({"READY": "1"} if first else {}))

    def stopping(self, status: str) -> None:
        """The stop has begun."""
        self.send(STOPPING="1", STATUS=status)

    def close(self) -> None:
        """Free the socket."""
        if self._socket is not None:
            self._socket.close()
