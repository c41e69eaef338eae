"""The one table of channels: name, message type, and what it is for."""

from __future__ import annotations

from dataclasses import dataclass

from lcmtypes import generated as types
from lcmtypes.message import Message


@dataclass(frozen=True, eq=False)  # compared and hashed by identity: each channel exists once
class Channel:
    """A named stream of one message type.."""

    name: str
    type: type[Message]
    by: str  # who publishes it
    doc: str

    def __repr__(self) -> str:
        return f"<{self.name}>"


IMU = Channel("imu", types.Imu, "plant", "attitude, gyro and specific force in body axes")
JOINT_STATE = Channel("joint_state", types.JointState, "plant", "positions, velocities, torques; last of a tick")
BODY_STATE = Channel("body_state", types.BodyState, "estimator", "where the body is and how it moves")
LEG_STATE = Channel("leg_state", types.LegState, "estimator", "joints, feet, foot forces")
CONTACT_PLAN = Channel("contact_plan", types.ContactPlan, "controller", "planned stance and swing of each leg")
LEG_COMMAND = Channel("leg_command", types.LegCommand, "controller", "forces, torques, targets and gains per leg")
JOINT_COMMAND = Channel("joint_command", types.JointCommand, "packer", "what each drive is told")
MOTION_COMMAND = Channel("motion_command", types.MotionCommand, "operator", "mode, gait, speeds, height, attitude")
ESTOP = Channel("estop", types.Estop, "operator", "latched damping")
RESET = Channel("reset", types.Reset, "operator", "release of the latch; new run of the simulator")
JOINT_TEST = Channel("joint_test", types.JointTest, "operator", "one joint of a robot in a rig")
MODE_STATE = Channel("mode_state", types.ModeState, "controller", "mode, target, allowed targets, refusals")
MPC_DEBUG = Channel("mpc_debug", types.MpcDebug, "controller", "predicted path, forces, footsteps, solver status")
GROUND_TRUTH = Channel("ground_truth", types.GroundTruth, "sim", "true state, contacts, torques, work")
BUS_STATUS = Channel("bus_status", types.BusStatus, "bridge", "frames, errors, motors")
PROC_HEALTH = Channel("proc_health", types.ProcHealth, "every process", "rates, step times, losses, last error")
ROBOT_CONFIG = Channel("robot_config", types.RobotConfig, "up, recorder", "robot description, revision, CPU")
PARAMETER_REQUEST = Channel("parameter_request", types.ParameterRequest, "operator", "reads or sets a live parameter")
PARAMETER_RESPONSE = Channel("parameter_response", types.ParameterResponse, "processes", "the value in force")

CHANNELS: dict[str, Channel] = {c.name: c for c in list(globals().values()) if isinstance(c, Channel)}

# The pipeline of one tick in order of publishing: what lock step and rollout have in common, message for message.
PIPELINE = (
    MOTION_COMMAND,
    IMU,
    GROUND_TRUTH,
    JOINT_STATE,
    BODY_STATE,
    LEG_STATE,
    CONTACT_PLAN,
    MODE_STATE,
    MPC_DEBUG,
    LEG_COMMAND,
    JOINT_COMMAND,
)
