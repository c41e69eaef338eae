"""The modes on the simulated robot, all processes in one."""

from __future__ import annotations

import numpy as np
import pybullet
import pytest

from config.load import load_robot
from config.scenario import Fault, PlantOptions, Push, Scenario
from lcmtypes.channels import (
    ESTOP,
    GROUND_TRUTH,
    JOINT_COMMAND,
    JOINT_STATE,
    JOINT_TEST,
    MODE_STATE,
    MOTION_COMMAND,
    RESET,
)
from lcmtypes.generated import Estop, JointTest, MotionCommand, Reset
from procs.model.robot import Robot
from procs.model.rotations import quat_multiply, quat_to_matrix, rpy_to_quat
from procs.runtime.engine import Engine
from procs.runtime.plant_loop import PlantLoop
from procs.runtime.rollout import Rollout
from sim.plant import SimPlant
from tools.stack import SPECS, rollout


@pytest.fixture(scope="module")
def robot():
    return Robot(load_robot("mini_cheetah"))


class Stage:
    """A rollout with an operator that can fall silent."""

    def __init__(self, robot, *, pushes=(), faults=(), **options):
        self.robot = robot
        self.loop = PlantLoop(SimPlant(robot, PlantOptions(**options), seed=1, pushes=pushes, faults=faults), robot)
        self.rollout = Rollout(self.loop, [Engine(spec, robot) for spec in SPECS.values()], self.observe)
        self.newest, self.trail, self.reasons = {}, [], []
        self.motion, self.test, self.buttons = None, None, []
        self.loop.start(1)

    def observe(self, channel, message):
        self.newest[channel] = message
        if channel is MODE_STATE:
            if not self.trail or self.trail[-1] != message.mode:
                self.trail.append(message.mode)
            if message.reason and (not self.reasons or self.reasons[-1] != message.reason):
                self.reasons.append(message.reason)

    def place(self, roll, pitch=0.0, height=0.3):
        """Let it fall from this attitude."""
        world = self.loop.plant.world
        quat = rpy_to_quat(np.array([roll, pitch, 0.0]))
        at = np.array([0, 0, height]) + quat_to_matrix(quat) @ world.com
        w, x, y, z = quat_multiply(quat, world.from_principal * (1, -1, -1, -1))
        pybullet.resetBasePositionAndOrientation(world.body, at.tolist(), [x, y, z, w], **world.engine)
        self.loop.plant.base = world.base()

    def ask(self, mode, **fields):
        self.motion = MotionCommand()
        self.motion.mode, self.motion.source = mode, "test"
        for name, value in fields.items():
            setattr(self.motion, name, value)

    def press(self, channel, kind):
        button = kind()
        button.source, button.reason = "test", "pressed"
        self.buttons.append((channel, button))

    def messages(self):
        sent, self.buttons = self.buttons, []
        for channel, held in ((MOTION_COMMAND, self.motion), (JOINT_TEST, self.test)):
            if held is not None:
                again = held.copy()
                again.run, again.seq = self.loop.run, self.loop.seq
                sent.append((channel, again))
        return sent

    def play(self, seconds, until=lambda state: False):
        """Run so long, or until mode_state is as wanted; returns the seconds it took."""
        for k in range(round(seconds / self.robot.dt)):
            self.rollout.tick(self.messages)
            if until(self.newest[MODE_STATE]):
                return (k + 1) * self.robot.dt
        return seconds

    def reach(self, mode, limit=6.0):
        took = self.play(limit, lambda s: s.mode == mode and not s.busy)
        assert took < limit, f"{mode} not reached: {self.trail} {self.reasons}"
        return took

    @property
    def state(self):
        return self.newest[MODE_STATE]

    @property
    def truth(self):
        return self.newest[GROUND_TRUTH]

    def up(self):
        return quat_to_matrix(self.truth.quat)[2, 2]

    def damped(self):
        command = self.newest[JOINT_COMMAND]
        return bool(command.enable.all()) and not (command.kp.any() or command.tau_ff.any())


@pytest.fixture
def stage(robot):
    stages = []

    def make(**options):
        stages.append(Stage(robot, **options))
        return stages[-1]

    yield make
    for made in stages:
        made.loop.plant.stop()


def test_a_lying_robot_stands_within_1_3_seconds_of_the_request(stage, robot):
    s = stage()
    s.play(0.5)
    s.ask("stand")
    assert s.reach("stand") <= 1.3
    s.play(0.3)
    assert s.truth.position[2] == pytest.approx(robot.description.control.nominal_height, abs=0.01)
    assert s.up() > 0.999


def test_standing_is_taken_over_from_rising_and_given_to_lying_without_a_drop(stage):
    s = stage()
    s.ask("stand")
    s.play(1.0)
    heights = []
    for mode in ("stand", "down"):
        s.ask(mode)
        for _ in range(15):
            s.play(0.04)
            heights.append(s.truth.position[2])
    rise, fall = np.diff(heights[:15]), np.diff(heights[15:])
    assert rise.min() > -0.003
    assert fall.min() > -0.03, "0.75 m/s at most, about the motion's own speed"
    assert fall[0] > -0.004


