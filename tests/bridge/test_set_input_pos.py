"""GIM6010 drives by Set_Input_Pos: units, gains, enable and exit, on the emulated drive; the bench in short."""

from __future__ import annotations

import numpy as np
import pytest

from config.bus import CanBus, CanLine
from procs.bridge.can_bus import bus_load
from procs.bridge.can_gim6010 import GimPositionProtocol, GimProtocol
from procs.bridge.can_protocols import PROTOCOLS
from procs.bridge.joint_map import DriveCommand
from procs.wire import gim6010
from tests.contract.twins import hold, plant, robot_on
from tools.bench_bridge import can_robot, set_input_pos


@pytest.fixture
def robot():
    return can_robot("gim6010", "GIM6010-8", 2, gim_input="position")


def protocol_of(robot):
    wires = [robot.description.bus.wiring[name] for name in robot.joint_names]
    return PROTOCOLS["gim6010"](robot.description.bus.can, wires)


def sent(frames, name):
    number = gim6010.COMMAND_OF_NAME[name].number
    return [gim6010.unpack(f) for f in frames if f.can_id & 0x1F == number]


def test_an_option_of_the_protocol_chooses_it(robot):
    assert isinstance(protocol_of(robot), GimPositionProtocol)
    other = protocol_of(can_robot("gim6010", "GIM6010-8", 2))
    assert isinstance(other, GimProtocol) and not isinstance(other, GimPositionProtocol)


def test_positions_and_feed_forwards_are_in_rotor_units_and_int16(robot):
    protocol = protocol_of(robot)
    command = DriveCommand.zero(12)
    command.position[:], command.velocity[:], command.torque[:] = 0.8, 3.0, -4.0
    command.kp[:], command.kd[:], command.enable[:] = 20.0, 1.0, True
    frames = protocol.frames(command, np.ones(12, bool), np.zeros(12, bool))[0]
    values = sent(frames, "set_input_pos")[0].values
    assert values["position"] == pytest.approx(1.0185916, abs=1e-6)
    assert values["velocity_ff"] == pytest.approx(3.0 * 8 / (2 * np.pi), abs=5e-4)
    assert values["torque_ff"] == pytest.approx(-0.5, abs=5e-4)
    assert sent(frames, "set_pos_gain")[0].values["gain"] == pytest.approx(20.0)
    assert sent(frames, "set_vel_gains")[0].values["gain"] == pytest.approx(2 * np.pi / 64)
    again = protocol.frames(command, np.zeros(12, bool), np.zeros(12, bool))[0]
    assert [f.can_id & 0x1F for f in again] == [0x0C, 0x09] and again[1].remote
    command.enable[:] = False
    last = protocol.frames(command, np.zeros(12, bool), np.ones(12, bool))[0]
    assert sent(last, "set_pos_gain")[0].values["gain"] == sent(last, "set_vel_gains")[0].values["gain"] == 0.0
    assert sent(last, "set_axis_state")[0].values["state"] == 1


def test_stiffness_without_damping_gets_some(robot):
    command = DriveCommand.zero(12)
    command.kp[:], command.enable[:] = 20.0, True
    frames = protocol_of(robot).frames(command, np.zeros(12, bool), np.zeros(12, bool))[0]
    assert sent(frames, "set_pos_gain")[0].values["gain"] == pytest.approx(200.0)


def test_legs_in_the_air_follow_through_the_emulated_drives():
    base = robot_on("gim6010")
    bus = base.description.bus
    can = bus.can.model_copy(update={"gim_input": "position"})
    robot = type(base)(base.description.model_copy(update={"bus": bus.model_copy(update={"can": can})}))
    from procs.runtime.plant_loop import PlantLoop

    one, robot, hardware = plant("gim6010", robot=robot)
    loop = PlantLoop(one, robot)
    loop.start(1)
    q0 = robot.pose("down")
    command = hold(robot, q0)
    try:
        for tick in range(900):
            loop.sample()
            command.q_des[:] = q0 - (0.2 if tick > 400 else 0.0)
            command.run, command.seq = loop.run, loop.seq
            loop.accept(command)
            loop.act()
        assert not loop.latched and one.starter.state == "running"
        assert not one.state.fault.any() and one.state.tau_source == "computed"
        np.testing.assert_allclose(one.state.q, hardware.robot.plant.q, atol=0.02)
        np.testing.assert_allclose(hardware.robot.plant.q, q0 - 0.2, atol=0.08)
    finally:
        one.stop()


def test_a_bus_carries_six_of_them_at_200_hz_with_less_than_half_of_its_bit_rate():
    can = CanBus(protocol="gim6010", gim_input="position", buses=[CanLine(channel="can0")])
    assert bus_load(can, 6, 200.0, can.buses[0]) == pytest.approx(6 * (135 + 55 + 135) * 200 / 1e6)
    result = set_input_pos(0.5)
    assert result["lost"] == 0 and result["refused"] == 0 and result["bus_load_percent"] < 50
    assert result["worst_rad"] < 1e-3 and result["frames"] > 100 * 36
