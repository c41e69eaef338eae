"""python -m tools.report on the logs that there are, and on bad ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from lcmtypes.channels import CHANNELS, GROUND_TRUTH, JOINT_STATE, MODE_STATE, PROC_HEALTH, ROBOT_CONFIG
from lcmtypes.generated import ProcHealth
from procs.runtime.logs import LogWriter, raw_events, read_log
from tests.tools.report.conftest import WRONG
from tools.report.__main__ import main
from tools.report.build import report
from tools.report.context import Context
from tools.report.log import LogFile
from tools.report.verdict import judge


def rewritten(
    log: Path, out: Path, *, without=(), begin: float = 0.0, runs: int = 1, foreign: bool = False, more: str = ""
) -> Path:
    """A copy of a log without some channels, from a time on, with several runs in it (all but the last cut short)."""
    with LogWriter(out) as writer:
        for run in range(1, runs + 1):
            for event in read_log(log):
                message = event.message
                if event.channel in without or (event.channel is not ROBOT_CONFIG and message.seq * 0.002 < begin):
                    continue
                if run < runs and message.seq > 400:
                    break
                if event.channel is ROBOT_CONFIG:
                    message.yaml += more
                if message.run:
                    message.run = run
                writer.write(event.channel, message, 10**15 + run)
                if foreign and event.channel is JOINT_STATE:
                    writer.write_raw("spi_data", b"\1\2\3", 10**15)
    return out


def test_a_good_walk_exits_0_and_says_so(walked, tmp_path, command_line, capsys):
    out = tmp_path / "deep" / "page.html"
    assert command_line(main, walked, "--out", out, "--title", "My <walk>") == 0
    said = capsys.readouterr().out
    assert "Did not fall" in said and "page.html" in said
    text = out.read_text()
    assert "My &lt;walk&gt;" in text and "Nothing left its normal range" in text
    assert len(text) < 3e6
    assert [p.name for p in out.parent.iterdir()] == ["page.html"]


def test_a_fall_exits_1_and_names_its_cause(fallen, tmp_path, command_line, capsys):
    assert command_line(main, fallen) == 1
    text = fallen.with_suffix(".html").read_text()
    assert "Fell at" in text and "FR.knee: drive gives no torque" in text
    assert "FR.knee: drive gives no torque" in capsys.readouterr().out
    for section in ("Timeline", "Contacts", "Balance", "Joints", "Estimator", "MPC", "Processes"):
        assert f">{section}</h2>" in text


def test_a_log_without_truth_as_from_hardware(fallen, tmp_path):
    text, told = report(rewritten(fallen, tmp_path / "alone.lcmlog", without=(GROUND_TRUTH,), foreign=True))
    assert told.head.startswith("Fell at") and told.cause is not None
    assert told.cause.subjects == ["FR.knee"]
    assert "no ground truth" in text and '"true"' not in text


def test_a_log_that_begins_in_the_middle(fallen, tmp_path):
    text, told = report(rewritten(fallen, tmp_path / "late.lcmlog", begin=1.7))
    assert told.cause is not None and told.cause.begin == pytest.approx(WRONG, abs=0.1)
    assert "1.70 to 2.80 s" in text


def test_a_log_that_is_cut_off(fallen, tmp_path):
    cut = tmp_path / "cut.lcmlog"
    cut.write_bytes(fallen.read_bytes()[: int(0.8 * fallen.stat().st_size) + 17])
    _, told = report(cut)
    assert told.found and told.found[0].subjects == ["FR.knee"]


def test_of_several_runs_the_one_that_fell(fallen, tmp_path, command_line, capsys):
    log = rewritten(fallen, tmp_path / "runs.lcmlog", runs=3)
    assert len(LogFile.read(log).runs) == 3
    assert command_line(main, log) == 1
    assert "run 3 of 3" in log.with_suffix(".html").read_text()
    assert command_line(main, log, "--run", 1) == 0
    text = log.with_suffix(".html").read_text()
    assert "run 1 of 3" in text and "--run 3" in text
    assert command_line(main, log, "--run", 4) == 2
    assert "no run 4, it holds 3" in capsys.readouterr().err


def test_a_part_of_a_run(fallen):
    text, told = report(fallen, begin=0.5, end=1.8)
    assert told.stop is None and told.found == []
    assert "0.50 to 1.80 s" in text


def test_a_log_with_few_channels(walked, tmp_path):
    others = tuple(c for c in CHANNELS.values() if c not in (JOINT_STATE, MODE_STATE, ROBOT_CONFIG))
    text, told = report(rewritten(walked, tmp_path / "few.lcmlog", without=others))
    assert told.kind == "ok"
    assert "No body_state in this log" in text and "No mpc_debug in this log" in text


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda log, out: out, "no log at"),
        (lambda log, out: out.write_bytes(b"not a log" * 100) and out, "LCM event"),
        (lambda log, out: rewritten(log, out, without=(ROBOT_CONFIG,)), "name the robot with --robot"),
        (lambda log, out: rewritten(log, out, more="unheard_of: 1\n"), "name one with --robot"),
    ],
)
def test_bad_files_exit_2(walked, tmp_path, command_line, capsys, make, words):
    assert command_line(main, make(walked, tmp_path / "bad.lcmlog")) == 2
    assert words in capsys.readouterr().err
    assert list(tmp_path.glob("*.html")) == []


def test_a_robot_by_name_helps_where_the_log_has_no_description(walked, tmp_path, command_line):
    log = rewritten(walked, tmp_path / "nameless.lcmlog", without=(ROBOT_CONFIG,))
    assert command_line(main, log, "--robot", "mini_cheetah") == 0
    assert command_line(main, log, "--robot", "mini_cheetah", "--from", 100) == 2
    assert command_line(main, log, "--from", "nan") == 2


def test_the_log_is_never_written_over(walked, command_line):
    before = walked.read_bytes()
    assert command_line(main, walked, "--out", walked) == 2
    assert walked.read_bytes() == before


@pytest.mark.parametrize(("seconds", "stops"), [(1.5, True), (2.3, False)])
def test_a_plant_that_damps_by_itself_is_a_stop_unless_all_leave(walked, seconds, stops):
    log = LogFile.read(walked)
    health = ProcHealth()
    health.name, health.state, health.last_error = "bridge", "damping", "no joint_command for 10 ticks"
    begin = log.runs[0].span()[0]
    log.loose.append((begin + round(1e6 * seconds), PROC_HEALTH, health))
    told = judge(Context(log.run(0, log.robot(None))))
    assert (told.stop is not None) is stops
    if stops:
        assert told.stop == pytest.approx(1.5, abs=0.01)
        assert told.why == "bridge damping: no joint_command for 10 ticks"


def test_reading_leaves_the_log_as_it_is(walked):
    before = sum(1 for _ in raw_events(walked))
    report(walked)
    assert sum(1 for _ in raw_events(walked)) == before
