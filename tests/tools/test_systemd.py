"""Units filled in for this checkout, accepted by systemd, started with options that the tools know."""

from __future__ import annotations

import getpass
import shlex
import shutil
import subprocess
import sys

import pytest

from tools.launch import ROOT
from tools.systemd.__main__ import FOLDER, UNITS, UnitError, fill, main
from tools.up.__main__ import main as up


@pytest.fixture
def written(command_line, tmp_path):
    """written(option, ...) -> folder of the units"""

    def make(*options):
        assert command_line(main, "--install-dir", tmp_path / "units", *options) == 0
        return tmp_path / "units"

    return make


def lines(path, key):
    return [line.partition("=")[2] for line in path.read_text().splitlines() if line.startswith(f"{key}=")]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze")
@pytest.mark.parametrize(
    "options", [(), ("--robot", "scotty", "--interface", "eth0", "--lcm-url", "udpm://239.255.76.67:7667?ttl=1")]
)
def test_systemd_finds_no_fault_in_the_units(written, options):
    units = [written(*options) / name for name in UNITS]
    done = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False)
    ours = [text for text in done.stderr.splitlines() if any(name in text for name in UNITS)]
    assert ours == []
    assert done.returncode == 0, done.stderr


def test_the_started_command_is_one_that_up_understands(written, command_line, capsys, tmp_path):
    folder = written("--robot", "mini_cheetah", "--set", "control.mpc.horizon=8", "--", "--with", "recorder")
    (command,) = lines(folder / UNITS[0], "ExecStart")
    python, dash, module, *options = shlex.split(command.replace("%%", "%").replace("$$", "$"))
    assert (python, dash, module) == (sys.executable, "-m", "tools.up")
    assert "--rt" in options
    assert options[options.index("--plant") + 1] == "bridge"
    assert options[options.index("--set") + 1] == "control.mpc.horizon=8"
    # All of it is parsed and loaded; then the folder of the logs cannot be made and nothing is started.
    assert command_line(up, *options, "--lcm-url", "memq://", "--logs", "/dev/null/logs") == 2
    assert "can nothing be written to /dev/null/logs?" in "".join(capsys.readouterr())


def test_a_soft_stop_has_its_time_and_an_end_with_a_code_is_not_started_again(written):
    from tools.launch import GRACE, GRACE_LAST
    from tools.up.soft_stop import PATIENCE

    unit = written() / UNITS[0]
    assert float(lines(unit, "TimeoutStopSec")[0]) > PATIENCE + 3 * GRACE + GRACE_LAST
    assert lines(unit, "Restart") == ["on-abnormal"]
    assert lines(unit, "Type") == ["notify"]
    assert lines(unit, "WorkingDirectory") == [str(ROOT)]
    assert lines(unit, "User") == [getpass.getuser()]


def test_no_placeholder_is_left_and_an_unknown_one_is_an_error(written):
    folder = written()
    assert not any("@" in (folder / name).read_text() for name in UNITS)
    with pytest.raises(UnitError, match="@colour@"):
        fill("Red=@colour@", {"user": "x"})
    assert fill("A=@x@  \nB=1", {"x": "50%"}) == "A=50%%\nB=1\n"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--user", "no_such_user"), "no user 'no_such_user'"),
        (("--robot", "no_such_robot"), "no_such_robot"),
        (("--install-dir", "/dev/null/units"), "/dev/null/units"),
    ],
)
def test_what_cannot_be_filled_in_is_one_clear_error(command_line, capsys, tmp_path, options, text):
    assert command_line(main, "--install-dir", tmp_path, *options) == 2
    assert text in capsys.readouterr().err


def test_it_says_what_is_left_to_do(written, capsys):
    folder = written("--interface", "eth0")
    out = capsys.readouterr().out
    assert f"sudo cp {folder}/*.service /etc/systemd/system/" in out
    assert "systemctl enable --now legged-up" in out
    assert "ttl=0 in the URL keeps packets on this computer" in out
    guide = (FOLDER / "README.md").read_text()
    assert "python -m tools.systemd --robot" in guide
    assert all(name.removesuffix(".service") in guide for name in UNITS)
