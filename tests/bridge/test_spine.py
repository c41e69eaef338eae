"""SPIne bridge on boards in memory: timing, safe start, exit, rejected frames."""

import numpy as np
import pytest

from lcmtypes.channels import BUS_STATUS
from procs.wire import spine

ZEROS = bytes(spine.FRAME_BYTES)


def last_commands(bench):
    return [spine.unpack_command(frames[-1]) for frames in bench.side.frames]


def test_the_command_of_a_sample_acts_from_the_next_tick_on(running, robot):
    bench = running(robot)
    bench.hold(kp=30.0)
    bench.run(1)  # answers sample k
    assert last_commands(bench)[0].kp[0, 0] == pytest.approx(20.0)
    bench.run(1)
    assert last_commands(bench)[0].kp[0, 0] == pytest.approx(30.0)


def test_state_and_gains_are_turned_with_signs_ratios_and_offsets(running, robot):
    bench = running(robot)
    bench.shafts.shake = 0.0
    joints = [bench.run(1) for _ in range(2)][-1]
    np.testing.assert_allclose(joints.q, bench.shafts.q, atol=1e-6)
    assert not joints.fault.any() and not joints.status
    knee = robot.description.bus.wiring["FR.knee"].ratio
    np.testing.assert_allclose(last_commands(bench)[0].kp[0], [20, 20, 20 / knee**2], rtol=1e-6)
    np.testing.assert_allclose(bench.shafts.told[0], bench.shafts.motors[0], atol=1e-6)


def test_nothing_is_enabled_before_a_command_asks_for_it(bench, robot):
    one = bench(robot)
    one.run(50)
    assert one.side.flags == [[0, 0], [0, 0]]
    assert not one.shafts.told[2:].any()


def test_gains_are_zero_while_drives_are_entered_and_ramp_up_after(bench, robot):
    one = bench(robot)
    one.run(3)
    one.hold()
    seen = []
    one.run(60, lambda k: seen.append((one.plant.starter.state, one.shafts.told[2, 0], one.shafts.on.all())))
    start = robot.description.bus.start
    states = [state for state, _, _ in seen]
    entered, ramping = states.index("entering"), states.index("ramping")
    assert (ramping - entered) * robot.dt >= start.settle
    assert all(kp == 0 for state, kp, _ in seen if state in ("off", "entering", "holding"))
    ramp = [kp for state, kp, _ in seen if state == "ramping"]
    assert np.all(np.diff(ramp) >= -1e-6) and ramp[2] < 4.0
    assert abs(len(ramp) * robot.dt - start.ramp) < 3 * robot.dt
    assert seen[-1] == ("running", pytest.approx(20.0), True)


def test_drives_are_told_their_measured_position_while_they_are_entered(bench, robot):
    one = bench(robot)
    one.run(3)
    one.hold(q=robot.pose("stand"))
    one.run(5)
    assert one.plant.starter.state == "entering"
    np.testing.assert_allclose(one.shafts.told[0], one.shafts.motors[0], atol=4 * one.shafts.shake)


def test_the_first_replies_after_enable_are_not_trusted(bench, robot):
    one = bench(robot)
    one.run(3)
    one.hold()

    def lie(k):
        one.shafts.q[:] = robot.pose("down") + (0.02 if k in (1, 2, 3) else 0)  # near enough to look possible

    one.run(10, lie)
    samples = [sample[-1][1] for sample in one.samples[3:]]
    assert [bool(joints.fault.any()) for joints in samples[:6]] == [False, True, True, True, False, False]


def test_a_joint_outside_its_limits_is_isolated_with_its_name_and_the_reason(bench, robot, changed):
    quick = changed(start=robot.description.bus.start.model_copy(update={"settle": 0.004, "retries": 2}))
    one = bench(quick)
    one.shafts.q[4] = quick.q_upper[4] + 0.3
    one.run(3)
    one.hold()
    one.run(60)
    status = one.plant.status()
    assert "outside its limits" in status.fault[4] and status.retries == 1
    assert "FL.hip" in status.reason and status.state == "fault"
    assert one.shafts.told[2, 4] == 0.0
    assert one.loop.latched.startswith("joint FL.hip")


