"""The bus section: what does not fit is refused with its path."""

import pytest
import yaml

from config.checks import check_bus
from config.load import ConfigError, load_robot, parse_robot, robot_text
from tests.sim.emulators.wiring import can_bus

BROKEN = [
    ("wiring.FR.hip.line", 2, r"bus\.wiring\.FR\.hip\.line: 2: want 0\.\.1"),
    ("wiring.FR.hip.id", 2, r"bus\.wiring\.FR\.hip\.id: 2: want the leg's place on its board"),
    ("wiring.FR.hip.id", 1, r"bus\.wiring\.FL\.hip: .*taken by FR\.hip"),
    ("wiring.FR.hip.slot", 2, r"bus\.wiring\.FR\.knee: .*taken by FR\.hip"),
    ("wiring.FR.hip.slot", 3, r"bus\.wiring\.FR\.hip\.slot: .*less than or equal to 2"),
    ("wiring.FR.hip", None, r"bus\.wiring: .*want exactly the robot's joints"),
    ("spine", None, r"bus.*spine and can.*want one of them"),
    ("voltage_range", [30, 18], r"bus\.voltage_range.*want lower < upper"),
    ("wiring.FR.hip.sign", 2, r"bus\.wiring\.FR\.hip\.sign"),
    ("wiring.FR.hip.ratio", 0, r"bus\.wiring\.FR\.hip\.ratio"),
]


@pytest.mark.parametrize("path, value, words", BROKEN, ids=[f"{path}={value}" for path, value, _ in BROKEN])
def test_a_broken_bus_section_is_refused(path, value, words):
    data = yaml.safe_load(robot_text("mini_cheetah"))
    where, keys = data["bus"], path.replace("FR.", "FR_").split(".")
    keys = [key.replace("FR_", "FR.") for key in keys]
    for key in keys[:-1]:
        where = where[key]
    if value is None:
        where.pop(keys[-1])
    else:
        where[keys[-1]] = value
    with pytest.raises(ConfigError, match=words):
        parse_robot(yaml.safe_dump(data))


def test_the_reference_robots_wiring_is_accepted():
    bus = load_robot("mini_cheetah").bus
    assert bus is not None and bus.spine is not None and len(bus.wiring) == 12


def test_slots_are_of_boards_only():
    description = load_robot("mini_cheetah")
    bus = can_bus()
    wiring = dict(bus.wiring) | {"FR.hip": bus.wiring["FR.hip"].model_copy(update={"slot": 2})}
    problems = list(check_bus(description.legs, bus.model_copy(update={"wiring": wiring})))
    assert [(p.path, p.value) for p in problems] == [("bus.wiring.FR.hip.slot", 2)]
