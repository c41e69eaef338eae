"""The picture's wanted speeds: a command holds until the next one, though it is not sent in every tick."""

import numpy as np

from lcmtypes.channels import MOTION_COMMAND
from lcmtypes.generated import MotionCommand
from tools.picture import held_commands
from tools.recording import Recording


def test_a_command_holds_until_the_next_and_nothing_is_wanted_before_the_first():
    recording = Recording()
    for seq, vx in ((10, 0.5), (20, 0.8)):
        command = MotionCommand()
        command.seq, command.vx = seq, vx
        recording.add(MOTION_COMMAND, command)

    wanted = held_commands(recording, np.array([9, 10, 19, 20, 35]))[:, 0]

    assert np.array_equal(wanted, [np.nan, 0.5, 0.5, 0.8, 0.8], equal_nan=True)
    assert np.isnan(held_commands(Recording(), np.arange(3))).all()
