"""SPIne board of the Mini Cheetah: 132 bytes in, 132 bytes out, six MIT-mode drives behind it on two CAN buses.

As the firmware does it (SPIne's main.cpp): a transfer clocks out the reply that was filled at the end of the
one before; then the board decodes, packs the CAN commands, fills the next reply from the CAN answers that had come by
then, and only then sends to the drives. So a position read by the host is two transfers old.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import xor
from struct import Struct

import numpy as np

from procs.wire.frame import CanFrame
from sim.emulators.can_motor import ENTER, EXIT, MitMotor, pack_command, unpack_reply

FRAME_BYTES = 132
BAD_CHECKSUM = ESTOP = 0xDEAD
NO_COMMAND = (0.0, 0.0, 0.0, 0.0, 0.0)
SOFT_STOPS = (1.5, 5.0)  # rad, abad and hip, motor coordinates; the knee's is defined and never called
SOFT_STOP_GAINS = (100.0, 0.4)  # N m/rad, N m s/rad
_COMMAND_WORDS, _COMMAND = Struct("<33I"), Struct("<30f3I")
_DATA_WORDS, _DATA = Struct("<14I"), Struct("<12f2I")
Five = tuple[float, float, float, float, float]


@dataclass(frozen=True)
class SpineQuirks:
    """What the board does beside its duty; the defaults are the firmware's."""

    age: int = 2  # transfers from a drive's answer to the host; 1: filled after the CAN traffic; 0: as if at once
    garbage: int = 2  # first transfers after power-on that return nonsense
    runs_bad_checksum: bool = True  # a command with a bad checksum is executed
    clears_mark: bool = True  # ... and the mark of it is gone before the host could see it
    nan: str = "low"  # low: NaN commands become the low end of the range; reject: the frame is dropped
    soft_stops: bool = True
    edges: bool = True  # an enable edge costs a cycle: old commands again, reply stays stale


def swap(data: bytes) -> bytes:
    """Exchange the two bytes of every 16-bit word."""
    out = bytearray(len(data))
    out[0::2], out[1::2] = data[1::2], data[0::2]
    return bytes(out)


def unpack_frame(tx: bytes) -> tuple[list[Five], tuple[int, int], bool, bool]:
    """(commands of the six drives leg-major, flags, checksum good, all finite)."""
    raw = swap(tx)
    words = _COMMAND_WORDS.unpack(raw)
    fields = _COMMAND.unpack(raw)
    commands = []
    for leg in range(2):
        for joint in range(3):
            q, qd, kp, kd, tau = (fields[6 * field + 2 * joint + leg] for field in range(5))
            commands.append((q, qd, kp, kd, tau))
    finite = all(abs(x) < float("inf") for x in fields[:30])
    return commands, (words[30], words[31]), reduce(xor, words[:32]) == words[32], finite


def pack_frame(q: Sequence[float], qd: Sequence[float], flags: tuple[int, int]) -> bytes:
    """Reply of drives leg-major."""
    order = (0, 3, 1, 4, 2, 5)  # abad of both legs, hip of both ...
    body = _DATA.pack(*(q[i] for i in order), *(qd[i] for i in order), *flags)
    check = reduce(xor, _DATA_WORDS.unpack(body))
    return swap(body + check.to_bytes(4, "little")).ljust(FRAME_BYTES, b"\0")


def unpack_reply_frame(rx: bytes) -> tuple[list[float], list[float], tuple[int, int]]:
    """(q, qd, flags) of a reply, drives leg-major; the checksum is not looked at."""
    fields = _DATA.unpack(swap(rx)[: _DATA.size])
    order = (0, 2, 4, 1, 3, 5)
    return [fields[i] for i in order], [fields[6 + i] for i in order], (fields[12], fields[13])


