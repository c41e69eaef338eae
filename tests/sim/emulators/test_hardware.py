"""Emulated robot, CAN buses and wiring as a whole, in memory."""

from __future__ import annotations

import numpy as np
import pytest

from config.scenario import PlantOptions
from procs.wire import cybergear, gim6010
from procs.wire.frame import CanFrame
from procs.wire.mit_can import MitCodec, Special
from procs.wire.mit_motors import MOTORS
from sim.emulators.can_motor import MitQuirks
from sim.emulators.hardware import EmulatedCan, EmulatedSpine, emulated
from sim.emulators.robot import EmulatedRobot, Shaft
from sim.plant import SimPlant
from tests.sim.emulators.wiring import can_bus, own_bus, with_bus

NO_NONSENSE = MitQuirks(wrong_first_reply=False)


def test_the_wiring_is_that_of_the_table(spine_robot):
    """MIT's own numbers (rt_spi.cpp): q = (0, -0.8, 1.6) of every leg, in motor coordinates."""
    robot = EmulatedRobot(spine_robot, PlantOptions(), seed=1)
    q = np.array([0.0, -0.8, 1.6] * 4)
    motor = robot.turn * q + robot.offset
    np.testing.assert_allclose(
        motor,
        [0, 2.370796, 1.861277, 0, -2.370796, -1.861277, 0, -0.770796, -6.838723, 0, 0.770796, 6.838723],
        atol=1e-3,  # 14/9 here, 1/0.6429 there
    )


def test_slots_say_which_of_a_legs_motors_a_joint_has(hardware, on_bus):
    bus = own_bus()
    wiring = dict(bus.wiring)
    for joint, slot in (("FL.hip", 0), ("FL.abad", 1)):
        wiring[joint] = wiring[joint].model_copy(update={"slot": slot})
    hw = hardware(on_bus(bus.model_copy(update={"wiring": wiring})))
    assert hw.joints == [[0, 1, 2, 4, 3, 5], [6, 7, 8, 9, 10, 11]]


def test_a_torque_at_the_shaft_does_the_same_as_at_the_joint(spine_robot):
    """Power is the same on both sides of the wiring; the same motion comes of it."""
    options = PlantOptions(imu_noise=False, suspended=True)
    robot = EmulatedRobot(spine_robot, options, seed=1)
    plain = SimPlant(spine_robot, options, seed=1)
    robot.start(1)
    plain.start(1)
    from lcmtypes.generated import JointCommand

    command = JointCommand(12)
    command.enable[:] = 1
    command.kp[:], command.kd[:], command.tau_ff[:], command.qd_des[:] = 30.0, 0.7, 1.5, 0.2
    command.q_des[:] = spine_robot.pose("stand")
    try:
        plain.read()
        robot.sense(0)
        plain.command = command
        turn, offset = robot.turn, robot.offset
        for joint in range(12):
            Shaft(robot, joint).drive(
                turn[joint] * command.q_des[joint] + offset[joint], 0.2 * turn[joint], 30.0 / turn[joint] ** 2,
                0.7 / turn[joint] ** 2, 1.5 / turn[joint],
            )  # fmt: skip
        for seq in range(1, 100):
            _imu, joints = plain.read()
            robot.sense(seq)
            np.testing.assert_allclose(robot.plant.q, plain.q, atol=1e-9)
            power = joints.tau * plain.qd
            np.testing.assert_allclose(robot.torque * robot.velocity, power, atol=0.02 * np.abs(power).max() + 1e-9)
    finally:
        plain.stop()
        robot.plant.stop()


def test_the_further_delay_of_the_description_holds_commands_back(spine_robot):
    def first_torque(delay):
        robot = EmulatedRobot(spine_robot, PlantOptions(suspended=True, delay_ticks=delay), seed=1)
        robot.start(1)
        try:
            for seq in range(10):
                robot.sense(seq)
                Shaft(robot, 0).drive(0.0, 0.0, 0.0, 0.0, 5.0)
                robot.advance()
                if robot.plant.active.any():
                    return seq
        finally:
            robot.plant.stop()

    assert [first_torque(d) for d in (0, 1, 3)] == [0, 1, 3]


