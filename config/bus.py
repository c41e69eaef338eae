"""The `bus` section of a robot: how its motors and IMU are wired. SI units, radians."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from config.types import Fraction, NonNegative, Number, Positive, Range, Section


class JointWiring(Section):
    """Where a joint's motor sits and how its shaft relates to the joint: q_motor = sign * ratio * q + offset.

    Velocity scales as sign * ratio, torque as sign / ratio, stiffness and damping as 1 / ratio^2.
    """

    line: Annotated[int, Field(ge=0)]  # index into spine.boards or can.buses
    id: Annotated[int, Field(ge=0, le=127)]  # motor id on the bus; on a SPIne board the leg's place, 0 or 1
    slot: Annotated[int, Field(ge=0, le=2)] | None = None  # SPIne: which of the leg's motors, None: the joint's own
    sign: Literal[-1, 1]
    offset: Number = 0.0  # rad at the motor's output when the joint is at zero
    ratio: Positive = 1.0  # motor output turns per joint turn
    drive: str  # key of the wire tables' motor types

    def place(self, joint: int) -> tuple[int, int, int]:
        """(board, leg, motor of the leg) on SPIne boards of joint number `joint` of the robot."""
        return self.line, self.id, joint % 3 if self.slot is None else self.slot


class SpineBoard(Section):
    """One SPIne board: two legs behind one SPI device."""

    device: str  # /dev/spidevB.C


class SpineBus(Section):
    """SPIne boards (66 words each way)."""

    boards: Annotated[list[SpineBoard], Field(min_length=1)]
    speed_hz: Annotated[int, Field(gt=0)] = 6_000_000
    variant: Literal["mit", "scotty"] = "mit"
    reply_age: Annotated[int, Field(ge=0, le=10)] = 2  # transfers from a drive's answer to the host
    scaled_gains: bool = True  # false: boards that expect joint-side gains, as the reference sends them


class CanLine(Section):
    """One CAN bus as python-can opens it."""

    interface: str = "socketcan"
    channel: str
    bitrate: Annotated[int, Field(gt=0)] = 1_000_000
    port: Annotated[int, Field(gt=0, le=65535)] | None = None  # of udp_multicast


class CanBus(Section):
    """CAN motors addressed by the host."""

    protocol: Literal["mit", "cybergear", "gim6010"]
    buses: Annotated[list[CanLine], Field(min_length=1)]
    frame_gap: NonNegative = 0.0  # s between two frames on one bus
    load_max: Fraction = 0.8  # of the bit rate, checked at the start
    host_id: Annotated[int, Field(ge=0, le=255)] = 0
    gim_input: Literal["mit", "position"] = "mit"  # gim6010: Mit_Control, or Set_Input_Pos for firmware without it


class ImuSerial(Section):
    """VN-100 on a serial line."""

    device: str
    baud: Annotated[int, Field(gt=0)] = 921600
    rate: Positive = 500.0  # Hz of binary output


class StartUp(Section):
    """Safe start of the drives."""

    retries: Annotated[int, Field(ge=1)] = 5
    settle: NonNegative = 0.05  # s from enable to the first reply that counts
    ramp: Positive = 0.3  # s from zero to full gains
    drive_watchdog: bool = False  # the drives stop by themselves when the host falls silent


class Thermal(Section):
    """I^2 t model of all motors: first order in the square of the torque at the motor's output."""

    continuous_torque: Positive  # N m that a motor bears for ever
    time_constant: Positive  # s
    source: str


class Bus(Section):
    """The hardware behind the plant interface."""

    spine: SpineBus | None = None
    can: CanBus | None = None
    imu: ImuSerial
    wiring: dict[str, JointWiring]  # by joint name, FR.abad ...
    start: StartUp = StartUp()
    temperature_max: Positive = 85.0  # deg C
    voltage_range: Range = (18.0, 30.0)  # V
    thermal: Thermal | None = None  # None: no model, temperatures only
    faults_in_a_row: Annotated[int, Field(ge=1)] = 10  # bad ticks before damping
    source: str
