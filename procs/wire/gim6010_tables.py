"""GIM6010-8 and other ODrive-style drives: commands, heartbeat layouts, states and errors as data.

Sources: S13 PyPI odrive-can 2.1.0 (odrive-cansimple-0.5.6.dbc), S14 ODrive can_simple.cpp, S15 Steadywin manual
chapter 4, S16 MW vendor SDK, S17 strongestweapon/SteadywinGim6010-8 (measured). ODrive itself differs at 0x03..0x05,
0x15, 0x1C..0x1F.
"""

from __future__ import annotations

from enum import Enum, IntEnum, StrEnum
from typing import NamedTuple

from procs.wire.decode import Fault


class Way(StrEnum):
    """Direction seen from the host."""

    TO_DRIVE = "to drive"
    FROM_DRIVE = "from drive"
    BOTH = "both"


class Field(NamedTuple):
    """One field: struct format (little-endian), unit, scale of integers."""

    name: str
    kind: str
    unit: str = ""
    scale: float = 1.0


class Command(NamedTuple):
    """One command: number, name, direction, fields in order from byte 0."""

    number: int
    name: str
    way: Way
    fields: tuple[Field, ...] = ()


_TO, _FROM, _BOTH = Way.TO_DRIVE, Way.FROM_DRIVE, Way.BOTH


def _floats(*names_units: tuple[str, str]) -> tuple[Field, ...]:
    return tuple(Field(name, "f", unit) for name, unit in names_units)


COMMANDS: dict[int, Command] = {
    c.number: c
    for c in (
        Command(0x01, "heartbeat", _FROM, (Field("axis_error", "I"), Field("axis_state", "B"), Field("flags", "3s"))),
        Command(0x02, "estop", _TO),
        Command(0x03, "get_error", _BOTH, (Field("error", "Q"),)),  # request: u8 type; answer: u32, u64 for the motor
        Command(
            0x04,
            "rx_sdo",
            _TO,
            (Field("opcode", "B"), Field("endpoint", "H"), Field("reserved", "B"), Field("value", "4s")),
        ),
        Command(
            0x05,
            "tx_sdo",
            _FROM,
            (Field("opcode", "B"), Field("endpoint", "H"), Field("reserved", "B"), Field("value", "4s")),
        ),
        Command(0x06, "set_axis_node_id", _TO, (Field("new_node", "I"),)),
        Command(0x07, "set_axis_state", _TO, (Field("state", "I"),)),
        Command(0x08, "mit_control", _BOTH, (Field("data", "8s"),)),  # packed by mit_can, output shaft
        Command(0x09, "get_encoder_estimates", _FROM, _floats(("position", "turn"), ("velocity", "turn/s"))),
        Command(0x0A, "get_encoder_count", _FROM, (Field("shadow", "i", "count"), Field("in_cpr", "i", "count"))),
        Command(0x0B, "set_controller_mode", _TO, (Field("control_mode", "I"), Field("input_mode", "I"))),
        Command(
            0x0C,
            "set_input_pos",
            _TO,
            (
                Field("position", "f", "turn"),
                Field("velocity_ff", "h", "turn/s", 0.001),
                Field("torque_ff", "h", "N m", 0.001),
            ),
        ),
        Command(0x0D, "set_input_vel", _TO, _floats(("velocity", "turn/s"), ("torque_ff", "N m"))),
        Command(0x0E, "set_input_torque", _TO, _floats(("torque", "N m"))),
        Command(0x0F, "set_limits", _TO, _floats(("velocity", "turn/s"), ("current", "A"))),
        Command(0x10, "start_anticogging", _TO),
        Command(0x11, "set_traj_vel_limit", _TO, _floats(("velocity", "turn/s"))),
        Command(
            0x12, "set_traj_accel_limits", _TO, _floats(("acceleration", "turn/s^2"), ("deceleration", "turn/s^2"))
        ),
        Command(0x13, "set_traj_inertia", _TO, _floats(("inertia", "N m/(turn/s^2)"))),
        Command(0x14, "get_iq", _FROM, _floats(("setpoint", "A"), ("measured", "A"))),
        Command(0x15, "get_sensorless_estimates", _FROM, _floats(("position", "turn"), ("velocity", "turn/s"))),
        Command(0x16, "reboot", _TO),
        Command(0x17, "get_bus_voltage_current", _FROM, _floats(("voltage", "V"), ("current", "A"))),
        Command(0x18, "clear_errors", _TO),
        Command(0x19, "set_linear_count", _TO, (Field("count", "i", "count"),)),
        Command(0x1A, "set_pos_gain", _TO, _floats(("gain", "1/s"))),
        Command(0x1B, "set_vel_gains", _TO, _floats(("gain", "N m/(turn/s)"), ("integrator", "N m/turn"))),
        Command(0x1C, "get_torques", _FROM, _floats(("setpoint", "N m"), ("actual", "N m"))),
        Command(0x1D, "get_powers", _FROM, _floats(("electrical", "W"), ("mechanical", "W"))),
        Command(0x1E, "disable_can", _TO),  # hardware up to 3.7 goes over to USB!
        Command(0x1F, "save_configuration", _TO),  # and reboots
    )
}
COMMAND_OF_NAME = {c.name: c for c in COMMANDS.values()}


class Layout(NamedTuple):
    """Where a firmware puts its flags in a heartbeat: (byte, bit) each; `life`: byte of the life counter."""

    motor: tuple[int, int]
    encoder: tuple[int, int]
    controller: tuple[int, int]
    trajectory_done: tuple[int, int]
    system: tuple[int, int] | None = None
    life: int | None = None


