"""Checks of buses: made-up /dev and /sys, and what `ip` says of a CAN interface."""

from __future__ import annotations

import json

import pytest

from config.load import load_robot
from tools.doctor import devices

BOARDS = {"/dev/spidev2.0": "", "/dev/spidev2.1": ""}


def has(*packages):
    return lambda name: "1.0" if name in packages else None


def test_without_a_robot_spi_devices_are_only_listed(machine):
    assert devices.spi(machine(BOARDS)).text == "/dev/spidev2.0, /dev/spidev2.1"
    assert devices.spi(machine()).status == "ok"


@pytest.mark.parametrize(
    ("files", "usable", "package", "status", "says", "mend"),
    [
        (BOARDS, True, ("spidev",), "ok", "/dev/spidev2.0, /dev/spidev2.1", ""),
        ({"/dev/spidev2.0": ""}, True, ("spidev",), "fail", "/dev/spidev2.1 is not there", "modprobe spidev"),
        (BOARDS, False, ("spidev",), "fail", "may not be opened", "usermod -aG spi"),
        (BOARDS, True, (), "fail", "spidev is not installed", "make setup-hardware"),
    ],
)
def test_spi_of_a_robot(machine, files, usable, package, status, says, mend):
    made = machine(files, robot=load_robot("mini_cheetah"), usable=lambda path: usable, version=has(*package))
    found = devices.spi(made)
    assert (found.status, says in found.text, mend in found.mend) == (status, True, True)


def test_a_robot_on_can_needs_no_spi(machine, can_robot):
    assert devices.spi(machine(robot=can_robot)).text == "mini_cheetah needs none"


def interface(name, flags="0x40081", kind="280"):
    return {f"/sys/class/net/{name}/type": kind + "\n", f"/sys/class/net/{name}/flags": flags + "\n"}


def said(name, state="ERROR-ACTIVE", bitrate=1_000_000):
    info = {"state": state} | ({"bittiming": {"bitrate": bitrate}} if bitrate else {})
    return {f"link show {name}": (0, json.dumps([{"linkinfo": {"info_kind": "can", "info_data": info}}]))}


BOTH = interface("can0") | interface("can1")


@pytest.mark.parametrize(
    ("files", "programs", "status", "says", "mend"),
    [
        (BOTH, said("can0") | said("can1"), "ok", "can0 error-active at 1000000 bit/s; can1", ""),
        (interface("can0"), said("can0"), "fail", "no CAN interface can1", "ip -brief link show type can"),
        (BOTH | interface("can1", kind="1"), said("can0"), "fail", "no CAN interface can1", ""),
        (BOTH | interface("can1", "0x40080"), said("can0"), "fail", "can1 is down", "up type can bitrate 1000000"),
        (BOTH, said("can0") | said("can1", "BUS-OFF"), "fail", "can1 is BUS-OFF", "sudo ip link set can1 down"),
        (BOTH, said("can0") | said("can1", bitrate=500_000), "fail", "can1 runs at 500000", "bitrate 1000000"),
        (BOTH, said("can0", "ERROR-PASSIVE") | said("can1"), "warn", "termination", "ip -s -d link show can0"),
        (BOTH, said("can0", "ERROR-WARNING") | said("can1", "BUS-OFF"), "fail", "can1 is BUS-OFF", ""),
        (BOTH, said("can0", bitrate=None) | said("can1"), "warn", "can0 is up, its bit rate is unknown", ""),
        (BOTH, {}, "warn", "bit rate is unknown", ""),
        (BOTH, {"link show": (0, "no json")}, "warn", "bit rate is unknown", ""),
        (BOTH, {"link show": (0, "[]")}, "warn", "bit rate is unknown", ""),
    ],
)
def test_can_of_a_robot(machine, can_robot, files, programs, status, says, mend):
    found = devices.can(machine(files, robot=can_robot, programs=programs))
    assert (found.status, says in found.text, mend in found.mend) == (status, True, True)


def test_can_without_a_robot(machine):
    assert devices.can(machine(interface("eth0", kind="1"))).text.startswith("none")
    assert devices.can(machine(interface("can7"), programs=said("can7", bitrate=250_000))).text == "can7"
    assert devices.can(machine(interface("can7", "0x40080"))).text == "can7 is down"


def test_a_robot_on_spi_needs_no_can(machine):
    assert devices.can(machine(robot=load_robot("mini_cheetah"))).text == "mini_cheetah needs none"


@pytest.mark.parametrize(
    ("files", "usable", "status", "says", "mend"),
    [
        ({"/dev/ttyS0": ""}, True, "ok", "/dev/ttyS0", ""),
        ({}, True, "fail", "/dev/ttyS0 is not there", "ls -l /dev/serial/by-id"),
        ({"/dev/ttyS0": ""}, False, "fail", "may not be opened", "usermod -aG dialout"),
        (
            {"/dev/ttyS0": "", "/sys/bus/usb-serial/devices/ttyS0/latency_timer": "16\n"},
            True,
            "warn",
            "16 ms",
            "echo 1 | sudo tee /sys/",
        ),
        ({"/dev/ttyS0": "", "/sys/bus/usb-serial/devices/ttyS0/latency_timer": "1\n"}, True, "ok", "/dev/ttyS0", ""),
    ],
)
def test_imu_of_a_robot(machine, files, usable, status, says, mend):
    found = devices.imu(machine(files, robot=load_robot("mini_cheetah"), usable=lambda path: usable))
    assert (found.status, says in found.text, mend in found.mend) == (status, True, True)


def test_an_imu_named_by_a_link_has_its_chips_timer(machine):
    files = {"/dev/ttyUSB3": "", "/sys/bus/usb-serial/devices/ttyUSB3/latency_timer": "16"}
    made = machine(files, robot=load_robot("mini_cheetah"))
    made.path("/dev/ttyS0").symlink_to("ttyUSB3")
    assert devices.imu(made).status == "warn"


def test_imu_without_a_robot_or_without_a_bus(machine):
    assert devices.imu(machine({"/dev/ttyUSB0": "", "/dev/ttyACM1": ""})).text == "/dev/ttyUSB0, /dev/ttyACM1"
    assert devices.imu(machine()).status == "ok"
    simulated = load_robot("mini_cheetah").model_copy(update={"bus": None})
    assert "simulated only" in devices.imu(machine(robot=simulated)).text
    assert devices.spi(machine(robot=simulated)).status == devices.can(machine(robot=simulated)).status == "ok"