def test_twelve_mit_drives_on_four_buses_answer_with_the_state_of_this_tick(hardware, on_bus):
    robot = on_bus(can_bus())
    hw = hardware(robot, mit=NO_NONSENSE)
    codec = MitCodec((MOTORS["mini_cheetah"],) * 3)
    for seq in range(60):
        hw.tick(1, seq)
        for line in range(4):
            for motor in (1, 2, 3):
                hw.send(line, CanFrame(motor, Special.ENTER.value))
            replies = codec.unpack([f.data for f in hw.receive(line)], [1, 2, 3])
            assert replies.valid.all()
            three = slice(3 * line, 3 * line + 3)
            np.testing.assert_allclose(replies.position, hw.robot.position[three], atol=4e-4)
            np.testing.assert_allclose(replies.velocity, hw.robot.velocity[three], atol=0.032)
        assert all(hw.receive(line) == [] for line in range(4))
        hw.done()
    assert hw.robot.on.all()


def test_drives_of_other_protocols_sit_on_the_same_shafts(hardware, on_bus):
    hw = hardware(on_bus(can_bus("cybergear")))
    hw.tick(1, 0)
    codec = cybergear.CyberGearCodec([2])
    hw.send(1, cybergear.enable(2, 0xFD))
    assert codec.unpack(hw.receive(1)[0]).position == pytest.approx(hw.robot.position[4], abs=4e-4)
    hw = hardware(on_bus(can_bus("gim6010", buses=2)))
    hw.tick(1, 0)
    hw.receive(1)
    hw.send(1, gim6010.request(8, "get_encoder_estimates"))
    turns = gim6010.unpack(hw.receive(1)[0]).values["position"]
    assert gim6010.output_rad(turns, 8) == pytest.approx(hw.robot.position[7], abs=1e-5)


def test_twelve_gim_drives_speak_by_themselves_without_loss(hardware, on_bus):
    hw = hardware(on_bus(can_bus("gim6010", buses=2)))
    seen = {}
    for seq in range(500):
        hw.tick(1, seq)
        for line in range(2):
            for frame in hw.receive(line):
                seen[frame.can_id] = seen.get(frame.can_id, 0) + 1
        hw.done()
    assert seen == {n << 5 | 0x01: 10 for n in range(1, 13)} | {n << 5 | 0x09: 100 for n in range(1, 13)}


def test_motors_without_a_host_hold_what_they_were_told_last(hardware, on_bus):
    hw = hardware(on_bus(can_bus()), mit=NO_NONSENSE)
    hw.tick(1, 0)
    codec = MitCodec((MOTORS["mini_cheetah"],))
    for line in range(4):
        for motor in (1, 2, 3):
            hw.send(line, CanFrame(motor, Special.ENTER.value))
            p = hw.robot.position[3 * line + motor - 1]
            hw.send(line, CanFrame(motor, codec.pack([p], [0], [60], [1], [0])[0]))
    q0 = hw.robot.plant.q.copy()
    for seq in range(1, 500):
        hw.tick(1, seq)  # silence
    assert np.abs(hw.robot.plant.q - q0).max() < 0.15


def test_what_the_description_lacks_is_said(on_bus):
    options = PlantOptions()
    with pytest.raises(ValueError, match="no bus section"):
        emulated(with_bus(None), options, 1)
    with pytest.raises(ValueError, match="no can section"):
        EmulatedCan(on_bus(own_bus()), options, 1)
    with pytest.raises(ValueError, match="no spine section"):
        EmulatedSpine(on_bus(can_bus()), options, 1)
    bus = own_bus()
    wiring = dict(bus.wiring) | {"RL.knee": bus.wiring["RL.knee"].model_copy(update={"id": 0})}
    with pytest.raises(ValueError, match="want a leg at 0 and at 1"):
        EmulatedSpine(on_bus(bus.model_copy(update={"wiring": wiring})), options, 1)
    wiring.pop("RL.knee")
    with pytest.raises(ValueError, match=r"RL\.knee"):
        EmulatedSpine(on_bus(bus.model_copy(update={"wiring": wiring})), options, 1)


def test_zeros_and_parameters_of_cybergears_are_lost_at_power_off(hardware, on_bus):
    hw = hardware(on_bus(can_bus("cybergear")))
    hw.tick(1, 0)
    codec = cybergear.CyberGearCodec([2])

    def state():
        hw.send(1, cybergear.read_parameter(2, 0xFD, "limit_torque"))
        hw.send(1, cybergear.stop(2, 0xFD))
        limit, feedback = (codec.unpack(frame) for frame in hw.receive(1))
        return limit.value, feedback.position

    fresh = state()
    hw.send(1, cybergear.set_zero(2, 0xFD))
    hw.send(1, cybergear.write_parameter(2, 0xFD, "limit_torque", 3.0))
    hw.receive(1)
    assert state() == pytest.approx((3.0, 0.0), abs=4e-4) and abs(fresh[1]) > 0.1
    hw.tick(2, 0)  # a new run: off and on again
    assert state() == fresh
