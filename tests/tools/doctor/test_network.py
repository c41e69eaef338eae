"""Checks of LCM: routes as the kernel lists them, what is heard on a URL, real probes on private groups."""

from __future__ import annotations

import threading
import time

import pytest

from lcmtypes.channels import JOINT_STATE, PROC_HEALTH
from lcmtypes.generated import JointState, ProcHealth
from procs.runtime.bus import RECEIVE_BYTES, Bus
from tools.doctor import listen, network
from tools.doctor.listen import Heard, LoopResult, Voice
from tools.launch import private_url

HEAD = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
DEFAULT = "eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
MULTICAST = "lo\t000000E0\t00000000\t0001\t0\t0\t0\t000000F0\t0\t0\t0\n"
LOCAL = "eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
DOWN = "lo\t000000E0\t00000000\t0000\t0\t0\t0\t000000F0\t0\t0\t0\n"


@pytest.mark.parametrize(
    ("routes", "status", "says"),
    [
        (LOCAL + MULTICAST + DEFAULT, "ok", "over lo"),
        (LOCAL + DEFAULT, "warn", "default route over eth0"),
        (LOCAL, "fail", "no route"),
        (DOWN + LOCAL, "fail", "no route"),
        ("", "fail", "no route"),
    ],
)
def test_route(machine, routes, status, says):
    found = network.route(machine({"/proc/net/route": HEAD + routes}))
    assert (found.status, says in found.text) == (status, True)
    assert ("ip route add 224.0.0.0/4 dev lo" in found.mend) == (status != "ok")


def test_no_table_of_routes(machine):
    assert network.route(machine()).status == "fail"


@pytest.mark.parametrize(
    ("result", "status", "says"),
    [
        (LoopResult(201, 201, 0.4), "ok", "201 messages came back, the first after 0.4 ms"),
        (LoopResult(201, 150, 0.4), "fail", "51 of 201"),
        (LoopResult(201, 0), "fail", "201 of 201"),
        (LoopResult(error="cannot open LCM"), "fail", "cannot open LCM"),
    ],
)
def test_round_trip(machine, result, status, says):
    found = network.loop(machine(loop_back=lambda: result))
    assert (found.status, says in found.text) == (status, True)


@pytest.mark.parametrize(
    ("value", "status"), [(str(RECEIVE_BYTES), "ok"), ("212992", "warn"), ("", "warn"), ("many", "warn")]
)
def test_receive_buffer(machine, value, status):
    found = network.buffers(machine({"/proc/sys/net/core/rmem_max": value + "\n"}))
    assert found.status == status
    if value == "212992":
        assert found.mend == f"sudo sysctl -w net.core.rmem_max={2 * RECEIVE_BYTES}"


@pytest.mark.parametrize(
    ("url", "status", "says"),
    [
        ("udpm://239.255.76.67:7667?ttl=0", "ok", "stays on this machine"),
        ("udpm://239.255.76.67:7667", "ok", "stays"),
        ("udpm://239.255.76.67:7667?ttl=1", "ok", "local network"),
        ("udpm://239.255.76.67:7667?ttl=255", "warn", "ttl=255"),
    ],
)
def test_url(machine, url, status, says):
    found = network.reach(machine(url=url))
    assert (found.status, says in found.text) == (status, True)
    if status == "warn":
        assert found.mend == "use --lcm-url 'udpm://239.255.76.67:7667?ttl=1'"


SIM, ESTIMATOR = Voice("sim", 1, "running", 0.01), Voice("estimator", 2, "running", 0.0)


@pytest.mark.parametrize(
    ("heard", "status", "says"),
    [
        (Heard(), "ok", "nobody else"),
        (Heard([SIM, ESTIMATOR], [7]), "warn", "a stack is running: estimator, sim"),
        (Heard([SIM, ESTIMATOR], [7, 8]), "warn", "a stack is running"),  # restarted once
        (Heard([SIM], [7, 8, 7]), "fail", "two plants send joint_state (runs 7, 8)"),
        (Heard([SIM, Voice("sim", 3, "running", 0.0)]), "fail", "two processes named sim"),
        (Heard([SIM, Voice("sim", 3, "stopping", 0.0)]), "warn", "a stack is running"),
        (Heard([SIM, Voice("bridge", 3, "running", 0.0)]), "warn", "bridge, sim"),  # emulated hardware
        (Heard([], [7]), "warn", "something that does not speak"),
        (Heard(error="cannot open"), "fail", "cannot open"),
    ],
)
def test_others_on_the_url(machine, heard, status, says):
    found = network.stack(machine(listen=lambda url: heard))
    assert (found.status, says in found.text) == (status, True)


@pytest.mark.parametrize(
    ("voices", "says"),
    [
        ([], "nobody to compare with"),
        ([SIM, ESTIMATOR], "all processes heard are on this computer"),
        ([SIM, Voice("bridge", 3, "running", 3600.2)], "clocks differ: bridge: 3600 s behind ours"),
        (
            [Voice("a", 3, "running", -5.3), Voice("b", 4, "running", -5.1), Voice("c", 5, "running", 50.0)],
            "a, b: 5 s ahead of ours; c: 50 s behind ours",
        ),
    ],
)
def test_clocks_of_other_computers_are_information(machine, voices, says):
    found = network.clocks(machine(listen=lambda url: Heard(voices)))
    assert found.status == "ok"
    assert says in found.text
    assert ("nothing depends on it" in found.text) == ("differ" in found.text)


def test_the_url_is_listened_to_once(machine):
    calls = []
    made = machine(listen=lambda url: calls.append(url) or Heard(), url="udpm://239.1.2.3:4000?ttl=0")
    network.stack(made)
    network.clocks(made)
    assert calls == ["udpm://239.1.2.3:4000?ttl=0"]


def test_a_real_round_trip_comes_back_whole():
    result = listen.loop_back()
    assert (result.received, result.error) == (result.sent, "")
    assert result.sent == listen.BURST + 1


def test_a_bus_that_cannot_be_opened_is_an_error_not_an_exception():
    assert "cannot open LCM" in listen.listen("nonsense://").error


def test_what_is_really_said_on_a_url_is_heard(monkeypatch):
    """Two computers' processes and two plants taking turns."""
    monkeypatch.setattr(listen, "LISTEN", 1.0)
    url, done = private_url(), threading.Event()

    def speak():
        bus = Bus(url)
        while not done.wait(0.05):
            for name, instance, ahead in (("estimator", 5, 0.0), ("bridge", 6, -500.0)):
                health = ProcHealth()
                health.name, health.instance, health.state = name, instance, "running"
                health.utime = time.monotonic_ns() // 1000 + int(1e6 * ahead)
                bus.publish(PROC_HEALTH, health)
            for run in (11, 11, 12):
                joints = JointState(12)
                joints.run = run
                bus.publish(JOINT_STATE, joints)

    thread = threading.Thread(target=speak)
    thread.start()
    try:
        heard = listen.listen(url)
    finally:
        done.set()
        thread.join()
    assert [(v.name, v.instance, v.state) for v in heard.voices] == [
        ("bridge", 6, "running"),
        ("estimator", 5, "running"),
    ]
    assert heard.voices[0].behind == pytest.approx(500.0, abs=1.0)
    assert heard.voices[1].behind == pytest.approx(0.0, abs=1.0)
    assert set(heard.runs[:3]) == {11, 12}
    assert heard.runs[0] == heard.runs[2]
