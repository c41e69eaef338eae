"""Walking: gait schedule, footholds and swings each tick, stance forces from the convex MPC."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit

from lcmtypes.generated import BodyState, ContactPlan, LegCommand, LegState, MpcDebug
from procs.controller.command import Wanted
from procs.controller.convex_mpc import ConvexMpc, MpcSolution
from procs.controller.footholds import fit_plane, plan_footholds, plane_height
from procs.controller.gait import GaitSchedule
from procs.controller.swing import leg_targets, swing_torques
from procs.model.legs import leg_kinematics
from procs.model.robot import Robot
from procs.model.rotations import quat_to_matrix, wrap_angle

SINGULAR = 0.02  # m, damping of J^-1 in the swing feed-forward
PLANE_TIME = 0.1  # s, time constant of the ground plane's filter


@njit(cache=True)
def lever_arms(
    t: float,
    step: float,
    contact: np.ndarray,
    began: np.ndarray,
    anchor: np.ndarray,
    feet: np.ndarray,
    nominal: np.ndarray,
    com: np.ndarray,
    velocity: np.ndarray,
    stance_time: float,
    yaw: float,
    yaw_rate: float,
) -> np.ndarray:
    """Contact points minus the centre of mass (horizon, L, 3), world axes, per stage of the MPC.

    The contact that holds now or comes first, up to the one begun at `anchor` (L,) s, stays at `feet` (L, 3) while the
    body moves on with `velocity`; a later contact lands around the moved hip as the foothold rule says.
    """
    horizon, legs = contact.shape
    out = np.empty((horizon, legs, 3))
    for k in range(horizon):
        ahead = k * step
        angle = yaw + yaw_rate * ahead
        c, s = math.cos(angle), math.sin(angle)
        for leg in range(legs):
            if began[k, leg] > anchor[leg] + 1e-9:
                lead = 0.5 * stance_time - (t + ahead - began[k, leg])
                out[k, leg, 0] = c * nominal[leg, 0] - s * nominal[leg, 1] + velocity[0] * lead
                out[k, leg, 1] = s * nominal[leg, 0] + c * nominal[leg, 1] + velocity[1] * lead
            else:
                out[k, leg, 0] = feet[leg, 0] - com[0] - velocity[0] * ahead
                out[k, leg, 1] = feet[leg, 1] - com[1] - velocity[1] * ahead
            out[k, leg, 2] = feet[leg, 2] - com[2]
    return out


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
        self.control, mpc = control, control.mpc
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
        rest = robot.stand_feet + robot.chains.mount_position
        hold = control.foothold
        self.nominal = rest[:, :2] + np.stack(
            (np.full(robot.num_legs, hold.forward), hold.outward * np.sign(rest[:, 1])), axis=1
        )
        self.joint_inertia = robot.joint_inertia(stand)
        self._kp_swing, self._kd_swing = np.array(control.swing.kp), np.array(control.swing.kd)
        self._kp_stance, self._kd_stance = np.array(control.stance.kp), np.array(control.stance.kd)
        self._failures = 0
        self.start(0.0, None, None, control.default_gait)

    def start(self, t: float, body: BodyState | None, legs: LegState | None, gait: str) -> None:
        """Begin from a stand at time t (s of the run)."""
        self.gait.start(t, gait)
        n = self.robot.num_legs
        self._next_mpc = 0
        self._forces = np.zeros((n, 3))
        self._solution: MpcSolution | None = None
        self._yaw = 0.0
        self._target = np.zeros(2)
        self._plane = np.zeros(3)
        self._lift = np.zeros((n, 3))
        self._contact_points = np.zeros((n, 3))
        self._ends = np.zeros((n, 3))
        self.tilt = 0.0
        if body is None or legs is None:
            return
        R = quat_to_matrix(body.quat)
        feet = body.position + (legs.p + self.robot.chains.mount_position) @ R.T
        self._contact_points[:] = feet
        self._contact_points[:, 2] -= self.robot.foot_radius
        self._lift[:] = feet
        self._ends[:] = feet
        self._plane = fit_plane(self._contact_points)
        self._yaw = float(body.rpy[2])
        self._target[:] = (body.position + R @ self.com)[:2]

    def settled(self) -> bool:
        """All legs on the ground and no lift-off planned."""
        return bool(self.gait.stance.all()) and self.gait.duty >= 1.0

    def switch(self, name: str, t: float) -> None:
        """Change the gait while walking, through the gait named `via` where one is needed."""
        if name != self.gait.name:
            self.gait.switch(name, t)

    def step(self, t: float, body: BodyState, legs: LegState, wanted: Wanted) -> WalkOutputs:
        """One control tick at time t of the run, s."""
        robot, gait, hold = self.robot, self.gait, self.control.foothold
        R = quat_to_matrix(body.quat)
        yaw = float(body.rpy[2])
        feet = body.position + (legs.p + robot.chains.mount_position) @ R.T
        events = gait.update(t)
        self._lift[events == 1] = feet[events == 1]
        standing = gait.stance == 1
        self._track_ground(feet, standing, body.contact)
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
        self._ends[~standing] = ends[~standing]
        self._ends[standing] = feet[standing]
        progress = gait.progress(t)
        debug = None
        if self._next_mpc <= 0:
            self._next_mpc = self.control.mpc.every
            debug = self._solve(t, body, R, velocity, wanted, feet)
        self._next_mpc -= 1
        command = self._command(body, legs, R, wanted, progress)
        plan = ContactPlan(robot.num_legs)
        plan.stance[:] = gait.stance
        plan.phase[:] = progress
        plan.contact[:] = np.where(standing, np.maximum(progress, 1e-6), 0.0)
        return WalkOutputs(command, plan, debug)

    def _track_ground(self, feet: np.ndarray, standing: np.ndarray, contact: np.ndarray) -> None:
        """Plane through the points where each leg last stood firmly."""
        firm = standing & (contact > 0.5)
        self._contact_points[firm] = feet[firm]
        self._contact_points[firm, 2] -= self.robot.foot_radius
        k = min(1.0, self.robot.dt / PLANE_TIME)
        self._plane = self._plane + k * (fit_plane(self._contact_points) - self._plane)

    def _solve(
        self, t: float, body: BodyState, R: np.ndarray, velocity: np.ndarray, wanted: Wanted, feet: np.ndarray
    ) -> MpcDebug:
        mpc, gait = self.control.mpc, self.gait
        elapsed = mpc.every * self.robot.dt
        yaw = float(body.rpy[2])
        arm = R @ self.com
        com = body.position + arm
        v_com = body.v_world + np.cross(body.omega_world, arm)
        state = np.concatenate((body.rpy, com, body.omega_world, v_com))
        # Held targets for position and heading, never further from the estimate than the clamps.
        self._target += elapsed * velocity
        away = self._target - com[:2]
        size = float(np.hypot(away[0], away[1]))
        if size > mpc.position_clamp:
            self._target = com[:2] + away * (mpc.position_clamp / size)
        self._yaw = wrap_angle(self._yaw + elapsed * wanted.yaw_rate)
        error = wrap_angle(self._yaw - yaw)
        error = min(max(error, -mpc.heading_clamp), mpc.heading_clamp)
        self._yaw = wrap_angle(yaw + error)
        ahead = mpc.step * np.arange(1, mpc.horizon + 1)
        reference = np.zeros((mpc.horizon, 12))
        slope_x = self._plane[1] * math.cos(yaw) + self._plane[2] * math.sin(yaw)
        slope_y = -self._plane[1] * math.sin(yaw) + self._plane[2] * math.cos(yaw)
        reference[:, 0] = wanted.roll + math.atan(slope_y)
        reference[:, 1] = wanted.pitch - math.atan(slope_x)
        reference[:, 2] = yaw + error + wanted.yaw_rate * ahead
        reference[:, 3] = self._target[0] + velocity[0] * ahead
        reference[:, 4] = self._target[1] + velocity[1] * ahead
        ground = plane_height(self._plane, com[0], com[1])
        climb = self._plane[1] * velocity[0] + self._plane[2] * velocity[1]
        reference[:, 5] = ground + wanted.height + arm[2] + climb * ahead
        reference[:, 8] = wanted.yaw_rate
        reference[:, 9], reference[:, 10], reference[:, 11] = velocity[0], velocity[1], climb
        contact, began = gait.table(t, mpc.step, mpc.horizon)
        points = self._ends.copy()
        points[:, 2] -= self.robot.foot_radius
        anchor = np.where(gait.stance == 1, gait.since, gait.until)
        arms = lever_arms(
            t,
            mpc.step,
            contact,
            began,
            anchor,
            points,
            self.nominal,
            com,
            velocity,
            gait.stance_time,
            yaw,
            wanted.yaw_rate,
        )
        solution = self.mpc.solve(state, arms, reference, contact)
        debug = MpcDebug(mpc.horizon, self.robot.num_legs)
        debug.iterations, debug.status = solution.iterations, solution.status.name.lower()
        if solution.status != 0:
            # The last forces stay in force for the legs that still stand; the watchdog of states is elsewhere.
            self._failures += 1
            self._forces[gait.stance == 0] = 0.0
        else:
            self._solution = solution
            self._forces = solution.forces
            debug.path[:] = self.mpc.predict()[:, 3:6]
        debug.failures = self._failures
        debug.forces[:] = self._forces
        debug.footsteps[:] = self._ends
        return debug

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
        standing = gait.stance[:, None] == 1
        command.p_des[:] = p_des
        command.v_des[:] = v_des
        command.kp_cartesian[:] = np.where(standing, self._kp_stance, self._kp_swing)
        command.kd_cartesian[:] = np.where(standing, self._kd_stance, self._kd_swing)
        command.f_ff[:] = np.where(standing, -self._forces @ R, 0.0)  # the foot presses against the reaction
        _, J, _ = leg_kinematics(legs.q, robot.chains)
        command.tau_ff[:] = swing_torques(gait.stance, J, a_des, self.joint_inertia, SINGULAR)
        command.q_des[:] = legs.q
        command.kd_joint[:] = np.where(np.repeat(gait.stance, 3) == 1, control.stance.kd_joint, control.swing.kd_joint)
        return command
