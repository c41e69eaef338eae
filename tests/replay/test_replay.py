"""Replay finds what was changed in a log, and says what a log lacks."""

from __future__ import annotations

import struct

import pytest

from lcmtypes.channels import (
    BODY_STATE,
    CONTACT_PLAN,
    IMU,
    JOINT_COMMAND,
    JOINT_STATE,
    LEG_COMMAND,
    LEG_STATE,
    MOTION_COMMAND,
    PROC_HEALTH,
    ROBOT_CONFIG,
)
from lcmtypes.generated import ContactPlan, Imu, JointState
from procs.runtime.logs import LogError, LogWriter
from procs.runtime.replay import LogIndex, compare, recorded_inputs, replay
from tools import compare_logs
from tools import replay as tool_replay
from tools.stack import SPECS

ESTIMATOR, CONTROLLER, PACKER = (SPECS[name] for name in ("estimator", "controller", "packer"))


def at(channel, seq, change):
    """A change of one message, for `copy`."""

    def of(event):
        if event.channel is channel and event.message.seq == seq:
            return change(event.message)
        return event.message

    return of


def one_bit(value):
    """The next double."""
    return struct.unpack("<d", struct.pack("<q", struct.unpack("<q", struct.pack("<d", value))[0] + 1))[0]


def test_a_recorded_rollout_replays_bit_for_bit(rollout_log, tool):
    code, text = tool(tool_replay.main, rollout_log)
    assert code == 0, text
    for name in SPECS:
        assert f"{name}: " in text
    assert text.count("are identical") == 3


def test_one_bit_in_a_log_is_found_and_named_with_field_index_and_both_values(rollout_log, copy, tool):
    values = []

    def change(message):
        values.append(float(message.v_world[1]))
        message.v_world[1] = one_bit(values[0])
        values.append(float(message.v_world[1]))
        return message

    log = copy(rollout_log, at(BODY_STATE, 1234, change))
    code, text = tool(tool_replay.main, log, "--process", "estimator")
    assert code == 1
    assert "1 of 5000 messages differ" in text
    assert f"body_state seq 1234: v_world[1] recorded {values[1]!r}, replayed {values[0]!r}" in text


def test_a_changed_word_is_found_too(rollout_log, copy):
    def word(message):
        message.reason = "changed"
        return message

    result = replay(copy(rollout_log, at(JOINT_COMMAND, 40, word)), PACKER)
    assert "joint_command seq 40: reason recorded 'changed'" in str(result.first)


def test_a_changed_input_shows_in_the_outputs(rollout_log, copy):
    def change(message):
        message.gyro[2] += 1e-9
        return message

    result = replay(copy(rollout_log, at(IMU, 700, change)), ESTIMATOR)
    assert not result.exact
    assert result.first.seq == 700


def test_an_input_that_is_not_in_the_log_is_named(rollout_log, copy, tool):
    code, text = tool(tool_replay.main, copy(rollout_log, at(IMU, 2400, lambda m: None)), "--process", "estimator")
    assert code == 1
    assert "step 2400 cannot be fed: imu seq 2400 is not in the log" in text
    assert "1 steps lack inputs" in text


def test_a_log_that_begins_late_is_compared_with_a_tolerance_and_says_so(rollout_log, copy, tool):
    log = copy(rollout_log, lambda e: e.message if e.message.seq >= 300 or e.channel is ROBOT_CONFIG else None)
    code, text = tool(tool_replay.main, log, "--process", "packer")
    assert code == 0, text
    assert "the first step in the log is 300: compared after 2 s" in text
    assert "agree within 1e-09" in text


def test_a_log_without_a_robot_or_without_steps_is_an_error(rollout_log, copy, tool, tmp_path):
    code, text = tool(tool_replay.main, copy(rollout_log, lambda e: None if e.channel is ROBOT_CONFIG else e.message))
    assert code == 2
    assert "no robot_config" in text and "--robot" in text
    code, text = tool(tool_replay.main, copy(rollout_log, lambda e: e.message if e.channel is ROBOT_CONFIG else None))
    assert code == 2
    assert "nothing to replay" in text
    assert tool(tool_replay.main, tmp_path / "none.lcmlog")[0] == 2


def test_compare_logs_finds_the_first_difference_and_the_tick_that_only_one_has(rollout_log, copy, tool):
    assert tool(compare_logs.main, rollout_log, rollout_log)[0] == 0

    def change(message):
        message.kp_joint[3] += 1.0
        return message

    code, text = tool(compare_logs.main, rollout_log, copy(rollout_log, at(LEG_COMMAND, 77, change)))
    assert code == 1
    assert "leg_command seq 77: kp_joint[3]" in text
    code, text = tool(compare_logs.main, rollout_log, copy(rollout_log, at(CONTACT_PLAN, 88, lambda m: None)))
    assert code == 1
    assert "contact_plan" in text and "88" in text


