"""What a tool is told to run: a scenario, a robot and overrides, checked together."""

from __future__ import annotations

import json

from config.live import live_parameters
from config.load import ConfigError, load_robot, load_scenario
from config.problems import Problem
from config.scenario import Scenario
from config.schema import RobotDescription

SCENARIO_KEYS = tuple(Scenario.model_fields)


def split_overrides(overrides: list[str]) -> tuple[list[str], list[str]]:
    """--set items for the scenario (plant.friction=0.4, duration=5) and for the robot (control.mpc.horizon=8)."""
    ours = [o for o in overrides if o.split("=")[0].split(".")[0] in SCENARIO_KEYS]
    return ours, [o for o in overrides if o not in ours]


def load(path: str, robot: str | None, overrides: list[str]) -> tuple[Scenario, RobotDescription, list[str]]:
    """Scenario, robot description and the robot's overrides."""
    for_scenario, for_robot = split_overrides(overrides)
    scenario = load_scenario(path, for_scenario)
    for_robot = [f"{key}={json.dumps(value)}" for key, value in scenario.set.items()] + for_robot
    description = load_robot(robot or scenario.robot, for_robot)
    problems = unsettable(scenario, description)
    if problems:
        raise ConfigError(path, problems)
    return scenario, description, for_robot


def unsettable(scenario: Scenario, description: RobotDescription) -> list[Problem]:
    """Parameters of the commands that this robot does not let be changed while it runs."""
    live, problems = live_parameters(description), []
    for i, command in enumerate(scenario.commands):
        for name, value in command.parameters.items():
            path, parameter = f"commands.{i}.parameters.{name}", live.get(name)
            if parameter is None:
                problems.append(Problem(path, value, f"not marked live in {description.name}: see its section `live`"))
            elif not parameter.minimum <= value <= parameter.maximum:
                problems.append(Problem(path, value, f"want {parameter.minimum:g} to {parameter.maximum:g}"))
    return problems
