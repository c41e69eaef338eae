"""CAN bridge on buses in memory: MIT mode, CyberGear, GIM6010; replies that are late, foreign, short, missing."""

import numpy as np
import pytest

from config.bus import CanBus, CanLine
from config.problems import ConfigError
from procs.bridge.build import bridge_plant, check
from procs.bridge.can_bus import bus_load, overload
from procs.bridge.joint_map import DriveCommand
from procs.bridge.plant import switch_off
from procs.bridge.sync import NoSync
from procs.wire import gim6010
from procs.wire.frame import CanFrame
from procs.wire.gim6010_tables import Heartbeat
from procs.wire.mit_can import Special

KINDS = [("mit", "mini_cheetah"), ("mit", "AK80-9_V2"), ("gim6010", "GIM6010-8"), ("cybergear", "CyberGear")]
BY_NAME = pytest.mark.parametrize("protocol, drive", KINDS)


@pytest.fixture
def mit(running, can_robot):
    return running(can_robot())


@BY_NAME
def test_state_and_command_reach_the_other_side(running, can_robot, protocol, drive):
    bench = running(can_robot(protocol, drive))
    bench.shafts.shake = 0.0
    bench.run(1)
    joints = bench.run(1)
    np.testing.assert_allclose(joints.q, bench.shafts.q, atol=1e-3)
    assert joints.tau_source == "measured" and not joints.fault.any()
    np.testing.assert_allclose(bench.shafts.told[0], bench.shafts.motors[0], atol=1e-3)
    np.testing.assert_allclose(bench.shafts.told[2], 20 / bench.shafts.ratio**2, atol=0.13)
    assert bench.shafts.on.all() and bench.plant.drives.counts.late == 0


@BY_NAME
def test_stop_sends_exit_frames_with_zero_gains_before_them(running, can_robot, protocol, drive):
    bench = running(can_robot(protocol, drive))
    assert bench.shafts.on.all()
    bench.plant.stop()
    assert not bench.shafts.on.any() and not bench.shafts.told[2:4].any()


def test_each_drive_is_entered_once_and_left_once(running, can_robot):
    bench = running(can_robot())
    sent = [frame for line, frame in bench.side.sent if line == 2 and frame.can_id == 3]
    assert [frame.data for frame in sent].count(Special.ENTER.value) == 1
    bench.command.enable[:] = 0
    bench.run(3)
    sent = [frame.data for line, frame in bench.side.sent if line == 2 and frame.can_id == 3]
    assert sent.count(Special.EXIT.value) == 1
    assert bench.side.mit.unpack_command(sent[sent.index(Special.EXIT.value) - 1])[2] == 0.0


def test_buses_are_served_in_turn(mit):
    mit.side.sent.clear()
    mit.run(1)
    assert [line for line, _ in mit.side.sent] == [0, 1, 2, 3] * 3


def test_the_first_reply_after_enable_is_not_trusted(bench, can_robot):
    one = bench(can_robot())
    one.run(3)
    one.hold()

    def spoil(joint, frame):
        entering = one.side.sent[-1][1].data == Special.ENTER.value
        if not entering:
            return [frame]
        return [frame._replace(data=frame.data[:1] + b"\x90\x00" + frame.data[3:])]

    one.side.spoil = spoil
    one.run(6)
    faults = [sample[-1][1].fault.any() for sample in one.samples[3:]]
    assert faults == [False, True, False, False, False, False]


def drop(joint, frame):
    return []


def wrong_length(joint, frame):
    return [frame._replace(data=frame.data[:5])]


def saturated(joint, frame):
    return [frame._replace(data=frame.data[:1] + b"\xff\xff" + frame.data[3:])]


def jump(joint, frame):
    raw = int.from_bytes(frame.data[1:3], "big") + 600
    return [frame._replace(data=frame.data[:1] + raw.to_bytes(2, "big") + frame.data[3:])]


@pytest.mark.parametrize(
    "spoil, why",
    [(drop, "no reply"), (wrong_length, "wrong length"), (saturated, "saturated value"), (jump, "impossible jump")],
)
def test_a_bad_reply_marks_its_joint_alone(mit, spoil, why):
    mit.side.spoil = lambda joint, frame: spoil(joint, frame) if joint == 7 else [frame]
    joints = mit.run(1)
    assert np.flatnonzero(joints.fault).tolist() == [7]
    assert mit.plant.sensing.why[7].startswith(why)


def test_a_silent_bus_is_named(mit, can_robot):
    mit.side.spoil = lambda joint, frame: [] if joint // 3 == 1 else [frame]
    mit.run(30)
    status = mit.plant.status()
    assert "FL.abad, FL.hip, FL.knee: bus can1 silent" in status.reason
    assert mit.loop.latched


def test_a_late_reply_is_thrown_away_and_counted(mit):
    held = []

    def late(joint, frame):
        if joint != 4:
            return [frame]
        held.append(frame)
        return []

    mit.side.spoil = late
    assert mit.run(1).fault[4]
    mit.side.links[1].waiting.append(held[-1])
    mit.side.spoil = lambda joint, frame: [frame]
    mit.shafts.q[4] += 0.005
    joints = mit.run(1)
    assert not joints.fault.any() and joints.q[4] == pytest.approx(mit.shafts.q[4], abs=2e-3)
    assert mit.plant.drives.counts.late == 1


