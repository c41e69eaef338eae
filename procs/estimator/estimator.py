"""Estimator: joint_state, imu and the last contact_plan in; body_state and leg_state out."""

from __future__ import annotations

import math

import numpy as np

from lcmtypes.channels import BODY_STATE, CONTACT_PLAN, IMU, JOINT_STATE, LEG_STATE
from lcmtypes.generated import BodyState, ContactPlan, Imu, JointState, LegState
from procs.estimator.contact import SINGULAR, ContactModel
from procs.estimator.kalman import FOOT, Filter, Noises, P, V, new_feet, new_filter, relative_step, start
from procs.estimator.orientation import GRAVITY, new_attitude
from procs.estimator.reference import ReferenceFilter, phase_trust
from procs.estimator.sense import (
    Model,
    finite_filter,
    new_samples,
    new_sense,
    sense_body,
    sense_feet,
)
from procs.estimator.validity import VELOCITY_STD, ImuWatch, Suspension
from procs.model.robot import Robot
from procs.model.rotations import quat_to_rpy
from procs.runtime.spec import Inputs, ProcessSpec, previous, same

DT_MAX = 0.1  # s: a longer gap is not bridged
START_VELOCITY_VAR = 0.01  # m^2/s^2: a run starts at rest
LOST_VELOCITY_VAR = 1.0  # m^2/s^2: after a time without IMU
START_POSITION_VAR = 1e-8  # m^2: the origin is where it starts
REST_TIME = 0.3  # s in which the velocity of a hung robot fades
GYRO_MAX, ACCEL_MAX = 100.0, 1000.0  # rad/s, m/s^2: beyond any IMU, not a measurement
JOINT_MAX = np.array([1e3, 1e4, 1e5])  # rad, rad/s, N m: nonsense


