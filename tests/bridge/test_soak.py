"""Packets corrupted in every way: what is believed is near the truth, and no good frame is refused."""

from __future__ import annotations

import numpy as np
import pytest

from procs.wire import spine
from tests.bridge import soak as through_emulators

TICKS = 4000  # two packets each
CORRUPT = 0.01


def ways(rng, before):
    """Each makes another frame of a good one; `before`: earlier frames of this board."""

    def flip(frame):
        at = int(rng.integers(60))
        return frame[:at] + bytes([frame[at] ^ 1 << int(rng.integers(8))]) + frame[at + 1 :]

    def flip_a_pair(frame):  # the same bit of two words: the XOR does not see it
        words = np.frombuffer(frame, ">u2").copy()
        a, b = rng.choice(12, 2, replace=False)
        bit = 1 << int(rng.integers(16))
        for word in (a, b):
            words[2 * word + 1] ^= bit
        return words.tobytes()

    def swap_words(frame):  # nor a change of order
        words = np.frombuffer(frame, ">u4").copy()
        a, b = rng.choice(12, 2, replace=False)
        words[[a, b]] = words[[b, a]]
        return words.tobytes()

    return [
        flip,
        flip_a_pair,
        swap_words,
        lambda f: bytes(len(f)),
        lambda f: b"\xff" * len(f),
        lambda f: bytes(a | b for a, b in zip(f, before[-1], strict=True)),
        lambda f: f[2:] + f[:2],
        lambda f: f[1:] + f[:1],
        lambda f: f[:60],
        lambda f: before[-1],  # old
        lambda f: rng.bytes(len(f)),
        lambda f: None,
    ]


