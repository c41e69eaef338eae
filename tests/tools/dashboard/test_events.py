"""The console's lines: each thing said once, with its level."""

from __future__ import annotations

import pytest

from lcmtypes.channels import (
    BODY_STATE,
    BUS_STATUS,
    ESTOP,
    JOINT_COMMAND,
    JOINT_STATE,
    MODE_STATE,
    PROC_HEALTH,
    RESET,
    ROBOT_CONFIG,
)
from lcmtypes.generated import BusStatus, Estop, JointCommand, Reset, RobotConfig
from tools.dashboard.events import FOLD, EventFinder, EventLog


@pytest.fixture
def log():
    return EventLog()


@pytest.fixture
def finder(log, robot):
    return EventFinder(log, robot.joint_names)


def said(log):
    return [(e.level, e.source, e.text) for e in log.events]


def test_a_mode_is_told_when_it_changes_and_not_again(finder, log, made):
    for mode in ("ready", "ready", "stand"):
        finder.take(MODE_STATE, made.mode(mode), 0.0)
    assert said(log) == [("info", "mode", "ready"), ("info", "mode", "ready → stand")]


def test_a_refusal_is_a_warning_and_a_forced_mode_an_error_with_its_reason(finder, log, made):
    finder.take(MODE_STATE, made.mode("stand"), 0.0)
    finder.take(MODE_STATE, made.mode("stand", reason="walk refused: the feet do not carry the robot"), 1.0)
    finder.take(MODE_STATE, made.mode("damping", reason="fell"), 2.0)
    assert said(log)[1:] == [
        ("warning", "mode", "walk refused: the feet do not carry the robot"),
        ("error", "mode", "stand → damping: fell"),
    ]


def test_source_target_and_run_changes_are_told(finder, log, made):
    finder.take(MODE_STATE, made.mode("stand"), 0.0)
    finder.take(MODE_STATE, made.mode("stand", target="walk", source="teleop:host:3"), 0.0)
    other = made.mode("stand", target="walk")
    other.run = 2
    finder.take(MODE_STATE, other, 0.0)
    assert [text for _, _, text in said(log)[1:]] == [
        "asked for walk", "teleop:host:3 is obeyed", "nobody is obeyed (was teleop:host:3)", "a new run begins",
    ]  # fmt: skip


def test_estop_and_reset_name_their_source(finder, log):
    estop, reset = Estop(), Reset()
    estop.source, estop.reason, reset.source, reset.reason = "teleop", "key", "dashboard", "button"
    finder.take(ESTOP, estop, 0.0)
    finder.take(RESET, reset, 0.0)
    assert said(log) == [("error", "teleop", "ESTOP pressed: key"), ("info", "dashboard", "reset: button")]


def test_a_process_that_starts_again_errs_or_misses_ticks_is_told(finder, log, made):
    finder.take(PROC_HEALTH, made.health(missed=4), 0.0)
    finder.take(PROC_HEALTH, made.health(missed=4), 0.0)
    finder.take(PROC_HEALTH, made.health(missed=6, last_error="bad bytes"), 0.0)
    finder.take(PROC_HEALTH, made.health(instance=8, missed=0), 0.0)
    assert said(log) == [
        ("info", "controller", "started"),
        ("warning", "controller", "bad bytes"),
        ("warning", "controller", "missed: 2 more (6)"),
        ("warning", "controller", "started again"),
    ]


def test_bus_and_motor_faults_name_the_joint(finder, log):
    for fault in ("", "overheated", ""):
        status = BusStatus(12)
        status.state, status.fault[4] = "running", fault
        finder.take(BUS_STATUS, status, 0.0)
    assert said(log) == [
        ("info", "bus", "running"),
        ("error", "FL.hip", "motor: overheated"),
        ("info", "FL.hip", "motor: no fault any more"),
    ]


def test_joint_samples_estimate_and_packer_are_told(finder, log, made):
    finder.take(JOINT_STATE, made.joints(), 0.0)
    finder.take(JOINT_STATE, made.joints(fault=[0, 1] + [0] * 10), 0.0)
    finder.take(JOINT_STATE, made.joints(fault=[0, 2] + [0] * 10), 0.0)
    finder.take(BODY_STATE, made.body(), 0.0)
    finder.take(BODY_STATE, made.body(valid=0, reason="suspended"), 0.0)
    finder.take(BODY_STATE, made.body(), 0.0)
    command = JointCommand(12)
    command.reason = "soft stop of FR.knee"
    finder.take(JOINT_COMMAND, command, 0.0)
    assert said(log) == [
        ("warning", "FR.hip", "sample rejected and predicted"),
        ("error", "FR.hip", "faulty for too long"),
        ("warning", "estimator", "suspended"),
        ("info", "estimator", "valid again"),
        ("warning", "packer", "soft stop of FR.knee"),
    ]


def test_another_description_on_the_bus_is_a_warning(finder, log):
    for name in ("aaaaaaaaa", "aaaaaaaaa", "bbbbbbbbb"):
        config = RobotConfig()
        config.robot, config.hash, config.revision = "mini_cheetah", name, "r1"
        finder.take(ROBOT_CONFIG, config, 0.0)
    assert [level for level, _, _ in said(log)] == ["info", "warning"]


def test_the_same_line_is_counted_for_a_while_and_then_told_again(log):
    for t in (0.0, 1.0, 2.0):
        log.add(t, "warning", "estimator", f"velocity uncertain: 0.{t:.0f} m/s")
    log.add(2.0, "info", "mode", "walk")
    log.add(2.1 + FOLD, "warning", "estimator", "velocity uncertain: 0.7 m/s")
    assert [(e.text, e.times) for e in log.events] == [
        ("velocity uncertain: 0.2 m/s", 3), ("walk", 1), ("velocity uncertain: 0.7 m/s", 1),
    ]  # fmt: skip


def test_counters_and_errors_that_go_on_growing_fill_one_line(finder, log, made):
    for k in range(5):
        finder.take(PROC_HEALTH, made.health("sim", missed=10 * k, last_error=f"damping at tick {k}"), 0.1 * k)
    assert [(e.text, e.times) for e in log.events] == [
        ("started", 1), ("damping at tick 4", 5), ("missed: 10 more (40)", 4),
    ]  # fmt: skip


def test_level_and_text_filter_newest_first(log):
    log.add(0.0, "info", "mode", "walk")
    log.add(1.0, "warning", "bus", "stale frames")
    log.add(2.0, "error", "FR.knee", "motor: overheated")
    assert [e.text for e in log.chosen("info", "", 10)] == ["motor: overheated", "stale frames", "walk"]
    assert [e.text for e in log.chosen("warning", "", 1)] == ["motor: overheated"]
    assert [e.text for e in log.chosen("info", "fr.KNEE", 10)] == ["motor: overheated"]
    assert log.chosen("error", "walk", 10) == []
