"""Our frames against independent packages, which `pip install` brings: mini-cheetah-motor-driver-socketcan,
CyberGearDriver, odrive-can, cantools.

Without them these tests are skipped. Known differences are stated: the DFKI driver turns some motors round and does not
clamp, pycybergear's control frames are wrong (host id in place of the torque) and are not compared.
"""

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from procs.wire.cybergear import CyberGearCodec, enable, set_zero, write_parameter
from procs.wire.frame import CanFrame
from procs.wire.gim6010 import pack, unpack
from procs.wire.mit_can import MitCodec, unpack_raw_command
from procs.wire.mit_motors import MOTORS

COUNT = 10_000
DFKI = {
    "AK80_6_V1_PARAMS": "AK80-6_V1.0",
    "AK80_6_V1p1_PARAMS": "AK80-6_V1.1",
    "AK80_6_V2_PARAMS": "AK80-6_V2",
    "AK80_9_V1p1_PARAMS": "AK80-9_V1.1",
    "AK80_9_V2_PARAMS": "AK80-9_V2_dfki",
    "AK70_10_V1p1_params": "AK70-10_V1.1",
    "AK10_9_V1p1_PARAMS": "AK10-9_V2.0",
}


@pytest.mark.parametrize("params", DFKI)
def test_mit_frames_of_the_dfki_driver(params: str) -> None:
    lib = pytest.importorskip("motor_driver.canmotorlib", reason="mini-cheetah-motor-driver-socketcan is not installed")
    motor, theirs = MOTORS[DFKI[params]], getattr(lib, params)
    assert (theirs["P_MAX"], theirs["V_MAX"], theirs["T_MAX"]) == (motor.position, motor.velocity, motor.torque)
    driver = object.__new__(lib.CanMotorController)
    driver.motorParams = {**theirs, "AXIS_DIRECTION": 1}  # the sign belongs to the robot
    rng = np.random.default_rng(7)
    values = rng.uniform(-1, 1, (COUNT, 5)) * [motor.position, motor.velocity, motor.kp, motor.kd, motor.torque]
    values[:, 2:4] = np.abs(values[:, 2:4])
    codec = MitCodec([motor] * COUNT)
    frames = codec.pack(*values.T)
    wanted = [driver.convert_physical_rad_to_raw(*row) for row in values.tolist()]
    assert [tuple(unpack_raw_command(frame).tolist()) for frame in frames] == wanted
    replies = codec.pack_replies([1] * COUNT, values[:, 0], values[:, 1], values[:, 4])
    driver._recv_bytes = lib.BitArray(uint=0, length=48)
    back = codec.unpack(replies)
    for i in range(0, COUNT, 10):
        raw = driver.decode_motor_status(replies[i])
        theirs_back = driver.convert_raw_to_physical_rad(*raw)
        assert theirs_back == pytest.approx((back.position[i], back.velocity[i], back.torque[i]), abs=1e-12)


