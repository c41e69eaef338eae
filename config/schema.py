"""The shape of config/robots/*.yaml. Units: SI, radians; frames: x forward, y left, z up at the zero pose."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from config.bus import Bus
from config.types import Fraction, NonNegative, Number, Positive, Positive3, Range, Section, Vec3


class Inertial(Section):
    """Mass properties of one link in the link's frame; inertia about the centre of mass."""

    mass: Positive  # kg
    com: Vec3 = (0, 0, 0)  # m
    inertia: tuple[Number, Number, Number, Number, Number, Number]  # kg m^2: xx yy zz xy xz yz


class Body(Inertial):
    """The trunk; `size` is its collision box."""

    shape: Literal["box", "cylinder"] = "box"
    size: tuple[Positive, Positive, Positive]  # m: length, width, height (cylinder: diameter, diameter, height)
    source: str


class Mount(Section):
    """Pose of a frame in its parent's frame."""

    xyz: Vec3 = (0, 0, 0)
    rpy: Vec3 = (0, 0, 0)


class Rotor(Section):
    """A motor's rotor, carried by the parent link; its spin inertia stands in the actuator."""

    mass: NonNegative = 0
    at: Vec3 = (0, 0, 0)  # m, parent link's frame


class Joint(Section):
    """A revolute joint and the link it moves. `origin` in the parent link's frame, parent axes at the zero pose."""

    name: str
    actuator: str  # key of `actuators`
    axis: Vec3
    origin: Vec3 = (0, 0, 0)
    limits: Range  # rad, joint side
    link: Inertial
    rotor: Rotor = Rotor()
    capsule_radius: NonNegative = 0  # m, collision capsule towards the next joint; 0: none


class LegMount(Section):
    """One leg: the shared chain, placed. `mirror` flips y of all origins, centres and inertias (not the axes)."""

    name: str
    mount: Mount
    mirror: bool = False
    rotor_at: Vec3 | None = None  # m, of the first joint's rotor in the mount's frame (y mirrored too); None: chain's


class Legs(Section):
    """All legs share one chain of three joints and a foot sphere. Order of `placed` is the order everywhere."""

    chain: tuple[Joint, Joint, Joint]
    foot: Vec3  # m, centre of the foot sphere in the last link's frame
    foot_radius: Positive
    foot_mass: NonNegative = 0
    placed: Annotated[list[LegMount], Field(min_length=1)]
    source: str


class Actuator(Section):
    """A drive, joint side unless the name says motor. Electrical model: ActuatorModel.h of Cheetah-Software."""

    gear: Positive  # motor turns per joint turn
    torque_max: Positive  # N m, what the packer allows
    velocity_max: Positive  # rad/s, what the packer allows
    motor_torque_max: Positive  # N m at the rotor
    torque_constant: Positive  # N m/A at the rotor
    back_emf: Positive  # V s/rad at the rotor
    resistance: Positive  # ohm
    voltage: Positive  # V
    rotor_inertia: NonNegative  # kg m^2 about the spin axis
    damping: NonNegative  # N m s/rad
    friction: NonNegative  # N m, dry
    position_quantum: NonNegative = 0  # rad, resolution of the reported position
    velocity_quantum: NonNegative = 0  # rad/s
    torque_quantum: NonNegative = 0  # N m
    source: str


class ImuNoise(Section):
    """Half widths of uniform noise, and constant biases drawn once per run."""

    gyro: NonNegative  # rad/s
    accel: NonNegative  # m/s^2
    attitude: NonNegative  # rad, rotation vector
    gyro_bias: NonNegative = 0
    accel_bias: NonNegative = 0


class Imu(Section):
    """Where the IMU sits and how it errs."""

    mount: Mount = Mount()
    noise: ImuNoise
    source: str


class JointGains(Section):
    """Joint PD per joint of a leg."""

    kp: Positive3  # N m/rad
    kd: Positive3  # N m s/rad


class FootGains(Section):
    """Cartesian PD of a foot (body axes), with joint damping below it."""

    kp: Positive3  # N/m
    kd: Positive3  # N s/m
    kd_joint: NonNegative = 0  # N m s/rad


class Gait(Section):
    """Phase offsets and duty per leg in the robot's leg order; a leg stands for phase in [0, duty)."""

    period: Positive  # s
    duty: Annotated[float, Field(gt=0, le=1)]
    offsets: list[Fraction]
    swing_height: Positive | None = None  # m, else foothold.swing_height
    height: Positive | None = None  # m, else nominal_height
    vx: Range | None = None  # m/s, narrower command range for this gait


class Mpc(Section):
    """Convex MPC on the single rigid body (Di Carlo et al. 2018)."""

    horizon: Annotated[int, Field(ge=2, le=60)]
    step: Positive  # s
    every: Annotated[int, Field(ge=1)] = 1  # control ticks between solves
    weights: Annotated[list[NonNegative], Field(min_length=12, max_length=12)]  # rpy xyz omega v
    force_weight: Positive
    friction: Positive
    force_max: Positive  # N per foot
    position_clamp: Positive  # m between wanted and estimated position
    heading_clamp: Positive = 0.3  # rad between wanted and estimated heading
    height_gain: NonNegative = 1.0  # 1/s, integral of the height error
    height_bias: NonNegative = 0.05  # m, limit of that integral


