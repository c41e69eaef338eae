"""MIT-mode drive: mini-cheetah, T-Motor/CubeMars AK, GIM in MIT mode. Frames in, frames out, time in ticks.

No watchdog: the last command stays. Coding is this module's own (not procs.wire's), as the firmware does it:
saturate, scale, truncate; big-endian p16 v12 kp12 kd12 t12; reply id, p16 v12 t12 [temperature, error].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from procs.wire.frame import CanFrame
from procs.wire.mit_motors import MotorRange
from sim.emulators.condition import Condition
from sim.emulators.robot import Shaft

MASTER_ID = 0  # arbitration id of replies, a setting of the drive
ENTER, EXIT, ZERO = (b"\xff" * 7 + bytes([last]) for last in (0xFC, 0xFD, 0xFE))
OVER_TEMPERATURE, OVER_VOLTAGE, UNDER_VOLTAGE = 1, 3, 4  # of the error byte
KELVIN_OFFSET = 40  # the temperature byte is deg C + 40; the vendor's answers differ, so the host can be set
COOLED = 10.0  # K below its limit a drive may be entered again


@dataclass(frozen=True)
class MitQuirks:
    """What a drive does beside its duty; every one can be switched off."""

    reply_length: int = 6  # 8: newer AK firmware, with temperature and error
    wrong_first_reply: bool = True  # after power-on and enter: stale or nonsense
    keeps_command: bool = True  # enter re-runs the command latched before exit
    wraps: bool = True  # position wraps at +-P; off: saturates
    zero_time: tuple[float, float] = (1.0, 1.5)  # s without an answer after set-zero
    torque_factor: float = 1.0  # reported over true torque; AK drives report something like a current
    watchdog: float = 0.0  # s of silence after which the drive goes limp; 0: none
    temperature_max: float = 100.0  # deg C; limits are ours, no manual gives them
    voltage_range: tuple[float, float] = (16.0, 56.0)  # V; AK drives are sold for 24 to 48 V


def to_raw(value: float, low: float, high: float, bits: int) -> int:
    """As the C code: clamp, scale, cast. NaN becomes the low end (fmaxf(NaN, low) is low)."""
    if not value >= low:
        value = low
    top = (1 << bits) - 1
    return int((min(value, high) - low) * top / (high - low) + 1e-9)


def from_raw(raw: int, low: float, high: float, bits: int) -> float:
    """Number of a raw integer."""
    return raw * (high - low) / ((1 << bits) - 1) + low


def whole(value: float) -> int:
    """The nearest integer; 0 for what is no number, as an ARM's conversion has it."""
    return round(value) if math.isfinite(value) else 0


def pack_command(m: MotorRange, p: float, v: float, kp: float, kd: float, t: float) -> bytes:
    """Eight bytes of a command, as a board sends them; no guard against special frames, like the firmware."""
    word = to_raw(p, -m.position, m.position, 16) << 48 | to_raw(v, -m.velocity, m.velocity, 12) << 36
    word |= to_raw(kp, 0, m.kp, 12) << 24 | to_raw(kd, 0, m.kd, 12) << 12 | to_raw(t, -m.torque, m.torque, 12)
    return word.to_bytes(8, "big")


def unpack_command(m: MotorRange, data: bytes) -> tuple[float, float, float, float, float]:
    """p, v, kp, kd, t of a command."""
    word = int.from_bytes(data, "big")
    return (
        from_raw(word >> 48, -m.position, m.position, 16),
        from_raw(word >> 36 & 0xFFF, -m.velocity, m.velocity, 12),
        from_raw(word >> 24 & 0xFFF, 0, m.kp, 12),
        from_raw(word >> 12 & 0xFFF, 0, m.kd, 12),
        from_raw(word & 0xFFF, -m.torque, m.torque, 12),
    )


def pack_reply(m: MotorRange, motor: int, p: float, v: float, t: float, tail: bytes = b"") -> bytes:
    """Reply of a drive."""
    word = motor << 40 | to_raw(p, -m.position, m.position, 16) << 24
    word |= to_raw(v, -m.velocity, m.velocity, 12) << 12 | to_raw(t, -m.torque, m.torque, 12)
    return word.to_bytes(6, "big") + tail


def unpack_reply(m: MotorRange, data: bytes) -> tuple[float, float, float]:
    """p, v, t of a reply, as a board reads it."""
    word = int.from_bytes(data[1:6], "big")
    return (
        from_raw(word >> 24, -m.position, m.position, 16),
        from_raw(word >> 12 & 0xFFF, -m.velocity, m.velocity, 12),
        from_raw(word & 0xFFF, -m.torque, m.torque, 12),
    )


