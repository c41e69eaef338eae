"""Checks of what is installed, on machines made up."""

from __future__ import annotations

import json
import sys

import pytest

from tools.doctor import software
from tools.doctor.machine import Machine

LOCK = "numpy==2.1.0 \\\n    --hash=sha256:0\nlcm==1.5.3 \\\n    --hash=sha256:1\n"


def test_python(machine):
    assert software.python(machine(python=(3, 11, 4))).status == "ok"
    wrong = software.python(machine(python=(3, 12, 0)))
    assert (wrong.status, wrong.mend) == ("fail", "make clean setup PYTHON=/path/to/python3.11")
    assert "3.12.0" in wrong.text


@pytest.mark.parametrize(
    ("has", "status", "says"),
    [
        ({"numpy": "2.1.0", "lcm": "1.5.3"}, "ok", "2 as in"),
        ({"numpy": "2.0.0", "lcm": "1.5.3"}, "warn", "numpy 2.0.0, not 2.1.0"),
        ({"numpy": "2.0.0"}, "fail", "1 of 2 not installed: lcm"),
    ],
)
def test_packages_against_the_lock(machine, has, status, says):
    found = software.packages(machine({"/requirements.lock": LOCK}, version=has.get))
    assert (found.status, says in found.text) == (status, True)
    assert bool(found.mend) == (status != "ok")


def test_no_lock(machine):
    found = software.packages(machine())
    assert (found.status, found.mend) == ("fail", "git checkout requirements.lock")


@pytest.mark.parametrize(
    ("answer", "status", "says"),
    [
        ((0, "chatter\n{}\n"), "ok", "pybullet"),
        ((0, '\n{"lcm": "ImportError: no symbol"}\n'), "fail", "lcm cannot be loaded: ImportError: no symbol"),
        ((-11, ""), "fail", "exit code -11"),
        ((0, ""), "fail", "no answer"),
        ((0, "not json"), "fail", "no answer"),
    ],
)
def test_compiled_packages(machine, answer, status, says):
    found = software.native(machine(programs={sys.executable: answer}))
    assert (found.status, says in found.text) == (status, True)


def test_the_program_that_loads_packages_tells_good_from_bad():
    code, out = Machine().run(sys.executable, "-c", software._IMPORT, "json", "no_such_package")
    assert code == 0
    assert json.loads(out.strip().splitlines()[-1]) == {
        "no_such_package": "ModuleNotFoundError: No module named 'no_such_package'"
    }


def test_kernels(machine, tmp_path):
    assert software.kernels(machine()).status == "warn"
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / "numba")}
    assert software.kernels(machine(environment=environment)).mend == "make setup"
    (tmp_path / "numba" / "x").mkdir(parents=True)
    (tmp_path / "numba" / "x" / "kernel.nbi").touch()
    assert software.kernels(machine(environment=environment)).status == "ok"


@pytest.mark.parametrize(
    ("answer", "status"), [((0, "40092dc12345\n"), "ok"), ((0, "40092dc12345-dirty\n"), "warn"), ((128, ""), "warn")]
)
def test_revision(machine, answer, status):
    found = software.revision(machine(programs={"git": answer}))
    assert found.status == status
    assert (found.mend == "") == (status == "ok")


@pytest.mark.parametrize(("free", "status"), [(1e12, "ok"), (1e10, "warn"), (1e9, "fail")])
def test_disk(machine, free, status):
    found = software.disk(machine(free_bytes=lambda path: int(free)))
    assert found.status == status
    assert "h of recording" in found.text


def test_disk_looks_where_the_logs_are(machine):
    seen = []
    made = machine({"/logs/a.lcmlog": ""}, free_bytes=lambda path: seen.append(path.name) or 10**12)
    software.disk(made)
    assert seen == ["logs"]


@pytest.mark.parametrize(
    ("has", "status", "says"),
    [
        (("java", "javac"), "ok", "java and javac"),
        (("java",), "warn", "no javac"),
        ((), "warn", "no java and no javac"),
    ],
)
def test_java(machine, has, status, says):
    found = software.java(machine(which=lambda name: name if name in has else None))
    assert (found.status, says in found.text) == (status, True)


X, CARD = {"/tmp/.X11-unix/X1": ""}, {"/dev/dri/renderD128": ""}


@pytest.mark.parametrize(
    ("environment", "files", "status", "says"),
    [
        ({}, {}, "warn", "no GUI=1"),
        ({"DISPLAY": ":1"}, {}, "warn", "no X server"),
        ({"DISPLAY": ":1.0"}, X, "warn", "no graphics device"),
        ({"DISPLAY": ":1"}, X | CARD, "ok", "with a graphics device"),
        ({"DISPLAY": "host:10.0"}, CARD, "ok", "host:10.0"),
        ({"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":9"}, CARD, "ok", "wayland-0"),
    ],
)
def test_display(machine, environment, files, status, says):
    found = software.display(machine(files, environment=environment))
    assert (found.status, says in found.text) == (status, True)


def test_browser(machine):
    assert software.browser(machine()).status == "warn"
    assert software.browser(machine(which=lambda name: name == "firefox" or None)).text == "firefox"


def test_long_lists_are_cut():
    assert software.some(list("abcdef")) == "a, b, c, d and 2 more"
