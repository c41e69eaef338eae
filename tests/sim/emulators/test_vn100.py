"""Bytes of the emulated IMU: read by the wire format and turned back by the mounting, they are the body's sample."""

from __future__ import annotations

import os

import numpy as np
import pytest

from config.schema import Mount
from lcmtypes.generated import Imu
from procs.model.rotations import quat_to_matrix, rpy_to_matrix, rpy_to_quat
from procs.wire.vectornav import MIT_HEADER, Parser, imu_sample
from sim.emulators.vn100 import Pty, Vn100

MOUNTS = [(0.0, 0.0, 0.0), (np.pi, 0.0, 0.0), (0.3, -0.7, 2.0)]


def sample(rng):
    imu = Imu()
    imu.valid = 1
    imu.quat[:] = rpy_to_quat(rng.uniform(-1, 1, 3))
    imu.gyro[:] = rng.uniform(-3, 3, 3)
    imu.accel[:] = rng.uniform(-12, 12, 3)
    return imu


@pytest.mark.parametrize("rpy", MOUNTS)
def test_the_mounting_rotation_brings_the_body_sample_back(on_bus, buses, rng, rpy):
    robot = on_bus(buses["spine"](), mount=Mount(rpy=tuple(map(float, rpy))))
    sensor = Vn100(robot, 500.0)
    R_bs = rpy_to_matrix(np.array(rpy))
    R_w_ned = np.diag([1.0, -1.0, -1.0])
    for _ in range(20):
        imu = sample(rng)
        (packet,) = Parser(MIT_HEADER).feed(sensor.packet(imu))
        got = imu_sample(packet)
        assert got.valid
        np.testing.assert_allclose(R_bs @ got.gyro, imu.gyro, atol=1e-5)
        np.testing.assert_allclose(R_bs @ got.accel, imu.accel, atol=1e-5)
        R_wb = R_w_ned @ quat_to_matrix(got.quat) @ R_bs.T
        np.testing.assert_allclose(R_wb, quat_to_matrix(imu.quat), atol=1e-6)


def test_a_level_sensor_with_its_label_up_reads_gravity_upwards_against_its_z_axis(on_bus, buses):
    robot = on_bus(buses["spine"](), mount=Mount(rpy=(np.pi, 0.0, 0.0)))
    imu = Imu()
    imu.valid, imu.quat[0], imu.accel[2] = 1, 1.0, 9.81
    (packet,) = Parser(MIT_HEADER).feed(Vn100(robot, 500.0).packet(imu))
    got = imu_sample(packet)
    np.testing.assert_allclose(got.accel, [0, 0, -9.81], atol=1e-5)
    np.testing.assert_allclose(np.abs(got.quat), [1, 0, 0, 0], atol=1e-6)


def test_the_rate_of_the_description_decides_which_ticks_have_a_packet(on_bus, buses, rng):
    sensor = Vn100(on_bus(buses["spine"]()), 200.0)  # 2.5 ticks of 2 ms: every second
    sizes = [len(sensor.packet(sample(rng))) for _ in range(6)]
    assert [bool(s) for s in sizes] == [True, False] * 3


def test_a_sample_that_is_no_number_is_not_sent(on_bus, buses, rng):
    imu = sample(rng)
    imu.gyro[1] = np.nan
    assert Vn100(on_bus(buses["spine"]()), 500.0).packet(imu) == b""


def test_bytes_written_on_the_pty_come_out_unchanged_at_the_link_and_a_full_line_blocks_nobody(tmp_path):
    link = tmp_path / "imu"
    pty = Pty(str(link))
    try:
        reader = os.open(link, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        data = bytes(range(256))
        pty.write(data)
        assert os.read(reader, 4096) == data
        for _ in range(2000):
            pty.write(data)
        assert pty.lost > 0
        os.close(reader)
    finally:
        pty.close()
    assert not link.exists()


def test_noise_and_faults_of_the_simulator_are_in_the_bytes(hardware, spine_robot):
    from config.scenario import Fault, PlantOptions

    def gyros(**more):
        hw = hardware(spine_robot, options=PlantOptions(suspended=True, imu_noise=more.pop("noise", False)), **more)
        parser, out = Parser(MIT_HEADER), []
        for seq in range(20):
            hw.tick(1, seq)
            out += [imu_sample(p).gyro for p in parser.feed(hw.imu_bytes())]
            hw.done()
        return np.array(out)

    still = gyros()
    biased = gyros(faults=[Fault(t=0.01, kind="imu_bias", gyro=(0.5, 0, 0))])
    np.testing.assert_allclose(biased[5:, 0] - still[5:, 0], 0.5, atol=1e-5)
    np.testing.assert_array_equal(biased[:5], still[:5])
    noisy = gyros(noise=True)
    assert 0 < np.abs(noisy - still).max() < 0.01
