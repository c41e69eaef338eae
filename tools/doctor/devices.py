"""Checks of the buses: SPI devices, CAN interfaces, IMU line. With a robot, of those its YAML names."""

from __future__ import annotations

import json

from tools.doctor.machine import Finding, Machine, fail, ok, warn

CAN = "280"  # ARPHRD_CAN in /sys/class/net/*/type
UP = 1  # IFF_UP
LATENCY = 1  # ms, of FTDI's timer


def _device(machine: Machine, name: str, group: str, absent: str) -> Finding | None:
    """What is wrong with a device file; None if it can be used."""
    path = machine.path(name)
    if not path.exists():
        return fail(f"{name} is not there", absent)
    if not machine.usable(path):
        return fail(f"{name} may not be opened by us", f"sudo usermod -aG {group} $USER  # then log in again")
    return None


def spi(machine: Machine) -> Finding:
    """SPIne boards' devices."""
    spine = machine.robot.bus.spine if machine.robot and machine.robot.bus else None
    if machine.robot is None:
        found = [f"/dev/{p.name}" for p in machine.glob("/dev/spidev*")]
        return ok(", ".join(found) if found else "none (only SPIne boards need them)")
    if spine is None:
        return ok(f"{machine.robot.name} needs none")
    for board in spine.boards:
        wrong = _device(machine, board.device, "spi", "sudo modprobe spidev  # and enable SPI in the device tree")
        if wrong:
            return wrong
    if machine.version("spidev") is None:
        return fail("the Python package spidev is not installed", "make setup-hardware")
    return ok(", ".join(board.device for board in spine.boards))


def can(machine: Machine) -> Finding:
    """CAN interfaces: there, up, at the right bit rate, not off the bus."""
    section = machine.robot.bus.can if machine.robot and machine.robot.bus else None
    if machine.robot is None:
        names = [p.parent.name for p in machine.glob("/sys/class/net/*/type") if machine.read(_in(machine, p)) == CAN]
        if not names:
            return ok("none (only CAN motors need them)")
        return next(
            (f for name in names if (f := _interface(machine, name, None)).status != "ok"), ok(", ".join(names))
        )
    lines = [line for line in section.buses if line.interface == "socketcan"] if section else []
    if not lines:
        return ok(f"{machine.robot.name} needs none")
    found = [_interface(machine, line.channel, line.bitrate) for line in lines]
    worst = next((f for status in ("fail", "warn") for f in found if f.status == status), None)
    return worst or ok("; ".join(f.text for f in found))


def _in(machine: Machine, path: object) -> str:
    return str(path).removeprefix(str(machine.root))


def _interface(machine: Machine, name: str, bitrate: int | None) -> Finding:
    """One CAN interface; no bit rate asked for: any will do."""
    start = f"sudo ip link set {name} down; sudo ip link set {name} up type can bitrate {bitrate or 1_000_000}"
    flags = machine.read(f"/sys/class/net/{name}/flags")
    if flags is None or machine.read(f"/sys/class/net/{name}/type") != CAN:
        mend = f"ip -brief link show type can  # then put the right name for {name} into the robot's YAML"
        return fail(f"no CAN interface {name}", mend)
    if not int(flags, 16) & UP:
        return fail(f"{name} is down", start)
    code, text = machine.run("ip", "-details", "-json", "link", "show", name)
    try:
        info = json.loads(text)[0]["linkinfo"]["info_data"] if code == 0 else {}
    except (ValueError, LookupError, TypeError):
        info = {}
    state, has = str(info.get("state", "")), info.get("bittiming", {}).get("bitrate")
    if state in ("BUS-OFF", "STOPPED"):
        return fail(f"{name} is {state}: no motor answers, or the cable is open", start)
    if bitrate is not None and has is not None and has != bitrate:
        return fail(f"{name} runs at {has} bit/s, the motors at {bitrate}", start)
    if state in ("ERROR-WARNING", "ERROR-PASSIVE"):
        return warn(
            f"{name} is {state}: check termination (60 ohm between CAN_H and CAN_L)", f"ip -s -d link show {name}"
        )
    if has is None:
        return warn(f"{name} is up, its bit rate is unknown", f"ip -details link show {name}")
    return ok(f"{name} {state.lower()} at {has} bit/s")


def imu(machine: Machine) -> Finding:
    """The IMU's serial line."""
    if machine.robot is None:
        found = [f"/dev/{p.name}" for pattern in ("ttyUSB*", "ttyACM*") for p in machine.glob(f"/dev/{pattern}")]
        return ok(", ".join(found) if found else "no USB serial line (only a real IMU needs one)")
    if machine.robot.bus is None:
        return ok(f"{machine.robot.name} has no bus section: simulated only")
    name = machine.robot.bus.imu.device
    wrong = _device(
        machine, name, "dialout", "ls -l /dev/serial/by-id /dev/ttyS*  # then put its name into the robot's YAML"
    )
    if wrong:
        return wrong
    port = machine.path(name).resolve().name
    timer = f"/sys/bus/usb-serial/devices/{port}/latency_timer"
    latency = machine.read(timer)
    if latency and latency.isdigit() and int(latency) > LATENCY:
        return warn(
            f"{name}: its USB chip holds samples back for up to {latency} ms", f"echo {LATENCY} | sudo tee {timer}"
        )
    return ok(name)
