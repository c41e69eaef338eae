"""BridgePlant: the robot's real (or emulated) motors and IMU behind the Plant protocol. The simulator's twin.

Tick k: read() sends what was written after sample k - 1 and takes the state that comes back, so the command of sample
k acts from tick k + 1, as in the simulator.
"""

from __future__ import annotations

import logging
from collections import deque

import numpy as np
from numpy.typing import NDArray

from config.bus import Bus
from lcmtypes.channels import BUS_STATUS, Channel
from lcmtypes.generated import BusStatus, Imu, JointCommand, JointState
from lcmtypes.message import Message
from procs.bridge import clock
from procs.bridge.errors import TransportError
from procs.bridge.faults import LOST, Sensing
from procs.bridge.guardian import NoGuardian, Watcher
from procs.bridge.imu_serial import ImuReader
from procs.bridge.joint_map import DriveCommand, JointMap
from procs.bridge.limits import Limits
from procs.bridge.protection import Protection
from procs.bridge.raw import ZERO_TIME, Drives, RawState
from procs.bridge.safe_start import SafeStart
from procs.bridge.sync import NoSync, Sync
from procs.model.motor import drive_torque, drives
from procs.model.robot import Robot

LOG = logging.getLogger(__name__)
Array = NDArray[np.float64]
REPORT = 0.1  # s between two bus_status
GOODBYES = 3  # ticks of exit frames
FAREWELL = 0.5  # s for which drives that do not answer get them, should their bus come back
NO_SEQ = 1 << 40  # seq of a tick whose number nobody knows
UNWATCHED = (
    "no drive watchdog (bus.start.drive_watchdog): if this computer dies, the motors hold on to their last command"
)
WARM_UP = 0.5  # s in which the drives' first samples must come


