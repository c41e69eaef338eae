"""The tool as a process on served emulated hardware: scripted runs, prompts, Ctrl-C and kill."""

import io
import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import yaml
from rich.console import Console

from config.load import dump
from config.scenario import PlantOptions
from sim.emulators.hardware import emulated
from sim.serve import Server
from tests.bring_up.conftest import rewired, robot_on
from tools.bring_up.ask import Scripted, Terminal, UnansweredError
from tools.bring_up.run import UsageError, jobs
from tools.bring_up.session import Record, Session, SessionError, Verdict

ROOT = Path(__file__).resolve().parents[2]


class Rig:
    """Emulated hardware behind sockets in a thread, and the tool as a process."""

    def __init__(self, folder, described, true):
        self.folder = folder
        self.hardware = emulated(true, PlantOptions(imu_noise=False, suspended=True), 1)
        self.server = Server(self.hardware, folder / "bus")
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()
        (folder / "robot.yaml").write_text(dump(described.description))
        self.process = None

    def start(self, *words, stdin=None):
        command = [sys.executable, "-m", "tools.bring_up", "--robot", str(self.folder / "robot.yaml")]
        more = ["--bus-dir", str(self.folder / "bus"), "--session", str(self.folder / "out" / "session.json")]
        self.process = subprocess.Popen(
            [*command, *more, *words], cwd=ROOT, text=True, stdin=stdin or subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        return self.process

    def wait(self, done, patience=20.0):
        end = time.monotonic() + patience
        while not done():
            assert time.monotonic() < end
            time.sleep(0.002)

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
        self.server.stop()
        self.thread.join(10)


@pytest.fixture
def rig(tmp_path):
    rigs = []

    def make(kind="mit", **changes):
        described = robot_on(kind)
        rigs.append(Rig(tmp_path, described, rewired(described, **changes)))
        return rigs[-1]

    yield make
    for one in rigs:
        one.close()


def test_a_scripted_run_on_served_hardware_finds_what_is_wrong(rig, tmp_path):
    one = rig(FL_knee={"id": 60})
    answers = tmp_path / "answers.yaml"
    answers.write_text(yaml.safe_dump({
        "step.*.moved": "FR.knee", "step.*.direction": "forward", "step.*.degrees": "", "report.signed_by": "script",
    }))  # fmt: skip
    words = ["listen", "roll-call", "step", "FR.knee", "report", "--seconds", "0.1", "--hold", "0.1", "--json"]
    out, err = one.start(*words, "--answers", str(answers), "--yes-to", "roll-call", "step").communicate(timeout=60)
    records = {(r["step"], r["target"]): r for r in json.loads(out)}
    assert one.process.returncode == 1, err
    assert records["roll-call", "FL.knee"]["verdict"] == "missing"
    assert records["roll-call", "FR.hip"]["verdict"] == "ok" and records["listen", "FR.hip"]["verdict"] == "not heard"
    assert records["step", "FR.knee"]["verdict"] == "ok", records["step", "FR.knee"]
    assert "roll-call: FL.knee" in records["report", "robot"]["words"]
    assert "On emulated hardware" in (tmp_path / "out" / "mini_cheetah_report.html").read_text()
    assert {p.name for p in (tmp_path / "out").iterdir()} == {
        "session.json", "mini_cheetah_overlay.yaml", "mini_cheetah_brought_up.yaml", "mini_cheetah_report.html",
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["mit", "spine"])
@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGKILL], ids=lambda s: s.name)
def test_ctrl_c_and_kill_leave_the_motors_off(rig, tmp_path, kind, sig):
    one = rig(kind)
    process = one.start("step", "FR.hip", "--yes-to", "step", "--hold", "60")
    one.wait(lambda: one.hardware.robot.on[1] and one.hardware.robot.wanted[2, 1] > 0)
    process.send_signal(sig)
    one.wait(lambda: not one.hardware.robot.on.any(), 5.0)
    out, err = process.communicate(timeout=10)
    if sig is signal.SIGINT:
        assert process.returncode == 130 and "motors are switched off" in out, err
        kept = Session(tmp_path / "out" / "session.json", "mini_cheetah", emulated=True)
        assert kept.latest("step", "FR.hip")[0].verdict is Verdict.INTERRUPTED


