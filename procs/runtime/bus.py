"""Bus: typed messages over LCM (udpm between processes, memq within one)."""

from __future__ import annotations

import logging
import select
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import lcm

from lcmtypes.channels import Channel
from lcmtypes.message import DecodeError, Message
from procs.runtime.packet_filter import PacketFilter

LOG = logging.getLogger(__name__)

DEFAULT_URL = "udpm://239.255.76.67:7667?ttl=0"  # never leaves the machine
MOST_AT_ONCE = 2000  # messages: some 20 ms
RECEIVE_BYTES = 4_000_000  # kernel buffer: LCM drops the newest message when one is full


class BusError(RuntimeError):
    """LCM cannot be reached."""


class Bus:
    """One connection. Counts what it cannot decode, what is not finite, and refuses to send what is not finite."""

    def __init__(self, url: str = DEFAULT_URL) -> None:
        if url.startswith("udpm") and "recv_buf_size" not in url:
            url += ("&" if "?" in url else "?") + f"recv_buf_size={RECEIVE_BYTES}"
        try:
            self._lcm = lcm.LCM(url)
        except RuntimeError as error:
            raise BusError(
                f"cannot open LCM at {url}: {error}. Is there a multicast route? Try: "
                "ip link set lo multicast on && ip route add 224.0.0.0/4 dev lo"
            ) from error
        self.url = url
        self.counts: Counter[str] = Counter()
        self.last_error = ""
        self._filter = PacketFilter(url)
        self._subscribed: list[tuple[Any, str | None]] = []  # handle and channel name; None: a pattern
        self._poll = None
        if not url.startswith("memq"):
            if self._lcm.fileno() < 0:
                raise BusError(f"cannot open LCM at {url}: another program has this port; choose another one")
            self._poll = select.poll()
            self._poll.register(self._lcm.fileno(), select.POLLIN)

    def subscribe(self, channels: Iterable[Channel], handler: Callable[[Channel, Any], None]) -> list[Any]:
        """Call `handler(channel, message)` for each good message during `wait` and `drain`."""
        handles = []
        for channel in channels:
            handle = self._lcm.subscribe(channel.name, self._decoder(channel, handler))
            handle.set_queue_capacity(0)  # unbounded: the runner drains all and keeps the newest
            handles.append(handle)
            self._subscribed.append((handle, channel.name))
        self._select_packets()
        return handles

    def unsubscribe(self, handles: Iterable[Any]) -> None:
        """Undo subscribe."""
        for handle in handles:
            self._lcm.unsubscribe(handle)
            self._subscribed = [(h, name) for h, name in self._subscribed if h is not handle]
        self._select_packets()

    def _select_packets(self) -> None:
        names = {name for _, name in self._subscribed}
        self._filter.set(None if None in names else {n for n in names if n is not None})

    def _decoder(self, channel: Channel, handler: Callable[[Channel, Any], None]) -> Callable[[str, bytes], None]:
        decode = channel.type.decode

        def on_bytes(_name: str, data: bytes) -> None:
            try:
                message = decode(data)
            except DecodeError as error:
                self._reject("decode_errors", f"{channel.name}: {error}")
                return
            if not message.finite():
                self._reject("not_finite", f"{channel.name} {message.seq}: not finite")
                return
            handler(channel, message)

        return on_bytes

    def _reject(self, kind: str, text: str) -> None:
        self.counts[kind] += 1
        self.last_error = text
        if self.counts[kind] in (1, 10, 100, 1000):
            LOG.warning("%s (%d so far)", text, self.counts[kind])

    def subscribe_raw(self, pattern: str, handler: Callable[[str, bytes], None]) -> Any:
        """Undecoded bytes of all channels matching a regular expression."""
        handle = self._lcm.subscribe(pattern, handler)
        handle.set_queue_capacity(0)
        self._subscribed.append((handle, None))
        self._select_packets()
        return handle

    def subscribe_newest(self, channels: Iterable[Channel], newest: dict[Channel, bytes]) -> None:
        """Keep only the newest bytes of each channel in `newest`, undecoded (viewers)."""
        for channel in channels:
            handle = self._lcm.subscribe(channel.name, partial(_keep, newest, channel))
            handle.set_queue_capacity(0)
            self._subscribed.append((handle, channel.name))
        self._select_packets()

    def listen_to(self, channels: Iterable[Channel] | None) -> None:
        """Have the kernel drop all but these (None: all that is subscribed): a viewer between two looks."""
        if channels is None:
            self._select_packets()
        else:
            self._filter.set({c.name for c in channels})

    def publish(self, channel: Channel, message: Message) -> bool:
        """Send; False and counted if the message is not finite or the network is down."""
        if not message.finite():
            self._reject("not_sent", f"{channel.name} {message.seq}: not finite, not sent")
            return False
        try:
            self._lcm.publish(channel.name, message.encode())
        except OSError as error:  # the interface was taken down: it may come back, and a plant must reach its end
            self._reject("unreachable", f"{channel.name} {message.seq}: not sent: {error}")
            return False
        return True

    def publish_raw(self, name: str, data: bytes) -> None:
        """Send bytes as they are (players, tests)."""
        self._lcm.publish(name, data)

    def wait(self, seconds: float) -> bool:
        """Wait for a message and handle all that are there; False after `seconds` without any."""
        if self._poll is None:
            if not self._lcm.handle_timeout(max(0, round(1e3 * seconds))):
                return False
        elif not select.select((self._lcm,), (), (), max(0.0, seconds))[0]:  # microseconds; LCM's own waits in ms
            return False
        self.drain()
        return True

    def drain(self, most: int = MOST_AT_ONCE) -> int:
        """Handle what has arrived, without waiting; returns how many, at the most `most`: a flood starves nobody."""
        n = 0
        if self._poll is None:
            while n < most and self._lcm.handle_timeout(0):
                n += 1
        else:
            while n < most and self._poll.poll(0):
                self._lcm.handle()
                n += 1
        return n


def _keep(newest: dict[Channel, bytes], channel: Channel, _name: str, data: bytes) -> None:
    newest[channel] = data
