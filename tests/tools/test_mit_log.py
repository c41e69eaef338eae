"""Logs of ours to logs of MIT's software and back: bytes, samples, our estimate on them, what is refused."""

from __future__ import annotations

from pathlib import Path

import lcm
import numpy as np
import pytest

from config.load import load_robot
from config.scenario import Scenario
from lcmtypes.channels import BODY_STATE, GROUND_TRUTH, IMU, JOINT_COMMAND, JOINT_STATE, ROBOT_CONFIG
from lcmtypes.mit_channels import LEG_CONTROL_DATA, MICROSTRAIN, SIMULATOR_STATE, SPI_COMMAND, SPI_DATA
from procs.estimator.estimator import SPEC as ESTIMATOR
from procs.mit_relay.relay import SPEC
from procs.model.robot import Robot
from procs.runtime.engine import Engine
from procs.runtime.logs import LogWriter, raw_events, read_log
from procs.runtime.replay import replay
from tools import mit_log
from tools.recording import Recording
from tools.stack import rollout

DURATION = 2.6


@pytest.fixture(scope="module")
def robot():
    return Robot(load_robot("mini_cheetah"))


@pytest.fixture(scope="module")
def ours(robot, tmp_path_factory):
    """A log of ours: stand up and trot."""
    commands = [{"t": 0.0, "mode": "stand"}, {"t": 1.4, "mode": "walk", "gait": "trot", "vx": 0.4}]
    path = tmp_path_factory.mktemp("ours") / "ours.lcmlog"
    rollout(Scenario(name="relayed", duration=DURATION, commands=commands), robot, seed=3, log=path)
    return path


@pytest.fixture(scope="module")
def theirs(ours):
    """The same as MIT's software would have logged it."""
    path = ours.with_name("theirs.lcmlog")
    mit_log.to_mit(ours, path, None, mit_log.Console(quiet=True))
    return path


@pytest.fixture(scope="module")
def returned(theirs, robot):
    """MIT's log converted back: recording, summary, path."""
    return back(theirs, robot)


@pytest.fixture
def chosen(theirs, tmp_path):
    """Part of MIT's log: some channels under these names, from some time on."""

    def make(names, shift=lambda name, stamp: stamp, keep=lambda name, k: True):
        path, count = tmp_path / "chosen.lcmlog", dict.fromkeys(names, 0)
        log = lcm.EventLog(str(path), "w", overwrite=True)
        for stamp, name, data in raw_events(theirs):
            if name in names:
                count[name] += 1
                if keep(name, count[name] - 1):
                    log.write_event(shift(name, stamp), names[name], data)
        log.close()
        return path

    return make


def back(source: Path, robot: Robot, rate: float | None = None):
    """Convert; the new log as a recording, and the summary."""
    target = source.with_name(source.stem + "_back.lcmlog")
    summary = mit_log.from_mit(source, target, robot, rate, mit_log.Console(quiet=True))
    return Recording.from_log(target), summary, target


def column(recording, channel, field):
    return np.array([getattr(m, field) for m in recording.of(channel)])


def estimated(robot, imus, joints):
    """Our estimate of samples alone: body_state by tick."""
    engine, out = Engine(ESTIMATOR, robot), []
    for imu, sample in zip(imus, joints, strict=True):
        inputs = {c: None for c in ESTIMATOR.channels} | {IMU: imu, JOINT_STATE: sample}
        out += [m for c, m in engine.step(inputs) if c is BODY_STATE]
    return out


def test_every_tick_is_relayed_as_the_process_does_it(ours, theirs, robot):
    recording, engine, want = Recording.from_log(ours), Engine(SPEC, robot), []
    by_seq = {c: {m.seq: m for m in recording.of(c)} for c in SPEC.channels}
    for seq in range(len(recording.of(JOINT_COMMAND))):
        inputs = {c: by_seq[c].get(seq) for c in SPEC.channels}
        want += [(c.name, m.encode()) for c, m in engine.step(inputs)]
    assert [(name, data) for _, name, data in raw_events(theirs)] == want
    assert {name for name, _ in want} == {c.name for c in SPEC.writes}