def test_the_menu_takes_plain_prompts_and_no_answer_is_no(rig):
    one = rig()
    process = one.start("--hold", "0.1", stdin=subprocess.PIPE)
    out, err = process.communicate("nonsense\nstep FR.hip\n\nquit\n", timeout=60)
    assert process.returncode == 1, err
    assert "'nonsense': want bit-rate" in out and "transmit? [y/N]" in out and "refused" in out
    assert not one.hardware.robot.on.any()


@pytest.mark.parametrize(
    "words, says",
    [
        (["--robot", "no_such_robot", "listen"], "known robots"),
        (["--robot", "mini_cheetah", "step"], "of which joint?"),
        (["--robot", "mini_cheetah", "FR.hip"], "after step, quantum or silence"),
    ],
)
def test_usage_errors_are_one_line(command_line, capsys, words, says):
    from tools.bring_up.__main__ import main

    assert command_line(main, *words) == 2
    assert says in " ".join(capsys.readouterr().err.split())


@pytest.fixture
def command_line(monkeypatch):
    """Exit code of a main."""

    def call(main, *words):
        monkeypatch.setattr(sys, "argv", ["tool", *words])
        return main()

    return call


def test_words_become_steps_with_their_joints():
    joints = ("FR.abad", "FR.hip", "FL.abad")
    assert jobs(["listen", "step", "FR", "silence", "FL.abad", "report"], joints) == [
        ("listen", ()), ("step", ("FR.abad", "FR.hip")), ("silence", ("FL.abad",)), ("report", ()),
    ]  # fmt: skip
    assert jobs(["quantum", "all"], joints)[0][1] == joints
    for wrong in (["walk"], ["listen", "FR.hip"], ["step"]):
        with pytest.raises(UsageError):
            jobs(wrong, joints)


def test_a_session_is_resumed_and_another_robots_is_refused(tmp_path):
    path = tmp_path / "s.json"
    first = Session(path, "one")
    first.add(Record("step", "FR.hip", Verdict.SIGN, "x"))
    first.add(Record("step", "FR.hip", Verdict.OK, "y", {"found": {"place": [0, 1]}}))
    second = Session(path, "one")
    assert second.run == first.run and [r.words for r in second.records] == ["x", "y"]
    assert second.passed("step", "FR.hip") and len(second.latest("step")) == 1
    with pytest.raises(SessionError, match="session of one"):
        Session(path, "two")
    with pytest.raises(SessionError, match="session of real hardware"):
        Session(path, "one", emulated=True)
    path.write_text("{")
    with pytest.raises(SessionError, match="no session file"):
        Session(path, "one")


def test_answers_of_a_script_are_found_by_pattern_and_a_missing_one_is_nobody():
    quiet = Console(file=io.StringIO())
    script = Scripted(["step"], {"step.*.moved": "FR.hip", "zero.FR.*": True, "n.*": 7}, quiet)
    assert script.consent("step.FL.hip.transmit", "?") and script.consent("zero.FR.transmit", "?")
    assert not script.consent("zero.FL.transmit", "?") and script.text("n.x", "?") == "7"
    assert script.text("step.FL.hip.moved", "?", ["FR.hip", "none"]) == "FR.hip"
    for key in ("step.FL.hip.degrees", "step.FL.hip.moved"):
        with pytest.raises(UnansweredError):
            script.text(key, "?", ["none"], default="x")


def test_a_terminal_takes_only_a_clear_yes_and_asks_again(monkeypatch):
    lines = iter(["", "Y", "maybe", "up", "wrong", "left"])
    console = Console(file=io.StringIO())
    monkeypatch.setattr(console, "input", lambda *a, **k: next(lines))
    terminal = Terminal(console)
    assert [terminal.consent("k", "move") for _ in range(3)] == [False, True, False]
    assert terminal.text("k", "way", ["up", "down"]) == "up" and terminal.text("k", "way", ["left"]) == "left"
