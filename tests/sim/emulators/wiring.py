"""The Mini Cheetah on other buses than its own: Scotty's boards, CAN with three protocols."""

from __future__ import annotations

from config.bus import Bus
from config.load import load_robot
from procs.model.robot import Robot

DRIVES = {"mit": "mini_cheetah", "cybergear": "CyberGear", "gim6010": "GIM6010-8"}
HOSTS = {"mit": 0, "cybergear": 0xFD, "gim6010": 0}


def own_bus() -> Bus:
    """As its description says: SPIne boards."""
    return load_robot("mini_cheetah").bus


def spine_bus(variant: str = "mit") -> Bus:
    """SPIne boards; Scotty's firmware keeps the belt of the knees to itself and turns it 3:2."""
    bus = own_bus()
    if variant == "mit":
        return bus
    wiring = {
        name: wire.model_copy(update={"ratio": 1.0, "drive": "AK10-9_V2.0", "offset": 0.0})
        for name, wire in bus.wiring.items()
    }
    return bus.model_copy(update={"wiring": wiring, "spine": bus.spine.model_copy(update={"variant": "scotty"})})


def can_bus(protocol: str = "mit", buses: int = 4) -> Bus:
    """The same signs, offsets and ratios; ids 1 to 3 on a bus per leg (GIM6010: nodes 1 to 12)."""
    bus = own_bus().model_dump()
    spread = 1 if buses == 4 else 2
    for leg in range(4):
        for j in range(3):
            name = list(bus["wiring"])[3 * leg + j]
            number = 1 + 3 * leg + j if protocol == "gim6010" or spread == 2 else 1 + j
            bus["wiring"][name] |= {"line": leg // spread, "id": number, "drive": DRIVES[protocol]}
    lines = [{"channel": f"can{i}"} for i in range(buses)]
    return Bus(**(bus | {"spine": None, "can": {"protocol": protocol, "buses": lines, "host_id": HOSTS[protocol]}}))


def with_bus(bus: Bus | None, **imu: object) -> Robot:
    """The Mini Cheetah on a bus; `imu`: mount, noise."""
    description = load_robot("mini_cheetah")
    update: dict[str, object] = {"bus": bus}
    if imu:
        update["imu"] = description.imu.model_copy(update=imu)
    return Robot(description.model_copy(update=update))
