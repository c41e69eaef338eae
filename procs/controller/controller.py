"""Controller: body and leg state in, leg command out. Modes, guards and faults; the work is done by the behaviours."""

from __future__ import annotations

import numpy as np

from config.problems import Absent, ConfigError, Problem
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
    PARAMETER_REQUEST,
    PARAMETER_RESPONSE,
    RESET,
)
from lcmtypes.generated import BodyState, ContactPlan, LegCommand, LegState, ModeState, MotionCommand, MpcDebug
from procs.controller.command import CommandFilter, Wanted
from procs.controller.guards import Guards, asks_motion
from procs.controller.joint_test import JointTest
from procs.controller.locomotion import Locomotion
from procs.controller.modes import DRIVEN, FORCED, ModeMachine
from procs.controller.postures import ON_PD, Postures
from procs.model.robot import Robot
from procs.runtime.estop import EstopLatch
from procs.runtime.parameters import LiveParameters
from procs.runtime.spec import Inputs, Outputs, ProcessSpec, latest, same

NAME = "controller"
STAND_GAIT = "stand"  # in which walking ends

WARM_UP = 10.0  # s of made-up time at most
WARM_GAIT = 0.5  # s of it walking: every leg has stood and swung


class Controller:
    """The core. One instance per process; `reset` for a new run of the plant."""

    def __init__(self, robot: Robot) -> None:
        """Raises ConfigError if the description lacks what the modes need."""
        self.robot = robot
        self.parameters = LiveParameters(robot, NAME)
        self.control = robot.description.control
        gait = self.control.gaits.get(STAND_GAIT)
        if gait is None or gait.duty < 1.0:
            found = Absent("missing") if gait is None else f"duty {gait.duty:g}"
            problem = Problem(f"control.gaits.{STAND_GAIT}", found, "required, with duty 1: walking ends in it")
            raise ConfigError(f"robot {robot.name}", [problem])
        self.machine = ModeMachine()
        self.filter = CommandFilter(robot)
        self.guards = Guards(robot)
        self.postures = Postures(robot)
        self.walk = Locomotion(robot)
        self.joint_test = JointTest(robot)
        self.latch = EstopLatch()  # outlives runs: only reset releases it
        self.reset()

    def reset(self) -> None:
        """A new run of the plant: idle, nothing asked."""
        self.parameters.reset()
        self._tune(0.0)
        self.machine.reset()
        self.filter.reset()
        self.guards.reset()
        self.postures.reset()
        self.latch.new_run()
        self._still = 0.0  # s of stepping on the spot before walking ends
        self._complaint = ""

    def step(self, inputs: Inputs) -> Outputs:
        """One tick."""
        with np.errstate(all="ignore"):  # what overflows is caught as not finite
            return self._step(inputs)

    def _step(self, inputs: Inputs) -> Outputs:
        legs, machine = inputs[LEG_STATE], self.machine
        t = legs.utime * 1e-6
        answer, changed = self.parameters.update(inputs[PARAMETER_REQUEST], legs.run)
        if changed:
            self._tune(t)
        self.guards.look(inputs[BODY_STATE], legs)
        walking_on = machine.mode == "walk" and not machine.busy
        wanted = self.filter.update(inputs[MOTION_COMMAND], legs.run, walking_on)
        self._obey(wanted)
        self._obey_estop(inputs)
        self._damp(self._fault())
        self._advance(t, wanted, inputs)
        machine.since += 1
        plan, debug, command = self._behave(t, wanted, inputs)
        if not command.finite():
            self._damp("the result was not finite")
            plan, debug, command = self._behave(t, wanted, inputs)
        return [plan, self._mode_state(t, wanted), debug, answer, command]

    def _tune(self, t: float) -> None:
        """Hand the live parameters on."""
        control = self.control = self.parameters.description.control
        self.filter.tune(control)
        self.postures.tune(control)
        self.walk.tune(control, t)

    # -- requests and faults ------------------------------------------------------------------------------------------

    def _obey(self, wanted: Wanted) -> None:
        machine = self.machine
        if wanted.request:
            machine.ask(wanted.request)
        if self.filter.lost() and machine.target == "walk":
            machine.target, machine.reason = "stand", "motion_command lost"
        if wanted.complaint != self._complaint:
            if wanted.complaint or machine.reason == self._complaint:
                machine.reason = wanted.complaint
            self._complaint = wanted.complaint

    def _obey_estop(self, inputs: Inputs) -> None:
        machine = self.machine
        released = self.latch.update(inputs[ESTOP], inputs[RESET], asks_motion(inputs[MOTION_COMMAND]))
        if self.latch.reason:
            if machine.mode != "estop" or machine.cause != self.latch.reason:
                machine.force("estop", self.latch.reason)
        elif machine.mode == "estop":
            machine.force("damping", "estop released")
        elif released:
            # The plant may have been latched by itself: once released it must find no stiff joints.
            self._damp("reset" if machine.mode in DRIVEN else "")

    def _fault(self) -> str:
        return "" if self._limp() else self.guards.fault(self.machine.mode)

    def _limp(self) -> bool:
        return self.machine.mode == "shutdown" and not self.machine.busy

    def _damp(self, reason: str) -> None:
        if reason:
            self.machine.force("damping", reason)

    # -- modes --------------------------------------------------------------------------------------------------------

    def _advance(self, t: float, wanted: Wanted, inputs: Inputs) -> None:
        """End the transition whose time has come, then begin the next one on the way to the target."""
        machine = self.machine
        before = machine.mode
        if machine.busy:
            self._finish(t, wanted, inputs)
        if machine.mode != before:
            return  # one edge a tick
        if machine.mode == machine.target == "idle":
            machine.target = "ready"
        following = machine.next()
        if following == machine.mode:
            return
        refusal = self.guards.refusal(machine.mode, following, machine.since * self.robot.dt)
        if refusal == "wait":
            return
        if refusal:
            machine.refuse(f"{following} refused: {refusal}")
        elif machine.mode == "walk" and not (self.walk.settled(t) and wanted.still()):
            machine.busy, self._still = True, 0.0  # slow down first
        else:
            self._enter(following, t, wanted, inputs)

    def _finish(self, t: float, wanted: Wanted, inputs: Inputs) -> None:
        machine = self.machine
        if machine.mode == "walk":
            if self._stopped(t, wanted):
                self._enter("stand", t, wanted, inputs)
        elif self.postures.finished(machine.mode, machine.since * self.robot.dt):
            if machine.mode == "recover" and not self.guards.upright and self.postures.try_again(self.guards.body):
                machine.since = 0
                return
            machine.done()
            if machine.mode == machine.target == "recover":
                machine.target = "stand"

    def _stopped(self, t: float, wanted: Wanted) -> bool:
        """Slow down, step on the spot for a moment, put all feet down; then True."""
        modes = self.control.modes
        if wanted.still():
            self._still += self.robot.dt
        if self._still > modes.walk_stop:
            self.walk.switch(STAND_GAIT, t)
        return (self.walk.settled(t) and wanted.still()) or self._still > modes.walk_stop_max

    def _enter(self, mode: str, t: float, wanted: Wanted, inputs: Inputs) -> None:
        machine, guards = self.machine, self.guards
        busy = False
        if mode == "walk":
            self.walk.start(t, guards.body, guards.legs, wanted.gait)
        elif mode == "joint_test":
            self.joint_test.start(inputs[JOINT_TEST])
        elif guards.legs is not None:
            busy = self.postures.enter(mode, machine.mode, guards.legs, guards.body)
        machine.enter(mode, busy)

    # -- behaviours ---------------------------------------------------------------------------------------------------

    def _behave(self, t: float, wanted: Wanted, inputs: Inputs) -> tuple[ContactPlan, MpcDebug | None, LegCommand]:
        """What the legs are told in the present mode."""
        machine, legs, body = self.machine, self.guards.legs, self.guards.body
        mode = machine.mode
        if mode == "walk" and body is not None and legs is not None:
            if not machine.busy:
                self.walk.switch(wanted.gait, t)
            outputs = self.walk.step(t, body, legs, wanted)
            if outputs.debug is not None:
                self.guards.solved(outputs.debug.status)
            return outputs.plan, outputs.debug, outputs.command
        if mode == "joint_test" and legs is not None:
            return self._plan(), None, self.joint_test.step(inputs[JOINT_TEST], legs)
        command = self.postures.command(mode, machine.busy, machine.since * self.robot.dt, legs, body, wanted)
        command.reason = machine.cause if mode in FORCED else ""
        return self._plan(), None, command

    def _plan(self) -> ContactPlan:
        """All feet stand, or nothing is known of them."""
        plan = ContactPlan(self.robot.num_legs)
        stands = self.machine.mode in ON_PD and not self._limp()
        plan.stance[:] = stands
        plan.phase[:] = 0.5
        plan.contact[:] = 0.5 * stands
        return plan

    def _mode_state(self, t: float, wanted: Wanted) -> ModeState:
        machine, state = self.machine, ModeState()
        walking = machine.mode == "walk"
        state.mode, state.target, state.busy = machine.mode, machine.target, int(machine.busy)
        state.reason, state.source = machine.reason, wanted.source
        state.allowed = machine.allowed()
        state.gait = self.walk.gait.name if walking else wanted.gait
        state.phase = self.walk.gait.phase(t) if walking else 0.0
        return state

    def warm_up(self) -> None:
        """Walk another core on the spot with made-up states, until every kernel of it has run (the first MPC solve
        alone takes longer than the plant's watchdog)."""
        robot = self.robot
        core = Controller(robot)
        legs, body = LegState(robot.num_legs, robot.num_joints), BodyState(robot.num_legs)
        motion = MotionCommand()
        legs.q[:] = robot.pose("stand")
        legs.p[:] = robot.stand_feet
        body.valid, body.quat[0], body.position[2] = 1, 1.0, self.control.nominal_height
        body.contact[:] = 1.0
        motion.mode, motion.source = "walk", "warm-up"
        solves = 0
        for tick in range(round(WARM_UP / robot.dt)):
            for message in (legs, body, motion):
                message.run, message.seq, message.utime = 1, tick, round(1e6 * tick * robot.dt)
            inputs = dict.fromkeys(r.channel for r in SPEC.reads)
            outputs = core.step({**inputs, LEG_STATE: legs, BODY_STATE: body, MOTION_COMMAND: motion})
            solves += outputs[2] is not None
            if solves * self.control.mpc.every * robot.dt > WARM_GAIT:
                return


SPEC = ProcessSpec(
    name=NAME, trigger=LEG_STATE,
    reads=(same(BODY_STATE), latest(MOTION_COMMAND), latest(ESTOP), latest(RESET), latest(JOINT_TEST),
           latest(PARAMETER_REQUEST)),
    writes=(CONTACT_PLAN, MODE_STATE, MPC_DEBUG, PARAMETER_RESPONSE, LEG_COMMAND), core=Controller,
)  # fmt: skip
