"""Packer: leg command in, joint command out. The leg law of the reference (LegController) and the limits.

tau = tau_ff + J^T [f_ff + Kp_c (p_des - p) + Kd_c (v_des - v)] goes out as feed-forward together with the joint PD.
"""

from __future__ import annotations

import numpy as np

from lcmtypes.channels import ESTOP, JOINT_COMMAND, LEG_COMMAND, LEG_STATE, RESET
from lcmtypes.generated import JointCommand, LegCommand, LegState
from procs.model.legs import joint_torques, leg_kinematics
from procs.model.robot import Robot
from procs.runtime.spec import Inputs, Outputs, ProcessSpec, latest, same


class Packer:
    """The core."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._damping = robot.per_joint(robot.description.control.damping)
        self.reset()

    def reset(self) -> None:
        """A new run: the latch is open again."""
        self._latched = ""
        self._estop: tuple[int, int] | None = None
        self._reset: tuple[int, int] | None = None

    def step(self, inputs: Inputs) -> Outputs:
        """One tick."""
        command: LegCommand = inputs[LEG_COMMAND]
        legs: LegState | None = inputs[LEG_STATE]
        self._latch(inputs)
        out = JointCommand(self.robot.num_joints)
        fault = self._fault(command, legs)
        if self._latched or (fault and command.enable):
            return [self._damp(out, self._latched or fault)]
        if not command.enable:
            out.reason = command.reason or "not enabled"
            return [out]
        assert legs is not None
        self._pack(command, legs, out)
        return [out]

    def _latch(self, inputs: Inputs) -> None:
        estop, reset = inputs[ESTOP], inputs[RESET]
        if reset is not None and (reset.run, reset.seq) != self._reset:
            self._reset, self._latched = (reset.run, reset.seq), ""
        if estop is not None and (estop.run, estop.seq) != self._estop:
            self._estop = (estop.run, estop.seq)
            self._latched = f"estop by {estop.source}: {estop.reason}"

    def _fault(self, command: LegCommand, legs: LegState | None) -> str:
        if legs is None:
            return "no leg_state of this tick"
        if command.num_joints != self.robot.num_joints or command.num_legs != self.robot.num_legs:
            return f"leg_command for {command.num_legs} legs and {command.num_joints} joints"
        return ""

    def _damp(self, out: JointCommand, reason: str) -> JointCommand:
        out.enable[:] = 1
        out.kd[:] = self._damping
        out.reason = reason
        return out

    def _pack(self, command: LegCommand, legs: LegState, out: JointCommand) -> None:
        robot = self.robot
        p, J, _ = leg_kinematics(legs.q, robot.chains)
        force = (
            command.f_ff + command.kp_cartesian * (command.p_des - p) + command.kd_cartesian * (command.v_des - legs.v)
        )
        tau = command.tau_ff + joint_torques(J, force)
        np.clip(command.q_des, robot.q_lower, robot.q_upper, out=out.q_des)
        np.clip(command.qd_des, -robot.qd_max, robot.qd_max, out=out.qd_des)
        out.kp[:] = command.kp_joint
        out.kd[:] = command.kd_joint
        # The drive adds its PD: limit the sum it will make of this sample, by the part that is ours to choose.
        pd = out.kp * (out.q_des - legs.q) + out.kd * (out.qd_des - legs.qd)
        total = np.clip(tau + pd, -robot.tau_max, robot.tau_max)
        out.tau_ff[:] = np.clip(total - pd, -2 * robot.tau_max, 2 * robot.tau_max)
        # Beyond what the feed-forward may cancel, the gains give way.
        over = np.abs(out.tau_ff + pd) > robot.tau_max * (1 + 1e-9)
        if over.any():
            scale = np.where(over, robot.tau_max / np.maximum(np.abs(pd), 1e-9), 1.0)
            out.kp *= scale
            out.kd *= scale
            out.tau_ff[over] = 0.0
            out.reason = f"torque of {robot.joint_names[int(over.argmax())]} limited"
        out.enable[:] = 1


SPEC = ProcessSpec(
    name="packer", trigger=LEG_COMMAND, reads=(same(LEG_STATE), latest(ESTOP), latest(RESET)), writes=(JOINT_COMMAND,),
    core=Packer,
)  # fmt: skip