def test_two_replies_of_one_motor_in_a_tick_the_newest_counts(mit):
    mit.side.spoil = lambda joint, frame: [frame, frame] if joint == 4 else [frame]
    mit.run(1)
    assert mit.plant.drives.counts.late == 1


def test_foreign_frames_and_a_second_stack_are_counted(mit):
    mit.side.links[0].waiting += [CanFrame(0x7DF, b"\1\2"), CanFrame(0, bytes([9]) * 6), CanFrame(2, b"\x7f" * 8)]
    joints = mit.run(1)
    counts = mit.plant.drives.counts
    assert not joints.fault.any() and counts.foreign == 2 and counts.intruders == 1
    assert mit.plant.status().intruders == 1


def test_full_buffers_are_counted_and_old_commands_do_not_wait(mit):
    mit.side.links[3].full = True
    joints = mit.run(2)
    assert mit.plant.drives.counts.refused == 6 and joints.fault[9:].all()
    assert "not sent, buffer full" in mit.plant.status().reason


def test_a_motors_error_byte_is_named_with_advice_and_leads_to_damping(mit):
    mit.side.tail = bytes([70, 2])
    joints = mit.run(1)
    assert joints.fault.all()
    assert "over-current: lower gains" in mit.plant.status().fault[0]
    mit.run(30)
    assert mit.loop.latched and "over-current" in mit.plant.status().reason


def test_temperature_warns_and_then_stops(mit):
    limit = mit.robot.description.bus.temperature_max
    mit.side.tail = bytes([round(40 + 0.95 * limit), 0])
    joints = mit.run(1)
    status = mit.plant.status()
    assert not joints.fault.any() and "let the motor cool down" in status.fault[0] and status.temperature[0] > 75
    mit.side.tail = bytes([round(41 + limit), 0])
    assert mit.run(1).fault.all()


def test_cybergear_faults_and_saturated_positions(running, can_robot):
    bench = running(can_robot("cybergear", "CyberGear"))
    bench.side.faults = 0b100
    assert bench.run(1).fault.all() and "over-temperature" in bench.plant.status().fault[5]
    bench.side.faults = 0
    bench.shafts.shake = 0.0
    half = bench.side.cyber.grid.high[0]
    bench.shafts.q[0] = half + 1.0  # beyond its range: it saturates and does not wrap
    joints = bench.run(1)
    assert joints.fault[0] and bench.plant.sensing.why[0] == "saturated value"


def test_gim_heartbeats_tell_of_faults_and_are_not_foreign(running, can_robot):
    bench = running(can_robot("gim6010", "GIM6010-8"))
    beat = gim6010.pack(2, "heartbeat", axis_error=0x40000, axis_state=1, flags=bytes(3))
    estimates = gim6010.pack(2, "get_encoder_estimates", position=0.0, velocity=0.0)
    supply = gim6010.pack(2, "get_bus_voltage_current", voltage=31.5, current=1.0)
    assert gim6010.axis_status(beat, Heartbeat.FROM_5_13).faults
    bench.side.links[0].waiting += [beat, estimates]
    assert not bench.run(1).fault.any()  # one alone may be a spoiled one
    bench.side.links[0].waiting += [beat, supply]
    joints = bench.run(1)
    status = bench.plant.status()
    assert np.flatnonzero(joints.fault).tolist() == [1]
    assert "over-voltage, 31.5 V" in status.fault[1] and "temp" in status.fault[1].lower()
    assert bench.plant.drives.counts.foreign == 0


def test_positions_of_mit_drives_are_unwrapped(running, can_robot):
    bench = running(can_robot())
    half = bench.plant.drives.half_range[0]
    motors = type(bench.shafts).motors.fget
    wrapped = property(lambda self: ((motors(self)[0] + half) % (2 * half) - half, motors(self)[1]))
    bench.side.shafts.__class__ = type("Wrapping", (type(bench.shafts),), {"motors": wrapped})
    bench.loop._check._upper, bench.loop._check._lower = np.full(12, 1e3), np.full(12, -1e3)
    bench.shafts.qd[3] = 35.0
    for _ in range(500):
        bench.shafts.q[3] += 35.0 * bench.robot.dt
        joints = bench.run(1)
    assert not joints.fault.any() and joints.q[3] == pytest.approx(bench.shafts.q[3], abs=0.02)
    assert bench.shafts.q[3] > 2 * half


def test_an_unreachable_target_gets_no_stiffness(mit):
    mit.plant.limits._upper = np.full(12, 1e3)  # which would keep such a target away
    mit.command.q_des[0] = 14.0
    mit.run(2)
    assert mit.shafts.told[2, 0] == 0.0 and mit.shafts.told[2, 1] > 0.0


def test_the_frame_gap_is_kept(bench, can_robot):
    import time

    one = bench(can_robot(frame_gap=1e-4))
    one.run(2)
    begin = time.perf_counter()
    one.run(1)
    assert time.perf_counter() - begin > 12e-4


