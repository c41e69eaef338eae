"""Packer: leg command in, joint command out. The leg law of the reference (LegController) and the limits.

tau = tau_ff + J^T [f_ff + Kp_c (p_des - p) + Kd_c (v_des - v)] goes out as feed-forward together with the joint PD.
"""

from __future__ import annotations

import numpy as np

from lcmtypes.channels import ESTOP, JOINT_COMMAND, LEG_COMMAND, LEG_STATE, RESET
from lcmtypes.generated import JointCommand, LegCommand, LegState
from procs.model.legs import joint_torques, leg_kinematics
from procs.model.robot import Robot
from procs.runtime.estop import EstopLatch
from procs.runtime.spec import Inputs, Outputs, ProcessSpec, latest, same


class Packer:
    """The core."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        control, safety = robot.description.control, robot.description.safety
        self._oldest = safety.watchdog / robot.dt  # ticks
        self._damping = robot.per_joint(control.damping)
        self._stop_kp, self._stop_kd = robot.per_joint(control.stand.kp), robot.per_joint(control.stand.kd)
        self._latch = EstopLatch()  # outlives runs: only reset releases it

    def reset(self) -> None:
        """A new run."""
        self._latch.new_run()

    def step(self, inputs: Inputs) -> Outputs:
        """One tick."""
        command: LegCommand = inputs[LEG_COMMAND]
        legs: LegState | None = inputs[LEG_STATE]
        self._latch.update(inputs[ESTOP], inputs[RESET])
        if self._latch.reason:
            return [self._damp(self._latch.reason)]
        if not command.enable:
            out = JointCommand(self.robot.num_joints)
            out.reason = command.reason or "not enabled"
            return [out]
        with np.errstate(all="ignore"):  # what overflows is caught as not finite
            fault = self._fault(command, legs)
            if fault or legs is None:
                return [self._damp(fault)]
            out = self._pack(command, legs)
            return [out if out.finite() else self._damp("the result was not finite")]

    def _fault(self, command: LegCommand, legs: LegState | None) -> str:
        joints, feet = self.robot.num_joints, self.robot.num_legs
        if legs is None:
            return "no leg_state of this tick"
        for name, message in (("leg_command", command), ("leg_state", legs)):
            if message.num_joints != joints or message.num_legs != feet:
                return f"{name} for {message.num_legs} legs and {message.num_joints} joints"
            if not message.finite():
                return f"{name} is not finite"
        age = abs(command.seq - legs.seq)
        return f"leg_state is {age} ticks old" if age >= self._oldest else ""

    def _damp(self, reason: str) -> JointCommand:
        out = JointCommand(self.robot.num_joints)
        out.enable[:] = 1
        out.kd[:] = self._damping
        out.reason = reason
        return out

    def _pack(self, command: LegCommand, legs: LegState) -> JointCommand:
        robot, out = self.robot, JointCommand(self.robot.num_joints)
        p, J, _ = leg_kinematics(legs.q, robot.chains)
        stiffness = command.kp_cartesian * (command.p_des - p)
        force = command.f_ff + stiffness + command.kd_cartesian * (command.v_des - legs.v)
        tau = command.tau_ff + joint_torques(J, force)
        out.enable[:] = 1
        out.reason = command.reason
        out.q_des[:] = np.clip(command.q_des, robot.q_lower, robot.q_upper)
        out.qd_des[:] = np.clip(command.qd_des, -robot.qd_max, robot.qd_max)
        out.kp[:] = np.maximum(command.kp_joint, 0.0)
        out.kd[:] = np.maximum(command.kd_joint, 0.0)
        passive = not (out.kp.any() or tau.any() or command.kp_cartesian.any())
        if not passive:
            self._soft_stop(legs.q, tau, out)
        self._limit_torque(legs, tau, out)
        return out

    def _soft_stop(self, q: np.ndarray, tau: np.ndarray, out: JointCommand) -> None:
        """Beyond a limit nothing pushes outward any more, and the joint is pulled back to the limit."""
        under, over = q < self.robot.q_lower, q > self.robot.q_upper
        beyond = under | over
        if not beyond.any():
            return
        np.clip(tau, np.where(under, 0.0, -np.inf), np.where(over, 0.0, np.inf), out=tau)
        out.qd_des[beyond] = 0.0
        out.kp[beyond] = np.maximum(out.kp, self._stop_kp)[beyond]
        out.kd[beyond] = np.maximum(out.kd, self._stop_kd)[beyond]
        out.reason = f"soft stop of {self._name(beyond)}"

    def _limit_torque(self, legs: LegState, tau: np.ndarray, out: JointCommand) -> None:
        """The drive adds its PD: what the sum will be for this sample stays within the limit."""
        most = self.robot.tau_max
        pd = out.kp * (out.q_des - legs.q) + out.kd * (out.qd_des - legs.qd)
        size = np.abs(pd)
        scale = np.where(size > most, most / np.maximum(size, most), 1.0)  # the gains give way first
        out.kp *= scale
        out.kd *= scale
        pd *= scale
        total = np.clip(tau + pd, -most, most)
        out.tau_ff[:] = total - pd
        limited = (scale < 1.0) | (total != tau + pd)
        if limited.any():
            out.reason = out.reason or f"torque of {self._name(limited)} limited"

    def _name(self, which: np.ndarray) -> str:
        return self.robot.joint_names[int(which.argmax())]


SPEC = ProcessSpec(
    name="packer", trigger=LEG_COMMAND, reads=(same(LEG_STATE), latest(ESTOP), latest(RESET)), writes=(JOINT_COMMAND,),
    core=Packer,
)  # fmt: skip