class BridgePlant:
    """Plant on drives and an IMU. In real time `period` s are slept between warm-up exchanges."""

    def __init__(
        self, robot: Robot, drives_: Drives, imu: ImuReader, *, sync: Sync | None = None,
        guardian: Watcher | None = None, scaled_gains: bool = True,
    ) -> None:  # fmt: skip
        bus = bus_of(robot)
        self.robot, self.drives, self.imu = robot, drives_, imu
        self.sync, self.guardian = sync or NoSync(), guardian or NoGuardian()
        wires = [bus.wiring[name] for name in robot.joint_names]
        n = robot.num_joints
        self.map = JointMap.of(wires, scaled_gains)
        self.starter = SafeStart(robot, bus.start)
        self.sensing = Sensing(
            robot, self.map, drives_.half_range, np.array([w.line for w in wires]), bus.faults_in_a_row, drives_.counts
        )
        self.limits = Limits(robot)
        self.protection = Protection(bus, n, robot.dt)
        self.unwatched = "" if bus.start.drive_watchdog else UNWATCHED
        self.reason = ""  # the first thing that went wrong and still matters
        self.state: JointState = JointState(n)
        self._motor = drives(robot, robot.dt)  # for the torque of drives that do not report it
        self._report_every = max(1, round(REPORT / robot.dt))
        self._after = round(robot.description.safety.after_time / robot.dt)
        self._warm_up = round(WARM_UP / robot.dt)
        self._none = np.zeros(n, bool)
        self._open = self._touched = False
        self._begin(0)

    def _begin(self, run: int) -> None:
        n = self.robot.num_joints
        self.run, self.tick = run, -1
        self._command: JointCommand | None = None
        # Commands of the last exchanges, oldest first: the one that was in force when the newest state was measured.
        age = self.drives.reply_age
        self._told = deque([DriveCommand.zero(n) for _ in range(age + 1)], maxlen=age + 1)
        # Torques that the drives were told, at the joints: the oldest is a tick older than what the newest state shows.
        self._wanted = deque([np.zeros(n) for _ in range(age + 2)], maxlen=age + 2)
        self._ill = self._none
        self._lost_for = 0
        self._reported = ""

    def start(self, run: int) -> None:
        """Begin a run: opens what is not open yet; the drives stay disabled until a command enables them."""
        if not self._open:
            self._touched = True
            self.sync.open()
            self.drives.open()
            self.imu.open()
            self._open = True
            if self.unwatched:
                LOG.warning("%s", self.unwatched)
        elif self.tick >= 0:
            self._switch_off()
        self.guardian.run(run)
        self.drives.begin()
        self.imu.begin()
        self.sensing.begin()
        self.starter.begin()
        self.reason = ""
        self._begin(run)

    def zero(self, joints: NDArray[np.bool_]) -> None:
        """The present positions of these motors become their zero; takes ZERO_TIME. Only before the first sample.

        ValueError where the bus has no such command; TransportError where they do not answer afterwards.
        """
        if not self._open or self.tick >= 0:
            raise ValueError("motors are zeroed between start() and the first sample, while nothing is enabled")
        many = round(ZERO_TIME / self.robot.dt)
        self.drives.zero(joints, many)
        off = DriveCommand.zero(self.robot.num_joints)
        answered = np.zeros(self.robot.num_joints, bool)
        for k in range(-2 * many - self._warm_up, -self._warm_up):
            if self.sync.begin(self.run, k):
                answered |= self.drives.exchange(off).valid
                self.sync.done()
            if k >= -many - self._warm_up and (answered | ~joints).all():
                return
            if not self.sync.emulated:
                clock.sleep(self.robot.dt)
        names = [self.robot.joint_names[j] for j in np.flatnonzero(joints & ~answered)]
        raise TransportError(f"{', '.join(names)}: no answer {2 * ZERO_TIME:g} s after set-zero: check the supply")

    def read(self) -> tuple[Imu, JointState]:
        """The next tick's sample; before the first one the drives are asked until they have said something sound."""
        if self.tick < 0:
            self._first_words()
        self.tick += 1
        imu, joints = self._exchange(self.tick, self.starter.command(self._command, self.sensing.q))
        self._after_effects(joints)
        self.state = joints
        return imu, joints

    def _first_words(self) -> None:
        for k in range(-self._warm_up, 0):
            # Some drives answer only in motor mode: from half-time on they are entered, and stay so, with zero gains.
            self.starter.limp = k > -self._warm_up // 2
            imu, joints = self._exchange(k, self.starter.command(None, self.sensing.q))
            if not joints.fault.any() and imu.valid:
                return
            if not self.sync.emulated:
                clock.sleep(self.robot.dt)

    def _exchange(self, seq: int, command: DriveCommand) -> tuple[Imu, JointState]:
        there = self.sync.begin(self.run, seq)
        raw = self.drives.exchange(self._to_motors(command)) if there else RawState.empty(self.robot.num_joints)
        self.sync.done()
        imu = self.imu.read()
        self._ill = self.protection.step(raw, self.sensing.tau / self.map.turn)
        joints = self.sensing.step(raw, self._wanted[0], self._ill | self.starter.isolated)
        self.starter.observe(self.sensing.bad == 0, self.sensing.q, self.sensing.qd, self.sensing.why)
        self._torque(joints)
        self._told.append(command)
        c, s = command, self.sensing
        wanted = c.kp * (c.position - s.q) + c.kd * (c.velocity - s.qd) + c.torque
        self._wanted.append(np.where(c.enable, wanted, 0.0))
        return imu, joints

    def _to_motors(self, command: DriveCommand) -> DriveCommand:
        out = self.map.to_motors(self.limits.apply(command))
        out.position, reachable = self.sensing.to_motor_range(out.position)
        if not reachable.all():  # a clamped target would be far from what was meant
            out.kp = np.where(reachable, out.kp, 0.0)
        return out

    def _torque(self, joints: JointState) -> None:
        if self.drives.torque_measured:
            joints.tau_source = "measured"
            return
        joints.tau_source = "computed"
        c = self._told[0]
        joints.tau[:] = drive_torque(
            joints.q, joints.qd, c.position, c.velocity, c.torque, c.kp, c.kd, c.enable.astype(np.int8), self._motor
        )[1]
        self.sensing.tau = joints.tau.copy()

    def _after_effects(self, joints: JointState) -> None:
        """Name what is wrong; switch off when it stays wrong."""
        isolated = self.starter.isolated
        joints.fault[isolated] = LOST
        if not joints.fault.any():
            self._lost_for = 0
            if not isolated.any():
                self.reason = "" if self.starter.state == "off" else self.reason
            return
        joints.status = self._words(joints)
        if not (joints.fault == LOST).any():
            return
        if not self.reason:
            LOG.error("%s", joints.status)
        self.reason = self.reason or joints.status
        self._lost_for += 1
        if self._lost_for > self._after:
            self.starter.disable()

    def _words(self, joints: JointState) -> str:
        """Faulty joints by name with their reasons, those with one reason together."""
        groups: dict[str, list[str]] = {}
        for j in np.flatnonzero(joints.fault).tolist():
            why = (
                self.starter.reasons.get(j) or (self.protection.text[j] if self._ill[j] else "") or self.sensing.why[j]
            )
            groups.setdefault(why, []).append(self.robot.joint_names[j])
        return "; ".join(f"{', '.join(names)}: {why}" for why, names in groups.items())

    def extras(self) -> list[tuple[Channel, Message]]:
        """bus_status at 10 Hz and whenever its state changes."""
        state = self._status()
        if self.tick % self._report_every and state == self._reported:
            return []
        self._reported = state
        return [(BUS_STATUS, self.status())]

    def _status(self) -> str:
        return "fault" if self.reason and self.starter.state != "disabled" else self.starter.state

    def status(self) -> BusStatus:
        """Counters and motors; 0 deg C and 0 V are what a drive does not report."""
        counts, out = self.drives.counts, BusStatus(self.robot.num_joints)
        out.state = self._status()
        rejected = ", ".join(f"{many} x {reason}" for reason, many in sorted(counts.rejected.items()))
        others = (
            ("late", counts.late),
            ("foreign", counts.foreign),
            ("not sent, buffer full", counts.refused),
            ("no reply", counts.missing),
            ("commands limited", self.limits.limited),
            ("imu packets rejected", self.imu.parser.bad_crc + self.imu.invalid),
        )
        parts = [self.reason, f"rejected: {rejected}" if rejected else "", *(f"{n} {what}" for what, n in others if n)]
        if self.starter.state == "off":
            parts.append(self.unwatched)  # said while it can still be thought over
        out.reason = "; ".join(filter(None, parts))
        out.frames, out.checksum_errors, out.stale = counts.frames, counts.checksum_errors, counts.stale
        out.retries, out.intruders = self.starter.repeated, counts.intruders
        for j, text in enumerate(self.protection.text):
            out.fault[j] = self.starter.reasons.get(j) or text or (self.sensing.why[j] if self.sensing.bad[j] else "")
        out.temperature[:], out.voltage[:] = self.protection.temperature, self.protection.voltage
        return out

    def work_ahead(self) -> None:
        """Nothing: motors do not wait."""

    def write(self, command: JointCommand) -> None:
        """The command that the next read() sends."""
        self._command = command

    def stop(self) -> None:
        """Zero gains and exit frames on every bus, then close; also after an error, also twice."""
        was_open, self._open = self._open, False
        if not self._touched:
            return
        self._touched = False
        try:
            if was_open:
                self._switch_off()
            self.guardian.good_bye()  # not reached after an error: then the guardian does it its own way
        finally:
            for part in (self.drives, self.imu, self.sync):
                part.close()

    def _switch_off(self) -> None:
        switch_off(self.robot, self.drives, self.sync, self.run, self.tick + 1, self.sensing.q)