def test_load_of_a_bus_is_computed_and_refused_by_name(can_robot):
    can = CanBus(protocol="mit", buses=[CanLine(channel="can0")])
    assert bus_load(can, 3, 500, can.buses[0]) == pytest.approx(0.405)
    assert not overload(can, [0] * 3, 500)
    (found,) = overload(can, [0] * 6, 500)
    assert found[0] == 0 and "6 motors at 500 Hz need 81 % of 1000000 bit/s, 80 % are allowed" in found[1]
    (found,) = overload(can.model_copy(update={"frame_gap": 1e-3}), [0] * 3, 500)
    assert "3 gaps of 1000 us do not fit into 2 ms" in found[1]
    slow = can_robot(buses=[CanLine(channel=f"can{k}", bitrate=250_000) for k in range(4)])
    with pytest.raises(ConfigError, match=r"bus\.can\.buses\.0.*need 162 %"):
        bridge_plant(slow, None)


def test_unknown_motor_types_and_a_slow_imu_line_are_refused(can_robot, changed):
    robot = can_robot(drive="AK47")
    imu = robot.description.bus.imu.model_copy(update={"baud": 115200})
    with pytest.raises(ConfigError, match=r"FR\.abad\.drive(.|\n)*bus\.imu\.baud"):
        check(changed(robot, imu=imu))


def test_drives_that_answer_only_in_motor_mode_are_entered_limp(bench, can_robot):
    one = bench(can_robot())
    one.side.spoil = lambda joint, frame: [frame] if one.shafts.on[joint] else []
    joints = one.run(3)
    assert not joints.fault.any() and one.shafts.on.all() and not one.shafts.told[2:4].any()
    one.hold()
    one.run(50)
    assert one.plant.starter.state == "running" and not one.loop.latched


def test_a_new_run_leaves_the_drives_before_it_enters_them_again(mit):
    assert mit.shafts.on.all()
    mit.side.sent.clear()
    mit.loop.start(8)
    mit.run(1)
    assert not mit.shafts.on.any()
    assert sum(frame.data == Special.EXIT.value for _, frame in mit.side.sent) == 12


@BY_NAME
def test_a_guardian_leaves_drives_that_somebody_else_had_entered(can_robot, bench, protocol, drive):
    robot = can_robot(protocol, drive)
    one = bench(robot)
    one.shafts.on[:] = True
    switch_off(robot, one.side.drives(robot), NoSync(), 1)
    assert not one.shafts.on.any()


@pytest.mark.parametrize("protocol, drive", [KINDS[0], KINDS[2], KINDS[3]])
def test_zero_takes_its_time_and_only_while_disabled(running, can_robot, protocol, drive):
    bench = running(can_robot(protocol, drive))
    drives, joints = bench.plant.drives, np.arange(12) == 4
    with pytest.raises(ValueError, match="enabled"):
        drives.zero(joints, 10)
    bench.command.enable[:] = 0
    bench.run(3)
    bench.side.sent.clear()
    drives.zero(joints, 10)
    assert len(bench.side.sent) == 1 and bench.side.sent[0][0] == 1
    mine = [0]

    def count(joint, frame):
        mine[0] += joint == 4
        return [frame]

    bench.side.spoil = count
    off = DriveCommand.zero(12)
    raws = [drives.exchange(off) for _ in range(12)]
    assert mine[0] == 2  # silence until its time is over
    assert [bool(raw.valid[4]) for raw in raws] == [False] * 10 + [True] * 2
    assert all(raw.valid[3] for raw in raws) and "zero" in raws[0].why[4]
    assert drives.counts.missing == 0


def test_plant_zeroes_between_start_and_the_first_sample(bench, can_robot):
    one = bench(can_robot())
    with pytest.raises(ValueError, match="between start"):
        one.run(1)
        one.plant.zero(np.ones(12, bool))
    one.loop.start(9)
    one.plant._begin(9)
    one.plant.sync.emulated = True  # no sleeping here
    one.side.sent.clear()
    one.plant.zero(np.arange(12) == 4)
    sent = [frame.data for line, frame in one.side.sent if line == 1 and frame.can_id == 2]
    assert sent[0] == Special.ZERO.value and len(sent) == 2  # set-zero, 1.5 s nothing, one command that is answered
    others = [frame for line, frame in one.side.sent if line == 1 and frame.can_id == 1]
    assert len(others) * one.robot.dt == pytest.approx(1.5, abs=0.01)


def test_without_a_drive_watchdog_it_is_said_before_the_drives_are_enabled(bench, changed, robot, caplog):
    one = bench(robot)
    one.run(3)
    assert "no drive watchdog" in one.plant.status().reason and "no drive watchdog" in caplog.text
    one.hold()
    one.run(50)
    assert "watchdog" not in one.plant.status().reason
    start = robot.description.bus.start.model_copy(update={"drive_watchdog": True})
    other = bench(changed(start=start))
    other.run(1)
    assert "watchdog" not in other.plant.status().reason
