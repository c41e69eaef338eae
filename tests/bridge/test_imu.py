"""VN-100 driver: mounting, staleness, garbage, a real pseudo-terminal."""

import os
import tty

import numpy as np
import pytest

from procs.bridge.build import bridge_plant
from procs.bridge.errors import TransportError
from procs.bridge.imu_serial import CallableStream, ImuReader, SerialStream
from procs.model.rotations import quat_multiply, quat_to_matrix, rpy_to_quat
from procs.wire import vectornav

DOWN = np.array([0.0, 0.0, -9.81])


def packet(quat_ned, gyro, accel):
    w, x, y, z = quat_ned
    return vectornav.pack({(0, "quaternion"): (x, y, z, w), (0, "gyro"): gyro, (0, "accel"): accel})


def reader(data, mount=(0.0, 0.0, 0.0), **more):
    chunks = list(data)
    return ImuReader(CallableStream(lambda: chunks.pop(0) if chunks else b""), mount, 0.002, 0.01, **more)


@pytest.mark.parametrize("mount", [(0, 0, 0), (np.pi, 0, 0), (0.3, -0.2, 1.1), (0, 0, np.pi / 2)])
def test_body_axes_come_out_whatever_the_mounting(mount):
    body = rpy_to_quat(np.array([0.2, -0.1, 0.7]))  # in the world: x north, y west, z up
    omega, force = np.array([0.1, 0.2, 0.3]), quat_to_matrix(body).T @ -DOWN
    mounted = rpy_to_quat(np.array(mount, dtype=float))
    to_sensor = quat_to_matrix(mounted).T
    ned = np.diag([1.0, -1.0, -1.0]) @ quat_to_matrix(body) @ quat_to_matrix(mounted)
    quat = quat_multiply(quat_multiply(np.array([0.0, 1.0, 0.0, 0.0]), body), mounted)
    np.testing.assert_allclose(quat_to_matrix(quat), ned, atol=1e-12)
    imu = reader([packet(quat, to_sensor @ omega, to_sensor @ force)], mount).read()
    assert imu.valid and not imu.status
    np.testing.assert_allclose(quat_to_matrix(imu.quat), quat_to_matrix(body), atol=1e-6)
    np.testing.assert_allclose(imu.gyro, omega, atol=1e-6)
    np.testing.assert_allclose(imu.accel, force, atol=1e-6)


def test_a_level_sensor_with_its_label_up_reads_gravity_up():
    imu = reader([packet((1, 0, 0, 0), (0, 0, 0), DOWN)], (np.pi, 0, 0)).read()
    np.testing.assert_allclose(imu.accel, -DOWN, atol=1e-5)
    np.testing.assert_allclose(quat_to_matrix(imu.quat), np.eye(3), atol=1e-6)


def test_before_the_first_packet_nothing_is_valid():
    imu = reader([]).read()
    assert not imu.valid and imu.quat[0] == 1.0 and "silent" in imu.status


def test_the_newest_packet_counts_and_a_silent_line_becomes_invalid():
    old, new = packet((1, 0, 0, 0), (1, 0, 0), DOWN), packet((1, 0, 0, 0), (2, 0, 0), DOWN)
    imus = reader([old + new])
    assert imus.read().gyro[0] == pytest.approx(2.0)
    valid = [imus.read().valid for _ in range(8)]
    assert valid == [1] * 5 + [0] * 3
    assert imus.read().status == "imu silent for 18 ms"


def test_a_frozen_sensor_is_found_within_the_time_of_a_silent_one_since_noise_never_repeats_itself():
    rng = np.random.default_rng(1)
    noisy = [packet((1, 0, 0, 0), rng.normal(0, 1e-3, 3), DOWN + rng.normal(0, 1e-2, 3)) for _ in range(50)]
    imus = reader([*noisy, *noisy[-1:] * 20, noisy[0]], noisy=True)
    assert all(imus.read().valid for _ in noisy)
    valid = [imus.read().valid for _ in range(20)]
    assert valid == [1] * 5 + [0] * 15  # 10 ms
    imu = imus.read()
    assert imu.valid and imus.repeated == 20  # it speaks again


def test_one_packet_twice_does_no_harm_and_a_frozen_sensor_is_called_so():
    one, other = packet((1, 0, 0, 0), (1e-3, 0, 0), DOWN), packet((1, 0, 0, 0), (2e-3, 0, 0), DOWN)
    imus = reader([one, other, other, one, *[other] * 9], noisy=True)
    assert all(imus.read().valid for _ in range(4))
    words = [imus.read().status for _ in range(9)][-1]
    assert words == "imu frozen: the same sample for 16 ms"


def test_an_ideal_sensor_at_rest_may_repeat_itself():
    imus = reader([packet((1, 0, 0, 0), (0, 0, 0), DOWN)] * 50)
    assert all(imus.read().valid for _ in range(50)) and imus.repeated == 49


def test_real_sensors_are_taken_for_noisy_and_emulated_ones_not(robot, tmp_path):
    assert bridge_plant(robot, None).imu.noisy and not bridge_plant(robot, tmp_path).imu.noisy


def test_garbage_and_split_packets():
    one = packet((1, 0, 0, 0), (1, 0, 0), DOWN)
    imus = reader([b"$VNYPR,garbage" + one[:20], one[20:]])
    assert not imus.read().valid
    assert imus.read().valid


def test_a_quaternion_that_is_none_is_refused():
    imus = reader([packet((0, 0, 0, 0.5), (1, 0, 0), DOWN)])
    assert not imus.read().valid and imus.invalid == 1


def test_a_pseudo_terminal_is_read_byte_for_byte():
    master, slave = os.openpty()
    tty.setraw(slave)
    stream = SerialStream(os.ttyname(slave), 921600)
    stream.open()
    data = bytes(range(256)) * 2  # with all control characters
    os.write(master, data)
    got = b""
    while len(got) < len(data) and (more := stream.read(1.0)):
        got += more
    stream.close()
    os.close(master)
    os.close(slave)
    assert got == data


def test_a_missing_device_is_named_with_advice():
    with pytest.raises(TransportError, match=r"/dev/nothing cannot be opened.*ls /dev/tty"):
        SerialStream("/dev/nothing", 921600).open()
    with pytest.raises(TransportError, match="12345 is no speed"):
        SerialStream("/dev/nothing", 12345).open()
