"""The copy for players: joint_command is gone, all else is as it was; the real lcm-logplayer plays it."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from config.load import load_robot, load_scenario
from lcmtypes.channels import JOINT_COMMAND
from procs.model.robot import Robot
from procs.runtime.bus import Bus
from procs.runtime.logcopy import copy_log
from procs.runtime.logs import LogError, raw_events
from tools import play_copy
from tools.launch import ROOT, private_url
from tools.stack import rollout

PLAYER = ROOT / ".venv" / "bin" / "lcm-logplayer"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("log") / "run.lcmlog"
    scenario = load_scenario("stand", ["duration=0.4"])
    rollout(scenario, Robot(load_robot("mini_cheetah")), seed=1, log=path)
    return path


def test_only_joint_command_is_missing(log, tmp_path, command_line, capsys):
    copy = tmp_path / "deep" / "copy.lcmlog"
    assert command_line(play_copy.main, log, copy) == 0
    original = list(raw_events(log))
    wanted = [event for event in original if event[1] != JOINT_COMMAND.name]
    assert list(raw_events(copy)) == wanted
    assert len(original) - len(wanted) == 200
    assert f"without 200 of {JOINT_COMMAND.name}" in capsys.readouterr().out
    assert [p.name for p in copy.parent.iterdir()] == ["copy.lcmlog"]


def test_progress_ends_at_the_size_of_the_log(log, tmp_path):
    seen: list[int] = []
    copy_log(log, tmp_path / "copy.lcmlog", progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == log.stat().st_size
    assert (tmp_path / "copy.lcmlog").read_bytes() == log.read_bytes(), "a copy without omissions is the same file"


def test_what_cannot_be_copied_is_an_error_and_leaves_nothing(log, tmp_path, command_line, capsys):
    assert command_line(play_copy.main, tmp_path / "none.lcmlog", tmp_path / "copy.lcmlog") == 2
    assert "none.lcmlog" in capsys.readouterr().err
    with pytest.raises(LogError, match="is the log itself"):
        copy_log(log, log)
    empty = tmp_path / "empty.lcmlog"
    empty.write_text("this is no log")
    assert command_line(play_copy.main, empty, tmp_path / "copy.lcmlog") == 2
    assert not (tmp_path / "copy.lcmlog").exists()


@pytest.mark.skipif(not PLAYER.exists(), reason="no lcm-logplayer in .venv")
def test_the_real_player_plays_the_copy(log, tmp_path):
    copy = tmp_path / "copy.lcmlog"
    copy_log(log, copy, (JOINT_COMMAND.name,))
    wanted = [(name, data) for _stamp, name, data in raw_events(copy)]
    url, got = private_url(), []
    bus = Bus(url)
    bus.subscribe_raw(".*", lambda name, data: got.append((name, data)))
    with subprocess.Popen([PLAYER, "-l", url, str(copy)], stdout=subprocess.DEVNULL) as player:
        end = time.monotonic() + 20.0
        while player.poll() is None and time.monotonic() < end:
            bus.wait(0.05)
        player.kill()
    while bus.wait(0.2):
        pass
    assert got == wanted
