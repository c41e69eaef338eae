"""The sweep: how many seeds hold, the worst figure of each expectation, exit codes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import psutil
import pytest

from config.load import load_scenario, scenario_names
from config.scenario import Scenario
from tools import seeds
from tools.launch import ROOT


def test_all_scenarios_and_the_variants_are_swept_and_can_be_loaded():
    found = seeds.cases([])
    assert {c.name for c in found} >= set(scenario_names())
    variants = [load_scenario(c.file, list(c.overrides)) for c in found if c.overrides]
    assert any(v.plant.delay_ticks == 1 and v.name == "trot_1_0" for v in variants)
    assert any(v.pushes and not any(c.vx for c in v.commands) for v in variants)


@pytest.mark.parametrize(("asked", "wanted"), [(10, 9), (1, 1), (2, 2), (9, 9), (11, 10), (20, 18)])
def test_nine_of_ten_must_hold(asked, wanted):
    assert seeds.needed(asked) == wanted


def test_the_worst_figure_is_the_one_nearest_its_bound():
    scenario = Scenario(
        name="s", duration=1.0, expect={"fell": False, "a": {"max": 3}, "b": {"min": 1, "max": 9}, "c.0": {"max": 1}}
    )
    results = [{"fell": False, "a": 2.0, "b": 5.0, "c": [None]}, {"fell": True, "a": 4.0, "b": 2.0, "c": [0.5]}]
    assert [(r["metric"], r["worst"], r.get("missing", 0)) for r in seeds.worst(scenario, results)] == [
        ("fell", "1 of 2", 0), ("a", 4.0, 0), ("b", 5.0, 0), ("b", 2.0, 0), ("c.0", 0.5, 1),
    ]  # fmt: skip


def test_a_sweep_writes_its_table_and_exits_0(tiny, tmp_path, command_line, capsys):
    out = tmp_path / "out.json"
    assert command_line(seeds.main, tiny, "--seeds", 2, "--json", out) == 0
    (row,) = json.loads(out.read_text())
    assert (row["case"], row["passed"], row["seeds"], row["holds"]) == ("tiny", 2, 2, True)
    assert [r["seed"] for r in row["results"]] == [1, 2]
    assert {w["metric"] for w in row["worst"]} == {"fell", "torque_nm.max"}
    printed = capsys.readouterr().out
    assert "2/2" in printed and "<= 100" in printed


def test_a_run_that_breaks_counts_as_failed(tiny, monkeypatch):
    monkeypatch.setattr(seeds, "run_one", lambda *_: 1 / 0)
    result = seeds.run_case(seeds.Case("tiny", str(tiny)), [], 1)
    row = seeds.summary(seeds.Case("tiny", str(tiny)), load_scenario(tiny), [result])
    assert not row["holds"]
    assert "ZeroDivisionError" in row["failures"]["1"][0]


def test_what_does_not_hold_exits_1_and_a_bad_name_2(tiny, command_line, capsys):
    assert command_line(seeds.main, tiny, "--seeds", 1, "--set", "expect={fell: true}") == 1
    assert "fell is False, want True" in capsys.readouterr().out
    assert command_line(seeds.main, "no_such_scenario") == 2


def test_an_interrupt_prints_what_is_there_and_leaves_no_process(tiny, tmp_path):
    long = tmp_path / "long.yaml"
    long.write_text(tiny.read_text().replace("0.4", "600").replace("tiny", "long"))
    command = [sys.executable, "-u", "-m", "tools.seeds", str(tiny), str(long), "--seeds", "1", "--jobs", "2"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if "tiny: 1 of 1" in line:
                break
        workers = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        rest = process.stdout.read()
        assert process.wait(20) == 130
        assert time.monotonic() - begin < 15
    assert "1/1" in rest and "interrupted" in rest
    assert len(workers) >= 2
    assert psutil.wait_procs(workers, timeout=5)[1] == []
