"""Scenario faults on the emulated buses, judged by the real bridge: nothing far from the truth is believed."""

from __future__ import annotations

import numpy as np
import pytest

from config.scenario import CorruptMode, Fault
from lcmtypes.channels import JOINT_STATE
from procs.runtime.plant_loop import PlantLoop
from tests.contract.twins import PERIODS_OLD, hold, plant, quanta

START = 300
MODES = CorruptMode.__args__
KINDS = ("stale", "bus_silent", "wrong_dlc", "foreign_id")
WAYS = len(MODES) + len(KINDS)


def every_way(share):
    """Faults that together hit this share of all messages, each way alike."""
    p = share / WAYS
    bytes_ = [Fault(t=0.6, kind="bus_corrupt", mode=mode, probability=p) for mode in MODES]
    return bytes_ + [Fault(t=0.6, kind=kind, probability=p) for kind in KINDS]


def moving(kind, faults, ticks):
    """(joint_state, truth at its own age) of legs that swing, the bridge's plant and the limits of belief."""
    one, robot, hardware = plant(kind, faults=faults)
    loop, old = PlantLoop(one, robot), PERIODS_OLD[kind]
    loop.start(1)
    q0 = robot.pose("down")
    command, out, true = hold(robot, q0), [], []
    try:
        for tick in range(START + ticks):
            begin = one.sync.begin

            def noting(run, seq, begin=begin):
                there = begin(run, seq)
                true.append((seq, hardware.robot.plant.q.copy()))
                return there

            one.sync.begin = noting
            joints = dict(loop.sample())[JOINT_STATE]
            one.sync.begin = begin
            out.append(joints)
            command.q_des[:] = q0 + 0.2 * np.sin(2 * np.pi * tick * robot.dt)
            command.run, command.seq = loop.run, loop.seq
            loop.accept(command)
            loop.act()
    finally:
        one.stop()
    at = dict(true)
    limit = robot.qd_max * robot.dt + quanta(kind, robot)[0]
    return [(joints, at[joints.seq - old]) for joints in out[START:]], loop, one, limit, hardware


@pytest.mark.parametrize(
    ("kind", "share"), [("spine", 0.14), ("can", 0.01), ("can", 0.14), ("cybergear", 0.01), ("gim6010", 0.01)]
)
def test_messages_spoiled_in_every_way_move_no_believed_value_far(kind, share):
    samples, loop, one, limit, hardware = moving(kind, every_way(share), 1500)
    believed = [(np.abs(j.q - q), j.fault == 0) for j, q in samples]
    worst = np.max([np.where(good, error, 0.0) for error, good in believed], axis=0)
    assert np.all(worst <= limit)
    if share < 0.1 or kind == "spine":  # drives that are lost again and again end in damping
        assert not loop.latched, loop.latched
    assert sum(not good.all() for _, good in believed) > 50  # it was hit
    assert {*MODES, *KINDS} <= set(hardware.bus_faults.counts)
    assert one.drives.counts.rejected


def test_without_faults_nothing_is_rejected():
    for kind in ("spine", "can"):
        samples, loop, _one, _limit, _hardware = moving(kind, (), 400)
        assert not any(joints.fault.any() for joints, _ in samples)
        assert not loop.latched


@pytest.mark.parametrize(
    ("kind", "fault", "word"),
    [
        ("spine", Fault(t=0.8, kind="bus_silent", line=1), "all zero"),
        ("can", Fault(t=0.8, kind="bus_silent", line=2), "silent"),
        ("can", Fault(t=0.8, kind="motor_fault", joint="FL.hip", value=1), "FL.hip"),
        ("cybergear", Fault(t=0.8, kind="motor_fault", joint="FL.hip", value=4), "over-temperature"),
        ("gim6010", Fault(t=0.8, kind="motor_fault", joint="FL.hip", value=0x1000), "motor failed"),
        ("can", Fault(t=0.8, kind="motor_heat", joint="FL.hip", value=110), "over-temperature"),
        ("cybergear", Fault(t=0.8, kind="motor_heat", joint="FL.hip", value=81), "over-temperature"),
        ("gim6010", Fault(t=0.8, kind="motor_heat", joint="FL.hip", value=130), "over-temperature"),
        ("can", Fault(t=0.8, kind="supply_voltage", value=12), "under-voltage"),
        ("cybergear", Fault(t=0.8, kind="supply_voltage", value=15), "under-voltage"),
        ("cybergear", Fault(t=0.8, kind="supply_voltage", value=29), "over-voltage"),  # no bit of a feedback says it
        ("gim6010", Fault(t=0.8, kind="supply_voltage", value=62), "motor failed"),
        ("can", Fault(t=0.8, kind="bus_off", line=2, duration=5.0), "bus-off"),
        ("can", Fault(t=0.8, kind="error_frames", line=2), "bus-off"),
        ("cybergear", Fault(t=0.8, kind="wrong_bit_rate", line=2, value=500_000), "wrong bit rate"),
    ],
)
def test_a_lasting_fault_ends_in_damping_and_is_named(kind, fault, word):
    from sim.emulators.can_motor import MitQuirks

    quirks = {"mit": MitQuirks(reply_length=8)} if kind == "can" else {}
    one, robot, _hardware = plant(kind, faults=[fault], **quirks)
    loop = PlantLoop(one, robot)
    loop.start(1)
    command, statuses = hold(robot, robot.pose("down")), []
    try:
        for _ in range(START + 250):
            loop.sample()
            command.run, command.seq = loop.run, loop.seq
            loop.accept(command)
            loop.act()
            statuses.append((loop.latched, one.status().reason))
    finally:
        one.stop()
    assert not any(latched for latched, _ in statuses[:390])
    assert loop.latched
    assert any(word in reason for _, reason in statuses[400:]), statuses[-1]


def test_a_bus_that_was_off_and_is_back_is_no_longer_blamed():
    """A later silence has another cause."""
    faults = [Fault(t=0.8, duration=0.004, kind="bus_off", line=2), Fault(t=1.0, kind="bus_silent", line=2)]
    one, robot, _hardware = plant("can", faults=faults)
    loop = PlantLoop(one, robot)
    loop.start(1)
    command, why = hold(robot, robot.pose("down")), {}
    try:
        for _ in range(540):
            loop.sample()
            why[loop.seq] = one.sensing.why[6]
            command.run, command.seq = loop.run, loop.seq
            loop.accept(command)
            loop.act()
    finally:
        one.stop()
    assert "bus-off" in why[401] and "silent" in why[510] and "bus-off" not in why[510]
