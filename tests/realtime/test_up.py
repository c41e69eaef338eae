"""up and command end to end: idle, stand, walk, estop, reset; a process that dies."""

from __future__ import annotations

import signal
import time

from lcmtypes.channels import BODY_STATE, JOINT_STATE, MODE_STATE
from procs.runtime.logs import read_log

NAMES = {"sim", "estimator", "controller", "packer"}


def test_up_idles_at_real_time_obeys_commands_and_ends_with_ctrl_c(start, listen, tmp_path):
    up, ear = start("tools.up", "--record", tmp_path / "all.lcmlog"), listen()
    ear.until(lambda: ear.mode() == "ready", "the robot is ready by itself")
    begin, first = time.monotonic(), ear.newest[JOINT_STATE].utime
    ear.until(lambda: len(ear.configs) >= 3, "robot_config at 1 Hz")
    passed, played = time.monotonic() - begin, 1e-6 * (ear.newest[JOINT_STATE].utime - first)
    assert played < 1.1 * passed + 0.2, "faster than real time"
    assert ear.modes[-1] == "ready"  # nobody asked for anything
    assert ear.configs[0].robot == "mini_cheetah"
    assert set(ear.health) >= NAMES

    stand = start("tools.command", "stand")
    ear.until(lambda: ear.settled("stand"), "stand")
    stand.interrupt()
    assert stand.wait() == 0

    walk = start("tools.command", "walk", "--gait", "trot", "--vx", "0.3", "--seconds", "20")
    ear.until(lambda: ear.mode() == "walk" and ear.newest[BODY_STATE].v_body[0] > 0.2, "walking at 0.3 m/s")

    assert start("tools.command", "estop", "--reason", "test").wait() == 0
    ear.until(lambda: ear.mode() == "estop", "estop")
    walk.interrupt()
    walk.wait()

    runs = len(ear.runs)
    ear.until(lambda: ear.health["sim"].estops == 1, "the plant's own latch")
    time.sleep(0.6)  # until nobody asks for motion any more
    assert start("tools.command", "reset").wait() == 0
    ear.until(lambda: len(ear.runs) == runs + 1 and ear.mode() == "ready", "a new run")
    assert start("tools.command", "stand", "--seconds", "6").wait() == 0
    ear.until(lambda: ear.settled("stand"), "standing again")

    up.interrupt()
    assert up.wait() == 0, up.text()
    for name in NAMES:
        assert f"{name} runs, " in up.text()
        assert (next((tmp_path / "logs").glob("up_*")) / f"{name}.out").exists()
    assert "the robot has lain down" in up.text()
    up.gone()
    flights = list((tmp_path / "logs").glob("flight_*.lcmlog"))
    assert all(f"flight recorder: saved {flight}" in up.text() for flight in flights)
    modes = [{e.message.mode for e in read_log(flight, {MODE_STATE})} for flight in flights]
    assert any({"walk", "estop"} <= seen for seen in modes), (modes, up.text())
    assert "shutdown" in {e.message.mode for e in read_log(tmp_path / "all.lcmlog", {MODE_STATE})}


def test_without_restarts_a_process_that_dies_is_named_with_its_last_words_and_ends_all(start, listen):
    up, ear = start("tools.up", "--no-restart"), listen()
    ear.until(lambda: ear.mode() == "ready", "ready")
    up.child("procs.packer").send_signal(signal.SIGKILL)
    assert up.wait() == 1
    assert "packer was killed by SIGKILL (code -9) after" in up.text()
    assert "packer is not started again: --no-restart" in up.text()
    up.gone()
