"""Sampler: looks at the bus some 30 times a second without being woken by every packet.

Between two looks the kernel drops the channels that come with every tick (they are looked at, not recorded). What
must not be missed always passes: events, modes, and the joints' faults.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from lcmtypes.channels import (
    BODY_STATE,
    BUS_STATUS,
    CONTACT_PLAN,
    ESTOP,
    GROUND_TRUTH,
    IMU,
    JOINT_COMMAND,
    JOINT_STATE,
    LEG_COMMAND,
    LEG_STATE,
    MODE_STATE,
    MOTION_COMMAND,
    MPC_DEBUG,
    PARAMETER_RESPONSE,
    PROC_HEALTH,
    RESET,
    ROBOT_CONFIG,
    Channel,
)
from lcmtypes.message import DecodeError
from procs.runtime.bus import Bus

SAMPLED = (IMU, BODY_STATE, LEG_STATE, CONTACT_PLAN, LEG_COMMAND, JOINT_COMMAND, GROUND_TRUTH)  # every tick
NEWEST = (MOTION_COMMAND, MPC_DEBUG)  # now and then: the newest is enough
EVERY = (ESTOP, RESET, PROC_HEALTH, BUS_STATUS, ROBOT_CONFIG)  # none may be missed
WATCHED = (MODE_STATE, JOINT_STATE)  # every tick, and no change of what is no number may be missed
ALWAYS = (*NEWEST, *EVERY, *WATCHED, PARAMETER_RESPONSE)  # the last: for the page that asks
OPEN = 0.005  # s for which everything passes: two ticks and a half at 500 Hz

Heard = Callable[[Channel, Any], None]


class Sampler:
    """Hands on, at each look, every event and then the newest of everything else, decoded."""

    def __init__(self, bus: Bus, heard: Heard, opened: float = OPEN) -> None:
        self.bus, self._heard, self.opened = bus, heard, opened
        self._newest: dict[Channel, bytes] = {}
        self._watches = {channel: Watch() for channel in WATCHED}
        bus.subscribe_newest((*SAMPLED, *NEWEST), self._newest)
        bus.subscribe(EVERY, heard)
        for channel in WATCHED:
            bus.subscribe_raw(channel.name, self._watcher(channel))
        bus.listen_to(ALWAYS)

    def _watcher(self, channel: Channel) -> Callable[[str, bytes], None]:
        watch = self._watches[channel]

        def on_bytes(_name: str, data: bytes) -> None:
            if watch.changed(data):
                self._hand_on(channel, data)
                self._newest.pop(channel, None)
            else:
                self._newest[channel] = data

        return on_bytes

    def look(self) -> None:
        """Open, wait for a tick, hand on."""
        self.bus.listen_to(None)
        time.sleep(self.opened)
        self.bus.drain()
        self.bus.listen_to(ALWAYS)
        newest = dict(self._newest)
        self._newest.clear()
        for channel, data in newest.items():
            self._hand_on(channel, data)

    def listen(self) -> None:
        """Hand on what always passes, without looking at the rest."""
        self.bus.drain()

    def _hand_on(self, channel: Channel, data: bytes) -> None:
        try:
            message = channel.type.decode(data)
        except DecodeError as error:
            self.bus.counts["decode_errors"] += 1
            self.bus.last_error = f"{channel.name}: {error}"
            return
        if message.finite():
            self._watch(channel, message)
            self._heard(channel, message)
        else:
            self.bus.counts["not_finite"] += 1

    def _watch(self, channel: Channel, message: Any) -> None:
        if channel in self._watches:
            self._watches[channel].tail = tail_size(channel, message)


class Watch:
    """Tells whether a message says something else than the last one, its header and its trailing numbers aside."""

    def __init__(self) -> None:
        self.tail = 0  # bytes at the end that change every tick
        self._last = b""

    def changed(self, data: bytes) -> bool:
        """Compare with the last message."""
        used = int.from_bytes(data[32:36], "big", signed=True)
        part = data[36 + 8 * max(0, used) : len(data) - self.tail]
        if part == self._last:
            return False
        self._last = part
        return True


def tail_size(channel: Channel, message: Any) -> int:
    """Bytes of the fields that change every tick: mode_state.phase; joint_state.age, q, qd, tau."""
    return 8 if channel is MODE_STATE else 4 * 8 * message.num_joints
