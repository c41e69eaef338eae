"""The process on a bus: every tick's messages on MIT's channels, also as a process of its own on real LCM."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from lcmtypes.channels import BODY_STATE, IMU, JOINT_COMMAND, LEG_COMMAND, LEG_STATE, PROC_HEALTH
from lcmtypes.generated import BodyState, Imu, JointCommand, LegCommand, LegState
from lcmtypes.mit_channels import MIT_CHANNELS
from procs.mit_relay.relay import SPEC
from procs.runtime.bus import Bus
from procs.runtime.engine import Engine
from procs.runtime.onlooker import LiveOnlooker
from tools.launch import private_url

ROOT = Path(__file__).resolve().parents[2]
TICKS = 40


@pytest.fixture(scope="module")
def ticks():
    """Messages of some ticks of a pipeline without a simulator, in order of publishing."""
    rng = np.random.default_rng(4)
    out = []
    for seq in range(TICKS):
        tick = [
            (IMU, Imu()), (BODY_STATE, BodyState(4)), (LEG_STATE, LegState(4, 12)), (LEG_COMMAND, LegCommand(4, 12)),
            (JOINT_COMMAND, JointCommand(12)),
        ]  # fmt: skip
        for _channel, message in tick:
            message.run, message.seq, message.utime = 5, seq, 2000 * seq
            message.block[:] = rng.normal(size=len(message.block))
        out.append(tick)
    return out


@pytest.fixture(scope="module")
def expected(ticks, robot):
    """What the relay must send, as (channel, bytes)."""
    engine, out = Engine(SPEC, robot), []
    for tick in ticks:
        sent = engine.step(dict.fromkeys(SPEC.channels) | dict(tick))
        out += [(channel.name, message.encode()) for channel, message in sent]
    return out


def test_all_ticks_come_out_in_order_whatever_gathered(ticks, expected, robot):
    bus = Bus("memq://mit_relay")
    process, seen = LiveOnlooker(SPEC, robot, bus, gather=0.0), []
    for name in MIT_CHANNELS:
        bus.subscribe_raw(name, lambda channel, data: seen.append((channel, bytes(data))))
    for k, tick in enumerate(ticks):
        for channel, message in tick:
            bus.publish(channel, message)
        if k % 7 == 6 or k == TICKS - 1:
            bus.drain()
            process.step()
    bus.drain()
    assert seen == expected
    assert process.engine.counts.missed == 0


def test_the_process_on_lcm(ticks, expected):
    url = private_url()
    bus, seen, health = Bus(url), [], []
    bus.subscribe_raw(".*", lambda name, data: name in MIT_CHANNELS and seen.append((name, bytes(data))))
    bus.subscribe((PROC_HEALTH,), lambda _c, m: health.append(m.state) if m.name == "mit_relay" else None)
    process = subprocess.Popen([sys.executable, "-m", "procs.mit_relay", "--lcm-url", url, "--rt"], cwd=ROOT)
    try:
        end = time.monotonic() + 60
        while "waiting" not in health and time.monotonic() < end:
            bus.wait(0.05)
        for tick in ticks:
            for channel, message in tick:
                bus.publish(channel, message)
            bus.wait(0.002)
        while len(seen) < len(expected) and time.monotonic() < end:
            bus.wait(0.05)
    finally:
        process.terminate()
        code = process.wait(20)
    assert seen == expected
    assert code == 0


def test_a_robot_of_another_layout_is_refused_at_the_start():
    done = subprocess.run(
        [sys.executable, "-m", "procs.mit_relay", "--robot", "tocatl", "--lcm-url", private_url()],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "tocatl has not the joint layout of MIT's robots" in done.stderr
    assert "Traceback" not in done.stderr
