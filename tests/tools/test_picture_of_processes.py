"""README's picture is that of the declarations, and its commands exist."""

from __future__ import annotations

import re

import pytest

from config.load import load_robot
from lcmtypes.channels import PROC_HEALTH
from procs.model.robot import Robot
from procs.runtime.bus import Bus
from procs.runtime.live_plant import LivePlant
from procs.runtime.plant_loop import PlantLoop
from tools.launch import ROOT
from tools.picture_of_processes import BEGIN, PLANT_READS, README, edges, main, renewed
from tools.stack import SPECS

TEXT = README.read_text()


def test_the_picture_in_the_readme_is_of_today():
    assert renewed(TEXT) == TEXT, "run: python -m tools.picture_of_processes --write"


def test_an_old_picture_is_noticed(tmp_path, monkeypatch, command_line, capsys):
    old = tmp_path / "README.md"
    old.write_text(TEXT.replace("estimator -->", "estimator ---->"))
    monkeypatch.setattr("tools.picture_of_processes.README", old)
    assert command_line(main, "--check") == 1
    assert command_line(main, "--write") == 0
    assert old.read_text() == TEXT
    assert command_line(main, "--check") == 0
    with pytest.raises(ValueError, match="no block"):
        renewed(TEXT.replace(BEGIN, ""))


def test_every_declared_channel_is_an_edge():
    shown = {name for names in edges().values() for name in names}
    for spec in SPECS.values():
        assert {c.name for c in (*spec.channels, *spec.writes)} <= shown


def test_the_plant_reads_what_the_picture_says():
    robot = Robot(load_robot("mini_cheetah"))
    bus = Bus("memq://")
    asked: set = set()
    bus.subscribe = lambda channels, handler: asked.update(channels) or []  # type: ignore[method-assign]
    LivePlant("sim", PlantLoop(None, robot), bus, lock_step=True, pace=None)  # type: ignore[arg-type]
    assert asked - {PROC_HEALTH} == set(PLANT_READS)


def test_commands_and_files_of_the_readme_exist():
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z][a-z-]*)", TEXT))
    assert named <= targets
    for module in set(re.findall(r"python -m ((?:tools|procs|sim|lcmtypes)[\w.]*)", TEXT)):
        path = ROOT / module.replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), module
    for link in re.findall(r"\]\(([^)#:]+)\)", TEXT):
        assert (ROOT / link).exists(), link


def test_every_target_of_make_help_is_in_the_readme():
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^([a-z-]+):.*##", makefile, re.MULTILINE)
    assert [t for t in targets if f"make {t}" not in TEXT] == []
