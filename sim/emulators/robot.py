"""EmulatedRobot: the simulator's physics seen through motor shafts. Motor-side commands in, motor-side state out.

The drives' PD runs in the motor model at the physics step: a command in motor units is turned into the same command at
the joint (q = sign (q_m - offset) / ratio, kp = kp_m ratio^2 ...), which is the same torque. Written for itself and not
shared with the bridge, so that a wrong sign in either shows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from config.bus import Bus
from config.scenario import Fault, PlantOptions, Push
from lcmtypes.generated import GroundTruth, Imu, JointCommand, JointState
from procs.model.robot import Robot
from sim.plant import SimPlant
from sim.sensors import Encoders

FIELDS = ("position", "velocity", "kp", "kd", "torque")


class _Physics(SimPlant):
    """The simulator with the ticks in other hands and without a queue of commands."""

    def advance(self, command: JointCommand) -> None:
        self.command = command
        self._advance()

    def sample(self, seq: int) -> tuple[Imu, JointState]:
        self.tick, self.ahead = seq - 1, True
        self.physics_step = seq * self.steps  # what pushes go by
        return self.read()


class EmulatedRobot:
    """One robot, its drives addressed by joint number. start(), then per tick: sense(), commands, advance()."""

    def __init__(
        self,
        robot: Robot,
        options: PlantOptions,
        *,
        seed: int,
        pushes: Sequence[Push] = (),
        faults: Sequence[Fault] = (),
        gui: bool = False,
    ) -> None:
        self.robot, self.bus = robot, bus_of(robot)
        missing = sorted(set(robot.joint_names) ^ set(self.bus.wiring))
        if missing:
            raise ValueError(f"bus.wiring of {robot.name}: joints {missing} are not both wired and there")
        wires = [self.bus.wiring[name] for name in robot.joint_names]
        self.wires = wires
        self.turn = np.array([w.sign * w.ratio for w in wires])  # motor rad per joint rad
        self.square = np.array([w.ratio**2 for w in wires])
        self.offset = np.array([w.offset for w in wires])
        self.plant = _Physics(robot, options, seed=seed, pushes=pushes, faults=faults, gui=gui)
        n = robot.num_joints
        self.position, self.velocity, self.torque = np.zeros(n), np.zeros(n), np.zeros(n)
        self.wanted = np.zeros((5, n))  # FIELDS of each drive, motor units
        self.on = np.zeros(n, np.int8)
        self._late: deque[JointCommand] = deque()

    def start(self, run: int) -> None:
        """A new world; all drives limp."""
        self.plant.start(run)
        self.plant.encoders = Encoders(self.robot, False)  # the drives round by themselves, in their frames
        self._due = False  # the physics after the tick sensed last is still to be done
        self.wanted[:] = 0.0
        self.on[:] = 0
        self._late.clear()

    def sense(self, seq: int) -> Imu:
        """The drives' state and the IMU at tick `seq`, physics before it included (none before the first).

        Faults and pushes go by `seq`; ticks below 0 are those in which the host starts the drives.
        """
        self.advance()
        imu, joints = self.plant.sample(seq)
        self.position[:] = self.turn * joints.q + self.offset
        self.velocity[:] = self.turn * joints.qd
        self.torque[:] = joints.tau / self.turn
        self._due = True
        return imu

    def advance(self) -> None:
        """Physics of one control period with what the drives are told now; once per tick."""
        if self._due:
            self._due = False
            self.plant.advance(self._command())

    @property
    def truth(self) -> GroundTruth:
        """Of the tick sensed last."""
        return self.plant.truth

    def _command(self) -> JointCommand:
        """What all drives are told, at the joints; as late as the description says."""
        command = JointCommand(self.robot.num_joints)
        position, velocity, kp, kd, torque = self.wanted
        command.q_des[:] = (position - self.offset) / self.turn
        command.qd_des[:] = velocity / self.turn
        command.kp[:] = kp * self.square
        command.kd[:] = kd * self.square
        command.tau_ff[:] = torque * self.turn
        command.enable[:] = self.on
        self._late.append(command)
        late = self.plant.delay
        return self._late.popleft() if len(self._late) > late else JointCommand(self.robot.num_joints)


class Shaft:
    """One motor in its own units; `ratio`: further turns of the motor per turn of what the wiring calls it.

    `position` is what the encoder at the rotor knows of the output; after the coupling behind it has slipped by `slip`
    rad, the output is elsewhere.
    """

    def __init__(self, robot: EmulatedRobot, joint: int, ratio: float = 1.0) -> None:
        self.robot, self.joint, self.ratio = robot, joint, ratio
        self.name = robot.robot.joint_names[joint]
        self.slip = 0.0

    @property
    def output(self) -> float:
        """Rad of the output, all turns, as a second encoder there sees it."""
        return float(self.robot.position[self.joint]) * self.ratio

    @property
    def position(self) -> float:
        """Rad of the output by the rotor's encoder, all turns."""
        return self.output - self.slip

    @property
    def velocity(self) -> float:
        """Rad/s."""
        return float(self.robot.velocity[self.joint]) * self.ratio

    @property
    def torque(self) -> float:
        """N m."""
        return float(self.robot.torque[self.joint]) / self.ratio

    def drive(self, position: float, velocity: float, kp: float, kd: float, torque: float) -> None:
        """PD and feed-forward from now on; position in rad over all turns, by the rotor's encoder."""
        r = self.ratio
        self.robot.wanted[:, self.joint] = (
            (position + self.slip) / r,
            velocity / r,
            kp * r * r,
            kd * r * r,
            torque * r,
        )
        self.robot.on[self.joint] = 1

    def limp(self) -> None:
        """No current."""
        self.robot.on[self.joint] = 0


def bus_of(robot: Robot) -> Bus:
    """The robot's bus section, or ValueError."""
    bus = robot.description.bus
    if bus is None:
        raise ValueError(f"{robot.name} has no bus section: nothing to emulate")
    return bus
