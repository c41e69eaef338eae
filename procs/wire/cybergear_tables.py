"""Xiaomi CyberGear: ranges, message types, parameters and faults as data.

Sources: S8 vendor manual (belovictor/cybergear-docs), S9 PyPI CyberGearDriver 0.2.0, S12 grrodre/cybergear (measured).
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from enum import IntEnum

from procs.wire.decode import Fault


class Kind(IntEnum):
    """Message type, bits 28..24 of the id."""

    GET_ID = 0
    CONTROL = 1
    FEEDBACK = 2
    ENABLE = 3
    STOP = 4
    CALIBRATE_ENCODER = 5  # not in the manual (S12)
    SET_ZERO = 6  # lost at power-off
    SET_CAN_ID = 7  # at once
    READ_LOW = 8  # parameters below 0x3030, not in the manual (S9)
    WRITE_LOW = 9
    READ = 17
    WRITE = 18  # RAM only
    BRAKE = 20  # not in the manual (S12)
    FAULTS = 21
    SET_BAUD = 22  # firmware 1.2.1.5 and later


class RunMode(IntEnum):
    """Parameter run_mode; change it only while the motor is stopped."""

    MIT = 0
    POSITION = 1
    SPEED = 2
    CURRENT = 3


class State(IntEnum):
    """Mode bits of a feedback id."""

    RESET = 0
    CALIBRATION = 1
    RUN = 2
    UNKNOWN = 3


@dataclass(frozen=True, slots=True)
class CyberGearRange:
    """Half ranges at the output: position rad, velocity rad/s, torque N m; gains from 0."""

    position: float
    velocity: float = 30.0
    torque: float = 12.0
    kp: float = 500.0
    kd: float = 5.0


RANGE = CyberGearRange(12.5)  # the manual's sample code and every driver
RANGE_4PI = CyberGearRange(4 * math.pi)  # the manual's text: 0.53 % more


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: index, struct format of its value (little-endian), limits, unit."""

    index: int
    name: str
    kind: str
    low: float
    high: float
    unit: str = ""
    writable: bool = True

    @property
    def size(self) -> int:
        """Bytes of the value."""
        return struct.calcsize("<" + self.kind)


_ANY = (-math.inf, math.inf)

PARAMETERS: dict[str, Parameter] = {
    p.name: p
    for p in (
        Parameter(0x7005, "run_mode", "B", 0, 3),
        Parameter(0x7006, "iq_ref", "f", -23, 23, "A"),
        Parameter(0x700A, "spd_ref", "f", -30, 30, "rad/s"),
        Parameter(0x700B, "limit_torque", "f", 0, 12, "N m"),
        Parameter(0x7010, "cur_kp", "f", 0, 200),  # 0.125 by default
        Parameter(0x7011, "cur_ki", "f", 0, 200),  # 0.0158
        Parameter(0x7014, "cur_filt_gain", "f", 0, 1),  # 0.1
        Parameter(0x7016, "loc_ref", "f", *_ANY, "rad"),
        Parameter(0x7017, "limit_spd", "f", 0, 30, "rad/s"),
        Parameter(0x7018, "limit_cur", "f", 0, 23, "A"),
        Parameter(0x7019, "mechPos", "f", *_ANY, "rad", False),  # multi-turn, does not saturate
        Parameter(0x701A, "iqf", "f", *_ANY, "A", False),
        Parameter(0x701B, "mechVel", "f", *_ANY, "rad/s", False),
        Parameter(0x701C, "VBUS", "f", *_ANY, "V", False),
        Parameter(0x701D, "rotation", "h", -32768, 32767, "turns"),
        Parameter(0x701E, "loc_kp", "f", 0, 200),  # 30
        Parameter(0x701F, "spd_kp", "f", 0, 200),  # 1
        Parameter(0x7020, "spd_ki", "f", 0, 200),  # 0.002
        Parameter(0x2007, "config.limit_torque", "f", 0, 12, "N m"),
        Parameter(0x200A, "config.CAN_ID", "B", 0, 127, "", False),
        Parameter(0x200B, "config.CAN_MASTER", "B", 0, 127, "", False),
        Parameter(0x200C, "config.CAN_TIMEOUT", "I", 0, 100_000),  # 0: off, the default; type 18 is ignored (S12)
        Parameter(0x200D, "config.motorOverTemp", "h", 0, 1500, "0.1 C"),
        Parameter(0x200E, "config.overTempTime", "I", 1000, 1_000_000, "ms"),
        Parameter(0x3022, "faultSta", "I", 0, 0xFFFFFFFF, "", False),
        Parameter(0x302D, "torque_fdb", "f", *_ANY, "N m", False),
    )
}
PARAMETER_OF_INDEX = {p.index: p for p in PARAMETERS.values()}

_HOT = "let the motor cool down; lower torque or duty"
_SHORT = "stop; check the winding and lower gains"
FEEDBACK_FAULTS: dict[int, Fault] = {  # bits 16..21 of a feedback id, shifted to 0
    1 << 0: Fault("under-voltage", "charge the battery; check the 24 V supply under load (16 V at least)"),
    1 << 1: Fault("over-current", "lower gains or torque"),
    1 << 2: Fault("over-temperature", _HOT),
    1 << 3: Fault("magnetic encoder", "stop; the encoder is damaged or its magnet is loose"),
    1 << 4: Fault("HALL encoder", "stop; the output encoder is damaged"),
    1 << 5: Fault("not calibrated", "calibrate the encoder with the vendor's tool before enabling"),
}
FAULT_BITS: dict[int, Fault] = {  # fault word of type 21 and parameter faultSta
    1 << 0: Fault("motor over-temperature (80 C)", _HOT),
    1 << 1: Fault("driver chip", "power off and on; if it stays, the drive is damaged"),
    1 << 2: Fault("under-voltage", "charge the battery; check the 24 V supply under load"),
    1 << 3: Fault("over-voltage", "braking pumps the supply up: battery or clamp on the bus (28 V at most)"),
    1 << 4: Fault("phase B over-current", _SHORT),
    1 << 5: Fault("phase C over-current", _SHORT),
    1 << 7: Fault("encoder not calibrated", "calibrate the encoder with the vendor's tool before enabling"),
    **{1 << bit: Fault(f"overload, bit {bit}", "lower the load; 4 N m is the lasting torque") for bit in range(8, 16)},
    1 << 16: Fault("phase A over-current", _SHORT),
}
WARNING_BITS: dict[int, Fault] = {1 << 0: Fault("motor warm (75 C)", "lower the load before it stops at 80 C")}
BAUD_CODES: dict[int, int] = {1_000_000: 1, 500_000: 2, 250_000: 3, 125_000: 4}  # bit/s
