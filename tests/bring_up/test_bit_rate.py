"""Bit rates: what a wrong one looks like, found and named without a frame sent; interfaces as `ip` shows them."""

import json
import subprocess

import pytest

from config.bus import CanLine
from config.scenario import Fault
from procs.bridge.can_bus import PythonCanLink
from tools.bring_up import interface
from tools.bring_up.bit_rate import RATES, bit_rate
from tools.bring_up.interface import Interface, read_interface
from tools.bring_up.session import Verdict

# What iproute2 6.1 prints for an interface of a USB adapter (fields left out that are not read).
SHOWN = json.dumps([{
    "ifindex": 3, "ifname": "can0", "flags": ["NOARP", "UP", "LOWER_UP", "ECHO"], "mtu": 16, "operstate": "UP",
    "linkinfo": {"info_kind": "can", "info_data": {
        "ctrlmode": ["LISTEN-ONLY", "BERR-REPORTING"], "state": "ERROR-ACTIVE", "berr_counter": {"tx": 0, "rx": 0},
        "restart_ms": 100, "bittiming": {"bitrate": 500000, "sample_point": "0.875", "tq": 125},
        "clock": 8000000}},
}])  # fmt: skip


def wrong(rate=500_000, line=1):
    return Fault(t=0.0, kind="wrong_bit_rate", line=line, value=rate)


@pytest.mark.parametrize("rate", [r for r in RATES if r != 1_000_000])
def test_a_wrong_rate_is_named_with_the_right_one_and_nothing_is_sent(lab, rate):
    one = lab("gim6010", faults=[wrong(rate)])
    records = one.run("bit-rate")
    assert records["can1"].verdict is Verdict.BIT_RATE and f"drives speak at {rate}" in records["can1"].words
    assert all(records[f"can{k}"].passed and " frames at 1000000" in records[f"can{k}"].words for k in (0, 2, 3))
    assert one.tap.sent == [] and one.hardware.bit_rates == [1_000_000] * 4  # it is put back


def test_where_the_rate_is_set_elsewhere_the_commands_are_shown(lab):
    one = lab("gim6010", faults=[wrong()])
    one.tap.tunable = False
    record = one.run("bit-rate")["can1"]
    assert record.verdict is Verdict.BIT_RATE and "wrong bit rate; try 500000 or 250000" in record.words
    assert "ip link set can1 up type can bitrate RATE listen-only on" in record.words


def test_a_bus_on_which_no_rate_is_right_is_shorted(lab):
    record = lab("gim6010", faults=[Fault(t=0.0, kind="error_frames", line=1)]).run("bit-rate")["can1"]
    assert record.verdict is Verdict.ERROR and "shorted" in record.words and len(record.data["tried"]) == 3


def test_errors_among_good_frames_are_another_fault(lab):
    one = lab("gim6010", faults=[Fault(t=0.0, kind="error_frames", line=1, probability=0.2)])
    record = one.run("bit-rate")["can1"]
    assert record.verdict is Verdict.ERROR and "one node at another rate" in record.words


def test_silence_is_a_finding_only_for_drives_that_speak_by_themselves(lab):
    record = lab("mit", faults=[wrong()]).run("bit-rate")["can1"]
    assert record.verdict is Verdict.UNHEARD and "proves nothing" in record.words
    record = lab("gim6010", faults=[Fault(t=0.0, kind="bus_silent", line=1)]).run("bit-rate")["can1"]
    assert record.verdict is Verdict.MISSING and "not even errors" in record.words
    assert lab("spine").run("bit-rate")["boards"].verdict is Verdict.UNHEARD


@pytest.mark.parametrize("kind", ["mit", "cybergear"])
def test_a_roll_call_at_a_wrong_rate_ends_in_errors_that_are_named(lab, kind):
    records = lab(kind, faults=[wrong()]).run("roll-call")
    for joint in ("FL.abad", "FL.hip", "FL.knee"):
        assert records[joint].verdict is Verdict.ERROR and "bit rate" in records[joint].words, records[joint]
    assert records["FR.hip"].passed and records["RL.knee"].passed


def described(bench, text):
    """Records with interfaces that `ip` shows as `text`."""
    return {r.target: r for r in bit_rate(bench, 0.3, lambda channel: text)}


def test_an_interfaces_own_rate_is_shown_and_compared(lab):
    one = lab("gim6010")
    record = described(one.bench, SHOWN)["can0"]
    assert record.verdict is Verdict.BIT_RATE and "runs at 500000 bit/s, described 1000000" in record.words
    assert "not listen-only" not in record.words
    text = SHOWN.replace("500000", "1000000")
    assert described(one.bench, text)["can0"].passed
    text = text.replace('"LISTEN-ONLY", ', "").replace("ERROR-ACTIVE", "BUS-OFF").replace('"restart_ms": 100, ', "")
    words = described(one.bench, text)["can0"].words
    assert "is BUS-OFF" in words and "not listen-only" in words and "no restart-ms" in words
    assert described(one.bench, "")["can0"].passed  # nothing can be read: what is described counts


def test_what_ip_prints_is_read_and_what_it_cannot_tell_is_nothing():
    assert read_interface(SHOWN) == Interface(500_000, "ERROR-ACTIVE", True, 100)
    for text in ("", "[]", "[{}]", "no json", '[{"linkinfo": {"info_kind": "vcan"}}]'):
        assert read_interface(text) is None


def test_without_the_command_or_the_interface_nothing_is_shown(monkeypatch):
    def gone(*_args, **_more):
        raise FileNotFoundError("ip")

    monkeypatch.setattr(subprocess, "run", gone)
    assert interface.show("can0") == ""
    done = subprocess.CompletedProcess([], 1, stdout="x")
    monkeypatch.setattr(subprocess, "run", lambda *_args, **_more: done)
    assert interface.show("can0") == ""


def test_python_can_opens_an_adapter_anew_at_another_rate_but_not_a_socketcan_interface(monkeypatch):
    opened = []
    monkeypatch.setattr(PythonCanLink, "open", lambda self: opened.append(self.line.bitrate))
    link = PythonCanLink(CanLine(interface="slcan", channel="/dev/ttyACM0"))
    assert link.retune(250_000) and opened == [250_000] and link.line.bitrate == 250_000
    assert not PythonCanLink(CanLine(channel="can0")).retune(250_000) and len(opened) == 1
