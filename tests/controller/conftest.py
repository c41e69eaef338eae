"""A controller without physics: joints follow their command, the body state is what the test says."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from config.load import load_robot
from lcmtypes.channels import BODY_STATE, ESTOP, JOINT_TEST, LEG_STATE, MOTION_COMMAND, PARAMETER_REQUEST, RESET
from lcmtypes.generated import BodyState, Estop, JointTest, LegState, MotionCommand, ParameterRequest, Reset
from procs.controller.controller import SPEC, Controller
from procs.model.legs import foot_velocities, leg_kinematics
from procs.model.robot import Robot
from procs.model.rotations import quat_to_rpy


@pytest.fixture(scope="session")
def robot():
    return Robot(load_robot("mini_cheetah"))


@pytest.fixture(scope="session")
def hexapod():
    return Robot(load_robot("tocatl"))


class Bench:
    """Steps one controller tick by tick and keeps what it said."""

    def __init__(self, robot: Robot, core: Controller | None = None) -> None:
        self.robot = robot
        self.core = core or Controller(robot)
        self.run, self.seq, self.sent = 1, -1, 0
        self.q = robot.pose("down").copy()
        self.qd = np.zeros(robot.num_joints)
        self.quat = np.array([1.0, 0, 0, 0])
        self.contact = 1.0
        self.invalid = ""
        self.body = True  # is there a body_state
        self.follow = True  # do the joints follow
        self.operator: MotionCommand | None = None
        self.live = True  # does the operator repeat his command
        self.estop: Estop | None = None
        self.reset: Reset | None = None
        self.test: JointTest | None = None
        self.request: ParameterRequest | None = None
        self.trail: list[str] = []

    def ask(self, mode: str = "", source: str = "test", **fields: object) -> None:
        """Hold this command from now on."""
        self.operator = MotionCommand()
        self.operator.mode, self.operator.source, self.operator.run = mode, source, self.run
        for name, value in fields.items():
            setattr(self.operator, name, value)
        self.sent += 1
        self.operator.seq = self.sent

    def tune(self, name: str, value: float | None = None, process: str = "controller") -> SimpleNamespace:
        """Ask for a live parameter or set it; one tick."""
        self.sent += 1
        self.request = ParameterRequest()
        self.request.process, self.request.name, self.request.seq = process, name, self.sent
        self.request.run, self.request.source = self.run, "test"
        self.request.set, self.request.value = int(value is not None), value or 0.0
        return self.tick()

    def press(self, kind: type, source: str = "button", seq: int = 0) -> None:
        """An estop or a reset."""
        message = kind()
        message.source, message.seq, message.reason = source, seq, "test"
        setattr(self, "estop" if kind is Estop else "reset", message)

    def states(self) -> tuple[BodyState, LegState]:
        """Messages of the present tick."""
        robot = self.robot
        legs = LegState(robot.num_legs, robot.num_joints)
        legs.run, legs.seq, legs.utime = self.run, self.seq, round(1e6 * robot.dt * self.seq)
        legs.q[:], legs.qd[:] = self.q, self.qd
        p, J, _ = leg_kinematics(legs.q, robot.chains)
        legs.p[:], legs.v[:] = p, foot_velocities(J, legs.qd)
        body = BodyState(robot.num_legs)
        body.run, body.seq, body.utime = legs.run, legs.seq, legs.utime
        body.quat[:], body.rpy[:] = self.quat, quat_to_rpy(self.quat)
        body.position[2] = robot.foot_radius - float((p + robot.chains.mount_position)[:, 2].min())
        body.contact[:] = self.contact
        body.valid, body.reason = int(not self.invalid), self.invalid
        return body, legs

    def inputs(self) -> dict:
        """Inputs of the next tick."""
        self.seq += 1
        if self.operator is not None and self.live:
            again = self.operator.copy()
            self.sent += 1
            again.seq = self.sent
            self.operator = again
        body, legs = self.states()
        return {
            LEG_STATE: legs,
            BODY_STATE: body if self.body else None,
            MOTION_COMMAND: self.operator,
            ESTOP: self.estop,
            RESET: self.reset,
            JOINT_TEST: self.test,
            PARAMETER_REQUEST: self.request,
        }

    def step(self, inputs: dict) -> SimpleNamespace:
        """One tick with these inputs; everything that comes out is finite."""
        outputs = self.core.step(inputs)
        assert len(outputs) == len(SPEC.writes)
        assert all(m is None or m.finite() for m in outputs)
        plan, state, debug, answer, command = outputs
        if self.follow and command.enable and command.kp_joint.any():
            self.q = np.clip(command.q_des, self.robot.q_lower, self.robot.q_upper)
        if not self.trail or self.trail[-1] != state.mode:
            self.trail.append(state.mode)
        return SimpleNamespace(plan=plan, state=state, debug=debug, answer=answer, command=command)

    def tick(self, seconds: float = 0.0) -> SimpleNamespace:
        """One tick, or as many as these seconds have; returns the last one's answers."""
        for _ in range(max(1, round(seconds / self.robot.dt))):
            out = self.step(self.inputs())
        return out

    def until(self, mode: str, limit: float = 6.0) -> SimpleNamespace:
        """Tick until the mode is reached and nothing is busy."""
        for _ in range(round(limit / self.robot.dt)):
            out = self.tick()
            if out.state.mode == mode and not out.state.busy:
                return out
        raise AssertionError(f"{mode} not reached: {out.state}")

    def new_run(self) -> None:
        """The plant begins again."""
        self.run, self.seq = self.run + 1, -1
        self.core.reset()


@pytest.fixture
def bench(robot):
    return Bench(robot)


@pytest.fixture(scope="session")
def bench_of():
    """The class itself, for other robots and for a controller that is there already."""
    return Bench
