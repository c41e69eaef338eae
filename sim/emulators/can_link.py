"""CAN buses of emulated drives through python-can: only buses that cannot reach a real one.

DIR/can.json tells the bridge where they are, in the order of bus.can.buses:
{"buses": [{"channel": "239.x.y.z", "port": N}, ...]}, to be opened as
can.Bus(interface="udp_multicast", channel=channel, port=port, hop_limit=0, fd=False). It is written before DIR/sync
takes connections. Where the description itself has udp_multicast buses (channel "group|port") those are taken, where
can.json is there already what it says, else a private group and ports are made up.
"""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import can

from config.bus import CanLine
from procs.wire.frame import CanFrame

OPTIONS = "can.json"
INTERFACES = ("udp_multicast", "virtual")  # no other interface is ever opened here
PORTS = (20000, 60000)


def open_bus(interface: str, channel: str, **options: object) -> can.BusABC:
    """A bus within this machine; ValueError for any interface that could move a motor."""
    if interface not in INTERFACES:
        raise ValueError(f"emulated drives on CAN interface {interface!r}: only {' and '.join(INTERFACES)} are allowed")
    if interface == "udp_multicast":
        options |= {"hop_limit": 0, "fd": False}
    return can.Bus(interface=interface, channel=channel, **options)  # type: ignore[arg-type]


def places(directory: Path, lines: Sequence[CanLine]) -> list[tuple[str, int]]:
    """(group, port) of each bus; written to DIR/can.json if that is not there yet."""
    path = directory / OPTIONS
    if path.exists():
        found = [(str(bus["channel"]), int(bus["port"])) for bus in json.loads(path.read_text())["buses"]]
        if len(found) != len(lines):
            raise ValueError(f"{path}: {len(found)} buses, the robot has {len(lines)}")
        return found
    if all(line.interface == "udp_multicast" and "|" in line.channel for line in lines):
        pairs = [line.channel.split("|") for line in lines]
        made = [(group, int(port)) for group, port in pairs]
    else:
        group = f"239.255.{1 + secrets.randbelow(254)}.{1 + secrets.randbelow(254)}"
        first = PORTS[0] + secrets.randbelow(PORTS[1] - PORTS[0])
        made = [(group, first + i) for i in range(len(lines))]
    text = json.dumps({"buses": [{"channel": channel, "port": port} for channel, port in made]})
    part = path.with_suffix(".part")
    part.write_text(text)
    part.rename(path)  # never seen half written
    return made


def to_message(frame: CanFrame) -> can.Message:
    """For python-can."""
    return can.Message(
        arbitration_id=frame.can_id, data=None if frame.remote else frame.data, is_extended_id=frame.extended,
        is_remote_frame=frame.remote, dlc=frame.length if frame.remote else len(frame.data),
    )  # fmt: skip


def to_frame(message: can.Message) -> CanFrame:
    """From python-can."""
    remote = message.is_remote_frame
    data = b"" if remote else bytes(message.data)
    return CanFrame(message.arbitration_id, data, message.is_extended_id, remote, message.dlc if remote else 0)


class CanLink:
    """All buses of a robot. `interface` and places: udp_multicast groups, or names of virtual buses."""

    def __init__(self, interface: str, where: list[tuple[str, int]]) -> None:
        self.buses: list[can.BusABC] = []
        self._own: list[Counter[CanFrame]] = [Counter() for _ in where]  # udp_multicast hears itself
        self._hears_itself = interface == "udp_multicast"
        try:
            for channel, port in where:
                options = {"port": port} if interface == "udp_multicast" else {}
                self.buses.append(open_bus(interface, channel, **options))
        except BaseException:
            self.close()
            raise

    def receive(self, line: int) -> list[CanFrame]:
        """All frames that wait on a bus."""
        out = []
        while (message := self.buses[line].recv(timeout=0)) is not None:
            frame = to_frame(message)
            if self._own[line][frame] > 0:
                self._own[line][frame] -= 1
            elif not message.is_error_frame:
                out.append(frame)
        return out

    def send(self, line: int, frame: CanFrame) -> None:
        """A frame to the host."""
        self.buses[line].send(to_message(frame))
        if self._hears_itself:
            self._own[line][frame] += 1

    def send_error(self, line: int, can_id: int, data: bytes) -> None:
        """An error frame of the host's own controller, as its driver would hand it over."""
        self.buses[line].send(can.Message(arbitration_id=can_id, data=data, is_error_frame=True))

    def close(self) -> None:
        """Shut all buses."""
        for bus in self.buses:
            bus.shutdown()
        self.buses = []
