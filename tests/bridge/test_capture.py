"""CAN capture: candump lines that others can read, and the same joint_state when they are fed back."""

import numpy as np
import pytest

from procs.bridge.build import can_drives
from procs.bridge.capture import Capture, CapturedLink
from procs.bridge.replay_capture import exchanges, replay
from procs.wire.candump import parse_line


@pytest.fixture
def captured(bench, can_robot, tmp_path):
    """A run with faults of every kind: its joint_states and its capture's path."""

    def make(protocol="mit", drive="mini_cheetah"):
        one = bench(can_robot(protocol, drive))
        path = tmp_path / "bus.log"
        capture = Capture(path)
        links = [CapturedLink(link, capture, f"can{k}") for k, link in enumerate(one.side.links)]
        drives = can_drives(one.robot, links, reply_timeout=0.0, before=capture.begin)
        one.plant.drives, one.plant.sensing.counts = drives, drives.counts
        got = []
        exchange = one.plant._exchange

        def keep(seq, command):
            imu, joints = exchange(seq, command)
            got.append(joints.copy())
            return imu, joints

        one.plant._exchange = keep
        rng = np.random.default_rng(3)
        held = []

        def spoil(joint, frame):
            chance = rng.uniform()
            if chance < 0.01:
                return []
            if chance < 0.02:
                return [frame._replace(data=frame.data[:4])]
            if chance < 0.03:
                held.append((joint // 3, frame))
                return []
            return [frame]

        def before(k):
            if held and k % 5 == 0:
                line, frame = held.pop()
                one.side.links[line].waiting.append(frame)

        one.side.spoil = spoil
        one.run(3)
        one.hold()
        one.shafts.qd[:] = 0.5

        def move(k):
            before(k)
            one.shafts.q += 0.5 * one.robot.dt

        one.run(150, move)
        one.plant.stop()
        capture.close()
        return one.robot, got, path

    return make


@pytest.mark.parametrize(
    "protocol, drive", [("mit", "mini_cheetah"), ("gim6010", "GIM6010-8"), ("cybergear", "CyberGear")]
)
def test_a_capture_replays_to_the_same_joint_states(captured, protocol, drive):
    robot, got, path = captured(protocol, drive)
    with path.open() as file:
        again = list(replay(robot, iter(file)))
    assert len(again) == len(got) + 3  # the exit frames
    assert sum(joints.fault.any() for joints in got) > 20
    for ours, theirs in zip(got, again, strict=False):
        for name in ("q", "qd", "tau", "fault", "age"):
            np.testing.assert_array_equal(getattr(theirs, name), getattr(ours, name), err_msg=name)
        assert theirs.tau_source == ours.tau_source


def test_python_can_reads_a_capture(captured):
    import can

    _, _, path = captured()
    lines = path.read_text().splitlines()
    with can.CanutilsLogReader(str(path)) as reader:
        messages = list(reader)
    assert len(messages) == len(lines)
    for message, line in zip(messages[:200], lines[:200], strict=True):
        entry = parse_line(line)
        assert (message.arbitration_id, bytes(message.data)) == (entry.frame.can_id, entry.frame.data)
        assert message.channel == entry.channel and message.is_rx is not entry.sent


def test_late_frames_belong_to_the_exchange_in_which_they_were_found(captured):
    _, _, path = captured()
    with path.open() as file:
        found = list(exchanges(iter(file)))
    assert sum(len(exchange.late) for exchange in found) > 3
    assert {len(exchange.sent) for exchange in found} == {12, 24}  # 24: a zero command and an exit frame each
