"""MIT's channels: names, types and publishers as in Cheetah-Software. A table apart from ours (channels.py)."""

from __future__ import annotations

from lcmtypes.channels import Channel
from lcmtypes.mit_types import MIT_TYPES


def _channel(name: str, kind: str, by: str, doc: str) -> Channel:
    return Channel(name, MIT_TYPES[kind], by, doc)


# What the relay publishes. Joints and legs in MIT's order (FR FL HR HL; abad, hip, knee), joint side of all gears.
LEG_CONTROL_COMMAND = _channel(
    "leg_control_command", "leg_control_command_lcmt", "RobotRunner", "what the controller asks of each leg, before J^T"
)
LEG_CONTROL_DATA = _channel(
    "leg_control_data", "leg_control_data_lcmt", "RobotRunner", "joints, feet, and the torque that was commanded"
)
STATE_ESTIMATOR = _channel(
    "state_estimator", "state_estimator_lcmt", "RobotRunner", "where the body is and how it moves"
)
SPI_COMMAND = _channel("spi_command", "spi_command_t", "HardwareBridge", "what the boards are told, J^T in the torque")
SPI_DATA = _channel("spi_data", "spi_data_t", "HardwareBridge", "what the boards answered")
MICROSTRAIN = _channel("microstrain", "microstrain_lcmt", "HardwareBridge", "IMU sample, quaternion w x y z")
HW_VECTORNAV = _channel("hw_vectornav", "vectornav_lcmt", "rt_vectornav", "IMU sample, quaternion x y z w")
MAIN_CHEETAH_VISUALIZATION = _channel(
    "main_cheetah_visualization", "cheetah_visualization_lcmt", "HardwareBridge", "pose to draw"
)
SIMULATOR_STATE = _channel("simulator_state", "simulator_lcmt", "Simulation", "true state, torques, contacts")

# What MIT's software sends besides: known so that logs can be read.
_OTHERS = (
    _channel("interface", "gamepad_lcmt", "RobotInterface", "the game pad"),
    _channel("interface_request", "control_parameter_request_lcmt", "RobotInterface", "sets a parameter"),
    _channel("interface_response", "control_parameter_respones_lcmt", "HardwareBridge", "acknowledges it"),
    _channel("wbc_lcm_data", "wbc_test_data_t", "LocomotionCtrl", "whole-body controller"),
    _channel("spi_debug_cmd", "leg_control_command_lcmt", "SimControlPanel", "joint targets of the debug window"),
    _channel("global_to_robot", "localization_lcmt", "outside", "localization for the vision state"),
    _channel("velocity_cmd", "velocity_visual_t", "FSM_State_Vision", "velocity to draw"),
    _channel("obstacle_visual", "obstacle_visual_t", "FSM_State_Vision", "obstacles to draw"),
    _channel("local_heightmap", "heightmap_t", "outside", "height map"),
    _channel("traversability", "traversability_map_t", "outside", "traversability map"),
    _channel("cf_pointcloud", "rs_pointcloud_t", "outside", "point cloud"),
    _channel("ecat_cmd", "ecat_command_t", "HardwareBridge", "Cheetah 3 only"),
    _channel("ecat_data", "ecat_data_t", "HardwareBridge", "Cheetah 3 only"),
)

MIT_CHANNELS: dict[str, Channel] = {
    c.name: c for c in (*[c for c in list(globals().values()) if isinstance(c, Channel)], *_OTHERS)
}