def test_a_drive_that_comes_late_is_retried(bench, robot):
    one = bench(robot)
    one.run(3)
    one.shafts.q[2] = 3.5  # beyond its limit at first
    one.plant.sensing.begin()
    one.hold()
    one.run(14)
    one.plant.sensing.begin()
    one.shafts.q[2] = robot.pose("down")[2]
    one.run(20)
    assert one.plant.status().retries >= 1
    assert not one.plant.starter.isolated.any()


@pytest.mark.parametrize(
    "spoil, reason",
    [
        (lambda f: f[:40] + bytes([f[40] ^ 4]) + f[41:], "bad checksum"),
        (lambda f: ZEROS, "all zero (dead bus)"),
        (lambda f: bytes(a | b for a, b in zip(f, f[2:] + f[:2], strict=True)), "bad checksum"),
        (lambda f: f[1:] + f[:1], "bad checksum"),
        (lambda f: f[:-4], "wrong length"),
        (lambda f: None, "transfer failed"),
        (lambda f: b"\xff" * spine.FRAME_BYTES, "bad checksum"),
    ],
    ids=["bit", "zero", "or", "shifted", "short", "failed", "ones"],
)
def test_a_bad_frame_is_rejected_and_the_last_state_kept(running, robot, spoil, reason):
    bench = running(robot)
    good = bench.run(1)
    bench.side.spoil[1] = spoil
    bench.shafts.q += 0.01
    joints = bench.run(2)
    assert joints.fault.tolist() == [0] * 6 + [1] * 6
    np.testing.assert_allclose(joints.q[6:], good.q[6:], atol=1e-3)
    assert joints.age[6] == pytest.approx(2 * robot.dt)
    assert bench.plant.drives.counts.rejected[reason] == 2
    bench.side.spoil[1] = lambda f: f
    assert not bench.run(1).fault.any()


def with_values(change):
    """A well-formed reply with changed numbers."""

    def spoil(frame):
        data = spine.unpack_data(frame)
        change(data)
        return raw_data(data)

    return spoil


def raw_data(data):
    """As spine.pack_data, but it writes NaN too."""
    words = np.zeros(15, "<u4")
    floats = words.view("<f4")
    floats[:12] = np.concatenate([data.q.T.reshape(-1), data.qd.T.reshape(-1)])
    words[12:14] = data.flags
    words[14] = np.bitwise_xor.reduce(words[:14])
    wire = np.zeros(66, ">u2")
    wire[:30] = words.view("<u2")
    return wire.tobytes()


def set_q(value):
    return with_values(lambda data: data.q.__setitem__((0, 1), value))


@pytest.mark.parametrize(
    "spoil, reason",
    [
        (set_q(np.nan), "NaN or infinity"),
        (set_q(12.5), "saturated value"),
        (with_values(lambda d: d.q.__setitem__((0, 1), d.q[0, 1] + 0.2)), "impossible jump"),
        (with_values(lambda d: d.qd.__setitem__((0, 1), 44.0)), "impossible jump"),
        (with_values(lambda d: d.qd.__setitem__((0, 1), 63.0)), "impossible velocity"),
    ],
    ids=["nan", "saturated", "jump", "velocity against dq", "velocity"],
)
def test_an_impossible_value_spoils_only_its_joint(running, robot, spoil, reason):
    bench = running(robot)
    bench.side.spoil[0] = spoil
    joints = bench.run(1)
    assert joints.fault.tolist() == [0, 1] + [0] * 10
    assert bench.plant.sensing.why[1] == reason


def test_a_dead_board_leads_to_damping_with_the_reason_and_then_to_disable(running, robot):
    bench = running(robot)
    bench.side.spoil[0] = lambda f: ZEROS
    bench.run(robot.description.bus.faults_in_a_row + 2)
    assert bench.loop.latched and bench.loop.state == "latched"
    status = bench.plant.status()
    assert status.state == "fault" and "board0: all zero (dead bus)" in status.reason
    assert any(m.state == "fault" for m in bench.status)
    bench.run(2)
    assert not bench.shafts.told[2].any() and bench.shafts.told[3].all()  # damping on the wire
    bench.run(round(robot.description.safety.after_time / robot.dt) + 2)
    assert bench.plant.starter.state == "disabled" and bench.side.flags == [[0, 0], [0, 0]]


def test_a_still_robot_repeats_its_bytes_and_is_believed(running, robot):
    bench = running(robot)
    bench.shafts.shake = 0.0
    joints = bench.run(100)
    assert not joints.fault.any()
    assert bench.plant.drives.counts.stale > 190 and joints.age[0] > 0.19


