"""A small log in which everything that the log tools tell is known: two runs, losses, modes, faults, foreign types."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from lcmtypes.channels import (
    BODY_STATE,
    ESTOP,
    IMU,
    JOINT_COMMAND,
    JOINT_STATE,
    LEG_STATE,
    MODE_STATE,
    MOTION_COMMAND,
    PROC_HEALTH,
    ROBOT_CONFIG,
)
from lcmtypes.known import known_types
from procs.runtime.logs import LogWriter

START = 1_700_000_000_000_000  # us, wall clock
PERIOD = 2000  # us
TICKS = {7: 300, 8: 100}  # of each run
LOST = (100, 101, 102, 140)  # leg_state of run 7
LATE = 150  # leg_state of run 7: comes two ticks later
RESENT = 200  # body_state of run 7
FAULT = range(120, 126)  # ticks of run 7 with a joint fault
MODES = ((0, "ready", 0), (20, "stand", 1), (60, "stand", 0), (90, "walk", 0))  # from tick on, in either run
REFUSED = range(30, 40)
ESTOP_AT = 250
MYSTERY = bytes.fromhex("deadbeef00112233") + bytes(9)
SPECIAL = (np.inf, -np.inf, np.nan, -0.0, 5e-324, 1.7976931348623157e308, 0.1, 1 / 3)


def write(path: Path) -> Path:
    """Write it."""
    rng = np.random.default_rng(11)
    with LogWriter(path) as log:
        config = ROBOT_CONFIG.type()
        config.robot, config.hash, config.revision, config.cpu = "a_robot", "abcdef0123456789", "r1", "a CPU"
        log.write(ROBOT_CONFIG, config, START)
        wall = START + 500
        for run, ticks in TICKS.items():
            for seq in range(ticks):
                for channel, message in _tick(run, seq, rng):
                    log.write(channel, message, wall)
                if seq % 4 == 0:
                    log.write_raw("from elsewhere", mit_message(seq), wall)
                wall += PERIOD
            log.write_raw("mystery", MYSTERY, wall)
    return path


def mit_message(k: int) -> bytes:
    """A leg_control_data_lcmt: q, qd, p, v of 12, tau_est, force_est of 12 floats."""
    known = next(k for k in known_types().values() if k.name == "leg_control_data_lcmt")
    count = sum(int(m.dims[0]) for m in known.struct.members)
    return struct.pack(f">Q{count}f", known.struct.fingerprint, *(0.1 * k + np.arange(count)))


def _tick(run, seq, rng):
    def filled(channel, *sizes):
        message = channel.type(*sizes)
        message.utime, message.run, message.seq = PERIOD * seq, run, seq
        if hasattr(message, "block"):
            message.block[:] = rng.normal(size=len(message.block))
        return channel, message

    if seq % 10 == 0:
        channel, motion = filled(MOTION_COMMAND)
        motion.run, motion.source, motion.mode, motion.vx = 0, 'a, "quoted" one', "walk", 0.01 * seq
        yield channel, motion
    yield filled(IMU)
    channel, joints = filled(JOINT_STATE, 12)
    if run == 7 and seq in FAULT:
        joints.status, joints.fault[3] = "1 joints rejected", 1
    yield channel, joints
    channel, body = filled(BODY_STATE, 4)
    body.valid, body.used = 1, [seq, seq - 1] if seq else []
    body.position[:], body.v_world[:], body.quat[:2] = SPECIAL[:3], SPECIAL[3:6], SPECIAL[6:]
    yield channel, body
    if (run, seq) == (7, RESENT):
        yield channel, body
    if (run, seq) == (7, LATE + 2):
        yield filled(LEG_STATE, 4, 12)[0], _named(filled(LEG_STATE, 4, 12)[1], LATE)
    if run == 8 or seq not in (*LOST, LATE):
        yield filled(LEG_STATE, 4, 12)
    channel, mode = filled(MODE_STATE)
    _, mode.mode, mode.busy = max(m for m in MODES if m[0] <= seq)
    mode.target, mode.gait, mode.phase = "walk", "trot", rng.random()
    mode.reason = "no way from ready to fly" if seq in REFUSED else ""
    yield channel, mode
    yield filled(JOINT_COMMAND, 12)
    if (run, seq) == (7, ESTOP_AT):
        channel, estop = filled(ESTOP)
        estop.source, estop.reason = "teleop", "a key"
        yield channel, estop
    if seq % 100 == 50:
        for name in ("estimator", "packer"):
            channel, health = filled(PROC_HEALTH)
            health.run, health.name, health.state, health.ticks = 0, name, "running", seq
            yield channel, health


def _named(message, seq):
    message.seq, message.utime = seq, PERIOD * seq
    return message
