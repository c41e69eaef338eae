"""Only our own page may open the dashboard's socket.

Browsers let any web page open a socket to 127.0.0.1; without a look at the Origin header a page from somewhere else
could press our buttons. viser does not look, so the server it uses is told which origins there are.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Iterator
from unittest import mock

import websockets.asyncio.server

OURS = re.compile(r"http://(127\.0\.0\.1|localhost)(:\d+)?")


@contextlib.contextmanager
def only_ours() -> Iterator[None]:
    """Servers that viser starts meanwhile answer 403 to other origins."""
    guarded = functools.partial(websockets.asyncio.server.serve, origins=[OURS])
    with mock.patch.object(websockets.asyncio.server, "serve", guarded):
        yield
