"""Scotty's recorded rig run (CSV, gzip'd or not) to a native LCM log.

In: Vichu95/Scotty Extras/MIT_LogViewer/merged_log.csv, four rows (FR, FL, RR, RL) per SPI cycle, no time column. Out:
robot_config, then per cycle imu, joint_state, joint_command, and bus_status at 10 Hz. Replies are put back into frames
and decoded as from a bus; the wiring is the robot's YAML with the rig's own zero offset. No IMU was recorded: imu is
level and says so. Times are cycles of the period that the positions and velocities of the run agree on.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console

from config.load import ConfigError, load_robot
from config.schema import RobotDescription
from lcmtypes.channels import BUS_STATUS, IMU, JOINT_COMMAND, JOINT_STATE, ROBOT_CONFIG
from lcmtypes.generated import BusStatus, Imu, JointCommand, JointState
from procs.bridge.joint_map import JointMap
from procs.model.robot import Robot
from procs.runtime.logs import LogError, LogWriter
from procs.runtime.samples import GOOD, LOST, PREDICTED
from procs.wire.spine import ENABLE, FRAME_BYTES, LEGS, BoardData, RobotData, pack_data, unpack_boards
from procs.wire.spine_scotty import knee_from_legacy_firmware, unpack_torques
from tools.record import robot_config
from tools.scenario import bar

PERIOD = 0.0114  # s, inferred (`inferred_period`): the reference's own figure; no clock was recorded
RUN = 202502281110  # 28 Feb 2025 11:10
START_US = 1_740_741_000_000_000  # the same in UTC, for the stamps of events
RIG_OFFSET = {"FR.abad": 0.42}  # rad, of this rig on that day (rt_spi.cpp)
KNEE_RATIO = 1.5  # belt, in the firmware's hands
FROZEN = 0.1  # s without any change in a board's reply: the torques' last bits never rest for two cycles otherwise
SYNTHETIC = "synthetic: level, none was recorded"
ROWS = 4  # legs per cycle
REPORT = 0.1  # s between two bus_status


class Log:
    """The table; columns as (cycles, legs[, joints])."""

    def __init__(self, path: Path) -> None:
        opened = gzip.open if path.suffix == ".gz" else open
        try:
            with opened(path, "rt", newline="") as file:
                head, *rows = csv.reader(file)
            self.table = np.array(rows, dtype=float)
        except (OSError, EOFError, ValueError) as error:
            raise LogError(f"{path}: no table of the rig: {error}") from error
        self.names = [name.replace("_ ", "_") for name in head]
        if len(rows) % ROWS or not rows:
            raise LogError(f"{path}: {len(rows)} rows, want {ROWS} per cycle")

    def joints(self, pattern: str) -> np.ndarray:
        """(cycles, legs, joints) of a column per joint; `{}` stands for the joint."""
        return np.stack([self.column(pattern.format(joint)) for joint in ("abad", "hip", "knee")], axis=-1)

    def column(self, name: str) -> np.ndarray:
        """(cycles, legs)."""
        if name not in self.names:
            raise LogError(f"no column {name!r} in the table of the rig")
        return self.table[:, self.names.index(name)].reshape(-1, ROWS)

    def words(self, name: str) -> np.ndarray:
        """A column as the unsigned words it was before it was written with a sign."""
        return (self.column(name).astype(np.int64) & 0xFFFFFFFF).astype(np.uint32)


class Cycles:
    """Replies and commands of all cycles at the joints, as the YAML counts them; arrays (cycles, joints)."""

    def __init__(self, log: Log, robot: Robot, period: float) -> None:
        bus, names = robot.description.bus, robot.joint_names
        if bus is None:
            raise LogError(f"{robot.name} has no bus section: nothing says how its motors are mounted")
        turn = JointMap.of([bus.wiring[name] for name in names])
        knee = np.array([name.endswith("knee") for name in names])
        data = _replies(log)
        self.count, self.period = len(data), period
        self.rejected = np.cumsum([sum(reason is not None for reason in d.reasons) for d in data])
        tau, _, sure = unpack_torques(np.array([d.flags for d in data]))
        tau, sure = tau.reshape(self.count, -1), sure.reshape(self.count, -1)
        q, qd = np.array([d.q for d in data]), np.array([d.qd for d in data])
        qd[:, knee], tau[:, knee] = knee_from_legacy_firmware(qd[:, knee], tau[:, knee], KNEE_RATIO)
        self.q, self.qd, self.tau = turn.to_joints(q, qd, tau)
        self._judge(
            np.array([d.valid for d in data]) & sure, (np.abs(q) > 0).reshape(self.count, -1, LEGS * 3).any(axis=2)
        )
        names_of = ("q_des_{}", "qd_des_{}", "kp_{}", "kd_{}", "tau_{}_ff")
        q_des, qd_des, self.kp, self.kd, tau_ff = (
            log.joints(f"cmd_{name}").reshape(self.count, -1) for name in names_of
        )
        self.q_des, self.qd_des, self.tau_ff = turn.to_joints(q_des, qd_des, tau_ff)
        flags = log.words("cmd_Flags_raw")
        self.mode = (flags >> 16)[:, 0].astype(int)
        self.enable = np.repeat((flags & ENABLE) != 0, 3, axis=1)

    def _judge(self, decoded: np.ndarray, moved: np.ndarray) -> None:
        """What each sample is worth: fault and age per joint; unchanged replies of a board counted in `stale`.

        `moved` (cycles, boards): positions that are not all zero, as those of the first replies after enable are.
        """
        awake = np.logical_or.accumulate(moved)
        good = decoded & np.repeat(awake, LEGS * 3, axis=1)
        numbers = np.stack([self.q, self.qd, self.tau], axis=-1).reshape(self.count, -1, LEGS * 3, 3)
        same = np.zeros(awake.shape, dtype=bool)
        same[1:] = (numbers[1:] == numbers[:-1]).all(axis=(2, 3))
        held = np.zeros(same.shape, dtype=int)  # cycles since the last new reply
        for k in range(1, self.count):
            held[k] = (held[k - 1] + 1) * same[k]
        self.stale = np.cumsum((same & awake).sum(axis=1))
        bad = np.zeros(good.shape, dtype=int)
        for k in range(self.count):
            bad[k] = ((bad[k - 1] if k else 0) + 1) * ~good[k]
        for values in (self.q, self.qd, self.tau):
            values[:] = _last_good(values, good)
        self.age = self.period * np.maximum(np.repeat(held, LEGS * 3, axis=1), bad)
        self.fault = np.where(good, GOOD, PREDICTED)
        self.fault[self.age > FROZEN] = LOST


def _replies(log: Log) -> list[RobotData]:
    """What a host would have decoded: frames built from the recorded numbers, all zeros where a board sent zeros."""
    q, qd, flags = log.joints("data_q_{}"), log.joints("data_qd_{}"), log.words("data_Flag_dataraw")
    recorded = log.words("data_RcvdChecksum")
    out = []
    for k in range(len(q)):
        frames = []
        for board in range(0, ROWS, LEGS):
            legs = slice(board, board + LEGS)
            silent = not (q[k, legs].any() or qd[k, legs].any() or flags[k, legs].any())
            data = BoardData(q[k, legs], qd[k, legs], flags[k, legs], np.ones((LEGS, 3), dtype=bool))
            frame = bytes(FRAME_BYTES) if silent else pack_data(data)
            if _stored_checksum(frame) != recorded[k, board]:
                raise LogError(f"cycle {k}, board {board // LEGS}: the numbers do not have the recorded checksum")
            frames.append(frame)
        out.append(unpack_boards(frames))
    return out


def _stored_checksum(frame: bytes) -> int:
    high, low = frame[58:60], frame[56:58]  # 16-bit words, the lower half first
    return int.from_bytes(high + low, "big")


def _last_good(values: np.ndarray, good: np.ndarray) -> np.ndarray:
    """Each column with its last good value where it is bad, 0 before the first."""
    index = np.maximum.accumulate(np.where(good, np.arange(len(values))[:, None], -1))
    return np.where(index >= 0, np.take_along_axis(np.where(good, values, 0.0), np.maximum(index, 0), axis=0), 0.0)


def rig(robot_name: str, overrides: Sequence[str] = ()) -> RobotDescription:
    """The robot's description with the zero offset that the rig had."""
    description = load_robot(robot_name, overrides)
    if description.bus is None:
        return description
    wiring = dict(description.bus.wiring)
    for joint, offset in RIG_OFFSET.items():
        wiring[joint] = wiring[joint].model_copy(update={"offset": offset})
    return description.model_copy(update={"bus": description.bus.model_copy(update={"wiring": wiring})})


