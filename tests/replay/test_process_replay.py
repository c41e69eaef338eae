"""Separate processes over LCM: lock step equals the rollout, and every recording replays bit for bit."""

from __future__ import annotations

import pytest

from lcmtypes.channels import JOINT_STATE, MODE_STATE, PIPELINE
from procs.runtime.logs import read_log
from procs.runtime.replay import replay
from tools.compare_logs import differences
from tools.lcm_run import run_over_lcm
from tools.recording import Recording
from tools.stack import SPECS


def replays(log):
    """What every process's replay says; empty if all are bit for bit equal."""
    problems = []
    for spec in SPECS.values():
        result = replay(log, spec)
        if not result.exact or result.tolerance or not result.compared:
            problems.append(f"{spec.name}: {result.first} {result.unfed} unfed, {result.notes}")
    return problems


def run(walk, robot, log, **options):
    return run_over_lcm(walk, robot, "mini_cheetah", [], seed=1, log=log, **options)


def test_lock_step_over_lcm_gives_the_rollouts_messages_and_replays_bit_for_bit(walk, robot, rollout_log, tmp_path):
    log = tmp_path / "lock_step.lcmlog"
    recording = run(walk, robot, log)
    rolled = Recording.from_log(rollout_log)
    assert {m.mode for m in recording.of(MODE_STATE)} >= {"stand", "walk", "estop"}
    assert all(rolled.of(channel) for channel in PIPELINE)
    assert differences(rolled, recording) == []
    assert replays(log) == []
    stamps = [e.stamp for e in read_log(log) if e.channel is JOINT_STATE]
    assert stamps[-1] - stamps[0] == pytest.approx(1e6 * walk.duration, abs=5000)


def test_a_lossy_link_to_the_drives_is_the_same_over_lcm_and_in_a_rollout(walk, robot, tmp_path):
    from tools.stack import rollout

    faults = [{"t": 0.2, "duration": 0.5, "kind": "packet_loss", "channel": "joint_command", "probability": 0.4}]
    faults += [{"t": 0.3, "duration": 0.3, "kind": "packet_loss", "channel": "imu", "probability": 0.3}]
    scenario = type(walk).model_validate({**walk.model_dump(exclude_unset=True), "duration": 1.0, "faults": faults})
    recording = run(scenario, robot, tmp_path / "lossy.lcmlog")
    assert differences(rollout(scenario, robot, seed=1), recording) == []


def test_a_real_time_recording_replays_bit_for_bit_whatever_its_timing(walk, robot, rollout_log, tmp_path):
    assert rollout_log.exists()  # the kernels are compiled
    log = tmp_path / "real_time.lcmlog"
    recording = run(walk, robot, log, real_time=True)
    assert recording.of(JOINT_STATE)[-1].seq == round(walk.duration / robot.dt) - 1
    assert replays(log) == []
