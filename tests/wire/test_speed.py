"""What packing and unpacking of a whole robot costs; the best of many, so that a busy machine does not matter."""

import time
from collections.abc import Callable

import numpy as np

from procs.wire.mit_can import MitCodec
from procs.wire.mit_motors import MOTORS
from procs.wire.spine import BoardData, pack_commands, pack_data, unpack_boards

RNG = np.random.default_rng(0)


def best_us(work: Callable[[], object]) -> float:
    """Shortest mean over 20 calls of 100 rounds, in us."""
    best = np.inf
    for _ in range(100):
        start = time.perf_counter()
        for _ in range(20):
            work()
        best = min(best, (time.perf_counter() - start) / 20)
    return best * 1e6


def test_spine_twelve_joints_both_boards_in_60_us() -> None:
    q, qd, kp, kd, tau = RNG.normal(size=(5, 12))
    flags = np.ones(4, np.uint32)
    replies = [pack_data(BoardData(q[:6], qd[:6], flags[:2], None)) for _ in range(2)]

    def cycle() -> None:
        pack_commands(q, qd, kp, kd, tau, flags)
        unpack_boards(replies)

    assert best_us(cycle) < 60


def test_mit_can_twelve_frames_in_150_us() -> None:
    codec = MitCodec([MOTORS["AK10-9_V2.0"]] * 12)
    q, qd, kp, kd, tau = np.abs(RNG.normal(size=(5, 12)))
    ids = np.arange(1, 13)
    replies = codec.pack_replies(range(1, 13), q, qd, tau, b"\x40\x00")

    def cycle() -> None:
        codec.pack(q, qd, kp, kd, tau)
        codec.unpack(replies, ids)

    assert best_us(cycle) < 150