def test_mits_log_keeps_the_times_of_ours(ours, theirs):
    times = [e.stamp for e in read_log(ours, {JOINT_COMMAND})]
    assert [stamp for stamp, name, _ in raw_events(theirs) if name == "leg_control_data"] == times


def test_a_recorder_that_mixed_up_the_order_changes_nothing(ours, theirs, robot, tmp_path):
    events = list(raw_events(ours))
    for k in range(0, len(events) - 40, 40):
        events[k : k + 40] = [(events[k][0], n, d) for _, n, d in sorted(events[k : k + 40], key=lambda e: e[2][::-1])]
    log = lcm.EventLog(str(tmp_path / "mixed.lcmlog"), "w", overwrite=True)
    for stamp, name, data in events:
        log.write_event(stamp, name, data)
    log.close()
    mit_log.to_mit(tmp_path / "mixed.lcmlog", tmp_path / "out.lcmlog", robot, mit_log.Console(quiet=True))
    first, again = ([(n, d) for _, n, d in raw_events(p)] for p in (theirs, tmp_path / "out.lcmlog"))
    assert again == first


def test_the_samples_come_back_to_32_bits(ours, returned, robot):
    original, (recording, summary, _) = Recording.from_log(ours), returned
    assert summary.ticks == len(original.of(JOINT_STATE)) == round(DURATION / robot.dt)
    for channel, fields in (
        (JOINT_STATE, ("q", "qd", "utime", "seq")),
        (IMU, ("quat", "gyro", "accel", "utime", "seq")),
    ):
        for field in fields:
            a, b = column(original, channel, field), column(recording, channel, field)
            np.testing.assert_allclose(b, a, rtol=3e-7, atol=1e-7)


def test_the_torque_is_the_one_commanded_a_tick_before(theirs, ours, returned):
    recording, _, _ = returned
    told = [LEG_CONTROL_DATA.type.decode(d).tau_est for _, n, d in raw_events(theirs) if n == "leg_control_data"]
    np.testing.assert_array_equal(column(recording, JOINT_STATE, "tau")[1:], np.array(told)[:-1])
    sensed = column(Recording.from_log(ours), JOINT_STATE, "tau")
    shifted, same = column(recording, JOINT_STATE, "tau")[1:], np.array(told)[1:]
    assert np.abs(shifted - sensed[1:]).mean() < np.abs(same - sensed[1:]).mean()


def test_our_estimate_of_mits_log_is_that_of_the_samples_to_32_bits(ours, returned, robot):
    """Against the estimator on the original samples with the same torques and, as in MIT's log, without a plan."""
    original, (recording, _, _) = Recording.from_log(ours), returned
    joints = original.of(JOINT_STATE)
    for sample, converted in zip(joints, recording.of(JOINT_STATE), strict=True):
        sample.tau[:] = converted.tau
    want, got = estimated(robot, original.of(IMU), joints), recording.of(BODY_STATE)
    for field, atol in (("position", 2e-5), ("v_world", 2e-4), ("rpy", 1e-6), ("omega_body", 1e-6), ("contact", 0.05)):
        a = np.array([getattr(m, field) for m in want])
        b = np.array([getattr(m, field) for m in got])
        np.testing.assert_allclose(b, a, atol=atol, err_msg=field)
    assert [m.valid for m in got] == [m.valid for m in want]