class MitMotor:
    """One drive with its id and its shaft."""

    def __init__(
        self, shaft: Shaft, motor: int, limits: MotorRange, dt: float, rng: np.random.Generator,
        quirks: MitQuirks = MitQuirks(), master: int = MASTER_ID, condition: Condition | None = None,
    ) -> None:  # fmt: skip
        self.condition = condition or Condition()
        self.master = master
        self.shaft, self.motor, self.limits, self.dt, self.rng, self.quirks = shaft, motor, limits, dt, rng, quirks
        self.zero = 0.0  # shaft position that the drive calls zero
        self.enabled = False
        self.error = 0
        self._injected = 0
        self._command = (0.0, 0.0, 0.0, 0.0, 0.0)
        self._nonsense = quirks.wrong_first_reply
        self._answer_at = -1  # tick at which a set-zero is answered; -1: none is running
        self._tick = self._heard = 0

    def tick(self, tick: int) -> list[CanFrame]:
        """A new tick; what the drive sends by itself."""
        self._tick = tick
        cause = self._cause()
        if cause and not self.error:
            self.error = cause
            self._limp()
        if self.quirks.watchdog and self.enabled and (tick - self._heard) * self.dt > self.quirks.watchdog:
            self._limp()
        if self._answer_at < 0 or tick < self._answer_at:
            return []
        self._answer_at = -1
        return [self._reply()]

    def receive(self, frame: CanFrame) -> list[CanFrame]:
        """A frame on the bus; the answer if it is for this drive."""
        if frame.can_id != self.motor or frame.extended or frame.remote or len(frame.data) != 8:
            return []
        if self._answer_at >= 0:
            return []
        self._heard = self._tick
        data = frame.data
        if data == ENTER:
            self._enter()
        elif data == EXIT:
            self._limp()
        elif data == ZERO:
            self.zero = self.shaft.position
            low, high = self.quirks.zero_time
            self._answer_at = self._tick + max(1, round(self.rng.uniform(low, high) / self.dt))
            self._apply()
            return []
        else:
            self._command = unpack_command(self.limits, data)
            self._apply()
        return [self._reply()]

    def fail(self, code: int) -> None:
        """A fault of the drive: limp with an error code until it is entered anew with code 0."""
        self._injected = self.error = code
        if code:
            self._limp()

    def _cause(self) -> int:
        """Code of what is wrong now; a hot drive must cool down before it counts as well again."""
        low, high = self.quirks.voltage_range
        hot = self.quirks.temperature_max - (COOLED if self.error == OVER_TEMPERATURE else 0.0)
        volts = self.condition.voltage
        checks = ((self.condition.temperature > hot, OVER_TEMPERATURE), (volts > high, OVER_VOLTAGE),
                  (volts < low, UNDER_VOLTAGE))  # fmt: skip
        return self._injected or next((code for wrong, code in checks if wrong), 0)

    def _enter(self) -> None:
        self.error = self._cause() if self.error else 0
        if self.error:
            return
        self.enabled = True
        self._nonsense |= self.quirks.wrong_first_reply
        if not self.quirks.keeps_command:
            self._command = (0.0, 0.0, 0.0, 0.0, 0.0)
        self._apply()

    def _limp(self) -> None:
        self.enabled = False
        self.shaft.limp()

    def _apply(self) -> None:
        if self.enabled:
            p, v, kp, kd, t = self._command
            turns = self.shaft.position - self.zero - self._position()
            self.shaft.drive(p + self.zero + turns, v, kp, kd, t)

    def _position(self) -> float:
        """As the drive counts it: from its zero, within +-P if it wraps."""
        position, half = self.shaft.position - self.zero, self.limits.position
        if self.quirks.wraps and abs(position) > half:
            return (position + half) % (2 * half) - half
        return position

    def _reply(self) -> CanFrame:
        p, v, t = self._position(), self.shaft.velocity, self.shaft.torque * self.quirks.torque_factor
        if self._nonsense:
            self._nonsense = False
            p, v, t = self.rng.uniform(-1, 1, 3) * (self.limits.position, self.limits.velocity, self.limits.torque)
        length = self.quirks.reply_length
        temperature = min(255, max(0, round(self.condition.temperature) + KELVIN_OFFSET))
        tail = bytes([temperature, self.error])[: length - 6]
        return CanFrame(self.master, pack_reply(self.limits, self.motor, p, v, t, tail))
