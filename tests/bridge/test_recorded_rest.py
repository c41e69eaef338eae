"""How long a living board repeats itself at rest, in the recorded rig run: what procs.bridge.faults goes by."""

from itertools import groupby

import numpy as np
import pytest

from tools.convert_scotty import Log

FREEZE = 100  # cycles: so long the recording itself was frozen


@pytest.mark.parametrize("board", [0, 1])
def test_positions_and_velocities_of_a_resting_board_come_at_most_twice(recordings, board):
    log = Log(recordings / "scotty" / "mit_suspended_20250228_1110_merged_log.csv.gz")
    legs = slice(2 * board, 2 * board + 2)
    q, qd = (log.joints(name)[:, legs].reshape(-1, 6) for name in ("data_q_{}", "data_qd_{}"))
    same = (np.diff(q, axis=0) == 0).all(axis=1) & (np.diff(qd, axis=0) == 0).all(axis=1)
    runs = [sum(1 for _ in run) for repeated, run in groupby(same) if repeated]
    freezes, short = [n for n in runs if n > FREEZE], [n for n in runs if n <= FREEZE]
    rest = np.abs(qd[1:]).max(axis=1) < 0.1  # rad/s
    assert rest.sum() > 800 and same[rest].mean() < 0.002  # not that it was never at rest
    assert freezes == [634] and max(short) == 1