def test_our_estimate_of_mits_log_is_near_the_original_and_the_truth(ours, returned):
    original, (recording, summary, _) = Recording.from_log(ours), returned
    for field, limit in (("v_world", 0.03), ("position", 0.03), ("rpy", 1e-6)):
        difference = column(recording, BODY_STATE, field) - column(original, BODY_STATE, field)
        assert np.abs(difference[500:]).max() < limit, field
    truth = column(original, GROUND_TRUTH, "v_world")
    assert np.sqrt(((column(recording, BODY_STATE, "v_world") - truth)[500:] ** 2).mean(axis=0)).max() < 0.05
    rows = dict(summary.rows())
    assert rows["IMU from"] == "microstrain"
    assert rows["joints from"] == "leg_control_data"
    assert "velocity 0.0" in rows["against MIT's estimate"]
    assert summary.notes == []


def test_the_new_log_can_be_replayed(returned, robot):
    _, _, path = returned
    result = replay(path, ESTIMATOR)
    assert result.exact
    assert result.steps == round(DURATION / robot.dt)
    assert next(read_log(path)).channel is ROBOT_CONFIG


def test_vectornav_and_spi_are_taken_where_the_better_ones_are_not(ours, chosen, robot):
    path = chosen({"hw_vectornav": "hw_vectornav", "spi_data": "spi_data", "spi_command": "spi_command"})
    recording, summary, _ = back(path, robot)
    assert (summary.imu, summary.joints) == ("hw_vectornav", "spi_data")
    original = Recording.from_log(ours)
    skip = len(original.of(JOINT_STATE)) - summary.ticks
    np.testing.assert_allclose(
        column(recording, JOINT_STATE, "q"), column(original, JOINT_STATE, "q")[skip:], atol=1e-6
    )
    np.testing.assert_allclose(  # at 250 Hz each sample serves for two ticks
        column(recording, IMU, "quat")[::2], column(original, IMU, "quat")[skip::2], atol=1e-6
    )
    assert np.abs(column(recording, JOINT_STATE, "tau")).max() > 5
    assert summary.valid > 0.9 * summary.ticks


def test_spi_data_alone_has_no_torque_and_that_is_said(chosen, robot):
    recording, summary, _ = back(chosen({"microstrain": "microstrain", "spi_data": "spi_data"}), robot)
    assert not column(recording, JOINT_STATE, "tau").any()
    assert any("no torques" in note for note in summary.notes)


def test_a_log_of_mits_simulator_needs_no_imu(ours, chosen, robot):
    """simulator_state holds what an IMU feels: the true specific force is that of ours without noise."""
    recording, summary, _ = back(chosen({"simulator_state": "simulator_state"}), robot)
    assert (summary.imu, summary.joints) == ("simulator_state", "simulator_state")
    original = Recording.from_log(ours)
    np.testing.assert_allclose(column(recording, IMU, "quat"), column(original, GROUND_TRUTH, "quat"), atol=1e-12)
    felt, sensed = column(recording, IMU, "accel")[700:], column(original, IMU, "accel")[700:]
    assert np.abs(felt.mean(axis=0) - sensed.mean(axis=0)).max() < 0.05
    assert np.median(np.abs(felt - sensed)) < 0.2
    truth = column(original, GROUND_TRUTH, "v_world")
    assert np.sqrt(((column(recording, BODY_STATE, "v_world") - truth)[500:] ** 2).mean()) < 0.05


def test_channels_are_told_by_their_fingerprints_not_their_names(chosen, robot):
    _, summary, _ = back(chosen({"microstrain": "imu_of_mine", "leg_control_data": "legs/real"}), robot)
    assert (summary.imu, summary.joints) == ("imu_of_mine", "legs/real")


def test_an_imu_that_falls_silent_is_marked(chosen, robot):
    names = {"microstrain": "microstrain", "leg_control_data": "leg_control_data"}
    path = chosen(names, keep=lambda name, k: name != "microstrain" or not 800 <= k < 900)
    imus = back(path, robot)[0].of(IMU)
    assert [m.valid for m in imus[:825]] == [1] * 825
    assert not any(m.valid for m in imus[826:900])
    assert imus[850].status == "102 ms old"
    assert imus[900].valid


