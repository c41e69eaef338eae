"""Walking: gait schedule, footholds and swings each tick, stance forces from the convex MPC."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from config.schema import Control
from lcmtypes.generated import BodyState, ContactPlan, LegCommand, LegState, MpcDebug
from procs.controller.command import Wanted
from procs.controller.convex_mpc import ConvexMpc, MpcStatus
from procs.controller.footholds import feet_in_world, fit_plane, plan_footholds, plane_height, track_ground
from procs.controller.gait import GaitSchedule
from procs.controller.mpc_problem import body_path, lever_arms
from procs.controller.swing import leg_targets, swing_torques
from procs.model.legs import leg_kinematics
from procs.model.robot import Robot
from procs.model.rotations import quat_to_matrix, wrap_angle

SINGULAR = 0.02  # m, damping of J^-1 in the swing feed-forward
REST = 0.15  # s on all feet before walking may end
PLANE_TIME = 0.1  # s, time constant of the ground plane's filter


@dataclass
class WalkOutputs:
    """What one tick of walking gives."""

    command: LegCommand
    plan: ContactPlan
    debug: MpcDebug | None


class Locomotion:
    """Trot, walk, pace, bound, pronk ... by data."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        control = robot.description.control
        mpc = control.mpc
        stand = robot.pose("stand")
        mass, com, inertia = robot.composite(stand)
        self.mass, self.com = mass, com
        self.mpc = ConvexMpc(
            num_legs=robot.num_legs,
            horizon=mpc.horizon,
            dt=mpc.step,
            mass=mass,
            inertia=inertia,
            state_weights=np.array(mpc.weights),
            force_weight=mpc.force_weight,
            friction=mpc.friction,
            force_max=mpc.force_max,
        )
        self.gait = GaitSchedule(control.gaits, robot.num_legs)
        self.joint_inertia = robot.joint_inertia(stand)
        self._take(control)
        self._ahead = mpc.step * np.arange(1, mpc.horizon + 1)
        self._failures = 0
        self.start(0.0, None, None, control.default_gait)

    def _take(self, control: Control) -> None:
        """Gains and feet at rest."""
        self.control, hold = control, control.foothold
        rest = self.robot.stand_feet + self.robot.chains.mount_position
        self.nominal = rest[:, :2] + np.stack(
            (np.full(self.robot.num_legs, hold.forward), hold.outward * np.sign(rest[:, 1])), axis=1
        )
        # Gains by stance: row 0 swings, row 1 stands.
        self._kp = np.array((control.swing.kp, control.stance.kp))
        self._kd = np.array((control.swing.kd, control.stance.kd))
        self._kd_joint = np.repeat([[control.swing.kd_joint], [control.stance.kd_joint]], 3, axis=1)

    def tune(self, control: Control, t: float) -> None:
        """Other live parameters from now on (time t of the run, s), also while walking."""
        mpc = control.mpc
        self._take(control)
        self.mpc.tune(mpc.weights, mpc.force_weight, mpc.friction, mpc.force_max)
        self.gait.retune(control.gaits, t)

    def start(self, t: float, body: BodyState | None, legs: LegState | None, gait: str) -> None:
        """Begin from a stand at time t (s of the run)."""
        self.gait.start(t, gait)
        n = self.robot.num_legs
        self._next_mpc = 0  # ticks until the MPC is due
        self._elapsed = self.robot.dt  # s since the last solve
        self._forces = np.zeros((n, 3))
        self._yaw = 0.0
        self._target = np.zeros(2)
        self._plane = np.zeros(3)
        self._lift_bias = 0.0
        self._lift = np.zeros((n, 3))
        self._contact_points = np.zeros((n, 3))
        self._ends = np.zeros((n, 3))
        if body is None or legs is None:
            return
        R = quat_to_matrix(body.quat)
        feet = feet_in_world(body.position, R, self.robot.chains.mount_position, legs.p)
        self._contact_points[:] = feet
        self._contact_points[:, 2] -= self.robot.foot_radius
        self._lift[:] = feet
        self._ends[:] = feet
        self._plane = fit_plane(self._contact_points)
        self._yaw = float(body.rpy[2])
        self._target[:] = (body.position + R @ self.com)[:2]

    def settled(self, t: float) -> bool:
        """All legs have stood for a moment and no lift-off is planned: the body has come to rest on them."""
        rests = t - float(self.gait.since.max()) >= REST
        return rests and bool(self.gait.stance.all()) and self.gait.duty >= 1.0

    def switch(self, name: str, t: float) -> None:
        """Change the gait while walking."""
        if name != self.gait.name:
            self.gait.switch(name, t)

    def step(self, t: float, body: BodyState, legs: LegState, wanted: Wanted) -> WalkOutputs:
        """One control tick at time t of the run, s."""
        robot, gait, hold = self.robot, self.gait, self.control.foothold
        R = quat_to_matrix(body.quat)
        yaw = float(body.rpy[2])
        feet = feet_in_world(body.position, R, robot.chains.mount_position, legs.p)
        stood = gait.stance.copy()
        gait.update(t)
        track_ground(
            feet, gait.stance, body.contact, robot.foot_radius, min(1.0, robot.dt / PLANE_TIME), self._contact_points,
            self._plane, self._lift,
        )  # fmt: skip
        c, s = math.cos(yaw), math.sin(yaw)
        vx, vy = wanted.velocity
        velocity = np.array([c * vx - s * vy, s * vx + c * vy])
        remaining = np.maximum(gait.until - t, 0.0)
        ends = plan_footholds(
            body.position,
            yaw,
            body.v_world,
            velocity,
            wanted.yaw_rate,
            self.nominal,
            remaining,
            gait.stance_time,
            hold.velocity_gain,
            hold.reach,
            wanted.height,
            self._plane,
            robot.foot_radius,
            hold.touchdown_depth,
        )
        self._ends = np.where(gait.stance[:, None] == 1, feet, ends)
        progress = gait.progress(t)
        debug = None
        # A leg that lands or lifts changes the problem: solve at once and not only when it is due.
        if self._next_mpc <= 0 or (stood != gait.stance).any():
            self._elapsed = (self.control.mpc.every - self._next_mpc) * robot.dt
            self._next_mpc = self.control.mpc.every
            height = self._height(body, R, wanted)
            debug = self._solve(t, body, R, velocity, wanted, height)
        self._next_mpc -= 1
        command = self._command(body, legs, R, wanted, progress)
        plan = ContactPlan(robot.num_legs)
        plan.stance[:] = gait.stance
        plan.phase[:] = progress
        plan.contact[:] = gait.stance * np.maximum(progress, 1e-6)
        return WalkOutputs(command, plan, debug)

    def _solve(
        self, t: float, body: BodyState, R: np.ndarray, velocity: np.ndarray, wanted: Wanted, height: float
    ) -> MpcDebug:
        """Solve the convex MPC and keep its forces. velocity (2,) m/s wanted in the world, height m of the centre of
        mass over the ground plane."""
        mpc, gait = self.control.mpc, self.gait
        yaw = float(body.rpy[2])
        arm = R @ self.com
        com = body.position + arm
        state = np.empty(12)
        state[0:3], state[3:6], state[6:9] = body.rpy, com, body.omega_world
        state[9:12] = body.v_world + _cross(body.omega_world, arm)
        self._hold_targets(com, yaw, velocity, wanted.yaw_rate)
        slope = self._plane[1:]
        c, s = math.cos(yaw), math.sin(yaw)
        tilt = np.array(
            [
                wanted.roll + math.atan(-s * slope[0] + c * slope[1]),
                wanted.pitch - math.atan(c * slope[0] + s * slope[1]),
            ]
        )
        reference = body_path(
            self._ahead, yaw, yaw + wrap_angle(self._yaw - yaw), wanted.yaw_rate, wanted.velocity, wanted.goal,
            self.control.limits.accel, self._target, com[2] - height + wanted.height + arm[2] + self._lift_bias, tilt,
            slope,
        )  # fmt: skip
        contact, began = gait.table(t, mpc.step, mpc.horizon)
        points = self._ends.copy()
        points[:, 2] -= self.robot.foot_radius
        anchor = np.where(gait.stance == 1, gait.since, gait.until)
        arms = lever_arms(
            t, mpc.step, contact, began, anchor, points, self.nominal, com, velocity, gait.stance_time, yaw,
            wanted.yaw_rate,
        )  # fmt: skip
        solution = self.mpc.solve(state, arms, reference, contact)
        debug = MpcDebug(mpc.horizon, self.robot.num_legs)
        debug.iterations, debug.status = solution.iterations, solution.status.name.lower()
        if solution.status == MpcStatus.SOLVED:
            self._forces = solution.forces
            debug.path[:] = self.mpc.predict()[:, 3:6]
        else:
            # The last forces stay in force for the legs that still stand; guards watch what comes of it.
            self._failures += 1
            self._forces = np.where(gait.stance[:, None] == 1, self._forces, 0.0)
        debug.failures = self._failures
        debug.forces[:] = self._forces
        debug.footsteps[:] = self._ends
        return debug

    def _height(self, body: BodyState, R: np.ndarray, wanted: Wanted) -> float:
        """Height of the centre of mass over the ground plane, m; what is lastingly missing is added to the reference
        (a payload, and the MPC's habit of falling at the end of its horizon)."""
        mpc = self.control.mpc
        arm = R @ self.com
        com = body.position + arm
        height = float(com[2]) - plane_height(self._plane, com[0], com[1])
        missing = wanted.height + arm[2] - height
        bias = self._lift_bias + mpc.height_gain * self._elapsed * missing
        self._lift_bias = min(max(bias, -mpc.height_bias), mpc.height_bias)
        return height

    def _hold_targets(self, com: np.ndarray, yaw: float, velocity: np.ndarray, yaw_rate: float) -> None:
        """Move the held position and heading on, never further from the estimate than the clamps."""
        mpc = self.control.mpc
        self._target += self._elapsed * velocity
        away = self._target - com[:2]
        size = math.hypot(away[0], away[1])
        if size > mpc.position_clamp:
            self._target = com[:2] + away * (mpc.position_clamp / size)
        error = wrap_angle(self._yaw + self._elapsed * yaw_rate - yaw)
        self._yaw = wrap_angle(yaw + min(max(error, -mpc.heading_clamp), mpc.heading_clamp))

    def _command(
        self, body: BodyState, legs: LegState, R: np.ndarray, wanted: Wanted, progress: np.ndarray
    ) -> LegCommand:
        robot, gait, control = self.robot, self.gait, self.control
        swing_time = np.maximum(gait.until - gait.since, 0.05)
        wanted_velocity = np.array([wanted.velocity[0], wanted.velocity[1], 0.0])
        wanted_omega = np.array([0.0, 0.0, wanted.yaw_rate])
        height = control.gaits[gait.name].swing_height or control.foothold.swing_height
        p_des, v_des, a_des = leg_targets(
            gait.stance,
            progress,
            swing_time,
            self._lift,
            self._ends,
            height,
            R,
            body.position,
            body.v_world,
            body.omega_body,
            robot.chains.mount_position,
            legs.p,
            wanted_velocity,
            wanted_omega,
        )
        command = LegCommand(robot.num_legs, robot.num_joints)
        command.enable = 1
        _, J, _ = leg_kinematics(legs.q, robot.chains)
        command.tau_ff[:] = swing_torques(gait.stance, J, a_des, self.joint_inertia, SINGULAR)
        command.q_des[:] = legs.q
        standing = gait.stance == 1
        command.kd_joint[:] = self._kd_joint[gait.stance].ravel()
        command.f_ff[standing] = -self._forces[standing] @ R  # the foot presses against the reaction
        command.p_des[:] = p_des
        command.v_des[:] = v_des
        command.kp_cartesian[:] = self._kp[gait.stance]
        command.kd_cartesian[:] = self._kd[gait.stance]
        return command


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a x b (3,); numpy's costs ten times as much."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