def test_walk_stand_down_ends_lying_with_nothing_refused(robot):
    scenario = Scenario(
        name="modes", duration=6.0,
        commands=[
            {"t": 0.0, "mode": "stand"}, {"t": 1.3, "mode": "walk", "vx": 0.5},
            {"t": 3.0, "mode": "down"},
        ],
    )  # fmt: skip
    recording = rollout(scenario, robot, seed=1)
    states = recording.of(MODE_STATE)
    order = [s.mode for k, s in enumerate(states) if not k or states[k - 1].mode != s.mode]
    assert order == ["ready", "stand", "walk", "stand", "down"]
    assert not any(s.reason for s in states)
    truth = recording.of(GROUND_TRUTH)
    left = next(k for k, s in enumerate(states) if k > 1000 and s.mode == "stand")
    assert np.abs(truth[left].v_world).max() < 0.1
    assert truth[-1].position[2] < 0.13
    assert not states[-1].busy


def test_estop_while_walking_latches_plant_packer_and_controller(stage):
    s = stage()
    s.ask("walk", vx=0.3)
    s.reach("walk")
    s.play(0.3)
    s.press(ESTOP, Estop)
    s.play(0.004)
    assert s.loop.latched == "estop by test: pressed"
    assert s.state.mode == "estop"
    assert s.newest[JOINT_COMMAND].reason == "estop by test: pressed"
    assert s.damped()
    s.play(1.0)
    assert s.loop.state == "latched"
    assert (s.state.mode, s.damped()) == ("estop", True)
    s.ask("stand")
    s.press(RESET, Reset)
    s.loop.release()
    s.play(1.0)
    assert (s.state.mode, s.damped()) == ("damping", True), "the request of before the reset is none"
    s.ask("ready")
    s.play(0.1)
    s.ask("stand")
    s.reach("stand")
    s.play(0.3)
    assert s.up() > 0.99


def test_an_operator_who_falls_silent_stops_the_robot_and_then_makes_it_stand(stage):
    s = stage()
    s.ask("walk", vx=0.5)
    s.reach("walk")
    s.play(1.2)
    s.motion = None
    s.play(1.2)
    assert s.state.mode == "walk"
    assert np.abs(s.truth.v_world[:2]).max() < 0.1
    assert s.reach("stand", 3.0) < 2.2
    assert s.state.reason == "motion_command lost"


def test_a_fall_is_damped_and_the_robot_does_not_start_again_by_itself(stage):
    s = stage(pushes=[Push(t=2.0, duration=0.2, force=(0, 400, 0))])
    s.ask("walk")
    s.play(6.0, lambda state: state.mode == "damping")
    assert s.state.reason.startswith("fall: roll")
    assert s.damped()
    s.play(2.5)
    assert (s.state.mode, s.damped()) == ("damping", True)
    s.ask("stand")
    s.play(0.5)
    assert s.state.mode in ("stand", "ready")
    if s.up() < 0.5:
        assert s.state.reason == "stand refused: not upright, recover first"


def test_a_robot_hung_in_a_rig_stands_and_refuses_to_walk(stage):
    s = stage(suspended=True)
    s.ask("walk", vx=0.3)
    s.play(2.0)
    assert (s.state.mode, s.state.busy) == ("stand", 0)
    assert s.reasons == ["walk refused: body state not valid: suspended: no foot carries load"]


def test_without_imu_a_standing_robot_is_damped(stage):
    s = stage(faults=[Fault(t=1.5, duration=0.3, kind="nan", channel="imu")])
    s.ask("stand")
    s.reach("stand")
    s.play(1.0)
    assert s.loop.latched.startswith("imu lost")
    assert s.state.mode == "damping"
    assert s.state.reason.startswith("body state not valid: imu invalid")


@pytest.mark.parametrize(("roll", "pitch"), [(3.14, 0.0), (1.57, 0.0), (-1.57, 0.3), (0.0, -1.4)])
def test_a_robot_on_its_back_side_or_tail_rights_itself_and_stands(stage, robot, roll, pitch):
    s = stage()
    s.place(roll, pitch)
    s.play(1.5)
    s.ask("recover")
    s.reach("stand", 9.0)
    s.play(0.3)
    assert s.up() > 0.99
    assert s.truth.position[2] == pytest.approx(robot.description.control.nominal_height, abs=0.02)


def test_shutdown_lies_down_and_switches_the_drives_off(stage):
    s = stage()
    s.ask("stand")
    s.reach("stand")
    s.ask("shutdown")
    s.reach("shutdown")
    s.play(0.3)
    assert not s.newest[JOINT_COMMAND].enable.any()
    assert s.truth.position[2] < 0.13


def test_in_a_rig_one_joint_follows_its_test_and_falls_when_the_page_hangs(stage, robot):
    s = stage(suspended=True)
    s.ask("joint_test")
    s.reach("joint_test")
    s.test = JointTest()
    s.test.source, s.test.joint, s.test.hold = "page", 2, 1
    s.test.q_des, s.test.kp, s.test.kd, s.test.tau_limit = 1.6, 40.0, 1.0, 6.0
    s.play(1.5)
    assert s.newest[JOINT_STATE].q[2] == pytest.approx(1.6, abs=0.05)
    assert not s.newest[JOINT_COMMAND].kp[np.arange(robot.num_joints) != 2].any()
    s.test = None
    s.play(0.35)
    assert not s.newest[JOINT_COMMAND].kp.any()