def inferred_period(cycles: Cycles, span: int = 20) -> float:
    """s per cycle on which positions and velocities agree: median over the joints that moved more than 0.3 rad."""
    awake = (cycles.fault == GOOD).all(axis=1)
    q, qd = cycles.q[awake], cycles.qd[awake]
    turned = np.vstack([np.zeros(q.shape[1]), np.cumsum((qd[1:] + qd[:-1]) / 2, axis=0)])
    dq, sums = q[span:] - q[:-span], turned[span:] - turned[:-span]
    moved = np.ptp(q, axis=0) > 0.3
    return float(np.median(((dq * sums).sum(axis=0) / (sums * sums).sum(axis=0))[moved]))


def imu() -> Imu:
    """The level IMU that stands for the missing one."""
    message = Imu()
    message.valid, message.status = 1, SYNTHETIC
    message.quat[:], message.accel[:] = (1, 0, 0, 0), (0, 0, 9.81)
    return message


def joint_state(cycles: Cycles, k: int) -> JointState:
    """Sample of cycle k."""
    message = JointState(cycles.q.shape[1])
    message.tau_source = "measured"
    message.q[:], message.qd[:], message.tau[:] = cycles.q[k], cycles.qd[k], cycles.tau[k]
    message.fault[:], message.age[:] = cycles.fault[k], cycles.age[k]
    lost = int((cycles.fault[k] == LOST).sum())
    message.status = f"{lost} joints: replies do not change any more" if lost else ""
    return message


