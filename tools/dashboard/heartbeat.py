"""Heartbeat: asks the browser that has control for an answer, again and again. A page that is hidden, hung or asleep
does not draw, does not answer, and loses control, even while its connection stays open."""

from __future__ import annotations

import threading
from typing import Any

from tools.dashboard.commands import Commands

PERIOD = 0.2  # s between questions
PATIENCE = 1.5  # s without an answer, unless told otherwise; a busy browser draws seldom
KEY = "heartbeat"


class Heartbeat:
    """A thread that takes control away from a client that falls silent."""

    def __init__(self, server: Any, commands: Commands, patience: float = PATIENCE) -> None:
        self._server, self._commands, self._patience = server, commands, patience
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def _run(self) -> None:
        while not self._ended.wait(PERIOD):
            owner = self._commands.owner
            if owner is not None:
                client = self._server.get_clients().get(owner)
                why = "the browser has gone" if client is None else ask(client, self._patience)
                if why:
                    self._commands.release(owner, why)

    def stop(self) -> None:
        """End."""
        self._ended.set()
        self._thread.join()


def ask(client: Any, patience: float) -> str:
    """Why a client counts as gone; empty if it answers. The answer comes from the page's own drawing loop."""
    try:
        client.local_storage.get_item(KEY, timeout=patience)
    except TimeoutError:
        return f"the browser has not answered for {patience:g} s (is its window hidden?)"
    except RuntimeError as error:
        return "" if "localStorage" in str(error) and "disconnected" not in str(error) else "the browser has gone"
    return ""