def test_a_pause_begins_a_new_run(chosen, robot, tmp_path):
    names, count = {"microstrain": "microstrain", "leg_control_data": "leg_control_data"}, [0]

    def shift(_name, stamp):
        count[0] += 1
        return stamp + (3_000_000 if count[0] > 1000 else 0)

    path = chosen(names, shift)
    _, summary, target = back(path, robot)
    runs = [(m.message.run, m.message.seq, m.message.utime) for m in read_log(target, {JOINT_STATE})]
    assert summary.runs == 2
    assert runs[499:502] == [(1, 499, 998_000), (2, 0, 0), (2, 1, 2000)]


def test_a_rate_spaces_the_ticks_evenly_whatever_the_stamps(chosen, robot):
    rng = np.random.default_rng(1)
    names = {"microstrain": "microstrain", "leg_control_data": "leg_control_data"}
    jitter = iter(np.sort(rng.integers(0, 2_000_000, 10_000)))
    path = chosen(names, lambda _n, _s: int(next(jitter)))
    recording, _, _ = back(path, robot, rate=500.0)
    assert column(recording, JOINT_STATE, "utime").tolist() == [2000 * k for k in range(len(recording.of(JOINT_STATE)))]


def test_stamps_in_bunches_are_noticed(chosen, robot):
    path = chosen(
        {"microstrain": "microstrain", "leg_control_data": "legs"}, lambda _n, stamp: stamp // 10_000 * 10_000
    )
    assert any("better space them with --rate" in note for note in back(path, robot)[1].notes)
    assert back(path, robot, rate=500.0)[1].notes == []


def test_numbers_that_are_not_finite_are_marked(robot, tmp_path):
    path = tmp_path / "bad.lcmlog"
    good = MICROSTRAIN.type(quat=[1, 0, 0, 0], acc=[0, 0, 9.81])
    with LogWriter(path) as log:
        for k in range(3):
            q = np.zeros(12)
            q[4] = np.nan if k == 1 else 0.0
            log.write(MICROSTRAIN, good if k < 2 else MICROSTRAIN.type(quat=[np.inf, 0, 0, 0]), 2000 * k)
            log.write(LEG_CONTROL_DATA, LEG_CONTROL_DATA.type(q=q), 2000 * k)
    recording, _, _ = back(path, robot)
    assert column(recording, JOINT_STATE, "fault").sum(axis=1).tolist() == [0, 1, 0]
    assert recording.of(JOINT_STATE)[1].fault[4] == 1
    assert [m.valid for m in recording.of(IMU)] == [1, 1, 0]


def test_messages_of_a_wrong_length_are_counted(robot, tmp_path):
    path = tmp_path / "short.lcmlog"
    with LogWriter(path) as log:
        log.write(MICROSTRAIN, MICROSTRAIN.type(quat=[1, 0, 0, 0]), 0)
        log.write_raw("leg_control_data", LEG_CONTROL_DATA.type().encode()[:-4], 1)
        log.write(LEG_CONTROL_DATA, LEG_CONTROL_DATA.type(), 2)
    _, summary, _ = back(path, robot)
    assert (summary.ticks, summary.broken) == (1, 1)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("to-mit", "missing.lcmlog", "out.lcmlog"), "no log at"),
        (("from-mit", "missing.lcmlog", "out.lcmlog"), "no log at"),
        (("from-mit", "{ours}", "out.lcmlog"), "no IMU in it"),
        (("to-mit", "{theirs}", "out.lcmlog"), "no robot_config"),
        (("to-mit", "{theirs}", "out.lcmlog", "--robot", "mini_cheetah"), "no joint_command"),
        (("to-mit", "{ours}", "out.lcmlog", "--robot", "tocatl"), "MIT's messages hold 4 legs"),
        (("from-mit", "{theirs}", "{theirs}"), "is the log itself"),
        (("from-mit", "{theirs}", "out.lcmlog", "--rate", "0"), "must be above 0"),
        (("to-mit", "{ours}", "out.lcmlog", "--set", "a=1"), "--set needs --robot"),
        (("from-mit", "{theirs}"), "required: OUT"),
    ],
)
def test_what_cannot_be_done_is_said_and_writes_nothing(
    command_line, capsys, tmp_path, monkeypatch, ours, theirs, arguments, says
):
    monkeypatch.chdir(tmp_path)
    before = theirs.read_bytes()
    assert command_line(mit_log.main, *(a.format(ours=ours, theirs=theirs) for a in arguments)) == 2
    assert says in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    assert theirs.read_bytes() == before