@pytest.mark.parametrize("how", ["moving", "pushed"])
def test_a_frozen_board_is_found(running, robot, how):
    bench = running(robot)
    bench.shafts.shake = 0.0
    bench.shafts.qd[1] = 6.0 if how == "moving" else 0.0

    def move(k):
        bench.shafts.q[1] += bench.shafts.qd[1] * robot.dt

    bench.run(5, move)
    frozen = []
    bench.side.spoil[0] = lambda f: frozen.append(f) or frozen[0]
    if how == "pushed":
        bench.command.tau_ff[1] = 8.0
    joints = bench.run(15, move)
    assert joints.fault[:6].all() and not joints.fault[6:].any()
    assert bench.plant.sensing.why[0] == "the same sample again and again"


def test_positions_are_unwrapped_over_several_turns(running, robot):
    bench = running(robot)
    half = bench.plant.drives.half_range[0]

    def wrap(data):
        data.q[:] = (data.q + half) % (2 * half) - half

    bench.side.spoil[0] = bench.side.spoil[1] = with_values(wrap)
    bench.shafts.qd[0] = 35.0
    q = []
    bench.plant.limits._upper = np.full(12, 1e3)
    bench.loop._check._upper = np.full(12, 1e3)  # a rig's endless joint
    bench.loop._check._lower = np.full(12, -1e3)
    for _ in range(600):
        bench.shafts.q[0] += 35.0 * robot.dt
        joints = bench.run(1)
        q.append(joints.q[0] - bench.shafts.q[0])
        assert not joints.fault[0]
    assert bench.shafts.q[0] > 3 * half
    assert np.abs(q).max() < 5e-3
    bench.hold()
    bench.run(2)
    assert abs(bench.shafts.told[0, 0]) <= half  # re-wrapped


def test_estop_pin_and_soft_stops_are_shown_by_joint(running, robot):
    bench = running(robot)
    bench.side.reply_flags[0] = (2, 1)
    bench.run(1)
    status = bench.plant.status()
    assert [bool(text) for text in status.fault] == [False, True, False, True] + [False] * 8
    assert "soft stop" in status.fault[1]
    bench.side.reply_flags[1] = (spine.ESTOP_MARK, spine.ESTOP_MARK)
    joints = bench.run(1)
    assert joints.fault.tolist() == [0] * 6 + [1] * 6
    assert "e-stop pin is low" in joints.status or "e-stop pin is low" in bench.plant.status().fault[6]


def test_a_command_of_a_foreign_run_never_moves_a_motor(running, robot):
    bench = running(robot)
    before = bench.shafts.told.copy()
    foreign = bench.command.copy()
    foreign.run, foreign.seq = bench.loop.run + 1, bench.loop.seq
    foreign.tau_ff[:] = 10.0
    assert not bench.loop.accept(foreign)
    bench.run(3)
    np.testing.assert_allclose(bench.shafts.told[4], before[4], atol=1e-6)
    assert bench.loop.counts.refused == 1


def test_an_estop_is_damping_on_the_wire_one_tick_later(running, robot):
    bench = running(robot)
    bench.loop.latch("estop by test")
    bench.run(1)  # act() writes it at the end of this tick
    bench.run(1)
    assert not bench.shafts.told[2].any() and not bench.shafts.told[4].any() and bench.shafts.told[3].all()


def test_damping_passes_whole_while_the_gains_ramp(bench, robot):
    one = bench(robot)
    one.run(3)
    one.hold()
    one.run(20)
    assert one.plant.starter.state == "ramping"
    one.loop.latch("estop by test")
    one.run(2)
    assert one.shafts.told[3, 0] == pytest.approx(robot.description.control.damping[0])


def test_stop_disables_and_closes_and_can_be_called_twice(running, robot):
    bench = running(robot)
    assert bench.shafts.on.all()
    bench.plant.stop()
    bench.plant.stop()
    assert not bench.shafts.on.any() and not bench.shafts.told[2:].any()
    assert not bench.plant.drives.boards[0].opened


def test_a_new_run_starts_safely_again(running, robot):
    bench = running(robot)
    bench.loop.start(8)
    bench.run(2)
    assert bench.plant.starter.state == "entering"  # the held command enables at once


def test_status_comes_at_ten_hertz(running, robot):
    bench = running(robot)
    bench.samples.clear()
    bench.run(500)
    sent = sum(channel is BUS_STATUS for sample in bench.samples for channel, _ in sample)
    assert sent == pytest.approx(10, abs=1)


