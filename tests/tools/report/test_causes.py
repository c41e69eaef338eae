"""What is injected is what the report names first; nothing is named where nothing is wrong."""

from __future__ import annotations

import pytest

from config.scenario import Command, Fault, PlantOptions, Push
from lcmtypes.channels import GROUND_TRUTH
from procs.runtime.commands import CommandPlayer
from procs.runtime.engine import Engine
from procs.runtime.plant_loop import PlantLoop
from procs.runtime.rollout import Rollout
from tests.contract.twins import plant, robot_on
from tests.tools.report.conftest import WRONG, context, rolled
from tools.recording import Recording
from tools.report.anomalies import EQUAL
from tools.report.verdict import judge
from tools.stack import SPECS

NEAR = 0.15  # s after the fault within which the first sign must be found


def fault(**fields: object) -> dict:
    """One fault at WRONG."""
    return {"faults": [Fault(t=WRONG, **fields)]}


# what is wrong -> rules that name it, and the joint or leg that must be named
CASES = {
    "push": ({"pushes": [Push(t=WRONG, duration=0.1, force=(0, 120, 0))]}, {"push"}, ""),
    "motor_off": (fault(kind="motor_off", joint="FR.knee"), {"drive_dead"}, "FR.knee"),
    "encoder_spike": (fault(kind="encoder_spike", joint="RL.hip", value=0.5, duration=0.02), {"joint_fault"}, "RL.hip"),
    "nan_imu": (fault(kind="nan", channel="imu", duration=0.03), {"imu_fault"}, ""),
    "gyro_bias": (fault(kind="imu_bias", gyro=(0.8, 0, 0)), {"gyro_fast"}, ""),
    "gyro_bias_small": (fault(kind="imu_bias", gyro=(0, 0.1, 0)), {"gyro_slow"}, ""),
    "accel_bias": (fault(kind="imu_bias", accel=(0, 4.0, 0)) | {"seconds": 2.7}, {"accelerometer"}, ""),
    "freeze_imu": (fault(kind="freeze", channel="imu", duration=0.1), {"imu_repeats"}, ""),
    "freeze_joints": (fault(kind="freeze", channel="joint_state", duration=0.1), {"joint_repeats"}, ""),
    "loss_imu": (fault(kind="packet_loss", channel="imu", probability=0.8, duration=0.4), {"imu_repeats"}, ""),
    "loss_joints": (fault(kind="packet_loss", channel="joint_state", probability=0.7, duration=0.4),
                    {"joint_repeats"}, ""),
    "loss_commands": (fault(kind="packet_loss", channel="joint_command", probability=1.0, duration=0.2),
                      {"commands_lost"}, ""),
    "overspeed": ({"vx": 3.0, "overrides": ["control.limits.accel=3"], "seconds": 2.6},
                  {"swing", "speed_limit", "saturated"}, ""),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_first_anomaly_is_what_was_injected(name):
    what, rules, subject = CASES[name]
    recording, robot = rolled(**what)
    told = judge(context(recording, robot))
    assert told.cause is not None
    assert told.cause.rule.name in rules, [a.title for a in told.found]
    assert subject in told.cause.subjects[0]
    assert WRONG - EQUAL <= told.cause.begin <= WRONG + NEAR or name == "overspeed"
    assert told.found[0] is told.cause, "nothing comes before it"
    # The robot alone, as on hardware, comes to the same end.
    del recording.messages[GROUND_TRUTH]
    alone = judge(context(recording, robot))
    assert alone.cause is not None
    assert alone.cause.rule.name in rules, [a.title for a in alone.found]


def test_a_slippery_floor_shows_as_slip_before_the_fall():
    told = judge(context(*rolled(vx=0.8, plant=PlantOptions(friction=0.1))))
    assert told.kind == "bad" and told.head.startswith("Fell at")
    assert told.cause is not None and told.cause.rule.name == "slip"
    assert told.stop is not None and told.cause.begin < told.stop - 0.5


def test_nothing_is_found_where_nothing_is_wrong():
    recording, robot = rolled(seconds=3.0)
    told = judge(context(recording, robot))
    assert told.kind == "ok" and told.found == []
    assert told.values["fell"] is False and told.values["path_m"] > 0.2
    del recording.messages[GROUND_TRUTH]
    told = judge(context(recording, robot))
    assert told.kind == "ok" and told.found == []


def test_what_was_borne_long_before_is_not_the_cause_of_a_fall():
    faults = [
        Fault(t=0.8, kind="encoder_spike", joint="RL.hip", value=0.5, duration=0.01),
        Fault(t=2.6, kind="motor_off", joint="FR.knee"),
    ]
    told = judge(context(*rolled(seconds=3.3, faults=faults)))
    assert told.kind == "bad"
    assert told.found[0].rule.name == "joint_fault"
    assert told.cause is not None and told.cause.rule.name == "drive_dead"
    assert told.cause.subjects == ["FR.knee"]


def test_spoiled_frames_on_the_bus_are_named_before_what_comes_of_them():
    told = judge(context(*on_the_bridge([Fault(t=0.9, duration=0.06, kind="bus_corrupt", mode="checksum", line=0)])))
    assert told.cause is not None and told.cause.rule.name == "bus"
    names = [a.rule.name for a in told.found]
    assert names.index("bus") < names.index("joint_fault")
    joints = next(a for a in told.found if a.rule.name == "joint_fault")
    assert "checksum" in joints.said
    assert joints.begin == pytest.approx(0.9, abs=0.01)
    assert {s.split(".")[0] for s in joints.subjects} == {"FR", "FL"}, "board 0 has these legs"


def on_the_bridge(faults):
    """A stand on the bridge over emulated boards, without LCM."""
    one, robot, _hardware = plant("spine", PlantOptions(), faults=faults, robot=robot_on("spine"))
    recording, loop = Recording(), PlantLoop(one, robot)
    runner = Rollout(loop, [Engine(spec, robot) for spec in SPECS.values()], recording.add)
    player = CommandPlayer([Command(t=0.0, mode="stand")], robot.dt)
    loop.start(1)
    try:
        for _ in range(round(1.2 / robot.dt)):
            runner.tick(lambda: player.messages(loop.seq, loop.utime, loop.run))
    finally:
        one.stop()
    return recording, robot