class Estimator:
    """Core of the process."""

    def __init__(self, robot: Robot) -> None:
        d = robot.description
        e = d.estimator
        self.robot = robot
        self._noises = Noises(
            e.position_process.value, e.velocity_process.value, e.foot_process.value, e.foot_position.value,
            e.foot_velocity.value, e.foot_height.value, e.untrusted_factor,
        )  # fmt: skip
        self._noise_array = np.array(self._noises)
        chains = robot.chains
        self._suspension = Suspension(robot.mass)
        length = float(np.linalg.norm(chains.origins[0], axis=1).sum() + np.linalg.norm(chains.foot[0]))
        contact = ContactModel(
            e.contact_force.value, e.contact_force_scale.value, e.contact_force_delay, e.trust_window, SINGULAR * length
        )
        self._model = Model(
            chains, contact, robot.foot_radius, np.array(d.imu.mount.xyz, dtype=float),
            e.orientation == "complementary", e.complementary_gain, e.gyro_bias_gain,
            self._suspension.load, 1.0 + e.untrusted_factor,
        )  # fmt: skip
        self._window = e.trust_window
        self._as_reference = e.filter == "reference"
        self._imu = ImuWatch(d.safety)
        self.reset()

    def reset(self) -> None:
        """A new run: forget everything."""
        legs = self.robot.num_legs
        self._samples = new_samples(legs)
        self._attitude = new_attitude()
        self._sense = new_sense(legs)
        self._feet = new_feet(legs)
        self._filter = new_filter(legs, 1.0)
        self._reference: ReferenceFilter | None = None
        self._phase = np.full(legs, 0.5)
        self._utime: int | None = None
        self._joints_seen = False
        self._started = False
        self._imu.reset()
        self._suspension.reset()

    def step(self, inputs: Inputs) -> list[BodyState | LegState]:
        """One tick."""
        joints: JointState = inputs[JOINT_STATE]
        dt = self._elapsed(joints.utime)
        problem = self._take_joints(joints)
        fresh = self._take_imu(inputs.get(IMU))
        was_lost = self._imu.lost and self._imu.age is not None
        self._imu.step(fresh, dt)
        planned = self._take_plan(inputs.get(CONTACT_PLAN))
        sense, feet, f = self._sense, self._feet, self._filter
        if self._imu.lost:  # nothing known of rotation: kinematics only, as if at rest
            self._samples.gyro[:] = self._attitude.bias
            self._samples.accel[:] = GRAVITY * sense.R[2]
        sense_body(sense, self._attitude, self._samples, self._model, fresh, dt)
        planned = planned and not self._suspension.hangs  # no plan loads the feet of a hung robot
        doubtful = sense_feet(sense, feet.block, f, self._samples, self._model, planned, dt)
        hangs = self._suspension.step(float(sense.calm[0]), float(sense.calm[1]), float(sense.calm[2]), dt)
        if hangs:
            feet.free[:] = 1.0
        if was_lost and not self._imu.lost:
            self._forget_velocity()
        if self._joints_seen:
            self._advance(dt, hangs, doubtful)
        if not finite_filter(f):
            problem = "estimate not finite, started again"
            self._restart()
        return [self._body_state(problem or self._reason(joints, hangs)), self._leg_state()]

    def _elapsed(self, utime: int) -> float:
        """Seconds since the last tick, bounded."""
        dt = self.robot.dt if self._utime is None else 1e-6 * (utime - self._utime)
        self._utime = utime
        return min(dt, DT_MAX) if dt > 0 else self.robot.dt

    def _take_joints(self, joints: JointState) -> str:
        """Copy what is good; returns what is wrong with the message as a whole."""
        s, legs = self._samples, self.robot.num_legs
        if joints.num_joints != self.robot.num_joints:
            s.bad[:] = 1.0
            return f"joint_state has {joints.num_joints} joints, the robot {self.robot.num_joints}"
        values = np.stack((joints.q, joints.qd, joints.tau))
        if joints.fault.any():
            s.bad[:] = (joints.fault.reshape(legs, 3) != 0).any(axis=1)
        else:
            s.bad[:] = 0.0
        if not np.abs(values).max() < 1e3:
            good = (np.abs(values) < JOINT_MAX[:, None]).all(axis=0)  # false for NaN
            s.bad[~good.reshape(legs, 3).all(axis=1)] = 1.0
            values[:, ~good] = 0.0
            values[0, ~good] = s.q[~good]
        s.q[:], s.qd[:], s.tau[:] = values
        self._joints_seen = self._joints_seen or not s.bad.all()
        return ""

    def _take_imu(self, imu: Imu | None) -> bool:
        """Copy a good sample; False if there is none."""
        if imu is None or not imu.valid:
            return False
        q, w, a = imu.quat.tolist(), imu.gyro.tolist(), imu.accel.tolist()
        norm = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
        # `not <` and not `>`: NaN must fail.
        if not (max(map(abs, w)) < GYRO_MAX and max(map(abs, a)) < ACCEL_MAX and math.isfinite(sum(w) + sum(a))):
            return False
        if not self._model.complementary and not abs(norm - 1.0) < 0.05:
            return False
        s = self._samples
        s.quat[:], s.gyro[:], s.accel[:] = q, w, a
        return True

    def _take_plan(self, plan: ContactPlan | None) -> bool:
        """Copy a plan; False if there is none."""
        if plan is None or plan.num_legs != self.robot.num_legs or not plan.finite():
            return False
        self._samples.stance[:] = plan.stance
        self._samples.phase[:] = plan.phase
        self._phase[:] = plan.contact
        return True

    def _restart(self) -> None:
        """Begin the filter again at the origin; the attitude stays."""
        self._started = False
        self._reference = None
        for array in self._filter:
            array[:] = 0.0
        for array in self._sense[:4]:
            array[:] = 0.0

    def _forget_velocity(self) -> None:
        """What was estimated without IMU is worth little."""
        for C in (self._filter.Pxy, self._filter.Pz):
            C[V, :] = 0.0
            C[:, V] = 0.0
            C[V, V] = LOST_VELOCITY_VAR

    def _advance(self, dt: float, hangs: bool, doubtful: bool) -> None:
        sense, feet, f = self._sense, self._feet, self._filter
        if not self._started:
            foot_var = self._noises.foot_position
            start(f, feet.offset, self._model.radius, START_POSITION_VAR, START_VELOCITY_VAR, foot_var)
            self._started = True
        if not self._as_reference:
            rest_time = REST_TIME if hangs else 0.0
            relative_step(f, self._noise_array, feet.block, sense.accel_world, dt, rest_time, doubtful)
            return
        if self._reference is None:
            self._reference = ReferenceFilter(self.robot.num_legs, self._noises, self._model.radius)
        trust = phase_trust(self._phase, self._window)
        self._reference.step(feet.offset.T, feet.velocity.T, trust, sense.accel_world, dt)
        self._copy_reference(f, self._reference)

    @staticmethod
    def _copy_reference(f: Filter, reference: ReferenceFilter) -> None:
        x, C = reference.kf.x, reference.kf.P
        f.x[:, P], f.x[:, V] = x[0:3], x[3:6]
        f.x[:, FOOT:] = x[6:].reshape(-1, 3).T
        f.Pxy[:], f.Pz[:] = C[0::3, 0::3], C[2::3, 2::3]

    def _reason(self, joints: JointState, hangs: bool) -> str:
        """Why the estimate is not valid; empty if it is."""
        if self._imu.lost:
            return self._imu.reason
        if (joints.fault > 1).any():
            return f"joint {self.robot.joint_names[int((joints.fault > 1).argmax())]} lost"
        if not self._joints_seen:
            return "no good joint sample yet"
        if self._attitude.started[0] == 0.0:
            return "attitude unknown: no vertical felt yet"
        if hangs:
            return "suspended: no foot carries load"
        std = math.sqrt(max(self._filter.Pxy[V, V], self._filter.Pz[V, V]))
        return f"velocity uncertain: {std:.2f} m/s" if std > VELOCITY_STD else ""

    def _body_state(self, reason: str) -> BodyState:
        m = BodyState(self.robot.num_legs)
        s, f, quat = self._sense, self._filter, self._attitude.quat
        m.valid, m.reason = int(not reason), reason
        m.position[:] = f.x[:, P]
        m.v_world[:] = v = f.x[:, V]
        m.v_body[:] = v @ s.R
        m.quat[:] = quat
        m.rpy[:] = quat_to_rpy(quat)
        m.omega_body[:] = s.omega
        m.omega_world[:] = s.R @ s.omega
        m.a_body[:] = s.accel
        xy, z = f.Pxy, f.Pz
        m.position_std[:] = math.sqrt(xy[P, P]), math.sqrt(xy[P, P]), math.sqrt(z[P, P])
        m.velocity_std[:] = math.sqrt(xy[V, V]), math.sqrt(xy[V, V]), math.sqrt(z[V, V])
        m.contact[:] = s.contact
        return m

    def _leg_state(self) -> LegState:
        m = LegState(self.robot.num_legs, self.robot.num_joints)
        samples, s = self._samples, self._sense
        m.q[:], m.qd[:], m.tau[:] = samples.q, samples.qd, samples.tau
        m.p[:], m.v[:], m.foot_force[:] = s.p, s.v, s.force
        return m


SPEC = ProcessSpec(
    name="estimator",
    trigger=JOINT_STATE,
    reads=(same(IMU), previous(CONTACT_PLAN)),
    writes=(BODY_STATE, LEG_STATE),
    core=Estimator,
)
