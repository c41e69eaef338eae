"""What cannot be is told before anything is started."""

from __future__ import annotations

import signal
import threading

import pytest

from procs.runtime.bus import Bus
from procs.runtime.health import Health
from procs.runtime.single import Single
from tools.launch import private_url
from tools.up.__main__ import main


@pytest.fixture
def up(command_line, tmp_path):
    """up(option, ...) -> exit code"""
    handler = signal.getsignal(signal.SIGHUP)
    yield lambda *options: command_line(main, "--lcm-url", private_url(), "--logs", tmp_path, *options)
    signal.signal(signal.SIGHUP, handler)


@pytest.mark.parametrize(
    ("options", "code", "text"),
    [
        (("--with", "brain"), 2, "no 'brain', there are flight_recorder, recorder"),
        (("--robot", "no_such_robot"), 2, "no_such_robot"),
        (("--scenario", "no_such_scenario"), 2, "no_such_scenario"),
        (("--set", "control.mpc.horizon=-1"), 2, "control.mpc.horizon"),
        (("--logs", "/dev/null/logs"), 2, "can nothing be written to /dev/null/logs?"),
        (("--record", "/dev/null/x.lcmlog"), 1, "what shall be recorded cannot be: flight_recorder ended with code 2"),
    ],
)
def test_a_wrong_option_or_place_is_one_clear_error(up, capsys, options, code, text):
    assert up(*options) == code
    assert text in "".join(capsys.readouterr())


def test_a_second_up_on_a_url_is_refused_before_it_starts_anything(command_line, tmp_path, capsys):
    bus = Bus(private_url())
    single, ended = Single(bus, Health("up")), threading.Event()

    def first():
        while not ended.is_set():
            bus.wait(0.02)
            single.check()

    thread = threading.Thread(target=first)
    thread.start()
    try:
        assert command_line(main, "--lcm-url", bus.url.partition("&")[0], "--logs", tmp_path / "logs") == 2
    finally:
        ended.set()
        thread.join()
    assert "a process named up already runs on" in "".join(capsys.readouterr())
    assert not (tmp_path / "logs").exists()
