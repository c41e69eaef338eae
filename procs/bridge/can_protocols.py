"""The protocols of motors on CAN buses, by the name the robot's YAML gives them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from config.bus import CanBus, JointWiring
from procs.bridge.can_cybergear import CyberGearProtocol
from procs.bridge.can_gim6010 import GimPositionProtocol, GimProtocol
from procs.bridge.can_mit import MitProtocol
from procs.bridge.can_protocol import Protocol


def _gim(can: CanBus, wires: Sequence[JointWiring]) -> GimProtocol:
    return (GimPositionProtocol if can.gim_input == "position" else GimProtocol)(can, wires)


PROTOCOLS: dict[str, Callable[[CanBus, Sequence[JointWiring]], Protocol]] = {
    "mit": MitProtocol, "gim6010": _gim, "cybergear": CyberGearProtocol,
}  # fmt: skip