def joint_command(cycles: Cycles, k: int) -> JointCommand:
    """What the host asked for in cycle k; the shipped firmware made something else of the knees' gains and torque."""
    message = JointCommand(cycles.q.shape[1])
    message.reason = f"recorded, control mode {cycles.mode[k]}"
    message.enable[:] = cycles.enable[k]
    message.q_des[:], message.qd_des[:], message.tau_ff[:] = cycles.q_des[k], cycles.qd_des[k], cycles.tau_ff[k]
    message.kp[:], message.kd[:] = cycles.kp[k], cycles.kd[k]
    return message


def bus_status(cycles: Cycles, k: int) -> BusStatus:
    """Counters up to cycle k; no temperature or voltage was reported."""
    message = BusStatus(cycles.q.shape[1])
    fault = cycles.fault[k]
    message.state = "fault" if (fault == LOST).any() else "running"
    message.reason = "replies do not change any more" if message.state == "fault" else ""
    message.frames = 2 * (k + 1)
    message.checksum_errors, message.stale = int(cycles.rejected[k]), int(cycles.stale[k])
    message.fault = ["rejected" if f == PREDICTED else "reply frozen" if f == LOST else "" for f in fault.tolist()]
    return message


def convert(
    source: Path,
    target: Path,
    description: RobotDescription,
    period: float = PERIOD,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Cycles:
    """Write the log; `progress` gets cycles done and all cycles."""
    robot = Robot(description)
    cycles = Cycles(Log(source), robot, period)
    every = max(1, round(REPORT / period))
    with LogWriter(target) as log:
        log.write(ROBOT_CONFIG, robot_config(description), START_US)
        for k in range(cycles.count):
            messages = [
                (IMU, imu()),
                (JOINT_STATE, joint_state(cycles, k)),
                (JOINT_COMMAND, joint_command(cycles, k)),
            ]
            if k % every == 0:
                messages.insert(0, (BUS_STATUS, bus_status(cycles, k)))
            for channel, message in messages:
                message.run, message.seq, message.utime = RUN, k, round(1e6 * k * period)
                log.write(channel, message, START_US)
            if k % 100 == 0:
                progress(k, cycles.count)
    progress(cycles.count, cycles.count)
    return cycles


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m tools.convert_scotty", description=__doc__)
    parser.add_argument("--csv", type=Path, required=True, help="merged_log.csv or merged_log.csv.gz")
    parser.add_argument("--out", type=Path, required=True, metavar="OUT.lcmlog")
    parser.add_argument("--robot", default="scotty")
    parser.add_argument("--period-ms", type=float, default=1e3 * PERIOD, help="of one cycle (default %(default)g)")
    args = parser.parse_args()
    console = Console()
    try:
        with bar(console) as progress:
            task = progress.add_task("reading", total=None)

            def show(done: int, total: int) -> None:
                progress.update(task, description="writing", completed=done, total=total)

            cycles = convert(args.csv, args.out, rig(args.robot), 1e-3 * args.period_ms, show)
    except (LogError, ConfigError, OSError) as error:
        print(f"convert_scotty: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("convert_scotty: interrupted", file=sys.stderr)
        return 130
    frozen = (cycles.fault == LOST).any(axis=1)
    console.print(
        f"{args.out}: {cycles.count} cycles of {1e3 * cycles.period:g} ms, {cycles.count * cycles.period:.1f} s; "
        f"the run's own positions and velocities say {1e3 * inferred_period(cycles):.2f} ms\n"
        f"{cycles.rejected[-1]} replies rejected, {cycles.stale[-1]} unchanged, "
        f"frozen from cycle {frozen.argmax() if frozen.any() else '-'} on",
        highlight=False,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
