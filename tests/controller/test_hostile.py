"""Whatever comes in, the controller answers with finite messages and never raises."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lcmtypes.channels import BODY_STATE, ESTOP, JOINT_TEST, LEG_STATE, MOTION_COMMAND, PARAMETER_REQUEST, RESET
from lcmtypes.generated import BodyState, Estop, JointTest, LegState, MotionCommand, ParameterRequest, Reset
from procs.controller.controller import SPEC, Controller
from procs.controller.modes import EDGES

SPECIAL = [0.0, -1.0, 1e-300, 1e3, 9e4, 1e18, 1e300, -1.7e308, math.inf, -math.inf, math.nan]
NUMBER = st.one_of(st.sampled_from(SPECIAL), st.floats(allow_nan=True))
MODE = st.sampled_from([*EDGES, "", "fly", "é\n", "x" * 500])
COUNTER = st.one_of(st.integers(0, 3), st.integers(-(2**63), 2**63 - 1))
PREPARED = ("ready", "stand", "walk", "joint_test", "recover", "shutdown")


def spoil(draw, message):
    """Replace some of the numbers."""
    for _ in range(draw(st.integers(0, 4))):
        message.block[draw(st.integers(0, len(message.block) - 1))] = draw(NUMBER)
    return message


def resize(draw, message, kind):
    """Now and then a message of another robot."""
    legs = draw(st.sampled_from([4, 4, 4, 4, 0, 1, 6]))
    if legs == 4:
        return message
    other = kind(legs, 3 * legs) if kind is LegState else kind(legs)
    other.run, other.seq, other.utime = message.run, message.seq, message.utime
    return other


@st.composite
def motion(draw):
    message = MotionCommand()
    message.mode, message.gait = draw(MODE), draw(st.sampled_from(["", "trot", "stand", "pronk", "gallop"]))
    message.source, message.seq, message.run = draw(st.sampled_from("ab")), draw(COUNTER), draw(st.integers(0, 2))
    for name in ("vx", "vy", "yaw_rate", "height", "roll", "pitch"):
        setattr(message, name, draw(NUMBER))
    return message


@st.composite
def joint_test(draw):
    message = JointTest()
    message.joint, message.hold, message.seq = draw(st.integers(-1, 12)), draw(st.integers(0, 1)), draw(COUNTER)
    for name in ("q_des", "qd_des", "kp", "kd", "tau_limit"):
        setattr(message, name, draw(NUMBER))
    return message


PARAMETER = st.sampled_from(["control.stand.kp.0", "control.mpc.weights.5", "control.gaits.trot.duty", "nothing", ""])


@st.composite
def parameter(draw):
    message = ParameterRequest()
    message.process, message.name = draw(st.sampled_from(["controller", "x"])), draw(PARAMETER)
    message.set, message.seq, message.run = draw(st.integers(0, 1)), draw(COUNTER), draw(st.integers(0, 2))
    message.value = draw(st.one_of(NUMBER, st.sampled_from([0.0, 0.4, 0.8, 100.0])))
    return message


@st.composite
def button(draw, kind):
    message = kind()
    message.source, message.seq = draw(st.sampled_from("ab")), draw(COUNTER)
    return message


def maybe(strategy):
    return st.one_of(st.none(), st.none(), strategy)


@pytest.fixture(scope="module")
def core(robot):
    """One for all examples: a constructor takes long, and what one example leaves behind the next one meets."""
    return Controller(robot)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_hostile_inputs_in_every_mode_give_finite_answers(core, bench_of, data):
    draw = data.draw
    bench = bench_of(core.robot, core)
    core.reset()
    bench.press(Reset, seq=draw(st.integers(100, 10**6)))
    prepared = draw(st.sampled_from(PREPARED))
    bench.ask(prepared, vx=0.5)
    for _ in range(900):
        if bench.tick().state.mode == prepared:
            break
    for _ in range(draw(st.integers(1, 8))):
        bench.operator = draw(maybe(motion()))
        bench.test = draw(maybe(joint_test()))
        bench.request = draw(maybe(parameter()))
        bench.estop, bench.reset = draw(maybe(button(Estop))), draw(maybe(button(Reset)))
        inputs = bench.inputs()
        legs = inputs[LEG_STATE]
        legs.utime = draw(st.sampled_from([legs.utime, legs.utime, legs.utime - 1000, 2**62, -(2**62)]))
        inputs[LEG_STATE] = resize(draw, spoil(draw, legs), LegState)
        inputs[BODY_STATE] = resize(draw, spoil(draw, inputs[BODY_STATE]), BodyState)
        if draw(st.integers(0, 4)) == 0:
            inputs[BODY_STATE] = None
        bench.step(inputs)


def test_every_declared_read_may_be_missing(core):
    for channel in (BODY_STATE, MOTION_COMMAND, ESTOP, RESET, JOINT_TEST, PARAMETER_REQUEST):
        assert channel in SPEC.channels
    legs = LegState(4, 12)
    core.step({LEG_STATE: legs, **dict.fromkeys(SPEC.channels[1:]), RESET: Reset()})
    core.reset()
    for legs.seq in range(50):
        legs.utime = 2000 * legs.seq
        outputs = core.step({LEG_STATE: legs, **dict.fromkeys(SPEC.channels[1:])})
        assert all(m is None or m.finite() for m in outputs)
    assert outputs[1].mode == "idle"


def test_a_huge_but_finite_state_is_damped_and_not_multiplied(bench):
    bench.ask("stand")
    bench.until("stand")
    inputs = bench.inputs()
    inputs[LEG_STATE].q[3] = 1e300
    out = bench.step(inputs)
    assert out.state.mode == "damping"
    assert np.abs(out.command.block).max() < 100.0
