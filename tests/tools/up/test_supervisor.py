"""Who dies is named with its last words and started again if the table allows it."""

from __future__ import annotations

import signal

import pytest

from lcmtypes.generated import ModeState
from tools.processes import PIPELINE
from tools.up.supervisor import DEAF, HUNG, SILENT


def test_every_process_is_said_to_run_once_it_has_reported(stack):
    s = stack()
    for name in s.launcher.children:
        assert sum(f"{name} runs, " in text for text in s.said) == 1
    assert s.supervisor.all_alive()


@pytest.mark.parametrize("name", [*(p.name for p in PIPELINE), "sim", "flight_recorder"])
def test_a_dead_process_is_named_at_once_with_its_last_words_and_started_again(stack, name):
    s = stack()
    s.die(name, -signal.SIGKILL, "one\nI was about to say\n")
    s.supervisor.look(s.now)
    assert (
        f"{name} was killed by SIGKILL (code -9) after 1.0 s. Its last words:\n  one\n  I was about to say" in s.text()
    )
    assert not s.supervisor.failure
    s.run(1.0)
    assert s.launcher.children[name].process.poll() is None
    assert s.supervisor.tracked[name].restarts.total == 1
    assert ("python -m tools.command reset" in s.text()) == (name != "flight_recorder")


def test_last_words_are_those_of_the_process_that_died_not_of_the_one_before(stack):
    s = stack()
    child = s.launcher.children["packer"]
    child.output.write_text("words of an earlier one\n")
    child.began = child.output.stat().st_size
    with child.output.open("a") as file:
        file.write("mine\n")
    assert child.last_words() == "mine"


@pytest.mark.parametrize("plant", ["bridge", "emulated"])
def test_a_plant_with_motors_is_never_started_again(stack, plant):
    s = stack(plant=plant)
    s.die("bridge", 1, "no answer of board 0")
    s.run(20.0)
    assert "no answer of board 0" in s.text()
    assert s.supervisor.failure == "the robot cannot be driven without bridge"
    assert s.launcher.children["bridge"].process.returncode == 1


@pytest.mark.parametrize(
    ("code", "options", "restart", "why"),
    [
        (2, (), True, "it would end in the same way"),
        (-9, ("--scenario", "s.yaml"), True, "a scenario is not begun again"),
        (-9, (), False, "--no-restart"),
    ],
)
def test_what_is_not_started_again_is_told_with_the_reason(stack, code, options, restart, why):
    s = stack(options=options, restart=restart)
    s.die("sim", code)
    s.run(20.0)
    assert f"sim is not started again: {why}" in s.text()
    assert s.supervisor.failure


def test_one_that_dies_again_and_again_is_given_up(stack):
    s = stack()
    for _ in range(200):
        s.die("estimator", 1)
        s.run(0.5)
        if s.supervisor.failure:
            break
    assert s.supervisor.tracked["estimator"].restarts.total == 5
    assert "started 5 times within 60 s" in s.text()


def test_a_listener_that_is_given_up_does_not_end_the_stack(stack):
    s = stack()
    s.die("flight_recorder", 2, "no space left")
    s.run(20.0)
    assert "no space left" in s.text()
    assert not s.supervisor.failure
    assert s.supervisor.all_alive(), "the robot can be driven all the same"


@pytest.mark.parametrize("name", [*(p.name for p in PIPELINE), "sim"])
def test_the_death_of_a_process_that_drives_the_robot_latches_damping_while_the_robot_is_driven(stack, name):
    s = stack()
    s.drive("ready")
    s.die(name, -9)
    s.run(2.0)
    assert not s.latched, "a robot that is not driven needs no reset"
    s.drive("walk")
    s.die(name, -9)
    s.run(2.0)
    assert len(s.latched) == 2
    assert s.latched[0].startswith(f"{name} was killed by SIGKILL")
    assert s.latched[1] == f"{name} was lost and is back", "the new process has not heard of the first"


def test_the_death_of_a_listener_latches_nothing(stack):
    s = stack()
    s.drive("walk")
    s.die("flight_recorder", -9)
    s.run(2.0)
    assert not s.latched


def test_a_process_that_falls_silent_is_named_then_killed_and_started_again(stack):
    s = stack()
    s.drive("stand")
    old = s.launcher.children["controller"].process
    s.run(SILENT + 0.5, silent=["controller"])
    assert "controller is silent although it runs (process 4711)" in s.text()
    assert s.latched == ["controller is silent"]
    assert old.poll() is None
    s.run(HUNG, silent=["controller"], step=0.5)
    assert old.poll() == -9
    s.run(1.0)
    assert s.supervisor.all_alive()


def test_a_silent_bridge_is_not_killed(stack):
    s = stack(plant="bridge")
    s.run(2 * HUNG, silent=["bridge"])
    assert "bridge is silent" in s.text()
    assert s.launcher.children["bridge"].process.poll() is None


def test_nobody_is_blamed_for_a_network_that_is_down(stack):
    s = stack()
    everybody = [*s.launcher.children, "up"]
    s.run(3 * HUNG, silent=everybody)
    assert s.said[-1].startswith("nothing is heard, not even the own reports")
    assert "silent" not in s.text()
    assert not s.latched
    s.run(DEAF)
    assert s.supervisor.all_alive()


def test_one_that_does_not_come_alive_again_within_its_time_is_killed(stack):
    s = stack()
    s.die("packer", -9)
    s.run(0.75, silent=["packer"])
    first = s.launcher.children["packer"].process
    s.run(s.supervisor.tracked["packer"].process.alive + 1.0, silent=["packer"], step=1.0)
    assert first.poll() == -9
    assert "packer has not reported within 60 s of its start: killed" in s.text()


def test_the_end_of_a_scenario_is_no_death(stack):
    s = stack(options=("--scenario", "s.yaml"))
    s.die("sim", 0)
    s.run(0.5)
    assert s.supervisor.ended
    assert not s.supervisor.failure
    assert "Its last words" not in s.text()


def test_nothing_is_started_again_once_the_stop_has_begun(stack):
    s = stack()
    s.supervisor.stopping = True
    s.die("controller", 0)
    s.run(20.0)
    assert s.launcher.children["controller"].process.poll() == 0
    assert not s.supervisor.failure


def test_the_plant_runs_only_while_it_obeys(stack):
    s = stack()
    assert s.supervisor.plant_runs()
    s.watch.health["sim"].state = "damping"
    assert not s.supervisor.plant_runs()
    s.run(0.5)
    s.die("sim", -9)
    assert not s.supervisor.plant_runs()


def test_a_mode_without_motion_is_not_driven(stack):
    s = stack()
    s.watch.mode = ModeState()
    s.watch.mode.mode = "damping"
    s.die("packer", -9)
    s.run(1.0)
    assert not s.latched
