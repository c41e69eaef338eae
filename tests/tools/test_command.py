"""The command tool: scripts played as a scenario would be, by a named source; bad files and usage."""

import itertools
import threading

import pytest
import yaml

from config.load import ConfigError, load_commands
from config.scenario import Command
from lcmtypes.channels import ESTOP, MOTION_COMMAND, RESET
from procs.runtime.bus import Bus
from tools import command
from tools.command import PERIOD, Script, hold, motion, parser, ticks
from tools.operator import Operator

_numbers = itertools.count(1)


@pytest.fixture
def ear():
    """An operator and what it sent."""
    bus = Bus(f"memq://command{next(_numbers)}")
    sent = []
    bus.subscribe((MOTION_COMMAND, ESTOP, RESET), lambda channel, m: sent.append((channel, m)))
    return Operator(bus, "command"), bus, sent


@pytest.fixture
def write(tmp_path):
    def make(data):
        path = tmp_path / "script.yaml"
        path.write_text(data if isinstance(data, str) else yaml.safe_dump(data))
        return path

    return make


def test_a_script_is_played_by_its_times_and_each_command_changes_only_what_it_names(ear):
    operator, bus, sent = ear
    commands = [Command(t=0.1, mode="walk", vx=0.3), Command(t=0.2, yaw_rate=-0.5), Command(t=0.3, vx=0.0)]
    script = Script(operator, commands)
    for _ in range(20):
        script.step()
    bus.drain()
    got = [(m.mode, m.vx, m.yaw_rate) for _, m in sent]
    assert got == [("walk", 0.3, 0.0)] * 5 + [("walk", 0.3, -0.5)] * 5 + [("walk", 0.0, -0.5)] * 5
    assert {m.source.split(":")[0] for _, m in sent} == {"command"}
    assert len({m.seq for _, m in sent}) == 15, "each message is new"


def test_estop_and_reset_of_a_script_are_pressed(ear):
    operator, bus, sent = ear
    script = Script(operator, [Command(t=0.0, estop=True), Command(t=0.04, reset=True)])
    for _ in range(4):
        script.step()
    bus.drain()
    assert [c.name for c, _ in sent if c is not MOTION_COMMAND] == ["estop"] * 3 + ["reset"]
    assert all(m.reason == "script" for c, m in sent if c is not MOTION_COMMAND)


def test_a_script_says_what_it_does(ear):
    script = Script(ear[0], [Command(t=0.02, mode="walk", vx=0.3), Command(t=0.04, vx=0.5)])
    says = []
    for _ in range(3):
        says.append(script.says())
        script.step()
    assert says == ["waiting for t = 0.02 s", "mode walk, vx 0.3", "vx 0.5"]


def test_a_held_command_repeats_what_the_line_says(ear):
    operator, bus, sent = ear
    args = parser().parse_args(["walk", "--vx", "0.4", "--pitch", "0.1", "--gait", "trot"])
    hold(operator, motion(args), 3 * PERIOD, threading.Event())
    bus.drain()
    assert [(m.mode, m.gait, m.vx, m.pitch, m.vy) for _, m in sent] == [("walk", "trot", 0.4, 0.1, 0.0)] * 3


def test_ticks_end_when_told():
    ended = threading.Event()
    seen = []
    for t in ticks(None, ended):
        seen.append(t)
        if len(seen) == 3:
            ended.set()
    assert seen == pytest.approx([0.0, PERIOD, 2 * PERIOD])


def test_commands_are_read_from_a_script_and_from_a_scenario(write):
    commands, duration = load_commands(write({"commands": [{"t": 0, "mode": "stand"}, {"t": 1.5, "vx": 0.2}]}))
    assert [(c.t, c.mode, c.vx) for c in commands] == [(0, "stand", None), (1.5, None, 0.2)]
    assert duration is None
    commands, duration = load_commands("config/scenarios/trot_forward.yaml")
    assert len(commands) > 2 and duration > commands[-1].t


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ({"commands": [{"t": 0, "speed": 1}]}, "commands.0.speed"),
        ({"commands": [{"t": 2}, {"t": 1}]}, "in order of t"),
        ({"commands": []}, "want a list of commands"),
        ({"command": [{"t": 0}]}, "unknown key"),
        ("commands: [", "line 1"),
        ("- 1", "no mapping"),
    ],
)
def test_a_bad_script_is_one_error_that_names_the_place(write, text, words):
    with pytest.raises(ConfigError, match=words):
        load_commands(write(text))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "say either"),
        (("walk", "--script", "x.yaml"), "say either"),
        (("--script", "no_such.yaml"), "no_such.yaml"),
        (("--script", "x.yaml", "--vx", "1"), "--vx is for a held mode"),
        (("walk", "--vx", "nan"), "must be finite"),
        (("walk", "--seconds", "-1"), "--seconds is -1"),
    ],
)
def test_bad_usage_is_one_clear_error(command_line, capsys, arguments, words):
    assert command_line(command.main, *arguments) == 2
    assert words in capsys.readouterr().err
