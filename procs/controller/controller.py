"""Controller: body and leg state in, leg command out. Modes, guards and faults; the work is done by the behaviours."""

from __future__ import annotations

import numpy as np

from lcmtypes.channels import (
    BODY_STATE,
    CONTACT_PLAN,
    ESTOP,
    JOINT_TEST,
    LEG_COMMAND,
    LEG_STATE,
    MODE_STATE,
    MOTION_COMMAND,
    MPC_DEBUG,
    RESET,
)
from lcmtypes.generated import BodyState, ContactPlan, LegCommand, LegState, ModeState
from procs.controller.command import CommandFilter, Wanted
from procs.controller.guards import Guards
from procs.controller.joint_test import JointTest
from procs.controller.locomotion import Locomotion
from procs.controller.modes import MOVING, ModeMachine
from procs.controller.postures import Motion, Stand, joint_command, lie_down, recover, smoothstep, stand_up
from procs.model.robot import Robot
from procs.model.rotations import quat_to_matrix
from procs.runtime.spec import Inputs, Outputs, ProcessSpec, latest, same

HAND_OVER = 0.15  # s over which walking's forces give way to standing's joint PD


class Controller:
    """The core. One instance per run of the process; `reset` for a new run of the plant."""

    def __init__(self, robot: Robot) -> None:
        self.robot, self.control = robot, robot.description.control
        self.machine = ModeMachine()
        self.filter = CommandFilter(robot)
        self.guards = Guards(robot)
        self.stand = Stand(robot)
        self.walk = Locomotion(robot)
        self.joint_test = JointTest(robot)
        self._damping = robot.per_joint(self.control.damping)
        self.reset()

    def reset(self) -> None:
        """A new run of the plant: idle, nothing asked, nothing latched."""
        self.machine.reset()
        self.filter.reset()
        self.guards.reset()
        self.joint_test.reset()
        self._motion: Motion | None = None
        self._hold = self.robot.pose("stand")
        self._stopping = 0.0
        self._estop: tuple[int, int] | None = None
        self._released: tuple[int, int] | None = None

    def step(self, inputs: Inputs) -> Outputs:
        """One tick."""
        legs: LegState = inputs[LEG_STATE]
        body: BodyState | None = inputs[BODY_STATE]
        machine = self.machine
        wanted = self.filter.update(inputs[MOTION_COMMAND], moving=machine.mode == "walk" and not self._stopping)
        machine.ask(wanted.mode)
        if self.filter.unknown_gait and not machine.reason:
            machine.reason = f"no gait {self.filter.unknown_gait!r}"
        self._obey_estop(inputs)
        fault = self.guards.check(machine.mode, body, legs)
        if fault:
            machine.force("damping", fault)
        t = legs.utime * 1e-6
        self._advance(t, body, legs, wanted, inputs)
        machine.since += 1
        plan, debug = None, None
        if machine.mode == "walk":
            assert body is not None  # the guard has seen to it
            outputs = self.walk.step(t, body, legs, wanted)
            command, plan, debug = outputs.command, outputs.plan, outputs.debug
        else:
            command = self._posture(body, legs, wanted, inputs)
        return [plan or self._standing_plan(), self._mode_state(t), debug, command]

    # -- modes ----------------------------------------------------------------------------------------------------

    def _obey_estop(self, inputs: Inputs) -> None:
        estop, reset = inputs[ESTOP], inputs[RESET]
        if reset is not None and (reset.run, reset.seq) != self._released:
            self._released = (reset.run, reset.seq)
            if self.machine.mode == "estop":
                self.machine.force("damping", "estop released")
        if estop is not None and (estop.run, estop.seq) != self._estop:
            self._estop = (estop.run, estop.seq)
            self.machine.force("estop", f"estop by {estop.source}: {estop.reason}")

    def _advance(self, t: float, body: BodyState | None, legs: LegState, wanted: Wanted, inputs: Inputs) -> None:
        machine = self.machine
        self._finish(t, wanted)
        if machine.mode == "idle" and machine.target == "idle":
            machine.target = "ready"
        following = machine.next()
        if following == machine.mode:
            return
        if machine.mode == "walk" and not self._may_leave_walk(t, wanted):
            return
        refusal = self.guards.refusal(following, machine.since * self.robot.dt, body)
        if refusal == "wait":
            return
        if refusal:
            machine.refuse(f"{following} refused: {refusal}")
            return
        self._enter(following, t, body, legs, wanted, inputs)

    def _enter(
        self, mode: str, t: float, body: BodyState | None, legs: LegState, wanted: Wanted, inputs: Inputs
    ) -> None:
        q, came = legs.q.copy(), self.machine.mode
        self._motion = None
        if mode == "stand":
            if came == "walk":
                self.stand.start(q)
            else:
                self._motion = stand_up(self.robot, q)
        elif mode in ("down", "shutdown"):
            self._motion = lie_down(self.robot, q)
        elif mode == "recover":
            up = float(quat_to_matrix(body.quat)[2, 2]) if body is not None else 1.0
            self._motion = recover(self.robot, q, up)
        elif mode == "walk":
            self._stopping = 0.0
            self.walk.start(t, body, legs, wanted.gait)
        self._entered_with = q
        busy = self._motion is not None or (mode == "stand" and came == "walk")
        self.machine.enter(mode, busy)

    def _finish(self, t: float, wanted: Wanted) -> None:
        """End a transition whose time has come."""
        machine, passed = self.machine, self.machine.since * self.robot.dt
        if not machine.busy:
            return
        if self._motion is None:
            if passed >= HAND_OVER:
                machine.done()
        elif passed >= self._motion.total:
            machine.done()
            if machine.mode == "stand":
                self.stand.start(self._motion.at(self._motion.total))
            elif machine.mode == "recover":
                machine.target = "stand"

    def _may_leave_walk(self, t: float, wanted: Wanted) -> bool:
        """Slow down, step on the spot for a moment, put all feet down; then True."""
        self._stopping += self.robot.dt
        modes = self.control.modes
        still = float(np.abs(wanted.velocity).max()) < 0.02 and abs(wanted.yaw_rate) < 0.05
        if still and self.walk.gait.duty < 1.0 and self._stopping > modes.walk_stop:
            self.walk.switch("stand", t)
        return self.walk.settled() or self._stopping > modes.walk_stop_max

    # -- behaviours -------------------------------------------------------------------------------------------------

    def _posture(self, body: BodyState | None, legs: LegState, wanted: Wanted, inputs: Inputs) -> LegCommand:
        robot, machine, control = self.robot, self.machine, self.control
        mode, passed = machine.mode, machine.since * robot.dt
        if mode == "idle":
            return LegCommand(robot.num_legs, robot.num_joints)
        if mode in ("ready", "damping", "estop") or (mode == "shutdown" and not machine.busy):
            command = joint_command(robot, legs.q, (0, 0, 0), control.damping)
            if mode == "shutdown":
                command.enable = 0
            command.reason = machine.reason if mode in ("damping", "estop") else ""
            return command
        if mode == "joint_test":
            return self.joint_test.step(inputs[JOINT_TEST], legs)
        gains = control.stand
        if self._motion is not None and (machine.busy or mode != "stand"):
            ramp = smoothstep(passed / control.modes.gain_ramp)
            command = joint_command(robot, self._motion.at(passed), gains.kp, gains.kd, ramp)
            if mode == "stand" and body is not None:
                share = smoothstep(passed / self._motion.total)
                command.f_ff[:] = share * self.stand.weight(legs, body)
            return command
        blend = smoothstep(passed / HAND_OVER) if machine.busy else 1.0
        q = self.stand.pose(wanted)
        command = joint_command(robot, q if blend >= 1.0 else legs.q + blend * (q - legs.q), gains.kp, gains.kd)
        if body is not None:
            command.f_ff[:] = self.stand.weight(legs, body)
        return command

    def _standing_plan(self) -> ContactPlan:
        plan = ContactPlan(self.robot.num_legs)
        stands = self.machine.mode in MOVING
        plan.stance[:] = stands
        plan.phase[:] = 0.5
        plan.contact[:] = 0.5 * stands
        return plan

    def _mode_state(self, t: float) -> ModeState:
        machine, state = self.machine, ModeState()
        state.mode, state.target, state.reason = machine.mode, machine.target, machine.reason
        state.busy = int(machine.busy or (machine.mode == "walk" and self._stopping > 0))
        state.gait = self.walk.gait.name if machine.mode == "walk" else self.filter.wanted.gait
        state.allowed = machine.allowed()
        state.phase = self.walk.gait.phase(t) if machine.mode == "walk" else 0.0
        return state


SPEC = ProcessSpec(
    name="controller", trigger=LEG_STATE,
    reads=(same(BODY_STATE), latest(MOTION_COMMAND), latest(ESTOP), latest(RESET), latest(JOINT_TEST)),
    writes=(CONTACT_PLAN, MODE_STATE, MPC_DEBUG, LEG_COMMAND), core=Controller,
)  # fmt: skip
