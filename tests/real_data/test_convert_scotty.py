"""The real Scotty's rig run as a native log: converted, played, inspected, and fed to the estimator."""

from __future__ import annotations

import gzip
import subprocess
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from config.load import load_robot, parse_robot
from lcmtypes.channels import (
    BODY_STATE,
    BUS_STATUS,
    CONTACT_PLAN,
    IMU,
    JOINT_COMMAND,
    JOINT_STATE,
    LEG_STATE,
    ROBOT_CONFIG,
)
from procs.estimator.estimator import SPEC
from procs.model.robot import Robot
from procs.runtime.bus import Bus
from procs.runtime.engine import Engine
from procs.runtime.logs import LogError, raw_events, read_log
from procs.runtime.samples import GOOD, LOST, PREDICTED
from tools import convert_scotty, play_copy
from tools.convert_scotty import KNEE_RATIO, PERIOD, Cycles, Log, convert, inferred_period, rig
from tools.launch import ROOT, private_url

CYCLES = 2964
FROZEN = 2338  # both boards repeat their last reply from 2329 on, to the end
PLAYER = ROOT / ".venv" / "bin" / "lcm-logplayer"
SPEED = 10


@pytest.fixture(scope="module")
def source(recordings: Path) -> Path:
    path = recordings / "scotty" / "mit_suspended_20250228_1110_merged_log.csv.gz"
    if not path.is_file():
        pytest.skip(f"no rig run at {path}")
    return path


@pytest.fixture(scope="module")
def converted(source: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Cycles]:
    path = tmp_path_factory.mktemp("rig") / "rig.lcmlog"
    return path, convert(source, path, rig("scotty"))


@pytest.fixture(scope="module")
def log(converted) -> Path:
    return converted[0]


@pytest.fixture(scope="module")
def cycles(converted) -> Cycles:
    return converted[1]


def test_every_message_is_there_and_the_log_spans_the_run(log):
    events = list(read_log(log))
    counts = Counter(event.channel.name for event in events)
    assert counts == {
        "robot_config": 1,
        "imu": CYCLES,
        "joint_state": CYCLES,
        "joint_command": CYCLES,
        "bus_status": 330,
    }
    assert events[0].channel is ROBOT_CONFIG
    assert all(event.message.finite() for event in events)
    states = [event for event in events if event.channel is JOINT_STATE]
    assert [event.message.seq for event in states] == list(range(CYCLES))
    assert {event.message.run for event in events[1:]} == {convert_scotty.RUN}
    assert states[-1].stamp - states[0].stamp == states[-1].message.utime == round(1e6 * PERIOD * (CYCLES - 1))


def test_the_robot_in_the_log_is_scotty_with_the_rigs_offset(log):
    config = next(read_log(log, {ROBOT_CONFIG})).message
    description = parse_robot(config.yaml, where="log")
    assert description.bus.wiring["FR.abad"].offset == 0.42
    assert load_robot("scotty").bus.wiring["FR.abad"].offset == 0.0
    assert description.legs == load_robot("scotty").legs


def test_joint_states_are_the_recorded_numbers_at_the_joints(log, source):
    """FR abad: sign -1 and offset; the knees' velocity and torque as physics has them; hip and knee about +y."""
    table = Log(source)
    q, qd, tau = (table.joints(f"data_{name}_{{}}") for name in ("q", "qd", "tau_m"))
    states = [event.message for event in read_log(log, {JOINT_STATE})]
    for k in (2, 300, 1900, 2963):
        mine = states[k]
        assert mine.q[0] == pytest.approx(-(q[k, 0, 0] - 0.42), abs=1e-6)
        assert mine.q[3] == pytest.approx(q[k, 1, 0], abs=1e-6)
        assert mine.q[4] == pytest.approx(-q[k, 1, 1], abs=1e-6)
        assert mine.qd[5] == pytest.approx(-qd[k, 1, 2] / KNEE_RATIO**2, abs=1e-6)
        assert mine.tau[5] == pytest.approx(-tau[k, 1, 2] * KNEE_RATIO**2, abs=1e-5)
        assert mine.tau[10] == pytest.approx(-tau[k, 3, 1], abs=1e-6)
        assert mine.tau_source == "measured"


def test_commands_are_those_of_the_host(log):
    commands = [event.message for event in read_log(log, {JOINT_COMMAND})]
    hold = commands[100]
    assert (hold.kp == 5).all() and hold.kd == pytest.approx(np.full(12, 0.1)) and hold.enable.all()
    assert not commands[300].kp.any()
    assert {m.reason for m in commands} == {f"recorded, control mode {mode}" for mode in (0, 1)}
    torques = np.array([m.tau_ff for m in commands])
    assert np.abs(torques).max() == pytest.approx(57.9, abs=0.1)
    end = commands[267].q_des  # the reference's stand: the same for all legs, zeros by the rig's offsets
    np.testing.assert_allclose(end.reshape(4, 3), np.tile([0.0, 0.174, -0.69], (4, 1)), atol=2e-3)


def test_no_imu_was_recorded_and_the_log_says_so(log):
    samples = [event.message for event in read_log(log, {IMU})]
    assert {m.status for m in samples} == {"synthetic: level, none was recorded"}
    assert all(m.valid and m.accel.tolist() == [0, 0, 9.81] for m in samples)