def test_an_interrupt_leaves_nothing_half_written(command_line, capsys, tmp_path, ours, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(mit_log, "relayed", interrupted)
    assert command_line(mit_log.main, "to-mit", ours, tmp_path / "out.lcmlog") == 130
    assert "interrupted, nothing written" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_command_line_both_ways(command_line, capsys, tmp_path, ours):
    assert command_line(mit_log.main, "to-mit", ours, tmp_path / "mit.lcmlog") == 0
    assert "1300 ticks on MIT's channels" in capsys.readouterr().out
    assert command_line(mit_log.main, "from-mit", tmp_path / "mit.lcmlog", tmp_path / "ours.lcmlog") == 0
    out = capsys.readouterr().out
    assert "1300 ticks" in out
    assert "microstrain" in out


@pytest.fixture
def both(ours, theirs, tmp_path):
    """A log of ours in which the relay was recorded too; `change(k, name, data)` may alter its messages, None: lost."""

    def make(change=lambda k, name, data: data):
        path = tmp_path / "both.lcmlog"
        log = lcm.EventLog(str(path), "w", overwrite=True)
        for stamp, name, data in raw_events(ours):
            log.write_event(stamp, name, data)
        for k, (stamp, name, data) in enumerate(raw_events(theirs)):
            kept = change(k, name, data)
            if kept is not None:
                log.write_event(stamp, name, kept)
        log.close()
        return path

    return make


def test_a_recorded_relay_is_checked_against_its_core(command_line, capsys, both):
    assert command_line(mit_log.main, "check", both()) == 0
    out = capsys.readouterr().out
    assert "leg_control_data: 1300 recorded of 1300, identical" in out
    assert out.count("identical") == len(SPEC.writes)


def test_messages_lost_on_the_way_to_the_recorder_are_no_difference(command_line, capsys, both):
    assert command_line(mit_log.main, "check", both(lambda k, _n, data: None if k < 500 or k % 7 == 0 else data)) == 0
    assert "differ" not in capsys.readouterr().out


def test_a_bit_that_differs_is_found(command_line, capsys, both):
    def flip(k, name, data):
        return data[:-1] + bytes([data[-1] ^ 1]) if k == 4321 else data

    assert command_line(mit_log.main, "check", both(flip)) == 1
    assert "1 of them differ" in capsys.readouterr().out


def test_messages_in_another_order_are_found(command_line, capsys, both):
    held = []

    def earlier(_k, name, data):
        if name != "leg_control_data":
            return data
        held.append(data)
        return held[900] if len(held) == 1000 else data

    assert command_line(mit_log.main, "check", both(earlier)) == 1
    assert "leg_control_data: 1300 recorded of 1300, 1 of them differ" in capsys.readouterr().out


def test_without_a_relay_in_the_log_there_is_nothing_to_check(command_line, capsys, ours):
    assert command_line(mit_log.main, "check", ours) == 2
    assert "was mit_relay running?" in capsys.readouterr().err


def test_the_channels_of_a_simulated_robot_are_all_there(theirs):
    assert {SIMULATOR_STATE.name, SPI_DATA.name, SPI_COMMAND.name} <= {name for _, name, _ in raw_events(theirs)}
