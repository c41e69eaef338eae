"""Estimator, controller and packer never learn which plant runs: they import none and name none."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORES = ("estimator", "controller", "packer")
FILES = sorted(path for core in CORES for path in (ROOT / "procs" / core).rglob("*.py"))
PLANTS = ("sim", "procs.bridge", "procs.wire", "can", "spidev", "serial", "pybullet")
KINDS = {
    "sim",
    "simulator",
    "simulation",
    "simulated",
    "bridge",
    "emulated",
    "emulator",
    "hardware",
    "is_sim",
    "pybullet",
    "spine",
}


def imports(tree):
    """All modules that a file imports, `from a import b` as a.b too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def words(tree):
    """Identifiers, attributes and string constants, docstrings left out."""
    texts = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts:
            yield from node.value.split()


def forbidden_imports(tree):
    return sorted({m for m in imports(tree) for p in PLANTS if m == p or m.startswith(p + ".")})


def plant_words(tree):
    return sorted({w for word in words(tree) for w in [word.lower().strip(".,:;()'\"")] if w in KINDS})


def test_there_are_files_to_look_at():
    assert {path.parent.name for path in FILES} >= set(CORES)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_core_neither_imports_a_plant_nor_names_a_kind_of_plant(path):
    tree = ast.parse(path.read_text())
    assert forbidden_imports(tree) == []
    assert plant_words(tree) == []


def test_the_test_would_find_both():
    tree = ast.parse("from sim import plant\nimport procs.bridge.plant\nif robot.plant == 'bridge' or is_sim: pass\n")
    assert forbidden_imports(tree) == ["procs.bridge.plant", "sim", "sim.plant"]
    assert plant_words(tree) == ["bridge", "is_sim"]
    assert forbidden_imports(ast.parse("import simple, canonical")) == []


def test_the_simulator_never_imports_the_bridge():
    for path in sorted((ROOT / "sim").rglob("*.py")):
        found = [
            m for m in imports(ast.parse(path.read_text())) if m == "procs.bridge" or m.startswith("procs.bridge.")
        ]
        assert found == [], path


def test_only_one_module_of_the_simulator_can_open_a_bus():
    for path in sorted((ROOT / "sim").rglob("*.py")):
        found = {m.split(".")[0] for m in imports(ast.parse(path.read_text()))} & {"can", "spidev", "serial"}
        assert found == ({"can"} if path.name == "can_link.py" else set()), path
