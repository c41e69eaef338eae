"""An old reply that comes again is known for what it is; joints at rest may say the same as before."""

import numpy as np
import pytest

from procs.bridge.joint_map import DriveCommand
from procs.bridge.spi import CallableBoard
from procs.bridge.spine_drives import MOVED, REPLAYED, SpineDrives
from procs.wire.spine import BoardData, pack_data


def reply(angle):
    return pack_data(BoardData(np.full((2, 3), angle), np.full((2, 3), 2.0), np.zeros(2, int), None))


@pytest.fixture
def drives(robot):
    wires = [robot.description.bus.wiring[name] for name in robot.joint_names]
    told = iter(())

    def of(*angles):
        nonlocal told
        told = iter([a for angle in angles for a in (angle, angle)])
        return drives

    drives = SpineDrives([CallableBoard(lambda _tx, k=k: reply(next(told)), f"board{k}") for k in range(2)], wires)
    drives.tell = of
    return drives


def valid(drives, count):
    return [bool(drives.exchange(DriveCommand.zero(12)).valid.all()) for _ in range(count)]


def test_an_old_reply_among_moving_ones_is_refused_and_named(drives):
    drives.tell(0.10, 0.13, 0.16, 0.10, 0.19)

    assert valid(drives, 5) == [True, True, True, False, True]
    assert drives.counts.rejected[REPLAYED] == 2


def test_a_joint_at_rest_may_flicker_between_two_values(drives):
    drives.tell(*(0.1 + 0.4 * MOVED * (k % 2) for k in range(8)))

    assert valid(drives, 8) == [True] * 8
    assert REPLAYED not in drives.counts.rejected
