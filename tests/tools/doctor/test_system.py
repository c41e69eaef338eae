"""Checks of the operating system, on made-up /proc and /sys."""

from __future__ import annotations

import sys

import pytest

from tools.doctor import system
from tools.doctor.machine import Machine


def limits(priority="0", memory="8388608"):
    return (
        "Limit                     Soft Limit           Hard Limit           Units     \n"
        f"Max locked memory         {memory:20} {memory:20} bytes     \n"
        f"Max realtime priority     {priority:20} {priority:20}           \n"
    )


def proc(capabilities="0000000000000000", **kind):
    return {"/proc/self/limits": limits(**kind), "/proc/self/status": f"Name:\tx\nCapEff:\t{capabilities}\n"}


def given(*what):
    return {sys.executable: (0, "\n".join(what))}


def test_real_time_is_what_a_process_is_really_given(machine):
    assert system.realtime(machine(proc(priority="95"), programs=given("fifo", "locked"))).status == "ok"
    refused = system.realtime(machine(proc(), programs=given(), environment={"USER": "ada"}))
    assert refused.status == "warn"
    assert "the limit is 0" in refused.text
    assert refused.mend.startswith("echo 'ada - rtprio 95' | sudo tee -a /etc/security/limits.d/")
    assert "unknown" in system.realtime(machine()).text


@pytest.mark.parametrize(
    ("files", "tried", "status", "says"),
    [
        (proc(memory="unlimited"), ("locked",), "ok", "without limit"),
        (proc("0000000000004000"), ("locked",), "ok", "without limit"),
        (proc("0000000000000001"), ("locked",), "warn", "8 MiB"),  # a small process fits, ours do not
        (proc(memory="unlimited"), (), "warn", "unlimited"),
        ({}, (), "warn", "unknown"),
    ],
)
def test_memory_lock(machine, files, tried, status, says):
    found = system.memory_lock(machine(files, programs=given(*tried)))
    assert (found.status, says in found.text) == (status, True)


def test_the_trial_leaves_this_process_as_it_was():
    import os

    before = os.sched_getscheduler(0)
    assert system._tried(Machine()) <= {"fifo", "locked"}
    assert os.sched_getscheduler(0) == before


@pytest.mark.parametrize(
    ("governors", "status", "says"),
    [
        ((), "ok", "no frequency scaling"),
        (("performance",) * 4, "ok", "performance on 4 cores"),
        (("performance", "powersave"), "warn", "performance and powersave"),
        (("schedutil",), "warn", "schedutil"),
    ],
)
def test_governor(machine, governors, status, says):
    files = {f"/sys/devices/system/cpu/cpu{k}/cpufreq/scaling_governor": g + "\n" for k, g in enumerate(governors)}
    found = system.governor(machine(files))
    assert (found.status, says in found.text) == (status, True)


@pytest.mark.parametrize(
    ("count", "load", "status", "says"),
    [(4, "0.50", "ok", "4 cores, load 0.5"), (1, "0.1", "warn", "share one core"), (2, "2.50", "warn", "others keep")],
)
def test_cores(machine, count, load, status, says):
    stat = "cpu  1 2 3\n" + "".join(f"cpu{k} 1 2 3\n" for k in range(count))
    found = system.cores(machine({"/proc/stat": stat, "/proc/loadavg": f"{load} 0.1 0.1 1/99 123\n"}))
    assert (found.status, says in found.text) == (status, True)


def process(pid, command, parent, unit="/user.slice/session-2.scope"):
    return {
        f"/proc/{pid}/cgroup": f"0::{unit}\n",
        f"/proc/{pid}/cmdline": "\0".join(command.split()) + "\0",
        f"/proc/{pid}/status": f"Name:\tpython\nPPid:\t{parent}\n",
    }


def test_processes_left_over_are_named_with_the_command_that_ends_them(machine):
    files = {
        **process(100, "python -m procs.estimator --robot x", 1),
        **process(101, "python -m sim --pace 1", 1),
        **process(102, "python -m procs.packer", 100),  # has a parent
        **process(103, "python -m http.server", 1),  # not ours
        **process(104, "python -m", 1),
        **process(105, "sh -c true", 1),
        "/proc/106/cmdline": "",
        **process(107, "python -m procs.bridge", 1, "/system.slice/robot.service"),
    }
    found = system.left_over(machine(files))
    assert found.status == "warn"
    assert found.text == "running without a parent: procs.estimator (100), sim (101)"
    assert found.mend == "kill 100 101"


def test_nothing_left_over(machine):
    assert system.left_over(machine(process(102, "python -m procs.packer", 100))).status == "ok"


def test_a_service_is_not_left_over(machine):
    found = system.left_over(machine(process(107, "python -m procs.bridge", 1, "/system.slice/robot.service")))
    assert (found.status, found.text) == ("ok", "none (services: procs.bridge)")