def soak(bench, robot, ticks, seed=5):
    """Largest distance of a believed position from the truth over its bound, refused good frames, corrupted ones."""
    rng = np.random.default_rng(seed)
    dt, n = robot.dt, robot.num_joints
    top = 0.4 * robot.qd_max
    quanta = robot.per_joint([a.position_quantum for a in robot.actuators])
    middle, size = 0.5 * (robot.q_lower + robot.q_upper), 0.3 * (robot.q_upper - robot.q_lower)
    rate, phase = top / size, rng.uniform(0, 2 * np.pi, n)
    before, spoiled, corrupted = [[], []], [False, False], 0
    shafts = bench.shafts
    shafts.shake = 0.0
    bench.loop.act = lambda: bench.plant.write(bench.command)  # the latch is not what is tested here

    def spoil(k):
        made = ways(rng, before[k])

        def change(frame):
            spoiled[k] = bool(before[k]) and rng.uniform() < CORRUPT
            out = made[int(rng.integers(len(made)))](frame) if spoiled[k] else frame
            before[k][:] = [*before[k][-1:], frame]
            return out

        return change

    bench.side.spoil = [spoil(0), spoil(1)]
    worst, refused = 0.0, 0
    last = np.zeros(n)
    for tick in range(ticks):
        angle = rate * tick * dt + phase
        shafts.q, shafts.qd = middle + size * np.sin(angle), size * rate * np.cos(angle)
        _, joints = bench.plant.read()
        good = joints.fault == 0
        off = np.abs(joints.q - shafts.q)[good] - (robot.qd_max * dt + quanta)[good]
        worst = max(worst, float(off.max(initial=-1.0)))
        sound = np.repeat([not s for s in spoiled], n // 2)
        refused += int((~good & sound & (last == 0)).sum()) if tick > 3 else 0
        last = joints.fault
        corrupted += sum(spoiled)
    return worst, refused, corrupted


def test_believed_values_are_near_the_truth_and_good_frames_are_believed(bench, robot):
    one = bench(robot)
    worst, refused, corrupted = soak(one, robot, TICKS)
    assert corrupted > 50
    assert worst <= 0.0, f"{worst} rad beyond top speed x dt + a quantum"
    assert refused == 0


@pytest.mark.parametrize("way", [1, 2])
def test_what_the_checksum_misses_is_caught_by_what_a_joint_can_do(robot, way):
    rng = np.random.default_rng(1)
    frame = spine.pack_data(
        spine.BoardData(rng.normal(0, 1, (2, 3)), rng.normal(0, 1, (2, 3)), np.zeros(2, int), np.ones((2, 3), bool))
    )
    passed = ways(rng, [frame])[way](frame)
    assert passed != frame and spine.unpack_data(passed)


def test_20_000_packets_through_the_emulated_boards():
    r = through_emulators.soak(20_000)
    assert r.spoiled > 120 and set(r.ways) == set(through_emulators.WAYS)
    assert r.wrong == 0, f"{r.worst} rad beyond top speed x dt + a quantum"
    assert not r.refused and not r.latched
    assert r.outside <= 0.0 and r.walked > 1.0


def test_after_a_gap_only_what_a_second_sample_confirms_is_believed(running, can_robot):
    bench = running(can_robot())
    bench.side.spoil = lambda joint, frame: [] if joint == 7 else [frame]
    bench.run(6)
    wrong = []

    def lie(joint, frame):
        if joint != 7:
            return [frame]
        wrong.append(joint)
        raw = int.from_bytes(frame.data[1:3], "big") + 600  # 0.23 rad, in reach at top speed after 7 ticks
        return [frame._replace(data=frame.data[:1] + raw.to_bytes(2, "big") + frame.data[3:])]

    bench.side.spoil = lie
    joints = bench.run(1)
    assert wrong and joints.fault[7] and joints.q[7] == pytest.approx(bench.shafts.q[7], abs=2e-3)
    bench.side.spoil = lambda joint, frame: [frame]
    assert not bench.run(1).fault.any()  # and the truth at once


def test_a_good_sample_is_believed_after_a_wrong_velocity_that_was_small_enough(running, robot):
    bench = running(robot)

    def lie(frame):
        data = spine.unpack_data(frame)
        data.qd[0, 1] = 36.0
        return spine.pack_data(data)

    bench.side.spoil[0] = lie
    assert not bench.run(1).fault.any()
    bench.side.spoil[0] = lambda frame: frame
    bench.shafts.q[1] -= 0.012  # rad in a tick: 6 rad/s the other way
    bench.shafts.qd[1] = -6.0
    assert not bench.run(1).fault.any()


def test_an_old_sample_near_the_one_before_the_last_is_not_believed(running, robot):
    bench = running(robot)
    bench.loop.latch = lambda reason: None
    path = [(2.68, -5.6), (2.663, -9.3), (2.64, -12.7)]  # a knee that speeds up, rad and rad/s
    bench.shafts.shake = 0.0
    for q, qd in [(2.69, -1.2), *path]:
        bench.shafts.q[2], bench.shafts.qd[2] = q, qd
        bench.run(1)
    bench.shafts.q[2], bench.shafts.qd[2] = path[0]
    joints = bench.run(1)
    assert joints.fault[2] == 1 and bench.plant.sensing.q[2] == pytest.approx(path[-1][0], abs=1e-3)


def test_a_good_reply_of_a_robot_at_rest_is_not_taken_for_an_old_one_after_a_wrong_one(running, robot):
    bench = running(robot)
    bench.shafts.shake = 0.0
    bench.run(5)

    def lie(frame):
        data = spine.unpack_data(frame)
        data.q[0, 1] += 0.5
        return spine.pack_data(data)

    bench.side.spoil[0] = lie
    assert bench.run(1).fault[1] == 1
    bench.side.spoil[0] = lambda frame: frame
    assert not bench.run(1).fault.any()


def test_an_old_reply_is_known_although_a_slow_joint_was_near_it_two_replies_ago(running, robot):
    bench = running(robot)
    bench.loop.latch = lambda reason: None
    bench.shafts.shake = 0.0
    path = [(2.690, -3.0), (2.684, -3.0), (2.678, -5.0), (2.660, -14.0)]  # a knee, rad and rad/s
    for q, qd in path:
        bench.shafts.q[2], bench.shafts.qd[2] = q, qd
        assert not bench.run(1).fault.any()
    bench.shafts.q[2], bench.shafts.qd[2] = path[1]
    assert bench.run(1).fault[2] == 1 and bench.plant.sensing.why[2] == "an old reply once more"
