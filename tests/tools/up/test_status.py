"""The figures of the table, the line of the journal, and what systemd is told."""

from __future__ import annotations

import io
import os
import socket

import pytest
from rich.console import Console

from lcmtypes.generated import ProcHealth
from tools.up.notify import Notify
from tools.up.status import Rates, Status, Usage, line, table


def health(name, **fields):
    message = ProcHealth()
    message.name, message.state = name, "running"
    for key, value in fields.items():
        setattr(message, key, value)
    return message


def test_rates_are_ticks_between_two_reports_of_one_instance():
    rates = Rates()
    assert rates.of(health("packer", ticks=100, utime=1_000_000, instance=1)) == 0.0
    assert rates.of(health("packer", ticks=350, utime=1_500_000, instance=1)) == pytest.approx(500.0)
    assert rates.of(health("packer", ticks=350, utime=1_500_000, instance=1)) == pytest.approx(500.0)
    assert rates.of(health("packer", ticks=3, utime=9_000_000, instance=2)) == pytest.approx(500.0)  # not -43 Hz


def test_usage_of_this_process_is_measured_and_of_a_dead_one_is_zero():
    usage = Usage()
    usage.of(os.getpid())
    sum(k * k for k in range(1_000_000))
    cpu, memory = usage.of(os.getpid())
    assert cpu > 0.0
    assert 10.0 < memory < 5000.0
    assert usage.of(2**22 + 1) == (0.0, 0.0)


def test_a_row_per_process_with_death_silence_restarts_and_the_last_warning(stack):
    s = stack()
    s.watch.health["sim"].latency_p50, s.watch.health["sim"].latency_p99 = 0.96, 1.5
    s.watch.health["estimator"].last_error = "imu 7: not finite"
    s.die("packer", -9)
    s.supervisor.look(s.now)
    s.watch.health["stranger"], s.watch.heard["stranger"] = health("stranger"), s.now - 5.0
    rows = {r.name: r for r in Status(s.supervisor, s.watch, os.getpid()).rows(s.now)}
    assert list(rows)[-1] == "up"
    assert rows["packer"].state == "dead"
    assert "was killed by SIGKILL" in rows["packer"].warning
    assert rows["packer"].restarts == 1
    assert rows["stranger"].state == "silent for 5 s"
    assert rows["estimator"].warning == "imu 7: not finite"
    out = Console(file=io.StringIO(), width=160)
    out.print(table(list(rows.values()), "3.0 s   stand"))
    text = out.file.getvalue()
    for word in ("process", "restarts", "0.96/1.50 ms", "imu 7: not finite", "dead", "3.0 s   stand"):
        assert word in text
    narrow = Console(file=io.StringIO(), width=80)
    narrow.print(table(list(rows.values()), "3.0 s   stand", 80))
    assert "imu 7: not" in narrow.file.getvalue()
    assert "…" not in narrow.file.getvalue()
    assert "sim running" in line(list(rows.values()))
    assert "latency 0.96/1.50 ms" in line(list(rows.values()))


def test_systemd_is_told_ready_once_and_a_sign_of_life_each_time(tmp_path):
    path = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(path)
        notify = Notify(path)
        notify.alive("0.0 s", ready=False)
        notify.alive("1.0 s   ready", ready=True)
        notify.alive("2.0 s   ready", ready=True)
        notify.stopping("the robot lies down")
        told = [manager.recv(1000).decode().splitlines() for _ in range(4)]
        notify.close()
    assert ["READY=1" in lines for lines in told] == [False, True, False, False]
    assert ["WATCHDOG=1" in lines for lines in told] == [True, True, True, False]
    assert told[1][1] == "STATUS=1.0 s   ready"
    assert told[3] == ["STOPPING=1", "STATUS=the robot lies down"]


def test_without_systemd_or_with_one_that_is_gone_nothing_happens(tmp_path):
    Notify("").alive("x", ready=True)
    notify = Notify(str(tmp_path / "nobody"))
    notify.alive("x", ready=True)
    notify.close()
