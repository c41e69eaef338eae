"""The shape of config/scenarios/*.yaml: what is commanded, what disturbs, what must come out. SI units."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from config.types import Fraction, NonNegative, Number, Positive, Section, Vec3


class Terrain(Section):
    """Ground. Each kind uses its own fields; the first half metre around the start is flat except on a slope."""

    kind: Literal["flat", "slope", "steps", "rough", "stairs"] = "flat"
    deg: Number = 0.0  # slope: uphill along x
    height: NonNegative = 0.02  # steps: of each step up; rough: tile tops lie in [0, height]
    length: Positive = 1.0  # steps
    cell: Positive = 0.25  # rough: edge of a tile
    rise: NonNegative = 0.05  # stairs
    run: Positive = 0.3
    count: Annotated[int, Field(ge=1, le=100)] = 5


class Payload(Section):
    """A mass fixed to the body."""

    mass: NonNegative = 0.0
    at: Vec3 = (0, 0, 0)


class PlantOptions(Section):
    """World and sensors."""

    terrain: Terrain = Terrain()
    friction: NonNegative | None = None  # None: the robot's YAML
    payload: Payload = Payload()
    imu_noise: bool = True
    suspended: bool = False
    delay_ticks: Annotated[int, Field(ge=0, le=50)] | None = None


class Command(Section):
    """From t on; only the fields named change."""

    t: NonNegative
    mode: str | None = None
    gait: str | None = None
    vx: Number | None = None
    vy: Number | None = None
    yaw_rate: Number | None = None
    height: NonNegative | None = None
    roll: Number | None = None
    pitch: Number | None = None
    estop: bool | None = None
    reset: bool | None = None
    parameters: dict[str, Number] = Field(default_factory=dict)  # live parameters to set, one a tick in this order


class Push(Section):
    """A force on the body's centre of mass, heading frame."""

    t: NonNegative
    duration: Positive = 0.1
    force: Vec3


FaultKind = Literal[
    "encoder_spike", "nan", "motor_off", "imu_bias", "freeze", "packet_loss", "delay", "kill",
    "bus_corrupt", "bus_silent", "stale", "wrong_dlc", "foreign_id", "reordered",
    "bus_off", "error_frames", "buffer_full", "wrong_bit_rate",
    "motor_fault", "motor_heat", "supply_voltage", "supply_blocked", "coupling_slips",
]  # fmt: skip
BYTE_KINDS = ("bus_corrupt", "bus_silent", "stale", "wrong_dlc", "foreign_id", "reordered")  # change what passes
CAN_KINDS = ("bus_off", "error_frames", "buffer_full", "wrong_bit_rate")  # the host's CAN controller
DRIVE_KINDS = ("motor_fault", "motor_heat", "supply_voltage", "supply_blocked", "coupling_slips")
BUS_KINDS = BYTE_KINDS + CAN_KINDS + DRIVE_KINDS
CorruptMode = Literal["checksum", "zero", "or", "last_wins", "shift", "nan", "saturate", "jump", "flip", "pair"]


class Fault(Section):
    """One fault; which fields a kind uses is in `USES`. BUS_KINDS act on emulated hardware only: the plain simulator
    has no bus. BYTE_KINDS hit bytes from motors, boards and IMU on their way to the host.

    bus_off: the host's CAN controller is off the bus (no duration: until its own restart). error_frames: frames are
    destroyed (no probability: all, a short). buffer_full: the host's controller takes no frame. wrong_bit_rate: the
    drives of a line run at `value` bit/s. motor_fault: a drive reports code `value`. motor_heat: its winding has at
    least `value` deg C. supply_voltage: `value` V without load. supply_blocked: the supply takes no power back.
    coupling_slips: the motor's output turns by `value` rad more than its rotor's encoder knows.
    """

    t: NonNegative
    duration: Positive | None = None  # s, None: for ever
    kind: FaultKind
    joint: str | None = None
    channel: str | None = None
    value: Number | None = None  # see the kinds
    gyro: Vec3 | None = None
    accel: Vec3 | None = None
    probability: Fraction | None = None  # per message or frame; bus faults: None is always
    mode: CorruptMode | None = None  # bus_corrupt
    line: Annotated[int, Field(ge=0)] | None = None  # bus faults: board or CAN bus, None: all
    ticks: Annotated[int, Field(ge=1)] | None = None
    process: str | None = None
    restart_after: Positive | None = None  # kill: s of wall time until the launcher starts it again

    @model_validator(mode="after")
    def _needs(self) -> Fault:
        for alternatives in USES[self.kind]:
            if not any(getattr(self, name) is not None for name in alternatives):
                raise ValueError(f"a fault of kind {self.kind} needs {' or '.join(alternatives)}")
        return self


USES: dict[str, tuple[tuple[str, ...], ...]] = {
    "encoder_spike": (("joint",), ("value",)),
    "nan": (("joint", "channel"),),
    "motor_off": (("joint",),),
    "imu_bias": (("gyro", "accel"),),
    "freeze": (("channel",),),
    "packet_loss": (("channel",), ("probability",)),
    "delay": (("channel",), ("ticks",)),
    "kill": (("process",),),
    "bus_corrupt": (("mode",),),
    "bus_silent": (),
    "stale": (),
    "wrong_dlc": (),
    "foreign_id": (),
    "reordered": (),
    "bus_off": (),
    "error_frames": (),
    "buffer_full": (),
    "wrong_bit_rate": (("value",),),
    "motor_fault": (("joint",), ("value",)),
    "motor_heat": (("joint",), ("value",)),
    "supply_voltage": (("value",),),
    "supply_blocked": (),
    "coupling_slips": (("joint",), ("value",)),
}


class Bounds(Section):
    """What a metric must lie in."""

    min: Number | None = None
    max: Number | None = None


class Scenario(Section):
    """A test, a demo, a benchmark."""

    name: str
    doc: str = ""
    robot: str = "mini_cheetah"
    duration: Positive
    seed: Annotated[int, Field(ge=0)] = 1
    plant: PlantOptions = PlantOptions()
    commands: list[Command] = Field(default_factory=list)
    pushes: list[Push] = Field(default_factory=list)
    faults: list[Fault] = Field(default_factory=list)
    expect: dict[str, Bounds | bool | float | str] = Field(default_factory=dict)
    set: dict[str, Any] = Field(default_factory=dict)  # robot overrides, as --set

    @property
    def on_bus(self) -> bool:
        """Whether it has faults of a bus, which only emulated hardware can do."""
        return any(fault.kind in BUS_KINDS for fault in self.faults)

    @model_validator(mode="after")
    def _ordered(self) -> Scenario:
        times = [c.t for c in self.commands]
        if sorted(times) != times:
            raise ValueError(f"commands must be in order of t, got {times}")
        return self