def switch_off(robot: Robot, drives_: Drives, sync: Sync, run: int, seq: int = NO_SEQ, q: Array | None = None) -> None:
    """Zero gains and exit frames on all buses, until all drives have answered, GOODBYES ticks to FAREWELL s long.

    `q`: measured joint positions, if known.
    """
    wires = [bus_of(robot).wiring[name] for name in robot.joint_names]
    off = DriveCommand.zero(robot.num_joints)
    off.position[:] = 0.0 if q is None else q
    motors = JointMap.of(wires).to_motors(off)
    drives_.assume_on()
    silent, why = np.ones(robot.num_joints, bool), {}
    for k in range(round(FAREWELL / robot.dt)):
        there = sync.begin(run, seq + k)
        if there:
            raw = drives_.exchange(motors)
            silent, why = silent & ~raw.valid, raw.why
            sync.done()
        if k + 1 >= GOODBYES and not (silent.any() and there):
            break
        if not sync.emulated:
            clock.sleep(robot.dt)
    for j in np.flatnonzero(silent).tolist():
        LOG.error("%s: no answer to its exit frames (%s): switch its supply off", robot.joint_names[j], why.get(j, ""))


def bus_of(robot: Robot) -> Bus:
    """The robot's bus section; ValueError where it has none or the wiring does not fit."""
    bus = robot.description.bus
    if bus is None:
        raise ValueError(f"{robot.name} has no bus section: it can only be simulated")
    return bus
