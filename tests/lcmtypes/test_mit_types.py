"""MIT's wire types: lcmtypes/mit/ against the recorded fingerprints and sizes of their stack."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
MIT = ROOT / "lcmtypes" / "mit"
FACTS: dict[str, dict[str, Any]] = json.loads((ROOT / "tests" / "data" / "lcm_types_mit.json").read_text())


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the Python modules that the real lcm-gen makes of lcmtypes/mit."""
    out = tmp_path_factory.mktemp("mit")
    lcm_gen = Path(sys.executable).parent / "lcm-gen"
    subprocess.run([lcm_gen, "--python", "--ppath", out, *sorted(MIT.glob("*.lcm"))], check=True)
    return out


def load(folder: Path, name: str) -> Any:
    """The generated class, imported from its file so that no module name is taken."""
    spec = importlib.util.spec_from_file_location(f"_mit_generated_{name}", folder / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def dimensions(text: str) -> list[int | str]:
    """Array lengths of a declaration's ``[3][data_size]``."""
    return [int(d) if d.isdigit() else d for d in re.findall(r"\w+", text)]


def test_same_set_of_types(generated: Path) -> None:
    assert {f.stem for f in MIT.glob("*.lcm")} == set(FACTS)
    assert {f.stem for f in generated.glob("*.py")} - {"__init__"} == set(FACTS)


@pytest.mark.parametrize("name", sorted(FACTS))
def test_fingerprint(generated: Path, name: str) -> None:
    assert load(generated, name)._get_packed_fingerprint().hex() == FACTS[name]["fingerprint"]


@pytest.mark.parametrize("name", sorted(n for n in FACTS if FACTS[n]["encoded_size_bytes"] is not None))
def test_encoded_size(generated: Path, name: str) -> None:
    assert len(load(generated, name)().encode()) == FACTS[name]["encoded_size_bytes"]


def test_the_only_variable_size_type_is_sim_command(generated: Path) -> None:
    assert [n for n in FACTS if FACTS[n]["encoded_size_bytes"] is None] == ["sim_command_t"]
    message = load(generated, "sim_command_t")()
    assert len(message.encode()) == 8 + 4 + 4
    message.data_size, message.data = 3, [1.0, 2.0, 3.0]
    assert len(message.encode()) == 8 + 4 + 4 + 3 * 8


@pytest.mark.parametrize("name", sorted(FACTS))
def test_fields_letter_by_letter(name: str) -> None:
    """The hash and the size say it too, but this names the field that differs."""
    text = re.sub(r"//.*", "", (MIT / f"{name}.lcm").read_text())
    assert re.findall(r"\b(?:struct|package)\s+(\w+)", text) == [name]
    fields = [
        {"type": kind, "name": field, "dims": dimensions(dims)}
        for kind, field, dims in re.findall(r"(\w+)\s+(\w+)((?:\[\w+\])*);", text)
    ]
    assert fields == FACTS[name]["fields"]