@pytest.fixture
def toy_log(tmp_path):
    """A log made of (channel, run, seq, fields)."""

    def make(events):
        path = tmp_path / "toy.lcmlog"
        with LogWriter(path) as log:
            for channel, run, seq, fields in events:
                sizes = {ContactPlan: (4,), JointState: (12,)}.get(channel.type)
                if sizes is None:
                    sizes = (4, 12) if channel.name in ("leg_state", "leg_command") else (4,) * (channel is BODY_STATE)
                message = channel.type(*sizes)
                message.run, message.seq = run, seq
                for name, value in fields.items():
                    setattr(message, name, value)
                log.write(channel, message, 1000)
        return path

    return make


def test_an_operators_message_is_found_by_its_counter_wherever_the_recorder_put_it(toy_log):
    def motion(run, seq, vx):
        return (MOTION_COMMAND, run, seq, {"vx": vx})

    head = [(LEG_STATE, 1, 0, {}), (BODY_STATE, 1, 0, {})]
    end = (LEG_COMMAND, 1, 0, {"used": [0, 5, -1, -1, -1, -1]})
    for events, want in (
        ([motion(0, 5, 0.1), motion(0, 6, 0.2), *head, end], 0.1),  # the newer one came later to the process
        ([motion(0, 5, 0.1), motion(0, 5, 0.3), *head, end], 0.3),  # two sources with one counter: the newest
        ([*head, end, motion(0, 5, 0.4)], 0.4),  # the recorder heard it last
        ([motion(9, 5, 0.5), *head, end], 0.5),  # held over from an earlier run
    ):
        index = LogIndex(toy_log(events), CONTROLLER)
        inputs, lacking = recorded_inputs(index, CONTROLLER, *index.steps[0])
        assert lacking == ""
        assert inputs[MOTION_COMMAND].vx == want


def test_a_log_of_a_revision_with_other_inputs_is_refused_with_the_reason(toy_log, robot):
    log = toy_log([(LEG_STATE, 1, 0, {}), (LEG_COMMAND, 1, 0, {"used": [0, -1]})])
    with pytest.raises(LogError, match="used 2 inputs, today's reads 6: it was recorded with another revision"):
        replay(log, CONTROLLER, robot)


def test_inputs_are_those_named_by_used_and_not_those_of_the_tick(toy_log):
    events = [(IMU, 1, k, {}) for k in range(5)] + [(CONTACT_PLAN, 1, k, {}) for k in range(5)]
    events += [(JOINT_STATE, 1, 4, {}), (BODY_STATE, 1, 4, {"used": [3, 1]}), (LEG_STATE, 1, 4, {"used": [3, 1]})]
    index = LogIndex(toy_log(events), ESTIMATOR)
    inputs, _ = recorded_inputs(index, ESTIMATOR, *index.steps[0])
    assert (inputs[JOINT_STATE].seq, inputs[IMU].seq, inputs[CONTACT_PLAN].seq) == (4, 3, 1)


def test_messages_sent_again_are_one_step(toy_log):
    again = [(LEG_STATE, 1, 0, {"used": [-1, -1]})] * 3
    assert len(LogIndex(toy_log([(JOINT_STATE, 1, 0, {}), *again]), ESTIMATOR).steps) == 1


def test_a_restart_is_seen_and_a_refused_second_process_is_not(toy_log):
    def health(instance, state, name="estimator"):
        return (PROC_HEALTH, 0, 0, {"name": name, "instance": instance, "state": state})

    started = [health(1, "starting"), health(1, "waiting"), health(1, "running")]
    assert list(LogIndex(toy_log(started), ESTIMATOR).restarts) == []
    refused = [*started, health(2, "starting"), health(1, "running"), health(3, "running", "packer")]
    assert list(LogIndex(toy_log(refused), ESTIMATOR).restarts) == []
    again = [*started, health(2, "starting"), health(2, "waiting"), health(2, "running")]
    assert list(LogIndex(toy_log(again), ESTIMATOR).restarts) == [3]


def test_compare_tells_minus_zero_from_zero_and_obeys_a_tolerance():
    first, second = Imu(), Imu()
    first.gyro[1] = -0.0
    assert compare(IMU, first, second, 0.0).field == "gyro"
    assert compare(IMU, first, second, 1e-9) is None
    second.gyro[1] = 1e-8
    assert compare(IMU, first, second, 1e-9).index == (1,)