@pytest.fixture
def cybergear_driver(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    lib = pytest.importorskip("CyberGearDriver.motor_controller", reason="CyberGearDriver is not installed")
    monkeypatch.setattr(sys.modules["CyberGearDriver.motor_controller"], "PAUSE_AFTER_SEND", 0)
    return lib


def test_cybergear_frames_of_cybergeardriver(cybergear_driver: ModuleType) -> None:
    sent: list[CanFrame] = []
    motor = cybergear_driver.CyberGearMotor(
        11, lambda m: sent.append(CanFrame(m.arbitration_id, bytes(m.data), True)), host_id=0xFD
    )
    rng = np.random.default_rng(8)
    values = rng.uniform(-1.05, 1.05, (3000, 5)) * [12.5, 30, 500, 5, 12]  # p v kp kd t, some beyond the range
    values[:, 2:4] = np.abs(values[:, 2:4])
    codec = CyberGearCodec([11])
    for position, velocity, kp, kd, torque in values.tolist():
        motor.control(position, velocity, torque, kp, kd)
        assert codec.control(position, velocity, kp, kd, torque) == [sent[-1]]
    motor.set_parameter("loc_ref", 1.0)
    assert (sent[-1].data, sent[-1].can_id >> 24) == (write_parameter(11, 0xFD, "loc_ref", 1.0).data, 18)
    motor.enable()
    assert sent[-1].can_id | 0xFD << 8 == enable(11, 0xFD).can_id  # it leaves the host id out
    motor.set_zero_position()
    assert sent[-1].data == set_zero(11, 0xFD).data


def test_cybergear_feedback_of_cybergeardriver(cybergear_driver: ModuleType) -> None:
    motor = cybergear_driver.CyberGearMotor(11, lambda _: None, host_id=0xFD)
    codec = CyberGearCodec([11])
    rng = np.random.default_rng(9)
    for p, v, t, c in (rng.uniform(-1, 1, (1000, 4)) * [12.5, 30, 12, 20] + [0, 0, 0, 40]).tolist():
        frame = codec.feedback(11, 0xFD, p, v, t, c)
        motor.message_received(sys.modules["CyberGearDriver.can"].CyberMotorMessage(frame.can_id, frame.data))
        mine = codec.unpack(frame)
        theirs = [motor.state[name] for name in ("position", "velocity", "torque", "temperature")]
        assert theirs == pytest.approx([mine.position, mine.velocity, mine.torque, mine.temperature_c], abs=1e-9)


ODRIVE = {  # our field -> signal of odrive-cansimple-0.5.6.dbc
    "set_axis_state": ("Set_Axis_State", {"state": "Axis_Requested_State"}),
    "set_axis_node_id": ("Set_Axis_Node_ID", {"new_node": "Axis_Node_ID"}),
    "set_controller_mode": ("Set_Controller_Mode", {"control_mode": "Control_Mode", "input_mode": "Input_Mode"}),
    "set_input_pos": ("Set_Input_Pos", {"position": "Input_Pos", "velocity_ff": "Vel_FF", "torque_ff": "Torque_FF"}),
    "set_input_vel": ("Set_Input_Vel", {"velocity": "Input_Vel", "torque_ff": "Input_Torque_FF"}),
    "set_input_torque": ("Set_Input_Torque", {"torque": "Input_Torque"}),
    "set_limits": ("Set_Limits", {"velocity": "Velocity_Limit", "current": "Current_Limit"}),
    "set_traj_vel_limit": ("Set_Traj_Vel_Limit", {"velocity": "Traj_Vel_Limit"}),
    "set_traj_accel_limits": (
        "Set_Traj_Accel_Limits",
        {"acceleration": "Traj_Accel_Limit", "deceleration": "Traj_Decel_Limit"},
    ),
    "set_traj_inertia": ("Set_Traj_Inertia", {"inertia": "Traj_Inertia"}),
    "set_linear_count": ("Set_Linear_Count", {"count": "Position"}),
    "set_pos_gain": ("Set_Pos_Gain", {"gain": "Pos_Gain"}),
    "set_vel_gains": ("Set_Vel_Gains", {"gain": "Vel_Gain", "integrator": "Vel_Integrator_Gain"}),
    "get_encoder_estimates": ("Get_Encoder_Estimates", {"position": "Pos_Estimate", "velocity": "Vel_Estimate"}),
    "get_iq": ("Get_Iq", {"setpoint": "Iq_Setpoint", "measured": "Iq_Measured"}),
    "get_bus_voltage_current": ("Get_Bus_Voltage_Current", {"voltage": "Bus_Voltage", "current": "Bus_Current"}),
}


@pytest.mark.parametrize("name", ODRIVE)
def test_odrive_frames_of_the_cansimple_dbc(name: str) -> None:
    """Where GIM6010-8 and ODrive 0.5.6 agree; the DBC's units of Set_Input_Vel are wrong, its values are the same."""
    cantools = pytest.importorskip("cantools", reason="cantools is not installed")
    odrive_can = pytest.importorskip("odrive_can", reason="odrive-can is not installed")
    database = cantools.database.load_file(Path(odrive_can.__file__).parent / "dbc" / "odrive-cansimple-0.5.6.dbc")
    message_name, fields = ODRIVE[name]
    message = database.get_message_by_name(f"Axis0_{message_name}")
    rng = np.random.default_rng(11)
    numbers = {s.name: s for s in message.signals}
    for _ in range(100):
        values = {
            field: round(float(rng.uniform(-30, 30)), 3) if numbers[signal].is_float or numbers[signal].scale != 1
            else int(rng.integers(0, 9)) for field, signal in fields.items()
        }  # fmt: skip
        frame = pack(0, name, **values)
        assert frame.can_id == message.frame_id
        theirs = message.encode({fields[field]: value for field, value in values.items()}, strict=False)
        assert frame.data[: len(theirs)] == theirs
        back = message.decode(frame.data[: message.length], decode_choices=False)
        for field, value in unpack(frame).values.items():
            assert back[fields[field]] == pytest.approx(value, abs=1e-9)