def test_garbage_at_the_start_is_rejected_and_the_frozen_end_is_a_fault(log, cycles):
    states = [event.message for event in read_log(log, {JOINT_STATE})]
    fault = np.array([m.fault for m in states])
    assert (fault[:2] == PREDICTED).all()
    assert (fault[2:FROZEN] == GOOD).all()
    assert (fault[FROZEN:] == LOST).all()
    assert not states[0].tau.any(), "the -70 N m of the first replies are not passed on"
    age = np.array([m.age for m in states])
    assert age[FROZEN:, 0] == pytest.approx(PERIOD * (np.arange(FROZEN, CYCLES) - FROZEN + 9))
    status = [event.message for event in read_log(log, {BUS_STATUS})]
    assert [(m.frames, m.checksum_errors) for m in status[:2]] == [(2, 2), (20, 2)]
    assert status[-1].stale == pytest.approx(1268, abs=10)
    assert (status[0].fault[0], status[3].fault[0], status[-1].fault[0]) == ("rejected", "", "reply frozen")


def test_the_period_is_that_on_which_positions_and_velocities_agree(cycles):
    assert inferred_period(cycles) == pytest.approx(PERIOD, abs=0.2e-3)


def test_the_knees_agree_with_that_period_only_if_the_firmwares_mistake_is_undone(cycles):
    def slope(scale: float, joint: int) -> float:
        q, qd = cycles.q[20:268, joint], scale * cycles.qd[20:268, joint]
        return float(
            np.ptp(q) and (np.diff(q) @ (qd[1:] + qd[:-1]) / 2) / ((qd[1:] + qd[:-1]) @ (qd[1:] + qd[:-1]) / 4)
        )

    for joint in (2, 5):
        assert slope(1.0, joint) == pytest.approx(PERIOD, rel=0.1)
        assert slope(KNEE_RATIO**2, joint) < 0.55 * PERIOD


def test_a_copy_for_players_can_be_made_and_played(log, tmp_path, monkeypatch):
    copy = tmp_path / "copy.lcmlog"
    monkeypatch.setattr("sys.argv", ["play_copy", str(log), str(copy)])
    assert play_copy.main() == 0
    wanted = [name for _, name, _ in raw_events(copy)]
    assert Counter(wanted)["joint_state"] == CYCLES
    assert JOINT_COMMAND.name not in wanted
    if not PLAYER.exists():
        pytest.skip("no lcm-logplayer in .venv: copied, not played")
    url, got = private_url(), []
    bus = Bus(url)
    bus.subscribe_raw(".*", lambda name, data: got.append(name))
    with subprocess.Popen([PLAYER, "-l", url, "-s", str(SPEED), str(copy)], stdout=subprocess.DEVNULL) as player:
        begin = time.monotonic()
        while player.poll() is None and time.monotonic() < begin + 20:
            bus.wait(0.05)
        took = time.monotonic() - begin
        player.kill()
    while bus.wait(0.2):
        pass
    assert len(got) >= 0.99 * len(wanted)
    assert took >= 0.9 * CYCLES * PERIOD / SPEED


def test_the_estimator_stays_finite_and_reports_the_suspended_robot(log):
    config = next(read_log(log, {ROBOT_CONFIG})).message
    engine = Engine(SPEC, Robot(parse_robot(config.yaml, where="log")))
    reasons, velocity, messages, imu = [], [], 0, None
    for event in read_log(log, {IMU, JOINT_STATE}):
        if event.channel is IMU:
            imu = event.message
            continue
        for channel, message in engine.step({JOINT_STATE: event.message, IMU: imu, CONTACT_PLAN: None}):
            messages += 1
            assert message.finite()
            assert channel in (BODY_STATE, LEG_STATE)
            if channel is BODY_STATE:
                reasons.append(message.reason)
                velocity.append(np.abs(message.v_world).max())
    assert messages == 2 * CYCLES
    assert engine.counts.not_finite == 0
    assert set(reasons[:2]) == {"no good joint sample yet"}
    hangs = reasons.index("suspended: no foot carries load")
    assert 0.3 < hangs * PERIOD < 0.4 and set(reasons[2:hangs]) == {""}  # it takes 0.3 s to tell
    assert set(reasons[hangs:FROZEN]) == {"suspended: no foot carries load"}
    assert set(reasons[FROZEN:]) == {"joint FR.abad lost"}
    assert max(velocity[100:]) < 0.05


def test_the_tool_reads_plain_csv_too_and_says_what_it_found(source, tmp_path, capsys, monkeypatch):
    plain = tmp_path / "merged_log.csv"
    lines = gzip.decompress(source.read_bytes()).decode().splitlines(keepends=True)
    plain.write_text("".join(lines[: 1 + 4 * 400]))
    out = tmp_path / "out" / "rig.lcmlog"
    monkeypatch.setattr("sys.argv", ["convert_scotty", "--csv", str(plain), "--out", str(out)])
    assert convert_scotty.main() == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "400 cycles" in said and "2 replies rejected" in said and "frozen from cycle - on" in said
    assert sum(1 for _ in read_log(out, {JOINT_STATE})) == 400


def test_a_damaged_table_is_an_error_with_its_place(source, tmp_path):
    lines = gzip.decompress(source.read_bytes()).decode().splitlines(keepends=True)
    row = lines[1 + 4 * 5].split(",")
    row[20] = "0.123"  # a position that the recorded checksum does not fit
    for name, text, words in (
        ("short.csv", lines[:8], "want 4 per cycle"),
        ("changed.csv", [*lines[: 1 + 4 * 5], ",".join(row), *lines[2 + 4 * 5 : 41]], "cycle 5, board 0"),
        ("words.csv", ["a,b\n", "1,x\n"], "no table"),
        ("other.csv", ["a,b\n", *["1,2\n"] * 4], "no column"),
    ):
        path = tmp_path / name
        path.write_text("".join(text))
        with pytest.raises(LogError, match=words):
            convert(path, tmp_path / "out.lcmlog", rig("scotty"))
    with pytest.raises(LogError, match="nothing"):
        convert(tmp_path / "nothing.csv", tmp_path / "out.lcmlog", rig("scotty"))