class SpineBoard:
    """One board. `motors`: six, leg-major."""

    def __init__(
        self, motors: Sequence[MitMotor], rng: np.random.Generator, quirks: SpineQuirks = SpineQuirks()
    ) -> None:
        if len(motors) != 6:
            raise ValueError(f"{len(motors)} motors on a SPIne board, want 6")
        self.motors, self.rng, self.quirks = tuple(motors), rng, quirks
        self.estop_pin = False  # pulled low: e-stop
        self.enabled = False
        self.bad_checksums = self.transfers = 0
        self.stopped = [0, 0]  # soft-stop flags of the legs
        self._commands = [NO_COMMAND] * 6  # packed last
        self._state = [(0.0, 0.0, 0.0)] * 6
        self._out = bytes(FRAME_BYTES)
        self._send(self._commands)  # one set of frames before SPI is switched on

    def transfer(self, tx: bytes) -> bytes:
        """One SPI transfer of the host."""
        self.transfers += 1
        rx = self._out
        good = len(tx) == FRAME_BYTES
        if good:
            self._run(tx)
        if self.quirks.age == 0:
            self._fill()
            rx = self._out
        if self.transfers <= self.quirks.garbage:
            return self.rng.bytes(60).ljust(FRAME_BYTES, b"\0")
        return rx

    def _run(self, tx: bytes) -> None:
        commands, flags, checksum_good, finite = unpack_frame(tx)
        if not checksum_good:
            self.bad_checksums += 1
        accepted = (checksum_good or self.quirks.runs_bad_checksum) and (finite or self.quirks.nan == "low")
        edge = accepted and self._edge(bool(flags[0] & 1))
        if not edge:
            if accepted:
                self._commands = self._guarded(commands)
            if self.quirks.age == 2:
                self._fill()
        if not (checksum_good or self.quirks.clears_mark):
            self._fill(mark=True)
        self._send(self._commands)
        if self.quirks.age == 1 and not edge:
            self._fill()

    def _edge(self, enable: bool) -> bool:
        """Enter or leave motor mode on all six at a change of flags[0] bit 0; true: this cycle ends here."""
        if enable == self.enabled:
            return False
        self.enabled = enable
        self._special(ENTER if enable else EXIT)
        return self.quirks.edges

    def _guarded(self, commands: list[Five]) -> list[Five]:
        """E-stop pin and soft stops."""
        self.stopped = [0, 0]
        if self.estop_pin:
            return [NO_COMMAND] * 6
        if not self.quirks.soft_stops:
            return commands
        out = list(commands)
        stiff, damping = SOFT_STOP_GAINS
        for i, command in enumerate(commands):
            leg, joint = divmod(i, 3)
            if joint < len(SOFT_STOPS):
                limit, q = SOFT_STOPS[joint], self._state[i][0]
                if abs(q) > limit:
                    edge = limit if q > 0 else -limit
                    out[i] = (command[0], 0.0, 0.0, damping, command[4] + stiff * (edge - q))
                    self.stopped[leg] |= 1 << joint
        return out

    def _fill(self, mark: bool = False) -> None:
        """The reply of the next transfer from what the drives answered last."""
        flags = (ESTOP, ESTOP) if self.estop_pin else (self.stopped[0], BAD_CHECKSUM if mark else self.stopped[1])
        self._out = pack_frame([s[0] for s in self._state], [s[1] for s in self._state], flags)

    def _special(self, data: bytes) -> None:
        for i, motor in enumerate(self.motors):
            self._exchange(i, motor, data)

    def _send(self, commands: Sequence[Five]) -> None:
        for i, motor in enumerate(self.motors):
            self._exchange(i, motor, pack_command(motor.limits, *commands[i]))

    def _exchange(self, i: int, motor: MitMotor, data: bytes) -> None:
        """One frame to a drive; an answer that does not come leaves the old state standing."""
        for reply in motor.receive(CanFrame(motor.motor, data)):
            self._state[i] = unpack_reply(motor.limits, reply.data)
