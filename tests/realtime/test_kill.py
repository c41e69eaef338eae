"""kill -9 of a process while the robot walks: damping, who is missing, and standing again after restart and reset."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest

from config.scenario import Scenario
from lcmtypes.channels import GROUND_TRUTH, JOINT_COMMAND, JOINT_STATE, MODE_STATE, MOTION_COMMAND, PROC_HEALTH
from procs.runtime.logs import read_log
from procs.runtime.replay import replay
from tools.lcm_run import RunError, run_over_lcm
from tools.stack import SPECS

KILLED_AT, MOST_AGE = 1.8, 15  # s; ticks of 2 ms: 30 ms
LACKS = {"estimator": "body_state", "controller": "leg_command", "packer": "joint_command"}


@pytest.fixture
def walking():
    """Stands up and trots, with a fault."""

    def make(duration=60.0, **fault):
        commands = [{"t": 0.0, "mode": "stand"}, {"t": 1.5, "mode": "walk", "gait": "trot", "vx": 0.2}]
        return Scenario(name="kill", duration=duration, commands=commands, faults=[{"kind": "kill", **fault}])

    return make


class Enough:
    """True once the second run has walked for a while."""

    def __init__(self):
        self.t, self.again, self.over = 0.0, False, False

    def look(self, watch):
        self.again |= watch.t < self.t
        self.t = watch.t
        self.over = self.again and self.t > KILLED_AT + 0.5

    def __call__(self):
        return self.over


@pytest.mark.parametrize("process", list(LACKS))
def test_a_killed_process_leads_to_damping_and_after_restart_and_reset_the_robot_walks_again(
    walking, robot, url, tmp_path, process, caplog
):
    log = tmp_path / "kill.lcmlog"
    scenario = walking(t=KILLED_AT, process=process, restart_after=1.2)
    until_it_walks_again = Enough()
    run_over_lcm(
        scenario, robot, "mini_cheetah", [], seed=1, log=log, url=url,
        observe=until_it_walks_again.look, stop=until_it_walks_again,
    )  # fmt: skip
    events = list(read_log(log))
    first, second = dict.fromkeys(e.message.run for e in events if e.channel is JOINT_STATE)

    said = [e.message.last_error for e in events if e.channel is PROC_HEALTH and e.message.name == "sim"]
    assert any(f"no {LACKS[process]} of this tick" in text for text in said)
    assert f"no {LACKS[process]} of this tick" in caplog.text  # what the user of the tool reads
    damped = [int(m.group(1)) for text in said if (m := re.search(r"damping at tick (\d+): no joint_command", text))]
    answered = max(e.message.seq for e in events if e.channel is JOINT_COMMAND and e.message.run == first
                   and e.message.seq < damped[0])  # fmt: skip
    assert 0 < damped[0] - answered <= MOST_AGE

    def of(channel):
        return {e.message.seq: e.message for e in events if e.channel is channel and e.message.run == first}

    joints, truth = of(JOINT_STATE), of(GROUND_TRUTH)
    later = [k for k in truth if damped[0] + 2 < k < damped[0] + 100 and k in joints]
    assert len(later) > 20
    power = np.array([truth[k].tau @ joints[k].qd for k in later])
    assert power.sum() < 0, "damping takes energy out of the joints"
    assert max(np.abs(truth[k].tau).max() for k in later) < robot.tau_max.max()

    again = [e for e in events if e.message.run == second]
    assert [e.message.mode for e in again if e.channel is MODE_STATE][-1] == "walk"
    assert [e.message.position[2] for e in again if e.channel is GROUND_TRUTH][-1] > 0.2
    assert all(e.message.lock_step for e in again if e.channel is JOINT_STATE)
    result = replay(log, SPECS[process])
    assert result.exact, f"{result.first} {result.notes}"
    assert any("started again" in note for note in result.notes)


def test_a_killed_simulator_that_is_started_again_begins_a_new_run(walking, robot, url, tmp_path):
    log = tmp_path / "kill.lcmlog"
    scenario = walking(1.0, t=0.5, process="sim", restart_after=0.2)
    recording = run_over_lcm(scenario, robot, "mini_cheetah", [], seed=1, log=log, url=url)
    runs = dict.fromkeys(e.message.run for e in read_log(log) if e.channel is JOINT_STATE)
    assert len(runs) == 2
    # The new run is the whole scenario, has the most ticks, and is the one that the recording and the metrics are of.
    assert recording.of(JOINT_STATE)[-1].seq == 499
    assert len(recording.of(JOINT_COMMAND)) == 500


def test_a_kill_without_restart_is_told_by_the_tool(scenario_file, start):
    file = scenario_file(2.4, [{"t": KILLED_AT, "kind": "kill", "process": "controller"}])
    tool = start("tools.scenario", file, "--runner", "lcm")
    assert tool.wait() in (0, 1), tool.text()
    assert "no leg_command of this tick" in tool.text()
    tool.gone()


def test_a_kill_of_a_process_that_is_not_there_is_an_error_that_names_those_that_are(walking, robot, url, tmp_path):
    with pytest.raises(RunError, match=r"no process 'brain', there are .*estimator"):
        run_over_lcm(walking(0.2, t=0.1, process="brain"), robot, "mini_cheetah", [], seed=1, url=url)


@pytest.mark.parametrize("name", ["controller"])
def test_up_starts_a_killed_process_again_and_after_reset_the_robot_stands_again(start, listen, tmp_path, name):
    """`up` itself sends no reset: until somebody does the robot stays damped, whatever an operator still asks for."""
    up, ear = start("tools.up"), listen()
    ear.until(lambda: ear.mode() == "ready", "ready")
    walk = start("tools.command", "walk", "--gait", "trot", "--vx", "0.2")
    ear.until(lambda: ear.settled("walk"), "walking")
    up.child(f"procs.{name}").kill()
    ear.until(lambda: f"{name} was killed by SIGKILL (code -9) after" in up.text(), "its name")
    ear.until(lambda: f"{name} is back" in up.text(), "the new one")
    seen = ear.newest[JOINT_STATE].seq
    ear.until(lambda: ear.newest[JOINT_STATE].seq > seen + 200, "a while later")
    assert ear.health["sim"].estops == 1
    assert ear.health["sim"].state in ("lost", "latched")
    walk.interrupt()
    assert walk.wait() == 0
    ear.until(
        lambda: ear.newest[MOTION_COMMAND].utime < time.monotonic_ns() // 1000 - 600_000, "nobody asks for motion"
    )
    assert start("tools.command", "reset").wait() == 0
    stand = start("tools.command", "stand", "--seconds", "30")
    ear.until(lambda: ear.settled("stand"), "standing again")
    stand.interrupt()
    up.interrupt()
    assert up.wait() == 0, up.text()
    up.gone()
    flights = sorted((tmp_path / "logs").glob("flight_*.lcmlog"))
    assert any(f"{name}_was_killed_by_SIGKILL" in flight.name for flight in flights), flights


def test_up_stops_when_the_bridge_of_a_robot_with_motors_dies(start, listen):
    up, ear = start("tools.up", "--plant", "emulated"), listen()
    ear.until(lambda: ear.mode() == "ready", "ready")
    up.child("procs.bridge").kill()
    assert up.wait() == 1
    assert "bridge is not started again: what moves the robot is not started again unseen" in up.text()
    up.gone()
