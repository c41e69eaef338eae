"""SimPlant: the robot in PyBullet behind the Plant protocol. Joint commands in, IMU, joints and ground truth out."""

from __future__ import annotations

import logging
import math
from collections import deque
from collections.abc import Sequence

import numpy as np

from config.inertials import combine
from config.scenario import Fault, PlantOptions, Push
from lcmtypes.channels import GROUND_TRUTH, Channel
from lcmtypes.generated import GroundTruth, Imu, JointCommand, JointState
from lcmtypes.message import Message
from procs.model.motor import drive_torque, drives
from procs.model.robot import Robot
from procs.model.rotations import quat_to_matrix
from sim.contacts import FootSums, foot_centres, foot_sums
from sim.faults import Faults
from sim.sensors import Encoders, ImuModel
from sim.world import World

log = logging.getLogger(__name__)

FOLLOW = 10  # ticks between two moves of the window's camera


class SimPlant:
    """A simulated robot. Equal seeds and commands give equal messages, bit for bit, also after start() again.

    The command written after sample k acts from tick k + 1 + delay, so the physics k -> k + 1 does not need it and
    work_ahead() may do it early. Before the first command the drives are off.
    """

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
        sim = robot.description.sim
        control = robot.description.control
        steps = sim.rate / control.rate
        self.steps = round(steps)
        if self.steps < 1 or abs(steps - self.steps) > 1e-9:
            raise ValueError(f"sim.rate / control.rate = {sim.rate} / {control.rate} is no whole number")
        self.robot, self.options, self.seed, self.gui = robot, options, seed, gui
        self.pushes, self.fault_list = tuple(pushes), tuple(faults)
        Faults(robot, faults, np.random.default_rng(seed))  # says at once what is wrong with them
        self.step_dt = 1.0 / sim.rate
        self.delay = sim.delay_ticks if options.delay_ticks is None else options.delay_ticks
        self.drives = drives(robot, self.step_dt)
        self.world: World | None = None

    def start(self, run: int) -> None:
        """Begin a run in a new world. `run` is the plant loop's; nothing here depends on it."""
        window = self.world.client if self.gui and self.world is not None else None  # stays open over a reset
        if window is None:
            self.stop()
        log.debug("run %d, seed %d", run, self.seed)
        terrain, imu, faults = (np.random.default_rng(s) for s in np.random.SeedSequence(self.seed).spawn(3))
        noisy = self.options.imu_noise
        self.world = World(self.robot, self.options, terrain, gui=self.gui, client=window)
        self.imu = ImuModel(self.robot, imu, noisy)
        self.encoders = Encoders(self.robot, noisy)
        self.faults = Faults(self.robot, self.fault_list, faults)
        legs, n = self.robot.num_legs, self.robot.num_joints
        self.tick = -1  # of the last sample
        self.ahead = False  # the physics after that sample is done
        self.physics_step = 0
        self.pending: deque[tuple[int, JointCommand]] = deque()
        self.command = JointCommand(n)
        self.sums = FootSums(np.zeros((legs, 3)), np.zeros((legs, 3)), np.zeros(legs), np.zeros((legs, 3)))
        self.tau_sum = np.zeros(n)
        self.limited_sum = np.zeros(n)
        self.active = np.zeros(n)  # drive torque of the last step
        self.work = 0.0
        self.q, self.qd = self.world.joint_states()
        self.base = self.world.base()

    def _running(self) -> World:
        if self.world is None:
            raise RuntimeError("start() comes first")
        return self.world

    def read(self) -> tuple[Imu, JointState]:
        """The next tick's sample; tick 0 is the start pose without physics."""
        self._running()
        if self.tick >= 0 and not self.ahead:
            self._advance()
        self.tick += 1
        self.ahead = False
        _position, quat, v_origin, omega = self.base
        imu = self.imu.sample(quat, v_origin, omega)
        joints = self.encoders.sample(self.q, self.qd, self.active)
        self.faults.apply(self.tick, imu, joints)
        self.truth = self._ground_truth()
        if self.gui and self.tick % FOLLOW == 0:
            self._running().look_at(self.base[0])
        return imu, joints

    def extras(self) -> list[tuple[Channel, Message]]:
        """ground_truth of the tick just read."""
        return [(GROUND_TRUTH, self.truth)]

    def work_ahead(self) -> None:
        """The physics after the tick just read."""
        if self.tick >= 0 and not self.ahead:
            self._advance()
            self.ahead = True

    def write(self, command: JointCommand) -> None:
        """Keep a copy of the command until its tick comes."""
        extra = self.faults.command(self.tick)
        if extra is not None:
            self.pending.append((self.tick + 1 + self.delay + extra, command.copy()))

    def stop(self) -> None:
        """Release the physics."""
        if self.world is not None:
            self.world.close()
            self.world = None

    def _advance(self) -> None:
        while self.pending and self.pending[0][0] <= self.tick:
            self.command = self.pending.popleft()[1]
        off = self.faults.motors_off(self.tick)
        enable = self.command.enable
        if off:
            enable = enable.copy()
            enable[off] = 0
        self.sums.force[:] = 0.0
        self.sums.slip[:] = 0.0
        self.tau_sum[:] = 0.0
        self.limited_sum[:] = 0.0
        for _ in range(self.steps):
            self._physics_step(enable)

    def _physics_step(self, enable: np.ndarray) -> None:
        world, c = self._running(), self.command
        q, qd = self.q, self.qd
        position, quat, _v, _omega = self.base
        R_wb = quat_to_matrix(quat)
        tau, self.active, limited = drive_torque(q, qd, c.q_des, c.qd_des, c.tau_ff, c.kp, c.kd, enable, self.drives)
        if self.pushes:
            self._push(R_wb, position)
        world.step(tau)
        self.physics_step += 1
        self.q, self.qd = world.joint_states()
        self.base = world.base()
        foot_sums(
            world.contacts(),
            world.leg_of_link,
            q,
            self.qd,
            R_wb,
            position,
            self.base[2],
            self.base[3],
            self.robot.chains,
            self.robot.foot_radius,
            self.step_dt,
            self.sums,
        )
        self.tau_sum += tau
        self.limited_sum += limited
        # Energy of a semi-implicit step: torque times the mean of the velocities before and after.
        self.work += float(np.maximum(tau * (qd + self.qd), 0.0).sum()) * 0.5 * self.step_dt

    def _push(self, R_wb: np.ndarray, position: np.ndarray) -> None:
        for push in self.pushes:
            first = round(push.t / self.step_dt)
            if first <= self.physics_step < first + max(1, round(push.duration / self.step_dt)):
                yaw = math.atan2(R_wb[1, 0], R_wb[0, 0])
                c, s = math.cos(yaw), math.sin(yaw)
                x, y, z = push.force
                at = position + R_wb @ self.centre_of_mass()
                self._running().push(np.array([c * x - s * y, s * x + c * y, z]), at)

    def centre_of_mass(self) -> np.ndarray:
        """Centre (3,) m of robot and payload, body frame."""
        payload = self.options.payload
        part = [(payload.mass, np.array(payload.at), np.zeros((3, 3)))] if payload.mass > 0 else []
        return combine([self.robot.composite(self.q), *part])[1]

    def _ground_truth(self) -> GroundTruth:
        robot, sums, steps = self.robot, self.sums, self.steps
        position, quat, v_origin, omega = self.base
        truth = GroundTruth(robot.num_legs, robot.num_joints)
        truth.ground_height, truth.ground_normal[:] = self._running().ground.height_normal(position[0], position[1])
        truth.work = self.work
        truth.position[:] = position
        truth.quat[:] = quat
        truth.v_world[:] = v_origin
        truth.omega_world[:] = omega
        truth.tau[:] = self.tau_sum / steps
        truth.saturated[:] = self.limited_sum / steps
        truth.foot_position[:] = foot_centres(self.q, quat_to_matrix(quat), position, robot.chains)
        truth.foot_position -= robot.foot_radius * truth.ground_normal
        loaded = sums.weight > 0.0
        truth.foot_position[loaded] = sums.point[loaded]
        truth.foot_force[:] = sums.force / steps
        truth.foot_slip[:] = sums.slip
        return truth