def test_torque_is_computed_from_the_command_in_force(running, robot):
    bench = running(robot)
    bench.shafts.shake = 0.0
    bench.command.tau_ff[0] = 3.0
    taus = [bench.run(1).tau[0] for _ in range(6)]
    old = 2 + robot.description.bus.spine.reply_age  # written after a sample, sent in the next, and it comes back old
    assert np.allclose(taus[:old], 0.0, atol=0.1) and np.allclose(taus[old:], 3.0, atol=0.1)
    assert bench.samples[-1][-1][1].tau_source == "computed"


def test_overload_by_i2t_is_a_fault_with_words(running, robot):
    bench = running(robot)
    bench.plant.protection.heat[3] = 1.1
    joints = bench.run(1)
    assert joints.fault[3] == 1 and "overload by I^2 t" in bench.plant.status().fault[3]


def test_a_garbage_start_is_waited_for(bench, robot):
    one = bench(robot)
    count = []
    one.side.spoil[0] = lambda f: (b"\x55" * 132 if len(count) < 20 else f) if not count.append(0) else f
    joints = one.run(1)
    assert not joints.fault.any() and not one.loop.latched


def test_a_first_sample_needs_a_second_that_agrees(bench, robot):
    one = bench(robot)
    count = []

    def lie(frame):
        count.append(0)
        return with_values(lambda d: d.q.__setitem__((0, 1), d.q[0, 1] + 1.0))(frame) if len(count) == 1 else frame

    one.side.spoil[0] = lie
    joints = one.run(1)
    assert not joints.fault.any() and joints.q[1] == pytest.approx(one.shafts.q[1], abs=2e-3)


def test_the_bridges_own_limits_hold_whoever_commands(running, robot):
    bench = running(robot)
    bench.command.q_des[0], bench.command.qd_des[1], bench.command.tau_ff[2] = 5.0, 100.0, -99.0
    bench.command.kp[3] = -5.0
    bench.run(2)
    ratio = bench.shafts.ratio
    margin = robot.description.safety.joint_margin
    assert abs(bench.shafts.told[0, 0]) == pytest.approx(robot.q_upper[0] + margin)
    assert abs(bench.shafts.told[1, 1]) == pytest.approx(robot.qd_max[1])
    assert abs(bench.shafts.told[4, 2]) == pytest.approx(robot.tau_max[2] / ratio[2], rel=1e-6)
    assert bench.shafts.told[2, 3] == 0.0
    assert "commands limited" in bench.plant.status().reason


def test_a_command_that_is_not_finite_never_gets_through(running, robot):
    bench = running(robot)
    bad = bench.command.copy()
    bad.kp[4] = np.nan
    bench.plant.write(bad)  # past the plant loop, which refuses it too
    bench.plant.read()
    assert np.isfinite(bench.shafts.told).all()
    assert bench.shafts.told[2, 4] == 0.0 and bench.shafts.told[2, 5] > 0.0


def test_an_isolated_drive_stays_without_gains_while_the_others_are_driven(bench, robot):
    one = bench(robot)
    one.shafts.q[4] = robot.q_upper[4] + 0.3
    one.loop.latch = lambda reason: None  # the loop would damp all of them
    one.run(3)
    one.hold()
    one.run(round(5 * (robot.description.bus.start.settle / robot.dt + 10)) + 10)
    assert one.plant.starter.isolated.tolist() == [j == 4 for j in range(12)]
    assert one.shafts.told[2, 4] == 0.0 and one.shafts.told[2, 5] > 0.0


def test_scottys_boards_report_measured_torque(running, robot, changed):
    from procs.wire.spine_scotty import pack_torques

    scotty = changed(spine=robot.description.bus.spine.model_copy(update={"variant": "scotty"}))
    bench = running(scotty)
    bench.side.reply_flags[0] = pack_torques(np.array([[1.5, -2.0, 0.25], [0.0, 0.0, 0.0]]), np.array([2, 0])).tolist()
    joints = bench.run(1)
    sign, ratio = bench.shafts.sign, bench.shafts.ratio
    np.testing.assert_allclose(joints.tau[:3], np.array([1.5, -2.0, 0.25]) * (sign * ratio)[:3], atol=0.11)
    assert joints.tau_source == "measured"
    assert "soft stop of this leg (hip)" in bench.plant.status().fault[0]
