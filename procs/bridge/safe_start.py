"""Safe start of the drives, in ticks: enter, settle, validate, retry, hold at the measured position, ramp the gains.

off -> entering -> holding -> ramping -> running; a drive that fails its check `retries` times is isolated, named, and
stays off until everything is disabled and enabled again. `disabled` is where `disable` leads: off for good until the
commands let go.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from config.bus import StartUp
from lcmtypes.generated import JointCommand
from procs.bridge.joint_map import DriveCommand
from procs.model.robot import Robot

Mask = NDArray[np.bool_]
REST = 2  # ticks off before an attempt is repeated
AFTER = 5  # ticks after settling within which a good sample must come


class SafeStart:
    """Turns accepted joint_commands into what the drives may be told."""

    def __init__(self, robot: Robot, start: StartUp) -> None:
        n, dt = robot.num_joints, robot.dt
        self.robot, self.retries = robot, start.retries
        self._settle = max(1, round(start.settle / dt))
        self._ramp = max(1, round(start.ramp / dt))
        margin = robot.description.safety.joint_margin
        self._lower, self._upper = robot.q_lower - margin, robot.q_upper + margin
        self.limp = False  # off means: in motor mode with zero gains (drives that say nothing otherwise)
        self.repeated = 0  # attempts that had to be repeated, since the start
        self.isolated: Mask = np.zeros(n, bool)
        self.reasons: dict[int, str] = {}  # why a joint is isolated
        self._off()

    def _off(self, state: str = "off") -> None:
        n = self.robot.num_joints
        self.state = state
        self._count = 0
        self._attempt = 1
        self._good = np.zeros(n, bool)  # has shown a good sample since it settled
        self._resting = np.zeros(n, bool)

    def begin(self) -> None:
        """A new run."""
        self.limp = False
        self._release()
        self._off()

    def _release(self) -> None:
        self.isolated = np.zeros(self.robot.num_joints, bool)
        self.reasons = {}

    def isolate(self, joints: Mask, why: list[str]) -> None:
        """Take joints out, with the reason of each."""
        for j in np.flatnonzero(joints & ~self.isolated).tolist():
            self.reasons[j] = why[j]
        self.isolated = self.isolated | joints

    def disable(self) -> None:
        """Switch everything off until the commands have let go once."""
        if self.state != "disabled":
            self._off("disabled")

    def command(self, command: JointCommand | None, q: NDArray[np.float64]) -> DriveCommand:
        """What to tell the drives in this tick, joint side; `q` (n,) rad is the newest measured position."""
        n = self.robot.num_joints
        wanted = command.enable != 0 if command is not None else np.zeros(n, bool)
        if command is None or not wanted.any():
            if self.state != "off":
                self._off()
            self._release()
            return self._zero(q, np.full(n, self.limp))
        if self.state == "disabled":
            return self._zero(q, np.zeros(n, bool))
        if self.state == "off":
            self.state, self._count = "entering", 0
        on = wanted & ~self.isolated
        if self.state in ("entering", "holding"):
            return self._zero(q, on & ~self._resting)
        scale = min(1.0, self._count / self._ramp) if self.state == "ramping" else 1.0
        out = DriveCommand(
            command.q_des.copy(), command.qd_des.copy(), command.kp.copy(), command.kd.copy(), command.tau_ff.copy(), on
        )
        if scale < 1.0 and (command.kp.any() or command.tau_ff.any()):  # pure damping adds no energy: it passes whole
            out.kp *= scale
            out.kd *= scale
            out.torque *= scale
        return out

    def observe(self, believed: Mask, q: NDArray[np.float64], qd: NDArray[np.float64], why: list[str]) -> None:
        """The tick's sample: which joints were believed, positions rad, velocities rad/s, reasons of rejections."""
        if self.state == "entering":
            self._validate(believed, q, qd, why)
        elif self.state == "holding":
            self.state, self._count = "ramping", 1
        elif self.state == "ramping":
            self._count += 1
            if self._count >= self._ramp:
                self.state = "running"

    def _validate(self, believed: Mask, q: NDArray[np.float64], qd: NDArray[np.float64], why: list[str]) -> None:
        self._count += 1
        if self._resting.any():
            if self._count >= REST:
                self._resting[:] = False
                self._count = 0
            return
        if self._count <= self._settle:
            return
        inside = (q >= self._lower) & (q <= self._upper)
        slow = np.abs(qd) <= self.robot.qd_max
        self._good |= believed & inside & slow
        bad = ~(self._good | self.isolated)
        if not bad.any():
            self.state = "holding"
            return
        if self._count < self._settle + AFTER:
            return
        if self._attempt < self.retries:
            self._attempt += 1
            self.repeated += 1
            self._resting, self._count = bad, 0
            return
        self.isolate(bad, [self._reason(j, q, bool(believed[j]), bool(inside[j]), why[j]) for j in range(len(q))])
        self.state = "holding"

    def _reason(self, j: int, q: NDArray[np.float64], believed: bool, inside: bool, why: str) -> str:
        if not believed:
            return f"no believable sample in {self.retries} attempts ({why or 'no reply'}): check its cable and id"
        if not inside:
            low, high = self.robot.q_lower[j], self.robot.q_upper[j]
            return (
                f"at {q[j]:.3f} rad, outside its limits {low:g}..{high:g}: wrong zero offset, sign or ratio "
                "(bus.wiring), or move the joint by hand"
            )
        return "moves too fast to be started: hold the leg still"

    def _zero(self, q: NDArray[np.float64], enable: Mask) -> DriveCommand:
        out = DriveCommand.zero(len(q))
        out.position[:] = q
        out.enable = enable
        return out
