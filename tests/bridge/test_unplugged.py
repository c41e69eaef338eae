"""A bus or board that is unplugged: the others get their exit frames, it gets its own when it comes back."""

from __future__ import annotations

import numpy as np
import pytest

from procs.bridge.can_bus import CallableLink
from procs.bridge.errors import TransportError
from procs.bridge.lines import AGAIN
from procs.bridge.plant import FAREWELL, switch_off
from procs.bridge.sync import NoSync
from procs.wire.mit_can import Special

FL, BUS = slice(3, 6), 1  # the joints of the bus that is unplugged
OTHERS = [*range(3), *range(6, 12)]
HOW = ("raises", "raises oddly", "refuses", "deaf")


class Unplugged(CallableLink):
    """`how` it behaves while `out`: as an adapter that is gone, as one whose buffer is full, as a cut cable."""

    def __init__(self, link, how):
        super().__init__(link.answer, link.name)
        self.how, self.out, self.opened, self.sends = how, False, 0, 0
        self.back_after = None  # calls of send
        self.broken = False  # must be opened anew

    def open(self):
        if self.out:
            raise TransportError(f"{self.name} cannot be opened (No such device)")
        self.opened += 1
        self.broken = False

    def _fail(self):
        if self.how == "raises":
            raise OSError(19, "No such device")
        if self.how == "raises oddly":
            raise AttributeError("'NoneType' object has no attribute 'send'")

    def send(self, frame):
        self.sends += 1
        if self.back_after is not None and self.sends > self.back_after:
            self.out = False
        self.broken |= self.out and self.how.startswith("raises")
        if self.out or self.broken:
            self._fail()
            return self.how == "deaf"
        return super().send(frame)

    def receive(self, wait):
        if self.out or self.broken:
            self._fail()
            return None
        return super().receive(wait)


@pytest.fixture
def plugged(running, can_robot):
    """(bench, link) with drives running; without sleeping where real time would be waited for."""

    def make(how, protocol="mit", drive="mini_cheetah"):
        bench = running(can_robot(protocol, drive))
        drives = bench.plant.drives
        link = Unplugged(drives.links[BUS], how)
        drives.links = (*drives.links[:BUS], link, *drives.links[BUS + 1 :])
        drives._watch._lines = drives.links
        bench.plant.sync.emulated = True
        return bench, link

    return make


def after_ticks(bench):
    """Ticks from a fault to everything disabled."""
    description = bench.robot.description
    return round(description.safety.after_time / bench.robot.dt) + description.bus.faults_in_a_row + 3


@pytest.mark.parametrize("how", HOW)
def test_all_other_buses_get_their_exit_frames_and_the_unplugged_one_is_named(plugged, how, caplog):
    bench, link = plugged(how)
    link.out = True
    bench.run(30)
    reason = bench.plant.status().reason
    assert bench.loop.latched and "FL.abad, FL.hip, FL.knee: bus can1 silent" in reason
    assert how != "raises" or "No such device" in reason
    assert not bench.shafts.told[2][OTHERS].any() and bench.shafts.told[3][OTHERS].all()  # damping
    bench.plant.stop()
    assert not bench.shafts.on[OTHERS].any() and bench.shafts.on[FL].all()
    assert "FL.knee: no answer to its exit frames (bus can1 silent" in caplog.text


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize(("protocol", "drive"), [("mit", "mini_cheetah"), ("cybergear", "CyberGear")])
def test_a_bus_that_comes_back_while_the_bridge_runs_gets_its_exit_frames(plugged, how, protocol, drive):
    bench, link = plugged(how, protocol, drive)
    link.out = True
    bench.run(after_ticks(bench))
    assert bench.plant.starter.state == "disabled" and not bench.shafts.on[OTHERS].any() and bench.shafts.on[FL].all()
    link.out = False
    bench.run(AGAIN + 1 if how.startswith("raises") else 1)
    assert not bench.shafts.on.any()
    assert link.opened == how.startswith("raises")


def test_a_bus_that_comes_back_before_everything_is_disabled_is_damped_and_then_left(plugged):
    bench, link = plugged("raises")
    link.out = True
    bench.run(30)
    link.out = False
    bench.run(AGAIN + 1)
    assert bench.shafts.on.all() and not bench.shafts.told[2].any() and bench.shafts.told[3].all()
    bench.plant.stop()
    assert not bench.shafts.on.any()


@pytest.mark.parametrize("how", HOW)
def test_a_bus_that_comes_back_while_the_bridge_stops_gets_its_exit_frames(plugged, how):
    bench, link = plugged(how)
    link.out = True
    bench.run(5)
    link.back_after = link.sends + 60
    bench.plant.stop()
    assert not bench.shafts.on.any()


def test_exit_frames_stop_when_they_were_answered(plugged):
    bench, link = plugged("deaf")
    link.out = True
    bench.run(after_ticks(bench))
    link.out = False
    bench.run(3)
    bench.side.sent.clear()
    bench.run(3)
    assert Special.EXIT.value not in [frame.data for _, frame in bench.side.sent]


def test_stopping_waits_for_a_dead_bus_for_half_a_second_and_no_longer(plugged):
    bench, link = plugged("refuses")
    link.out = True
    before = link.sends
    bench.plant.stop()
    per_tick = (link.sends - before) / (FAREWELL / bench.robot.dt)
    assert 3 <= per_tick <= 6  # three motors: a command and an exit frame each


def test_a_guardian_serves_the_buses_that_can_be_opened(can_robot, bench):
    robot = can_robot()
    one = bench(robot)
    one.shafts.on[:] = True
    drives, sync = one.side.drives(robot), NoSync()
    link = Unplugged(drives.links[BUS], "raises")
    link.out, sync.emulated = True, True
    drives.links = (*drives.links[:BUS], link, *drives.links[BUS + 1 :])
    with pytest.raises(TransportError, match="can1 cannot be opened"):
        drives.open()
    drives.open(need_all=False)
    switch_off(robot, drives, sync, 1)
    assert not one.shafts.on[OTHERS].any() and one.shafts.on[FL].all()


@pytest.mark.parametrize("returns", ["running", "stopping"])
def test_a_board_that_raises_keeps_the_other_from_nothing_and_is_served_when_it_comes_back(running, robot, returns):
    bench = running(robot)
    bench.plant.sync.emulated = True
    board, calls = bench.plant.drives.boards[0], [0]
    answer, back_after = board.answer, [np.inf]

    def failing(frame):
        calls[0] += 1
        if calls[0] <= back_after[0]:
            raise OSError(5, "Input/output error")
        return answer(frame)

    board.answer = failing
    bench.run(after_ticks(bench))
    reason = bench.plant.status().reason
    assert "FL.knee: board0: transfer failed (" in reason and "Input/output error" in reason
    assert bench.plant.starter.state == "disabled" and bench.shafts.on[:6].all() and not bench.shafts.on[6:].any()
    back_after[0] = calls[0] + (0 if returns == "running" else 60)
    if returns == "running":
        bench.run(1)
    else:
        bench.plant.stop()
    assert not bench.shafts.on.any()
