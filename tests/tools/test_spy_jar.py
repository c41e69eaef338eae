"""The jar of message types that lcm-spy is started with."""

import os
import re
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from tools import spy

ROOT = Path(__file__).resolve().parents[2]
TYPES = ROOT / "lcmtypes"

needs_jdk = pytest.mark.skipif(
    shutil.which("java") is None or shutil.which("javac") is None,
    reason=f"no java or javac on this machine ({spy.GET_JDK})",
)


def class_names(jar: Path) -> list[str]:
    with zipfile.ZipFile(jar) as archive:
        return sorted(n for n in archive.namelist() if n.endswith(".class"))


def expected_class(lcm_file: Path) -> str:
    package = re.search(r"^\s*package\s+([\w.]+)\s*;", lcm_file.read_text(), re.MULTILINE)
    folder = package.group(1).replace(".", "/") if package else "mit"
    return f"{folder}/{lcm_file.stem}.class"


def small_types(folder: Path) -> Path:
    """A types folder with two native types, one inside the other, and a MIT type of the same name."""
    (folder / "mit").mkdir(parents=True)
    (folder / "part_t.lcm").write_text("package lcmtypes;\nstruct part_t { double x; }\n")
    (folder / "whole_t.lcm").write_text(
        "package lcmtypes;\n// in µs\nstruct whole_t { int32_t n; lcmtypes.part_t parts[n]; string why; }\n"
    )
    (folder / "mit" / "part_t.lcm").write_text("struct part_t { float y[3]; }\n")
    return folder


@needs_jdk
def test_a_class_for_every_type(tmp_path: Path) -> None:
    jar = tmp_path / "build" / "lcmtypes.jar"
    assert spy.build_jar(TYPES, jar)
    files = spy.lcm_files(TYPES)
    assert (TYPES / "mit" / "spi_data_t.lcm") in files
    assert class_names(jar) == sorted(expected_class(f) for f in files)
    assert not spy.build_jar(TYPES, jar), "a second call must not build again"
    assert [p.name for p in jar.parent.iterdir()] == [jar.name]


@needs_jdk
def test_rebuilt_when_a_type_is_edited_added_or_removed(tmp_path: Path) -> None:
    types, jar = small_types(tmp_path / "types"), tmp_path / "t.jar"
    assert spy.build_jar(types, jar)
    assert class_names(jar) == ["lcmtypes/part_t.class", "lcmtypes/whole_t.class", "mit/part_t.class"]
    later = jar.stat().st_mtime + 1
    os.utime(types / "part_t.lcm", (later, later))
    assert spy.build_jar(types, jar)
    os.utime(jar, (later, later))
    assert not spy.build_jar(types, jar)
    (types / "mit" / "part_t.lcm").unlink()
    assert spy.build_jar(types, jar)
    assert class_names(jar) == ["lcmtypes/part_t.class", "lcmtypes/whole_t.class"]


@needs_jdk
def test_class_files_suit_the_java_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    types, jar = small_types(tmp_path / "types"), tmp_path / "t.jar"
    monkeypatch.setattr(spy, "java_release", lambda program: 25 if program.endswith("javac") else 11)
    assert spy.build_jar(types, jar)
    with zipfile.ZipFile(jar) as archive:
        majors = {int.from_bytes(archive.read(n)[6:8], "big") for n in class_names(jar)}
    assert majors == {11 + 44}
    monkeypatch.setattr(spy, "java_release", lambda program: 9)
    assert spy.build_jar(types, jar), "a jar too new for the java that runs must be built again"


@needs_jdk
def test_a_bad_type_is_an_error_with_its_name(tmp_path: Path) -> None:
    types = small_types(tmp_path / "types")
    (types / "bad_t.lcm").write_text("package lcmtypes;\nstruct bad_t { no_such_t x; }\n")
    with pytest.raises(spy.SpyError, match="no_such_t"):
        spy.build_jar(types, tmp_path / "t.jar")
    assert not (tmp_path / "t.jar").exists()


@pytest.mark.parametrize("absent", ["java", "javac"])
def test_without_a_jdk(
    absent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(spy, "JAR", tmp_path / "t.jar")
    monkeypatch.setattr(shutil, "which", lambda name: None if name == absent else name)
    monkeypatch.setattr(spy, "java_release", lambda program: 17)
    assert spy.main(["--jar-only"]) == 2
    assert capsys.readouterr().err == f"spy: {absent} not found; run: apt-get install default-jdk\n"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="DISPLAY is asked for on Linux only")
def test_without_a_screen(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.delenv("DISPLAY", raising=False)
    assert spy.main([]) == 2
    assert "no DISPLAY" in capsys.readouterr().err
