"""A scenario's commands by plant tick."""

from __future__ import annotations

from config.scenario import Command
from lcmtypes.channels import ESTOP, MOTION_COMMAND, PARAMETER_REQUEST, RESET
from procs.runtime.commands import CommandPlayer

DT = 0.002


def player(*commands):
    return CommandPlayer([Command(**c) for c in commands], DT)


def test_a_command_acts_from_the_tick_nearest_its_time():
    play, held = player({"t": 0.0, "mode": "stand"}, {"t": 0.01, "vx": 0.5}), []
    for seq in range(8):
        held += [message.vx for _, message in play.messages(seq, 0, 1)] or held[-1:]
    assert held == [0, 0, 0, 0, 0, 0.5, 0.5, 0.5]


def test_a_command_changes_only_the_fields_it_names():
    play = player({"t": 0.0, "mode": "walk", "gait": "trot", "vx": 0.4}, {"t": 0.002, "yaw_rate": -0.2})
    play.messages(0, 0, 1)
    message = play.messages(1, 2000, 1)[0][1]  # sent at once, since it changed
    assert (message.mode, message.gait, message.vx, message.yaw_rate) == ("walk", "trot", 0.4, -0.2)


def test_a_command_is_repeated_so_that_it_never_ages_with_the_plants_header():
    play, said = player({"t": 0.0, "mode": "stand"}), []
    for seq in range(200):
        for channel, message in play.messages(seq, 2000 * seq, 9):
            assert channel is MOTION_COMMAND
            assert (message.run, message.seq, message.utime, message.source) == (9, seq, 2000 * seq, "scenario")
            said.append(seq)
    assert said[0] == 0
    assert max(b - a for a, b in zip(said, [*said[1:], 200], strict=True)) * DT < 0.1


def test_nothing_is_said_before_the_first_command():
    play = player({"t": 0.004, "mode": "stand"})
    assert [len(play.messages(seq, 0, 1)) for seq in range(3)] == [0, 0, 1]


def test_estop_and_reset_are_said_once_in_their_tick():
    play = player({"t": 0.0, "mode": "stand"}, {"t": 0.004, "estop": True}, {"t": 0.008, "reset": True})
    said = {seq: [c for c, _ in play.messages(seq, 0, 1)] for seq in range(60)}
    assert said[2] == [MOTION_COMMAND, ESTOP]
    assert said[4] == [MOTION_COMMAND, RESET]
    assert sum(ESTOP in channels for channels in said.values()) == 1
    assert sum(RESET in channels for channels in said.values()) == 1


def test_commands_of_ticks_that_were_jumped_over_are_not_lost():
    play = player({"t": 0.0, "mode": "stand"}, {"t": 0.1, "mode": "walk"}, {"t": 0.2, "vx": 1.0})
    message = play.messages(500, 0, 1)[0][1]
    assert (message.mode, message.vx) == ("walk", 1.0)


def test_a_new_run_begins_with_the_first_command_again():
    play = player({"t": 0.0, "mode": "stand"}, {"t": 0.002, "vx": 1.0})
    play.messages(5, 0, 1)
    play.reset()
    assert play.messages(0, 0, 2)[0][1].vx == 0.0


def test_parameters_are_set_one_a_tick_since_a_process_reads_the_newest_only():
    play = player({"t": 0.0, "parameters": {"control.stand.kp.0": 90.0, "control.nominal_height": 0.28}})
    sent = [play.messages(seq, 2000 * seq, 1) for seq in range(3)]
    assert [[channel for channel, _ in messages] for messages in sent] == [[PARAMETER_REQUEST], [PARAMETER_REQUEST], []]
    first, second = sent[0][0][1], sent[1][0][1]
    assert (first.process, first.name, first.set, first.value) == ("controller", "control.stand.kp.0", 1, 90.0)
    assert (second.name, second.value, second.seq) == ("control.nominal_height", 0.28, 1)
