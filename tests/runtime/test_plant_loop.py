"""Plant loop: watchdog, latch, run check, in plant ticks."""

from __future__ import annotations

import numpy as np
import pytest

from lcmtypes.channels import ESTOP, IMU, JOINT_STATE, RESET
from lcmtypes.generated import Estop, Reset
from procs.runtime.plant_loop import PlantLoop

WATCHDOG = 10  # ticks of 2 ms


def run_ticks(loop, command, ticks, answer=True):
    for _ in range(ticks):
        loop.sample()
        if answer:
            assert loop.accept(command(loop.run, loop.seq))
        loop.act()


def is_damping(message, robot):
    kd = robot.per_joint(robot.description.control.damping)
    return not message.kp.any() and not message.tau_ff.any() and message.enable.all() and (message.kd == kd).all()


def test_a_sample_is_imu_then_joint_state_with_the_ticks_header(loop):
    for seq in range(3):
        sent = loop.sample()
        assert [channel for channel, _ in sent] == [IMU, JOINT_STATE]
        assert all((m.run, m.seq, m.utime) == (7, seq, 2000 * seq) for _, m in sent)


def test_drives_are_off_until_the_first_command(loop, toy_plant):
    run_ticks(loop, None, 50, answer=False)
    assert loop.state == "waiting"
    assert not any(m.enable.any() for m in toy_plant.written)


def test_the_newest_command_reaches_the_plant(loop, toy_plant, command):
    run_ticks(loop, command, 3)
    assert [m.seq for m in toy_plant.written] == [0, 1, 2]
    assert loop.state == "running"


def test_damping_begins_exactly_20_ms_after_the_last_accepted_commands_sample(loop, toy_plant, command, robot):
    run_ticks(loop, command, 5)
    toy_plant.written.clear()
    run_ticks(loop, command, 12, answer=False)
    damped = [is_damping(m, robot) for m in toy_plant.written]
    # ages 1..9 still act; age 10 is 20 ms
    assert damped == [False] * (WATCHDOG - 1) + [True] * 3
    assert loop.state == "damping"
    assert loop.why == "damping at tick 14: no joint_command for 10 ticks"
    assert toy_plant.written[-1].reason == "watchdog"


def test_damping_by_the_watchdog_ends_when_fresh_commands_come_again(loop, toy_plant, command, robot):
    run_ticks(loop, command, 2)
    run_ticks(loop, command, 30, answer=False)
    run_ticks(loop, command, 1)
    assert loop.state == "running"
    assert not is_damping(toy_plant.written[-1], robot)


@pytest.mark.parametrize("after", ["damp", "disable"])
def test_after_500_ms_the_drives_do_what_the_description_says(toy_plant, changed_safety, command, after):
    loop = PlantLoop(toy_plant, changed_safety(after=after))
    loop.start(7)
    run_ticks(loop, command, 1)
    toy_plant.written.clear()
    run_ticks(loop, command, WATCHDOG + 250 + 5, answer=False)
    enabled = [bool(m.enable.all()) for m in toy_plant.written]
    if after == "damp":
        assert all(enabled)
    else:
        assert enabled.index(False) == WATCHDOG + 250 - 1
        assert not any(enabled[WATCHDOG + 250 :])


def test_an_estop_latches_damping_against_good_commands(loop, toy_plant, command, robot):
    run_ticks(loop, command, 2)
    loop.latch("estop by hand: test")
    run_ticks(loop, command, 100)
    assert all(is_damping(m, robot) for m in toy_plant.written[2:])
    assert (loop.state, loop.counts.estops) == ("latched", 1)
    assert "estop by hand" in loop.why


def test_an_estop_before_the_first_command_damps_too(loop, toy_plant, robot):
    loop.latch("early")
    run_ticks(loop, None, 1, answer=False)
    assert is_damping(toy_plant.written[0], robot)


def test_release_and_a_new_run_open_the_latch(loop, toy_plant, command, robot):
    loop.latch("a")
    loop.release()
    run_ticks(loop, command, 1)
    assert not is_damping(toy_plant.written[-1], robot)
    loop.latch("b")
    loop.start(8)
    run_ticks(loop, command, 1)
    assert loop.latched == ""
    assert not is_damping(toy_plant.written[-1], robot)


def test_the_scenarios_own_estop_and_reset_are_obeyed(loop):
    estop = Estop()
    estop.source = "scenario"
    loop.obey(ESTOP, estop)
    assert "estop by scenario" in loop.latched
    loop.obey(RESET, Reset())
    assert loop.latched == ""


def test_lost_sensors_latch_and_only_a_release_with_good_sensors_ends_it(loop, toy_plant, command, robot):
    def lose(_imu, joints):
        joints.q[3] = np.nan

    run_ticks(loop, command, 2)
    toy_plant.change = lose
    run_ticks(loop, command, 25)
    assert loop.state == "running"
    run_ticks(loop, command, 1)
    assert loop.state == "latched"
    loop.release()
    run_ticks(loop, command, 1)
    assert loop.state == "latched"  # it is still lost
    toy_plant.change = lambda imu, joints: None
    run_ticks(loop, command, 1)
    loop.release()
    run_ticks(loop, command, 1)
    assert loop.state == "running"
    assert not is_damping(toy_plant.written[-1], robot)


def refused(loop, message):
    before = loop.counts.refused
    return not loop.accept(message) and loop.counts.refused == before + 1


def test_commands_of_another_run_are_refused(loop, command):
    loop.sample()
    assert refused(loop, command(6, 0))
    assert "run 6, this is 7" in loop.counts.last_error


def test_commands_of_the_future_are_refused(loop, command):
    loop.sample()
    assert refused(loop, command(7, 1))
    assert "tick 1 at tick 0" in loop.counts.last_error


def test_commands_older_than_the_newest_are_refused_and_the_same_again_is_not(loop, command):
    run_ticks(loop, command, 5)
    assert refused(loop, command(7, 3))
    assert loop.accept(command(7, 4))
    assert loop.counts.accepted == 5


def test_commands_beyond_the_watchdog_are_refused(loop, command):
    run_ticks(loop, None, WATCHDOG + 1, answer=False)
    assert refused(loop, command(7, 0))
    assert loop.accept(command(7, 1))


def test_commands_for_another_robot_are_refused(loop, command):
    loop.sample()
    assert refused(loop, command(7, 0, joints=18))
    assert "18 joints, this robot has 12" in loop.counts.last_error


@pytest.mark.parametrize("field", ["q_des", "qd_des", "tau_ff", "kp", "kd"])
def test_commands_that_are_not_finite_are_refused(loop, command, field):
    loop.sample()
    message = command(7, 0)
    getattr(message, field)[5] = np.nan
    assert refused(loop, message)
    assert "not finite" in loop.counts.last_error


def test_ticks_without_a_command_are_counted_once_one_comes(loop, command):
    run_ticks(loop, command, 2)
    run_ticks(loop, command, 3, answer=False)
    run_ticks(loop, command, 1)
    assert (loop.counts.accepted, loop.counts.missed) == (3, 3)
