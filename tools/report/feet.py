"""Feet of a run: contacts planned and felt, footfall pattern, slip, centre of pressure, margins of balance."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from lcmtypes.channels import BODY_STATE, CONTACT_PLAN, GROUND_TRUTH, LEG_STATE
from procs.model.legs import leg_kinematics
from tools.metrics import GRAVITY, LOADED
from tools.report.log import Run, intervals
from tools.report.rotation import heading_frame, rotate
from tools.report.signals import Signals, trailing_sum

FELT = 0.5  # contact probability from which a foot counts as standing
SURE = 0.9
SLIP_TIME = 0.2  # s
DIRECTIONS = 72  # in which a support polygon is looked at


class Feet:
    """Arrays (ticks, legs, ...); None where the log lacks the channels. World axes."""

    def __init__(self, run: Run, signals: Signals) -> None:
        self.run, self.s, self.robot, self.dt = run, signals, run.robot, run.dt
        self.planned = signals.planned
        self.probability = run.field(BODY_STATE, "contact")

    @cached_property
    def felt(self) -> np.ndarray | None:
        """What the estimator takes for contact."""
        return None if self.probability is None else self.probability > FELT

    @cached_property
    def loaded(self) -> np.ndarray | None:
        """True load (the simulator's), at least LOADED of a foot's share."""
        force = self.run.field(GROUND_TRUTH, "foot_force")
        return None if force is None else force[:, :, 2] >= LOADED * self.robot.mass * GRAVITY / self.robot.num_legs

    @cached_property
    def force(self) -> np.ndarray | None:
        """Force on the feet, N: true where there is, else estimated."""
        true, own = self.run.field(GROUND_TRUTH, "foot_force"), self.run.field(LEG_STATE, "foot_force")
        if true is not None or own is None or self.s.rotation is None:
            return true
        standing = np.zeros(own.shape[:2]) if self.felt is None else self.felt
        return rotate(self.s.rotation, own) * standing[:, :, None]

    @cached_property
    def position(self) -> np.ndarray | None:
        """Contact points m: true where there is, else estimated."""
        true, body = self.run.field(GROUND_TRUTH, "foot_position"), self.run.field(BODY_STATE, "position")
        if true is not None or body is None or self.s.feet_from_body is None:
            return true
        return body[:, None, :] + self.s.feet_from_body - (0, 0, self.robot.foot_radius)

    @cached_property
    def body(self) -> np.ndarray | None:
        """Body origin in the frame of `position`."""
        true = self.run.field(GROUND_TRUTH, "position")
        return true if true is not None else self.run.field(BODY_STATE, "position")

    @cached_property
    def velocity(self) -> np.ndarray | None:
        """Body velocity in the frame of `position`."""
        true = self.run.field(GROUND_TRUTH, "v_world")
        return true if true is not None else self.run.field(BODY_STATE, "v_world")

    # -- slip ----------------------------------------------------------------------------------------------------------

    @cached_property
    def slip(self) -> np.ndarray | None:
        """Travel of the loaded contact point, within one stance and the last SLIP_TIME, mm: true where there is, else
        estimated."""
        true = self.run.field(GROUND_TRUTH, "foot_slip")
        if true is not None and self.loaded is not None:
            return self._travel(np.linalg.norm(true, axis=2), self.loaded)
        return self.estimated_slip

    @cached_property
    def estimated_slip(self) -> np.ndarray | None:
        """The same from the robot's own estimate: kinematics and the estimated velocity of the body."""
        if self.contact_speed is None or self.probability is None or self.planned is None:
            return None
        return self._travel(self.contact_speed * self.dt, (self.probability > SURE) & (self.planned > 0))

    def _travel(self, amount: np.ndarray, standing: np.ndarray) -> np.ndarray:
        recent = trailing_sum(np.where(standing, amount, 0.0), round(SLIP_TIME / self.dt))
        return 1e3 * np.minimum(recent, _since(amount, standing))

    @cached_property
    def contact_speed(self) -> np.ndarray | None:
        """Horizontal speed of the rolling spheres' lowest points by the estimate, m/s."""
        s, (q, qd, v) = self.s, (self.run.field(LEG_STATE, n) for n in ("q", "qd", "v"))
        v_body, omega = (self.run.field(BODY_STATE, n) for n in ("v_world", "omega_world"))
        if s.rotation is None or s.feet_from_body is None or v_body is None or omega is None:
            return None
        if q is None or qd is None or v is None:
            return None
        legs = self.robot.num_legs
        axes = np.full((len(q), legs, 3, 3), np.nan)
        for k in np.flatnonzero(np.isfinite(q).all(axis=1)):
            axes[k] = leg_kinematics(q[k], self.robot.chains)[2]
        spin = np.einsum("klji,klj->kli", axes, qd.reshape(-1, legs, 3))
        shank = omega[:, None, :] + rotate(s.rotation, spin)
        centre = v_body[:, None, :] + np.cross(omega[:, None, :], s.feet_from_body) + rotate(s.rotation, v)
        rolled = centre + np.cross(shank, np.array([0, 0, -self.robot.foot_radius]))
        return np.linalg.norm(rolled[:, :, :2], axis=2)

    # -- contacts against the plan -------------------------------------------------------------------------------------

    @cached_property
    def late(self) -> np.ndarray | None:
        """s since a planned stance began without the foot being felt; 0 from the first contact on."""
        if self.planned is None or self.felt is None:
            return None
        stance = (self.planned > 0) & self.s.walking[:, None]
        touched = _since(self.felt.astype(float), stance) > 0
        return _since(np.full(stance.shape, self.dt), stance & ~touched)

    @cached_property
    def early(self) -> np.ndarray | None:
        """s for which a foot carries load in the middle of its planned swing (phase 0.2 to 0.8)."""
        phase = self.run.field(CONTACT_PLAN, "phase")
        if self.planned is None or self.felt is None or phase is None:
            return None
        middle = (self.planned == 0) & self.s.walking[:, None] & (phase > 0.2) & (phase < 0.8)
        return _since(np.full(middle.shape, self.dt), middle & self.felt)

    # -- balance -------------------------------------------------------------------------------------------------------

    @cached_property
    def pressure(self) -> np.ndarray | None:
        """Centre of pressure (ticks, 2), m; NaN while the feet carry less than a fifth of the weight."""
        if self.force is None or self.position is None:
            return None
        load = np.maximum(np.nan_to_num(self.force[:, :, 2]), 0.0)
        total = load.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            at = (load[:, :, None] * self.position[:, :, :2]).sum(axis=1) / total[:, None]
        return np.where((total > 0.2 * self.robot.mass * GRAVITY)[:, None], at, np.nan)

    @cached_property
    def centre_of_mass(self) -> np.ndarray | None:
        """(ticks, 3), of the stand pose."""
        R = self.s.true_rotation if self.s.true_rotation is not None else self.s.rotation
        if self.body is None or R is None:
            return None
        return self.body + R @ self.robot.composite(self.robot.pose("stand"))[1]

    @cached_property
    def support_margin(self) -> np.ndarray | None:
        """Distance m of the centre of mass inside the polygon of the standing feet; negative outside (in a trot it is
        a line between two feet: never positive)."""
        standing = self.loaded if self.loaded is not None else self.felt
        if self.centre_of_mass is None or self.position is None or standing is None:
            return None
        return margin(self.centre_of_mass[:, :2], self.position[:, :, :2], standing)

    @cached_property
    def capture_margin(self) -> np.ndarray | None:
        """Distance m of the capture point, of the velocity that is not wanted, inside the polygon of all feet."""
        com, v = self.centre_of_mass, self.velocity
        rpy = self.s.true_rpy if self.s.true_rpy is not None else self.s.rpy
        if com is None or v is None or self.position is None or rpy is None:
            return None
        pace = heading_frame(np.c_[self.s.paced_speed, np.zeros(len(com))], -np.radians(rpy[:, 2]))  # back to the world
        time = np.sqrt(self.robot.description.control.nominal_height / GRAVITY)
        point = com[:, :2] + time * (v - pace)[:, :2]
        return margin(point, self.position[:, :, :2], np.ones(self.position.shape[:2], bool))


def _since(amount: np.ndarray, during: np.ndarray) -> np.ndarray:
    """Running sum of (ticks, n) amounts within each stretch of `during`; 0 outside."""
    total = np.cumsum(np.where(during, np.nan_to_num(amount), 0.0), axis=0)
    begin = np.maximum.accumulate(np.where(during, 0.0, total), axis=0)
    return np.where(during, total - begin, 0.0)


def margin(point: np.ndarray, corners: np.ndarray, standing: np.ndarray) -> np.ndarray:
    """Signed distance m of points (ticks, 2) inside the hull of the standing corners (ticks, n, 2): the least over
    DIRECTIONS of (support of the hull - point), a per mille off at most. NaN with no corner."""
    angles = 2 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    way = np.stack((np.cos(angles), np.sin(angles)))
    reach = np.where(standing[:, :, None], corners @ way, -np.inf).max(axis=1)
    out = (reach - point @ way).min(axis=1)
    return np.where(standing.any(axis=1) & np.isfinite(out), out, np.nan)


def stances(run: Run, mask: np.ndarray) -> list[list[tuple[float, float]]]:
    """Per leg the stretches of True of a mask (ticks, legs) as times s."""
    return [[(float(run.t[a]), float(run.t[b - 1] + run.dt)) for a, b in intervals(m)] for m in mask.T]
