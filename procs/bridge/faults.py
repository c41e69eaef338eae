"""Judges what came over the bus: raw motor state in, joint_state with only believable values out.

A value is believed if its frame was sound (procs.wire), it is not the first after enable, and it lies where the joint
can be, `dt` after the last believed one: |q - (last + mean velocity dt)| within half of what the drive's top speed
covers in a tick, |q - (last + last velocity dt)| within twice that. So the check ties position and velocity together:
what passes is at most top speed x one tick + quanta away from the truth. After bad ticks the velocity may have changed
at any time between the two samples, which moves the position by up to half the change x dt more: by that the bound
grows, and by no more, so for joints that keep their velocity it stays half a tick's motion however long the gap. A
sample outside of it waits for a second one that agrees. The believed value before the last one may vouch for a sample
too: the last may be a wrong one that was just small enough.
The last believed value is kept and aged where a new one is not.

What a checksum by XOR does not see, and what does:
  a bit in two words, two words exchanged   these bounds; what is smaller than them looks like motion and is harmless
  a frame of zeros                          rejected as such (procs.wire.spine)
  values changed before the checksum        NaN and ends of the range: decoder; jumps and wrong velocities: these bounds
  a whole old frame                         known by its bytes (spine_drives: history of 16 replies)
  a frozen board                            _stale: once its own velocities would have carried a joint half a tick's
                                            motion, or the wanted torque has changed
What no bound on motion can see:
  a wrong sample right after a gap of two or more bad ticks, while the joint is hit so hard that it changes velocity by
  near its top speed: there true samples lie up to 1.5 ticks' motion off the mean
  an old frame whose first delivery was spoiled, while a joint turns over within some ticks: no history knows it
Both take two faults on a line within some ticks and a joint in a jolt at once.

A board at rest may be frozen unseen: nothing contradicts it, and nothing is wrong but its age. The drives' noise would
tell: but for one freeze of 634 cycles, the boards of Scotty's recorded rig run (tools.convert_scotty) never sent the
same positions and velocities more than twice. But emulated drives have no noise, so equal bytes alone are no fault
here; they count as `stale` on bus_status and as joint_state.age.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcmtypes.generated import JointState
from procs.bridge.joint_map import JointMap
from procs.bridge.raw import BusCounts, RawState
from procs.model.robot import Robot
from procs.wire.unwrap import rewrap, unwrap

Array = NDArray[np.float64]
GOOD, BAD, LOST = 0, 1, 2
SLACK = 0.5  # of a tick's motion at top speed: what old and new velocity need not explain
FASTEST = 1.5  # of the top speed: a faster reading is nonsense
STALE_TORQUE = 0.25  # of the torque limit: a change of the wanted torque that no robot answers with equal bytes
JUMP, FAST, FIRST, STALE, START = (
    "impossible jump", "impossible velocity", "first reply after enable", "the same sample again and again",
    "not confirmed by a second sample",
)  # fmt: skip


class Sensing:
    """Unwrapping, joint map and belief, for all joints at once."""

    def __init__(
        self, robot: Robot, joint_map: JointMap, half_range: Array, lines: NDArray[np.int64], in_a_row: int,
        counts: BusCounts,
    ) -> None:  # fmt: skip
        self.robot, self.map, self.half_range, self.lines = robot, joint_map, half_range, lines
        self.counts, self._in_a_row = counts, in_a_row
        jump = robot.description.safety.jump_quanta
        quanta = [(a.position_quantum, a.velocity_quantum) for a in robot.actuators]
        self._tick = robot.qd_max * robot.dt  # motion at top speed
        self._quanta = robot.per_joint([jump * (p + v * robot.dt) for p, v in quanta])
        self._fast = FASTEST * robot.qd_max
        self.begin()

    def begin(self) -> None:
        """A new run: nothing is believed yet."""
        n = self.robot.num_joints
        self.q, self.qd, self.tau = np.zeros(n), np.zeros(n), np.zeros(n)  # last believed
        self.known = np.zeros(n, bool)
        self.bad = np.zeros(n, np.int64)  # ticks without a believed sample
        self.faulty = np.zeros(n, np.int64)  # ticks in which value or drive were at fault
        self.why: list[str] = [""] * n  # of the last rejection
        self._wrapped, self._turns = np.full(n, np.nan), np.zeros(n, np.int64)
        self._candidate = np.full((2, n), np.nan)
        self._before = np.full((3, n), np.nan)  # q, qd believed before the last, and ticks between the two
        self._repeats = np.zeros(n, np.int64)
        self._wanted = np.zeros((2, n))  # least and most torque wanted while the sample repeats

    def to_motor_range(self, position: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Targets in the drives' present turns, and which can be reached."""
        return rewrap(position, self._turns, self.half_range)

    def step(self, raw: RawState, wanted: Array, ill: NDArray[np.bool_]) -> JointState:
        """One exchange. `wanted`: torque (n,) that the drives were told; `ill`: drives at fault for other reasons."""
        position, last, turns = unwrap(raw.position, self._wrapped, self._turns, self.half_range, raw.valid)
        q, qd, tau = self.map.to_joints(position, raw.velocity, raw.torque)
        good = self._believed(raw, q, qd) & ~self._stale(raw, qd, wanted)
        gap = self.bad + 1.0
        self._wrapped, self._turns = np.where(good, last, self._wrapped), np.where(good, turns, self._turns)
        if good.all():
            self._before = np.where(self.known, (self.q, self.qd, gap), np.nan)
            self.q, self.qd, self.tau = q, qd, tau
            self.known[:] = True
            self.bad[:] = 0
        else:
            self._before = np.where(good, np.where(self.known, (self.q, self.qd, gap), np.nan), self._before)
            self.q, self.qd = np.where(good, q, self.q), np.where(good, qd, self.qd)
            self.tau = np.where(good, tau, self.tau)
            self.known |= good
            self.bad = np.where(good, 0, self.bad + 1)
        self.faulty = np.where(good & ~ill, 0, self.faulty + 1)
        return self._message(good, ill)

    @property
    def lost(self) -> NDArray[np.bool_]:
        """Joints at fault for too long."""
        return self.faulty >= self._in_a_row

    def _message(self, good: NDArray[np.bool_], ill: NDArray[np.bool_]) -> JointState:
        joints = JointState(self.robot.num_joints)
        joints.q[:], joints.qd[:], joints.tau[:] = self.q, self.qd, self.tau
        at_fault = ~good | ill
        if at_fault.any() or self._repeats.any():
            joints.age[:] = np.maximum(self.bad, self._repeats) * self.robot.dt
            joints.fault[at_fault] = BAD
            joints.fault[self.lost] = LOST
        return joints

    def _believed(self, raw: RawState, q: Array, qd: Array) -> NDArray[np.bool_]:
        usable = raw.valid & ~raw.distrusted
        with np.errstate(invalid="ignore"):
            slow = np.abs(qd) <= self._fast
            good = usable & slow & self.known & self._near(q, qd, self.q, self.qd, self.bad + 1.0)
            if not good.all():
                good |= usable & slow & self._vouched(q, qd)
        if not good.all():
            self._candidate = np.where(usable & slow, (q, qd), np.nan)
            for j in np.flatnonzero(~good).tolist():
                self._say(j, raw, bool(raw.distrusted[j]), bool(slow[j]))
        else:
            self._candidate[:] = np.nan
        return good

    def _vouched(self, q: Array, qd: Array) -> NDArray[np.bool_]:
        """Near the one before the last, or near a sample of the tick before that was not believed for itself."""
        ticks = self.bad + 1.0
        confirmed = self._near(q, qd, self._candidate[0], self._candidate[1], 1.0)
        reachable = np.abs(q - self.q) <= self._tick * ticks + self._quanta
        before = self._near(q, qd, self._before[0], self._before[1], ticks + self._before[2], grows=False)
        return np.where(self.known, before | (confirmed & reachable), confirmed)

    def _near(
        self, q: Array, qd: Array, q0: Array, qd0: Array, ticks: ArrayLike, grows: bool = True
    ) -> NDArray[np.bool_]:
        ticks = np.asarray(ticks)
        step, dt, slack = q - q0, self.robot.dt * ticks, SLACK * self._tick
        reach = slack + self._quanta
        if grows:
            reach = reach + np.minimum(slack * (ticks - 1.0), 0.5 * np.abs(qd - qd0) * dt)
        return (np.abs(step - 0.5 * (qd + qd0) * dt) <= reach) & (np.abs(step - qd0 * dt) <= 2 * reach)

    def _say(self, j: int, raw: RawState, distrusted: bool, slow: bool) -> None:
        if not raw.valid[j]:
            self.why[j] = raw.why.get(j, "no reply")
            return  # counted where it was found
        reason = FIRST if distrusted else FAST if not slow else JUMP if self.known[j] else START
        self.why[j] = reason
        self.counts.reject(reason)

    def _stale(self, raw: RawState, qd: Array, wanted: Array) -> NDArray[np.bool_]:
        """The same bytes although the joint moves by its own words, or for long although the wanted torque changed."""
        repeated = raw.repeated
        if not repeated.any():
            if self._repeats.any():
                self._repeats[:] = 0
            return repeated
        fresh = self._repeats == 0
        self._wanted = np.where(
            fresh, wanted, (np.minimum(self._wanted[0], wanted), np.maximum(self._wanted[1], wanted))
        )
        self._repeats = np.where(repeated, self._repeats + 1, 0)
        with np.errstate(invalid="ignore"):
            moving = np.abs(qd) * self._repeats * self.robot.dt > self._quanta + SLACK * self._tick
        pushed = self._wanted[1] - self._wanted[0] > STALE_TORQUE * self.robot.tau_max
        suspect = (repeated & moving) | ((self._repeats >= self._in_a_row) & pushed)
        if not suspect.any():
            return suspect
        stale = repeated & np.isin(self.lines, self.lines[suspect])
        for j in np.flatnonzero(stale).tolist():
            self.why[j] = STALE
            self.counts.reject(STALE)
        return stale
