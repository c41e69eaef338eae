"""The guide: its status table is of today, its steps, commands and thresholds are those of the tools."""

import re

import pytest

from tools.bring_up import status
from tools.bring_up.run import STEPS, jobs
from tools.bring_up.step import REACHED, TORQUE
from tools.bring_up.wiring import NEAR

TEXT = status.GUIDE.read_text(encoding="utf-8")
JOINTS = tuple(f"{leg}.{joint}" for leg in ("FR", "FL", "RR", "RL") for joint in ("abad", "hip", "knee"))


def test_the_status_table_is_of_today():
    assert status.renewed(TEXT) == TEXT, "run: python -m tools.bring_up.status --write"


def test_every_claim_names_a_test_that_exists():
    assert [test for _, test, kind in status.CLAIMS if kind != status.NOT and not status.proven(test)] == []
    assert not status.proven("bring_up/test_guide.py::test_no_such_thing") and not status.proven("no/file.py::test_x")


def test_an_old_table_is_noticed_and_renewed(tmp_path, monkeypatch, capsys):
    old = tmp_path / "BRING_UP.md"
    old.write_text(TEXT.replace("Bring-up: swapped nodes", "Bring-up: something"), encoding="utf-8")
    monkeypatch.setattr(status, "GUIDE", old)
    codes = []
    for option in ("--check", "--write", "--check"):
        monkeypatch.setattr("sys.argv", ["status", option])
        codes.append(status.main())
    assert codes == [1, 0, 0] and old.read_text(encoding="utf-8") == TEXT
    assert "is old" in capsys.readouterr().err
    with pytest.raises(ValueError, match="no block"):
        status.renewed(TEXT.replace(status.END, ""))


def test_commands_of_the_guide_are_steps_and_modules():
    for line in re.findall(r"tools\.bring_up --robot ROBOT ([^#\n]*)", TEXT):
        words = re.sub(r"--json|--bus-dir \S+", "", line).split()
        assert jobs(words, JOINTS) or not words
    for module in re.findall(r"python -m ([\w.]+)", TEXT):
        path = status.ROOT / module.replace(".", "/")
        known = path.with_suffix(".py").exists() or (path / "__main__.py").exists() or module == "pytest"
        assert known, module
    steps = TEXT.split("## The steps")[1].split("##")[0]
    assert set(re.findall(r"^\| `([a-z-]+)(?: JOINT)?`", steps, re.M)) | {"ground"} == set(STEPS)


def test_numbers_of_the_guide_are_those_of_the_tool():
    assert f"{100 * NEAR:.0f} % are asked" in TEXT and f"{100 * TORQUE:.0f} % of the joint's limit" in TEXT
    assert REACHED == 0.5