class Foothold(Section):
    """Where and how feet land (Raibert heuristic with capture-point feedback) around the stand pose's feet."""

    outward: Number = 0.0  # m away from the body's middle, sideways, added to the feet of the stand pose
    forward: Number = 0.0  # m, added to the feet of the stand pose
    velocity_gain: NonNegative  # s, on (v - v_wanted)
    reach: Positive  # m, clamp of the step around the hip
    swing_height: Positive
    touchdown_depth: NonNegative  # m below the expected ground, so that a late ground is found


class Modes(Section):
    """Times of the transitions and what they need."""

    stand_up: Positive  # s
    lie_down: Positive  # s
    settle: NonNegative = 0.2  # s in ready before it may move
    gain_ramp: Positive = 0.3  # s
    walk_stop: Positive = 0.4  # s of stepping at zero speed before standing
    walk_stop_max: Positive = 3.0  # s after which it stands anyway


class Recover(Section):
    """Self-righting by joint poses: fold, roll over if upside down, fold, stand."""

    roll: dict[str, Vec3]  # pose per leg name while rolling over
    fold_time: Positive
    roll_time: Positive
    settle: NonNegative


class Limits(Section):
    """What may be asked of the body."""

    vx: Range
    vy: Range
    yaw_rate: Range
    height: Range
    roll: Range
    pitch: Range
    accel: Positive  # m/s^2 slew of vx, vy
    yaw_accel: Positive
    height_rate: Positive = 0.1
    attitude_rate: Positive = 0.8
    tilt: Positive  # rad from the ground normal that counts as a fall
    command_timeout: Positive = 0.3  # s without motion_command: zero speed
    command_lost: Positive = 2.0  # s: stand


# Kinds of operators by priority: a person before a program, the hand nearest to the robot first.
SOURCES = {"gamepad": 40, "keyboard": 30, "dashboard": 20, "command": 10, "scenario": 0}


class Control(Section):
    """Controller, gaits and gains."""

    rate: Positive  # Hz, ticks of the pipeline
    nominal_height: Positive  # m, body origin above the foot's contact points
    poses: dict[str, list[Vec3]]  # 'down', 'stand', ...: one triple for all legs or one per leg
    modes: Modes
    stand: JointGains
    swing: FootGains
    stance: FootGains
    damping: Positive3  # kd of damping, N m s/rad
    default_gait: str
    gaits: dict[str, Gait]
    mpc: Mpc
    foothold: Foothold
    limits: Limits
    sources: dict[str, int] = SOURCES  # kind of operator -> priority; others have 0
    recover: Recover | None = None
    source: str


class Noise(Section):
    """A noise with its reason."""

    value: NonNegative
    reason: Annotated[str, Field(min_length=10)]


class Estimator(Section):
    """Kalman filter, contacts, orientation."""

    orientation: Literal["imu", "complementary"] = "imu"
    filter: Literal["relative", "reference"] = "relative"
    position_process: Noise
    velocity_process: Noise
    foot_process: Noise
    foot_position: Noise
    foot_velocity: Noise
    foot_height: Noise
    trust_window: Fraction  # of the stance phase at both ends
    untrusted_factor: Positive  # noise factor of an untrusted foot
    contact_force: Noise  # N: force at which contact is as likely as not
    contact_force_scale: Noise  # N
    contact_force_delay: NonNegative = 0.004  # s, low-pass of foot forces
    complementary_gain: NonNegative = 0.1  # 1/s
    gyro_bias_gain: NonNegative = 0.002
    source: str


class Safety(Section):
    """Limits of packer and plant loop."""

    watchdog: Positive = 0.02  # s of age of the newest accepted joint_command
    after: Literal["disable", "damp"] = "damp"
    after_time: Positive = 0.5  # s of damping before `after`
    joint_margin: NonNegative = 0.1  # rad beyond a limit before damping
    reject_time: Positive = 0.05  # s for which rejected samples are predicted
    reject_joints: Annotated[int, Field(ge=0)] = 2  # joints that may be predicted at once
    jump_quanta: Positive = 3.0
    source: str


class Start(Section):
    """Pose at the start of a simulation."""

    height: Positive  # m, body origin
    pose: str  # key of control.poses
    suspended_height: Positive = 0.6


class Sim(Section):
    """Physics of the simulator."""

    rate: Positive = 1000  # Hz
    friction: Positive  # default of the ground (the foot's is 1: PyBullet multiplies)
    contact_stiffness: Positive | None = None  # N/m, None: rigid
    contact_damping: Positive | None = None
    solver_iterations: Annotated[int, Field(ge=1)] = 50
    delay_ticks: Annotated[int, Field(ge=0)] = 0
    start: Start
    source: str


class Live(Section):
    """Range of a number, or of each element of a vector, that may be changed while the robot runs."""

    min: Number
    max: Number
    ramp: NonNegative | None = None  # s from the old value to the new; None: 0.5 for gains, else at once


class RobotDescription(Section):
    """One robot."""

    name: str
    title: str
    body: Body
    legs: Legs
    actuators: dict[str, Actuator]
    imu: Imu
    control: Control
    estimator: Estimator
    safety: Safety
    sim: Sim
    bus: Bus | None = None  # None: simulated only
    live: dict[str, Live] = Field(default_factory=dict)  # dotted name, as in --set
