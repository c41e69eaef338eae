"""Scotty's STM32 board: the SPIne frame, six AK10-9 V2.0 drives, its own firmware (main.c of its motor firmware).

Strictly one after the other: bus 0 abad, hip, knee, then bus 1; after each frame 300 us of waiting, then the answer.
The measured torques travel in the reply's flags. The belt of the knees (3:2) is the firmware's business.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from procs.wire.frame import CanFrame
from sim.emulators.can_motor import ENTER, EXIT, MitMotor, pack_command, unpack_reply
from sim.emulators.spine_board import FRAME_BYTES, NO_COMMAND, Five, pack_frame, unpack_frame

KNEE_RATIO = 1.5
WAIT_US = 300  # after each CAN frame
SOFT_STOPS = (1.5708, 2.0944, 4.01426)  # rad, of the wanted position
VELOCITY_MAX = 26.0  # rad/s, of the wanted velocity
TORQUE_BITS = (2, 12, 22)
TORQUE_RANGE, TORQUE_TOP = 70.0, 1023


@dataclass(frozen=True)
class ScottyQuirks:
    """Defaults: the firmware with its torques set for walking and the knee by physics, not the test build."""

    torque_max: float = 65.0  # N m; the build that was published: 1.5
    guard_max: float = 1000.0  # N m wanted by the PD at which kp and kd become 0; published: 1.5
    legacy_knee: bool = False  # velocity and torque the wrong way round, gains not scaled
    legacy_flags: bool = True  # accepts a frame if either leg's flags are at most 3
    garbage: int = 2  # first replies are zeros with torques of -70 N m
    refresh: int = 1  # transfers per CAN cycle: a slow board repeats its reply (7 of 10 in the recorded log)
    can_die: bool = True  # a transfer before the CAN cycle is over stops SPI for good


class ScottyBoard:
    """One board. `motors`: six, leg-major; their shafts count the knee's belt."""

    def __init__(
        self, motors: Sequence[MitMotor], rng: np.random.Generator, dt: float, quirks: ScottyQuirks = ScottyQuirks()
    ) -> None:
        if len(motors) != 6:
            raise ValueError(f"{len(motors)} motors on a board, want 6")
        self.motors, self.rng, self.period_us, self.quirks = tuple(motors), rng, round(1e6 * dt), quirks
        self.transfers = self.rejected = 0
        self.dead = False
        self.busy_us = 0  # of the last CAN cycle: how long SPI was not armed
        self._commands = [NO_COMMAND] * 6
        self._state = [(0.0, 0.0, 0.0)] * 6
        self._stops = [0, 0]
        self._out = bytes(FRAME_BYTES)
        for i, motor in enumerate(self.motors):  # entered at boot, whatever the host's enable bit says
            self._exchange(i, motor, ENTER)

    def transfer(self, tx: bytes) -> bytes:
        """One SPI transfer of the host; at most one per tick, as this board counts time."""
        if self.quirks.can_die and self.busy_us > self.period_us:
            self.dead = True
        if self.dead:
            return bytes(FRAME_BYTES)
        self.transfers += 1
        rx = self._out
        if len(tx) == FRAME_BYTES:
            self._accept(tx)
        if self.transfers % self.quirks.refresh == 0:
            self._cycle()
        if self.transfers <= self.quirks.garbage:
            return bytes(FRAME_BYTES)
        return rx

    def exit(self) -> None:
        """The firmware's exit command."""
        for i, motor in enumerate(self.motors):
            self._exchange(i, motor, EXIT)
        self.dead = True

    def _accept(self, tx: bytes) -> None:
        commands, flags, checksum_good, finite = unpack_frame(tx)
        low = [flag & 0xFFFF for flag in flags]
        flags_good = min(low) <= 3 if self.quirks.legacy_flags else max(low) <= 3
        if finite and checksum_good and flags_good:
            self._commands = commands
        else:
            self.rejected += 1

    def _cycle(self) -> None:
        """The CAN side: six frames, six answers, then the next reply."""
        self._stops = [0, 0]
        self.busy_us = 0
        for i, motor in enumerate(self.motors):
            self._exchange(i, motor, pack_command(motor.limits, *self._motor_command(i)))
            self.busy_us += WAIT_US
        q, qd, flags = [], [], [0, 0]
        for i, state in enumerate(self._state):
            position, velocity, torque = self._from_motor(i, state)
            q.append(position)
            qd.append(velocity)
            clamped = min(max(torque, -TORQUE_RANGE), TORQUE_RANGE)
            raw = int((clamped + TORQUE_RANGE) * TORQUE_TOP / (2 * TORQUE_RANGE) + 0.5)
            flags[i // 3] |= raw << TORQUE_BITS[i % 3]
        self._out = pack_frame(q, qd, (flags[0] | self._stops[0], flags[1] | self._stops[1]))

    def _motor_command(self, i: int) -> Five:
        """Soft stop, torque guard, limits, belt."""
        p, v, kp, kd, t = self._commands[i]
        leg, joint = divmod(i, 3)
        stop = SOFT_STOPS[joint]
        if abs(p) > stop:
            p = stop if p > 0 else -stop
            self._stops[leg] |= joint + 1
        v = min(max(v, -VELOCITY_MAX), VELOCITY_MAX)
        position, velocity, _ = self._from_motor(i, self._state[i])
        if abs(t + kp * (p - position) + kd * (v - velocity)) >= self.quirks.guard_max:
            kp = kd = 0.0
        t = min(max(t, -self.quirks.torque_max), self.quirks.torque_max)
        if joint < 2:
            return p, v, kp, kd, t
        r = KNEE_RATIO
        if self.quirks.legacy_knee:
            return p * r, v / r, kp, kd, t * r
        return p * r, v * r, kp / r**2, kd / r**2, t / r

    def _from_motor(self, i: int, state: tuple[float, float, float]) -> tuple[float, float, float]:
        """Position, velocity, torque on the host's side of the belt."""
        p, v, t = state
        if i % 3 < 2:
            return p, v, t
        r = KNEE_RATIO
        return (p / r, v * r, t / r) if self.quirks.legacy_knee else (p / r, v / r, t * r)

    def _exchange(self, i: int, motor: MitMotor, data: bytes) -> None:
        """One frame to a drive; only answers of eight bytes count, a missing one leaves the old state standing."""
        for reply in motor.receive(CanFrame(motor.motor, data)):
            if len(reply.data) == 8:
                self._state[i] = unpack_reply(motor.limits, reply.data)
