"""The emulator's CAN buses: private, within the machine, and frames unchanged."""

from __future__ import annotations

import json

import pytest

from config.bus import CanLine
from procs.wire.frame import CanFrame
from sim.emulators.can_link import CanLink, places, to_frame, to_message

FRAMES = [
    CanFrame(0x123, b"\x01\x02\x03"),
    CanFrame(0x0295540B, bytes(range(8)), True),
    CanFrame(0x0A9, b"", False, True, 0),
    CanFrame(0x0A9, b"", False, True, 8),
    CanFrame(0x7FF, b""),
]
SOCKETCAN = [CanLine(channel=f"can{i}") for i in range(3)]


@pytest.mark.parametrize("frame", FRAMES)
def test_frames_survive_python_can(frame):
    assert to_frame(to_message(frame)) == frame


@pytest.mark.parametrize("interface", ["virtual", "udp_multicast"])
def test_a_bus_carries_frames_to_others_and_not_back_to_the_sender(interface, tmp_path):
    where = places(tmp_path, SOCKETCAN) if interface == "udp_multicast" else [("a", 0), ("b", 0), ("c", 0)]
    one, other = CanLink(interface, where), CanLink(interface, where)
    try:
        for line in range(3):
            for frame in FRAMES:
                one.send(line, frame)
        assert [other.receive(line) for line in range(3)] == [FRAMES] * 3
        assert [one.receive(line) for line in range(3)] == [[]] * 3
        other.send(1, FRAMES[0])
        assert one.receive(1) == [FRAMES[0]] and one.receive(0) == []
    finally:
        one.close()
        other.close()


def test_groups_are_private_written_down_and_kept(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = places(tmp_path / "a", SOCKETCAN), places(tmp_path / "b", SOCKETCAN)
    assert first != second and len(set(first)) == 3
    assert places(tmp_path / "a", SOCKETCAN) == first
    written = json.loads((tmp_path / "a" / "can.json").read_text())
    assert [(bus["channel"], bus["port"]) for bus in written["buses"]] == first
    with pytest.raises(ValueError, match="3 buses, the robot has 2"):
        places(tmp_path / "a", SOCKETCAN[:2])


def test_a_description_with_multicast_buses_is_obeyed(tmp_path):
    lines = [CanLine(interface="udp_multicast", channel=f"239.255.7.7|{31000 + i}") for i in range(2)]
    assert places(tmp_path, lines) == [("239.255.7.7", 31000), ("239.255.7.7", 31001)]
