"""Presence: whether the joint page is what the browser that holds shows. viser tells a server nothing of tabs, so the
page itself leaves its marks in the browser's localStorage, and says when it goes; the server reads them while a joint
is held.

Not by a hidden button that is pressed again and again: all controls of a page share one throttled sender, which keeps
only the newest message, so that such presses can push out others, an E-STOP too.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from tools.dashboard import style

KEY, AWAY = "joint-page", "away"
PERIOD = 0.1  # s between marks, and between readings

# An image that cannot be loaded is the one way for HTML that is put into a page to begin something. `viser-user:` is
# what viser puts before every key.
MARK = (
    "const at=this.parentElement,key='viser-user:%s';"
    "const shown=()=>at.isConnected&&at.getClientRects().length&&document.visibilityState==='visible';"
    "const mark=()=>{if(shown())localStorage.setItem(key,Date.now());"
    "else if(localStorage.getItem(key)!=='%s'&&was)localStorage.setItem(key,'%s');"
    "was=shown();if(!at.isConnected)clearInterval(timer)};"
    "let was=false;const timer=setInterval(mark,%d);mark()"
)


class Presence:
    """Built inside the page's tab."""

    def __init__(self, server: Any, patience: float) -> None:
        """patience: s without a new mark after which the page counts as left."""
        self._server, self._patience = server, patience
        self._client, self._heard = -1, 0.0
        script = style.safe(MARK % (KEY, AWAY, AWAY, round(1e3 * PERIOD)))
        image = f'<img src="data:," alt="" onerror="{script}">'
        server.gui.add_html(f'<div style="height:1px;overflow:hidden">{image}</div>')

    def __call__(self, client: int, now: float) -> bool:
        """This browser, which is watched, shows the page."""
        return client == self._client and now - self._heard < self._patience

    def watch(self, client: int, watched: Callable[[], bool]) -> None:
        """Somebody has pressed a button of the page, so it is there: see that it stays, as long as `watched`."""
        self._client, self._heard = client, time.monotonic()
        threading.Thread(target=self._watch, args=(client, watched), name="presence", daemon=True).start()

    def _watch(self, client: int, watched: Callable[[], bool]) -> None:
        last = None
        while watched():
            mark = self._read(client)
            if mark == AWAY:
                self._client = -1
                return
            if mark not in (None, last):
                last, self._heard = mark, time.monotonic()
            time.sleep(PERIOD)

    def _read(self, client: int) -> str | None:
        handle = self._server.get_clients().get(client)
        try:
            return None if handle is None else handle.local_storage.get_item(KEY, timeout=self._patience)
        except (TimeoutError, RuntimeError):  # gone, hung, or without localStorage: no mark
            return None
