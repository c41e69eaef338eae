"""Xiaomi CyberGear drive: 29-bit frames in, frames out, time in ticks (Xiaomi's CyberGear manual).

Feedback positions saturate at the end of the range; parameters hold the position over all turns. It keeps the last
command for ever unless a time-out was configured, speaks only when asked, and forgets zero and parameters at power-off.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

import numpy as np

from procs.wire.cybergear_tables import PARAMETER_OF_INDEX, Kind, RunMode, State
from procs.wire.frame import CanFrame
from sim.emulators.can_motor import from_raw, to_raw, whole
from sim.emulators.condition import Condition
from sim.emulators.robot import Shaft

POSITION, VELOCITY, TORQUE, KP, KD = 12.5, 30.0, 12.0, 500.0, 5.0
ANYONE = 0xFE  # target of the answer to GET_ID
SPEED_KD = 1.0  # N m s/rad of the speed and position loops here
WARM = 75.0  # deg C: the warning
COOLED = 5.0  # K below the limit the fault may be cleared; ours
VOLTAGE_RANGE = (16.0, 28.0)  # V, the manual's
# Bits of the fault word (type 21, parameter faultSta) that a feedback id shows, and as which of its six bits. It has
# none for over-voltage; that overload shows as over-current is our guess.
MOTOR_HOT, UNDER_VOLTAGE, OVER_VOLTAGE, OVERLOAD = 1 << 0, 1 << 2, 1 << 3, 1 << 8
PHASE_A, UNCALIBRATED = 1 << 16, 1 << 7
SHOWN = ((UNDER_VOLTAGE, 1), (PHASE_A | OVERLOAD, 2), (MOTOR_HOT, 4), (UNCALIBRATED, 32))
DEFAULTS = {
    "limit_torque": 12.0, "cur_kp": 0.125, "cur_ki": 0.0158, "cur_filt_gain": 0.1, "limit_spd": 30.0,
    "limit_cur": 23.0, "loc_kp": 30.0, "spd_kp": 1.0, "spd_ki": 0.002, "config.limit_torque": 12.0,
    "config.motorOverTemp": 800, "config.overTempTime": 20000,
}  # fmt: skip


@dataclass(frozen=True)
class CyberGearQuirks:
    """What differs between units and firmwares."""

    four_pi: bool = False  # +-4 pi as the manual's text has it, instead of +-12.5
    saturates: bool = True  # off: the position wraps
    ignores_timeout: bool = True  # writing CAN_TIMEOUT over CAN has no effect
    host: int = 0xFD  # who is answered before anybody has asked
    output_ratio: float = 1.0  # of mechPos: a drive whose output encoder is set to another gear
    uid: bytes = b"CYBRGEAR"


class CyberGear:
    """One drive."""

    def __init__(
        self, shaft: Shaft, motor: int, dt: float, rng: np.random.Generator,
        quirks: CyberGearQuirks = CyberGearQuirks(), condition: Condition | None = None,
    ) -> None:  # fmt: skip
        self.condition = condition or Condition()
        self.shaft, self.motor, self.dt, self.rng, self.quirks = shaft, motor, dt, rng, quirks
        self.range = 4 * math.pi if quirks.four_pi else POSITION
        self.zero = 0.0
        self.running = False
        self.fault_word = self.warnings = 0  # as in a frame of type 21
        self._injected = 0  # six bits of a feedback id
        self.parameters: dict[str, float] = dict(DEFAULTS)
        self.heard_host = quirks.host
        self._tick = self._heard = 0
        self._timeout_ms = 0.0

    @property
    def faults(self) -> int:
        """Six bits of a feedback id."""
        return self._injected | sum(bit for word, bit in SHOWN if self.fault_word & word)

    def tick(self, tick: int) -> list[CanFrame]:
        """A new tick; a CyberGear never speaks by itself, except to report a fault or a warning."""
        self._tick = tick
        if self._timeout_ms and self.running and (tick - self._heard) * self.dt * 1e3 > self._timeout_ms:
            self._stop()
        before = self.fault_word, self.warnings
        self.fault_word |= self._causes()
        self.warnings = int(self.condition.temperature > WARM)
        if self.fault_word & ~before[0]:
            self._stop()
        if self.fault_word & ~before[0] or self.warnings & ~before[1]:
            data = struct.pack("<II", self.fault_word, self.warnings)
            return [CanFrame(Kind.FAULTS << 24 | self.motor << 8 | self.heard_host, data, True)]
        return []

    def _causes(self) -> int:
        """Bits of what is wrong now; a hot motor must cool down before it counts as well again."""
        limit = 0.1 * self.parameters["config.motorOverTemp"] - (COOLED if self.fault_word & MOTOR_HOT else 0.0)
        volts, (low, high) = self.condition.voltage, VOLTAGE_RANGE
        checks = ((self.condition.temperature > limit, MOTOR_HOT), (volts < low, UNDER_VOLTAGE),
                  (volts > high, OVER_VOLTAGE), (self.condition.load >= 1.0, OVERLOAD))  # fmt: skip
        return sum(bit for wrong, bit in checks if wrong)

    def fail(self, code: int) -> None:
        """Fault bits of a feedback id (1 under-voltage, 2 over-current, 4 over-temperature ...)."""
        self._injected = code & 0x3F
        if code:
            self._stop()

    def receive(self, frame: CanFrame) -> list[CanFrame]:
        """A frame on the bus; the answer if it is for this drive."""
        kind, data2, target = frame.can_id >> 24 & 0x1F, frame.can_id >> 8 & 0xFFFF, frame.can_id & 0xFF
        if not frame.extended or frame.remote or target != self.motor or len(frame.data) != 8:
            return []
        self._heard = self._tick
        if kind == Kind.CONTROL:
            self._control(data2, frame.data)
            return [self._feedback()]
        self.heard_host = data2 & 0xFF
        return self._administer(kind, data2, frame.data)

    def _administer(self, kind: int, data2: int, data: bytes) -> list[CanFrame]:
        if kind == Kind.GET_ID:
            return [CanFrame(Kind.GET_ID << 24 | self.motor << 8 | ANYONE, self.quirks.uid, True)]
        if kind in (Kind.READ, Kind.READ_LOW):
            return self._read(kind, data)
        if kind in (Kind.WRITE, Kind.WRITE_LOW):
            self._write(data)
        elif kind == Kind.ENABLE:
            self.running = not (self.faults or self.fault_word)
        elif kind == Kind.STOP:
            if data[0] == 1:
                self.fault_word, self._injected = self._causes(), 0
            self._stop()
        elif kind == Kind.SET_ZERO and data[0] == 1:
            self.zero = self.shaft.position
        elif kind == Kind.SET_CAN_ID:
            self.motor = data2 >> 8
        elif kind not in (Kind.SET_ZERO, Kind.CALIBRATE_ENCODER, Kind.BRAKE, Kind.SET_BAUD):
            return []
        return [self._feedback()]

    def _control(self, torque: int, data: bytes) -> None:
        if not self.running or self.parameters.get("run_mode", 0) != RunMode.MIT:
            return
        p, v, kp, kd = struct.unpack(">4H", data)
        r = self.range
        self.shaft.drive(
            from_raw(p, -r, r, 16) + self.zero, from_raw(v, -VELOCITY, VELOCITY, 16), from_raw(kp, 0, KP, 16),
            from_raw(kd, 0, KD, 16), from_raw(torque, -TORQUE, TORQUE, 16),
        )  # fmt: skip

    def _read(self, kind: int, data: bytes) -> list[CanFrame]:
        index = int.from_bytes(data[:2], "little")
        parameter = PARAMETER_OF_INDEX.get(index)
        if parameter is None:
            return []
        live = {
            "mechPos": (self.shaft.output - self.zero) * self.quirks.output_ratio, "mechVel": self.shaft.velocity,
            "torque_fdb": self.shaft.torque, "VBUS": self.condition.voltage, "iqf": self.shaft.torque / 0.87,
            "rotation": whole((self.shaft.position - self.zero) / (2 * math.pi) - 0.5), "faultSta": self.fault_word,
            "config.CAN_ID": self.motor, "config.CAN_MASTER": self.heard_host & 0x7F,
        }  # fmt: skip
        value = live.get(parameter.name, self.parameters.get(parameter.name, 0.0))
        raw = struct.pack("<" + parameter.kind, value if parameter.kind == "f" else int(value))
        body = data[:2] + b"\0\0" + raw.ljust(4, b"\0")
        return [CanFrame(kind << 24 | self.motor << 8 | self.heard_host, body, True)]

    def _write(self, data: bytes) -> None:
        parameter = PARAMETER_OF_INDEX.get(int.from_bytes(data[:2], "little"))
        if parameter is None or not parameter.writable:
            return
        (value,) = struct.unpack_from("<" + parameter.kind, data, 4)
        if not parameter.low <= value <= parameter.high:  # NaN too
            return
        if parameter.name == "run_mode" and self.running:
            return
        if parameter.name == "config.CAN_TIMEOUT":
            self._timeout_ms = 0.0 if self.quirks.ignores_timeout else value
        self.parameters[parameter.name] = value
        self._loops()

    def _loops(self) -> None:
        """The position, speed and current modes, as far as they move the shaft."""
        if not self.running:
            return
        p = self.parameters
        mode = p.get("run_mode", 0)
        if mode == RunMode.POSITION:
            self.shaft.drive(p.get("loc_ref", 0.0) + self.zero, 0.0, p["loc_kp"] * p["spd_kp"], SPEED_KD, 0.0)
        elif mode == RunMode.SPEED:
            self.shaft.drive(0.0, p.get("spd_ref", 0.0), 0.0, SPEED_KD * p["spd_kp"], 0.0)
        elif mode == RunMode.CURRENT:
            self.shaft.drive(0.0, 0.0, 0.0, 0.0, 0.87 * p.get("iq_ref", 0.0))

    def _stop(self) -> None:
        self.running = False
        self.shaft.limp()

    def _feedback(self) -> CanFrame:
        p, r = self.shaft.position - self.zero, self.range
        if not self.quirks.saturates:
            p = (p + r) % (2 * r) - r
        data = struct.pack(
            ">4H", to_raw(p, -r, r, 16), to_raw(self.shaft.velocity, -VELOCITY, VELOCITY, 16),
            to_raw(self.shaft.torque, -TORQUE, TORQUE, 16), round(10 * self.condition.temperature),
        )  # fmt: skip
        state = State.RUN if self.running else State.RESET
        data2 = state << 14 | self.faults << 8 | self.motor
        return CanFrame(Kind.FEEDBACK << 24 | data2 << 8 | self.heard_host, data, True)
