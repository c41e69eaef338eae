"""The relay: MIT's bytes against lcm-gen's classes, closed forms of MIT's stack, rates, what is missing."""

from __future__ import annotations

import importlib.util
import math
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from config.load import load_robot
from lcmtypes import lcmfile
from lcmtypes.channels import BODY_STATE, GROUND_TRUTH, IMU, JOINT_COMMAND, LEG_COMMAND, LEG_STATE
from lcmtypes.generated import BodyState, GroundTruth, Imu, JointCommand, LegCommand, LegState
from lcmtypes.mit_channels import MIT_CHANNELS
from procs.mit_relay.relay import NEEDS, RATES, SPEC
from procs.model.legs import foot_velocities, leg_kinematics
from procs.model.robot import Robot
from procs.model.rotations import quat_to_matrix, rpy_to_quat
from procs.packer.packer import SPEC as PACKER_SPEC
from procs.packer.packer import Packer
from procs.runtime.engine import Engine

MIT = Path(lcmfile.__file__).parent / "mit"


@pytest.fixture(scope="module")
def lcm_gen(tmp_path_factory):
    """MIT's classes as the real lcm-gen makes them, by type name."""
    out = tmp_path_factory.mktemp("mit")
    files = sorted({MIT / f"{c.type.TYPE}.lcm" for c in RATES})
    subprocess.run([Path(sys.executable).with_name("lcm-gen"), "--python", "--ppath", out, *files], check=True)
    classes = {}
    for path in files:
        spec = importlib.util.spec_from_file_location(f"_relay_{path.stem}", out / f"{path.stem}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        classes[path.stem] = getattr(module, path.stem)
    return classes


def filled(message, seed):
    """Every number of the block different from the others."""
    message.block[:] = np.random.default_rng(seed).uniform(-3, 3, len(message.block))
    return message


@pytest.fixture
def messages():
    """One tick of everything, with attitudes that are rotations."""
    body, imu, truth = filled(BodyState(4), 1), filled(Imu(), 2), filled(GroundTruth(4, 12), 3)
    for message, rpy in ((body, (0.1, -0.2, 2.0)), (imu, (0.3, 0.2, -1.0)), (truth, (-0.2, 0.4, 1.1))):
        message.quat[:] = rpy_to_quat(np.array(rpy))
    imu.valid = 1
    command = filled(JointCommand(12), 4)
    command.enable[:] = 1
    return {
        JOINT_COMMAND: command, LEG_COMMAND: filled(LegCommand(4, 12), 5), LEG_STATE: filled(LegState(4, 12), 6),
        BODY_STATE: body, IMU: imu, GROUND_TRUTH: truth,
    }  # fmt: skip


def test_all_that_is_declared_is_sent_and_the_bytes_are_those_of_lcm_gen(relay, messages, lcm_gen):
    sent = relay(*messages.items())
    assert list(sent) == [channel.name for channel in RATES]
    for name, message in sent.items():
        theirs = lcm_gen[MIT_CHANNELS[name].type.TYPE].decode(message.encode())
        assert theirs.encode() == message.encode()
        for field, value in message.fields().items():
            np.testing.assert_array_equal(np.asarray(getattr(theirs, field)), np.asarray(value))


def test_leg_control_command_is_the_leg_command_in_32_bits(relay, messages):
    sent, command = relay(*messages.items())["leg_control_command"], messages[LEG_COMMAND]
    for field in sent.FIELDS:
        assert getattr(sent, field).tolist() == getattr(command, field).ravel().astype(np.float32).tolist()


def test_relayed_foot_positions_and_velocities_are_mits_formulas_of_the_relayed_joints(relay, robot, mit_foot):
    rng = np.random.default_rng(7)
    for _ in range(20):
        legs = LegState(4, 12)
        legs.q[:], legs.qd[:] = rng.uniform(-1.5, 1.5, 12), rng.uniform(-10, 10, 12)
        p, J, _axes = leg_kinematics(legs.q, robot.chains)
        legs.p[:], legs.v[:] = p, foot_velocities(J, legs.qd)
        sent = relay((LEG_STATE, legs), (JOINT_COMMAND, JointCommand(12)))["leg_control_data"]
        for leg in range(4):
            j = slice(3 * leg, 3 * leg + 3)
            at, jacobian = mit_foot(sent.q[j], leg)
            np.testing.assert_allclose(sent.p[j], at, atol=1e-6)
            np.testing.assert_allclose(sent.v[j], jacobian @ sent.qd[j], atol=2e-5)


@pytest.mark.parametrize(
    ("q", "right", "left"),
    [  # check values of MIT's kinematics
        ((0, 0, 0), (0, -0.066, -0.404), (0, 0.066, -0.404)),
        ((0, -0.8, 1.6), (-0.01004, -0.066, -0.28147), (-0.01004, 0.066, -0.28147)),
        ((0.3, -0.8, 1.6), (-0.01004, 0.02013, -0.28840), (-0.01004, 0.14623, -0.24939)),
        ((0, -1.4, 2.7), (-0.01807, -0.066, -0.08769), (-0.01807, 0.066, -0.08769)),
    ],
)
def test_foot_positions_of_known_postures(relay, robot, q, right, left):
    legs = LegState(4, 12)
    legs.q[:] = np.tile(q, 4)
    legs.p[:] = leg_kinematics(legs.q, robot.chains)[0]
    p = relay((LEG_STATE, legs), (JOINT_COMMAND, JointCommand(12)))["leg_control_data"].p.reshape(4, 3)
    np.testing.assert_allclose(p, [right, left, right, left], atol=1e-5)


def test_the_spi_torque_is_mits_leg_law_of_the_relayed_leg_command(relay, robot, mit_foot):
    """tau_ff of the board = tau_ff + J^T (f_ff + Kp (p_des - p) + Kd (v_des - v)), with MIT's own J."""
    legs, command = LegState(4, 12), LegCommand(4, 12)
    rng = np.random.default_rng(8)
    legs.q[:] = robot.pose("stand") + rng.uniform(-0.1, 0.1, 12)
    legs.qd[:] = rng.uniform(-1, 1, 12)
    p, J, _axes = leg_kinematics(legs.q, robot.chains)
    legs.p[:], legs.v[:] = p, foot_velocities(J, legs.qd)
    command.enable = 1
    command.tau_ff[:], command.f_ff[:] = rng.uniform(-1, 1, 12), rng.uniform(-10, 10, (4, 3))
    command.p_des[:], command.v_des[:] = p + 0.01, 0.1
    command.kp_cartesian[:], command.kd_cartesian[:] = 100, 5
    packed = Packer(robot).step({LEG_COMMAND: command, LEG_STATE: legs, **dict.fromkeys(_operators())})[0]
    assert packed.reason == ""
    sent = relay((LEG_STATE, legs), (LEG_COMMAND, command), (JOINT_COMMAND, packed))
    spi, data, asked = sent["spi_command"], sent["leg_control_data"], sent["leg_control_command"]
    for leg in range(4):
        j = slice(3 * leg, 3 * leg + 3)
        at, jacobian = mit_foot(data.q[j], leg)
        force = asked.f_ff[j] + asked.kp_cartesian[j] * (asked.p_des[j] - at)
        force = force + asked.kd_cartesian[j] * (asked.v_des[j] - jacobian @ data.qd[j])
        tau = asked.tau_ff[j] + jacobian.T @ force
        np.testing.assert_allclose([spi.tau_abad_ff[leg], spi.tau_hip_ff[leg], spi.tau_knee_ff[leg]], tau, atol=1e-4)
    np.testing.assert_allclose(data.tau_est, packed.tau_ff, atol=1e-5)  # no joint PD here


def _operators():
    return [read.channel for read in PACKER_SPEC.reads if read.kind == "latest"]


def test_tau_est_adds_the_drives_pd(relay):
    legs, command = LegState(4, 12), JointCommand(12)
    legs.q[:], legs.qd[:] = 0.5, -2.0
    command.tau_ff[:], command.q_des[:], command.qd_des[:], command.kp[:], command.kd[:] = 1.0, 0.75, 1.0, 20.0, 0.5
    sent = relay((LEG_STATE, legs), (JOINT_COMMAND, command))["leg_control_data"]
    assert sent.tau_est.tolist() == [1.0 + 20.0 * 0.25 + 0.5 * 3.0] * 12


def test_spi_types_are_joint_by_joint_and_a_legs_flag_needs_all_its_joints(relay):
    legs, command = LegState(4, 12), JointCommand(12)
    legs.q[:], legs.qd[:] = np.arange(12), 100 + np.arange(12)
    command.q_des[:], command.kp[:] = np.arange(12), 50 + np.arange(12)
    command.enable[:] = [1, 1, 1, 1, 0, 1, 0, 0, 0, 1, 1, 1]
    sent = relay((LEG_STATE, legs), (JOINT_COMMAND, command), seq=0x12345)
    data, told = sent["spi_data"], sent["spi_command"]
    assert [data.q_abad.tolist(), data.q_hip.tolist(), data.q_knee.tolist()] == [
        [0, 3, 6, 9],
        [1, 4, 7, 10],
        [2, 5, 8, 11],
    ]
    assert data.qd_hip.tolist() == [101, 104, 107, 110]
    assert told.q_des_knee.tolist() == [2, 5, 8, 11]
    assert told.kp_hip.tolist() == [51, 54, 57, 60]
    assert told.flags.tolist() == [1, 0, 0, 1]
    assert data.spi_driver_status == 0x23450000  # iterations << 16 in 32 bits, as MIT's counter


def test_a_robot_with_other_signs_and_order_is_turned_into_mits(messages, changed_legs):
    robot = changed_legs(order=(1, 0, 3, 2), axes=[[1, 0, 0], [0, 1, 0], [0, 1, 0]])  # FL FR RL RR
    for message in messages.values():
        message.run = message.seq = 0
    sent = {c.name: m for c, m in Engine(SPEC, robot).step(dict(messages))}
    legs, command = messages[LEG_STATE], messages[JOINT_COMMAND]
    want = (legs.q.reshape(4, 3) * [1, -1, -1])[[1, 0, 3, 2]].astype(np.float32)
    assert sent["leg_control_data"].q.reshape(4, 3).tolist() == want.tolist()
    assert sent["main_cheetah_visualization"].q.tolist() == want.ravel().tolist()
    assert sent["leg_control_data"].p.reshape(4, 3).tolist() == legs.p[[1, 0, 3, 2]].astype(np.float32).tolist()
    tau = messages[LEG_COMMAND].tau_ff.reshape(4, 3)[[1, 0, 3, 2]] * [1, -1, -1]
    assert sent["leg_control_command"].tau_ff.tolist() == tau.ravel().astype(np.float32).tolist()
    knees = (command.kp.reshape(4, 3)[[1, 0, 3, 2], 2]).astype(np.float32)  # gains have no sign
    assert sent["spi_command"].kp_knee.tolist() == knees.tolist()
    assert sent["simulator_state"].q.tolist() == (legs.q.reshape(4, 3) * [1, -1, -1])[[1, 0, 3, 2]].tolist()


def test_attitude_conventions(relay, messages):
    """quat w x y z turns body into world; MIT's R turns world into body; rpy is Rz(yaw) Ry(pitch) Rx(roll)."""
    sent, truth = relay(*messages.items()), messages[GROUND_TRUTH]
    R_wb = quat_to_matrix(truth.quat)
    state = sent["simulator_state"]
    assert state.quat.tolist() == truth.quat.tolist()
    np.testing.assert_allclose(state.R, R_wb.T, atol=1e-15)
    np.testing.assert_allclose(state.rpy, (-0.2, 0.4, 1.1), atol=1e-12)
    np.testing.assert_allclose(state.R @ state.v, state.vb, atol=1e-12)
    np.testing.assert_allclose(state.R @ state.omega, state.omegab, atol=1e-12)
    estimate, body = sent["state_estimator"], messages[BODY_STATE]
    assert estimate.quat.tolist() == body.quat.astype(np.float32).tolist()
    for field, ours in (("p", "position"), ("vWorld", "v_world"), ("vBody", "v_body"), ("omegaBody", "omega_body")):
        assert getattr(estimate, field).tolist() == getattr(body, ours).astype(np.float32).tolist()
    imu = messages[IMU]
    assert sent["microstrain"].quat.tolist() == imu.quat.astype(np.float32).tolist()
    assert sent["hw_vectornav"].q.tolist() == imu.quat[[1, 2, 3, 0]].astype(np.float32).tolist()
    np.testing.assert_allclose(sent["microstrain"].rpy, (0.3, 0.2, -1.0), atol=1e-6)


def test_accelerations_of_the_simulator_are_differences_over_the_tick(relay, messages):
    relay(*messages.items(), seq=4)
    truth, legs = messages[GROUND_TRUTH].copy(), messages[LEG_STATE].copy()
    before = quat_to_matrix(truth.quat).T @ truth.v_world
    truth.v_world += (0.1, -0.2, 0.3)
    legs.qd += 0.5
    state = relay(*{**messages, GROUND_TRUTH: truth, LEG_STATE: legs}.items(), seq=5)["simulator_state"]
    np.testing.assert_allclose(state.vbd, (quat_to_matrix(truth.quat).T @ truth.v_world - before) / 0.002, rtol=1e-9)
    np.testing.assert_allclose(state.qdd, 250.0, rtol=1e-9)
    assert (state.timesteps, state.time) == (5, 0.01)
    again = relay(*messages.items(), seq=0, run=2)["simulator_state"]  # a new run knows of no tick before
    assert not again.vbd.any()
    assert not again.qdd.any()


def test_decimated_channels_have_mits_rates(relay, messages):
    count = dict.fromkeys((c.name for c in RATES), 0)
    for seq in range(500):
        for name in relay(*messages.items(), seq=seq):
            count[name] += 1
    assert count.pop("main_cheetah_visualization") == math.ceil(500 / 8)  # 62.5 Hz for a period of 16.7 ms
    assert count.pop("hw_vectornav") == 250
    assert set(count.values()) == {500}


def test_a_slow_robot_sends_every_tick(robot):
    control = robot.description.control.model_copy(update={"rate": 100})
    slow = Engine(SPEC, Robot(robot.description.model_copy(update={"control": control})))
    for seq in range(3):
        command, imu = JointCommand(12), Imu()
        for message in (command, imu):
            message.seq = seq
        inputs = dict.fromkeys(SPEC.channels) | {JOINT_COMMAND: command, IMU: imu}
        assert "hw_vectornav" in {c.name for c, _ in slow.step(inputs)}


def test_imu_packets_are_counted(relay, messages):
    sent = relay(*messages.items(), seq=0)["microstrain"]
    assert (sent.good_packets, sent.bad_packets) == (1, 0)
    messages[IMU].valid = 0
    sent = relay(*messages.items(), seq=1)["microstrain"]
    assert (sent.good_packets, sent.bad_packets) == (1, 1)


@pytest.mark.parametrize("absent", [GROUND_TRUTH, IMU, BODY_STATE, LEG_STATE, LEG_COMMAND], ids=lambda c: c.name)
def test_without_its_source_a_message_is_left_out_and_the_others_come(relay, messages, absent):
    sent = relay(*((c, m) for c, m in messages.items() if c is not absent))
    assert set(sent) == {c.name for c, needs in NEEDS.items() if absent not in needs}


def test_ground_truth_of_another_tick_is_not_mixed_with_these_joints(robot, messages):
    for message in messages.values():
        message.run, message.seq = 1, 7
    messages[GROUND_TRUTH].seq = 8
    sent = {c.name for c, _ in Engine(SPEC, robot).step(dict(messages))}
    assert "simulator_state" not in sent
    assert "spi_data" in sent


def test_messages_of_another_robot_are_left_out(relay, messages):
    assert relay(*messages.items(), (LEG_STATE, LegState(6, 18))).keys().isdisjoint({"spi_data", "leg_control_data"})
    assert "spi_data" not in relay(*messages.items(), (LEG_STATE, LegState(2, 18)), seq=1)  # as many numbers
    assert relay((JOINT_COMMAND, JointCommand(18)), seq=2) == {}


def test_what_32_bits_cannot_hold_is_not_sent(relay, messages):
    messages[BODY_STATE].position[0] = 1e39
    sent = relay(*messages.items())
    assert "state_estimator" not in sent
    assert "leg_control_data" in sent


def test_golden_bytes_of_a_state(relay):
    body = BodyState(4)
    body.position[:], body.quat[:] = (1.0, -2.0, 0.5), (1, 0, 0, 0)
    data = relay((BODY_STATE, body), (JOINT_COMMAND, JointCommand(12)))["state_estimator"].encode()
    assert data == bytes.fromhex("86530874c8755cb7 3f800000 c0000000 3f000000") + bytes(60) + struct.pack(
        ">4f", 1, 0, 0, 0
    )


def test_scotty_can_be_relayed_too():
    Engine(SPEC, Robot(load_robot("scotty")))


def test_the_tables_name_the_same_channels():
    assert RATES.keys() == NEEDS.keys()
    assert {c for needs in NEEDS.values() for c in needs} <= set(SPEC.channels)
    assert all(MIT_CHANNELS[c.name] is c for c in RATES)