class Heartbeat(Enum):
    """Heartbeat layouts; the drive does not say which it uses, the firmware's version does."""

    ODRIVE_0_5_6 = Layout((5, 0), (6, 0), (7, 0), (7, 7))  # S13
    UP_TO_5_11 = Layout((5, 0), (6, 0), (7, 0), (7, 3))  # S16
    FIRMWARE_5_12 = Layout((5, 0), (5, 1), (5, 2), (5, 7))  # S16
    FROM_5_13 = Layout((5, 0), (5, 1), (5, 2), (5, 7), (5, 3), 7)  # S16


class AxisState(IntEnum):
    """Axis states; set_axis_state takes them too."""

    UNDEFINED = 0
    IDLE = 1
    STARTUP = 2
    FULL_CALIBRATION = 3
    MOTOR_CALIBRATION = 4
    INDEX_SEARCH = 6
    ENCODER_OFFSET_CALIBRATION = 7
    CLOSED_LOOP = 8
    LOCK_IN = 9
    DIRECTION_FIND = 10
    HOMING = 11
    HALL_POLARITY = 12
    HALL_PHASE = 13
    ANTICOGGING = 14


class ControlMode(IntEnum):
    """First word of set_controller_mode."""

    VOLTAGE = 0
    TORQUE = 1
    VELOCITY = 2
    POSITION = 3


class InputMode(IntEnum):
    """Second word of set_controller_mode."""

    IDLE = 0
    DIRECT = 1
    VELOCITY_RAMP = 2
    POSITION_FILTER = 3
    TRAPEZOID = 5
    TORQUE_RAMP = 6
    MIT = 9


class ErrorType(IntEnum):
    """Which error get_error asks for (S16)."""

    MOTOR = 0
    ENCODER = 1
    SENSORLESS = 2
    CONTROLLER = 3


AXIS_ERRORS: dict[int, Fault] = {
    0x1: Fault("invalid state", "the drive was asked for a state it cannot enter: calibrated? errors cleared?"),
    0x40: Fault("motor failed", "read the motor's error word"),
    0x80: Fault("sensorless estimator failed", "read the sensorless error word"),
    0x100: Fault("encoder failed", "read the encoder's error word"),
    0x200: Fault("controller failed", "read the controller's error word"),
    0x800: Fault("watchdog expired", "no frame came in time: check the host, then clear errors and close the loop"),
    0x1000: Fault("minimum end stop pressed", "move the joint away by hand"),
    0x2000: Fault("maximum end stop pressed", "move the joint away by hand"),
    0x4000: Fault("e-stop requested", "clear errors, then close the loop again"),
    0x20000: Fault("homing without end stop", "do not home this axis"),
    0x40000: Fault("over-temperature", "let the drive cool down"),
    0x80000: Fault("unknown position", "the encoder has no reference yet: reboot or search the index"),
}
MOTOR_ERRORS: dict[int, Fault] = {
    0x1: Fault("phase resistance out of range", "check the phases"),
    0x2: Fault("phase inductance out of range", "check the phases"),
    0x8: Fault("gate driver (DRV)", "power off and on; a short or a supply dip"),
    0x10: Fault("control deadline missed", "power off and on; report it if it returns"),
    0x80: Fault("modulation magnitude", "bus voltage too low for this speed"),
    0x400: Fault("current sense saturation", "lower gains or the current limit"),
    0x1000: Fault("current limit violation", "lower gains; check the encoder offset"),
    0x20000: Fault("motor over-temperature", "let the motor cool down; lower torque"),
    0x40000: Fault("FET over-temperature", "let the drive cool down"),
    0x400000: Fault("bus current out of range", "check the supply's limits; braking feeds current back"),
    0x800000: Fault("brake resistor disarmed", "arm or disable the brake resistor in the drive's settings"),
    0x1000000: Fault("system level", "read the drive's system error: mostly bus voltage"),
    0x4000000: Fault("unknown phase", "the encoder is not ready"),
}
ENCODER_ERRORS: dict[int, Fault] = {
    0x1: Fault("unstable gain", "the encoder bandwidth is too high"),
    0x2: Fault("CPR mismatch", "wrong pole pairs or a slipping magnet"),
    0x4: Fault("no response", "check the encoder's cable"),
    0x20: Fault("index not found", "search the index again"),
    0x40: Fault("absolute encoder: time-out", "check the encoder's SPI cable"),
    0x80: Fault("absolute encoder: bad communication", "check the encoder's SPI cable and its shield"),
    0x100: Fault("absolute encoder: not ready", "wait or reboot"),
}
CONTROLLER_ERRORS: dict[int, Fault] = {
    0x1: Fault("overspeed", "raise the velocity limit or lower the gains"),
    0x2: Fault("invalid input mode", "control and input mode do not fit together"),
    0x4: Fault("unstable gain", "lower the velocity gain"),
    0x20: Fault("invalid estimate", "the encoder gives no valid estimate"),
    0x80: Fault("spinout", "encoder offset wrong or the magnet slips: mechanical and electrical power disagree"),
}
ERROR_TABLES: dict[ErrorType, dict[int, Fault]] = {
    ErrorType.MOTOR: MOTOR_ERRORS,
    ErrorType.ENCODER: ENCODER_ERRORS,
    ErrorType.SENSORLESS: {},
    ErrorType.CONTROLLER: CONTROLLER_ERRORS,
}
