"""A child process that switches the drives off when its parent is gone without a good-bye (killed, crashed).

Forked before any bus is open. It holds the reading end of a pipe and nothing else; at the end of file it opens the
buses itself and sends exit frames. It ignores the signals that end its parent, so that it always is the last.
"""

from __future__ import annotations

import logging
import os
import signal
import struct
from collections.abc import Callable
from typing import Protocol

LOG = logging.getLogger(__name__)
_RUN = struct.Struct(">cq")
RUN, GOOD_BYE = b"R", b"G"


class Watcher(Protocol):
    """What the plant tells its guardian."""

    def run(self, run: int) -> None:
        """A run begins: the drives may be on from now on."""

    def good_bye(self) -> None:
        """The drives are off and the buses closed."""


class NoGuardian:
    """In tests and rollouts nobody is killed."""

    def run(self, run: int) -> None:
        """Nothing."""

    def good_bye(self) -> None:
        """Nothing."""


class Guardian:
    """The parent's end. The child runs `prepare` at once (slow imports), `switch_off(run)` when the parent is gone."""

    def __init__(self, switch_off: Callable[[int], None], prepare: Callable[[], None] = lambda: None) -> None:
        reader, self._pipe = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._pipe)
            os._exit(_watch(reader, switch_off, prepare))
        os.close(reader)

    def run(self, run: int) -> None:
        """A run begins."""
        self._tell(_RUN.pack(RUN, run))

    def good_bye(self) -> None:
        """Let the child go."""
        self._tell(_RUN.pack(GOOD_BYE, 0))

    def close(self) -> None:
        """Close the pipe and wait for the child; without a good-bye before it, it switches the drives off."""
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1
            os.waitpid(self.pid, 0)

    def _tell(self, words: bytes) -> None:
        try:
            os.write(self._pipe, words)
        except OSError as error:
            LOG.error("the guardian is gone (%s): nobody switches the drives off if this process is killed", error)


def _watch(reader: int, switch_off: Callable[[int], None], prepare: Callable[[], None]) -> int:
    """The child's whole life; its exit status."""
    try:
        os.setsid()
        for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(sig, signal.SIG_IGN)
        prepare()
        run: int | None = None
        while words := os.read(reader, _RUN.size):
            kind, number = _RUN.unpack(words)
            run = number if kind == RUN else None
        if run is not None:
            LOG.error("the bridge is gone without a good-bye: switching the drives off")
            switch_off(run)
    except Exception:
        LOG.exception("guardian")
        return 1
    return 0
