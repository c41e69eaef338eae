"""Short rollouts with one thing wrong, as runs, logs and contexts of the report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from config.load import load_robot
from config.scenario import Command, Fault, PlantOptions, Push, Scenario
from procs.model.robot import Robot
from tools.recording import Recording
from tools.report.context import Context
from tools.report.log import Run
from tools.stack import rollout

WALK = 1.2  # s at which it begins to walk
WRONG = 2.0  # s at which something goes wrong


def rolled(
    *, seconds: float = 2.5, vx: float = 0.4, faults: Sequence[Fault] = (), pushes: Sequence[Push] = (),
    plant: PlantOptions | None = None, overrides: Sequence[str] = (), log: Path | None = None,
) -> tuple[Recording, Robot]:  # fmt: skip
    """A Mini Cheetah that stands up, then trots."""
    commands = [Command(t=0.0, mode="stand"), Command(t=WALK, mode="walk", gait="trot", vx=vx)]
    scenario = Scenario(
        name="report", duration=seconds, commands=commands, faults=list(faults), pushes=list(pushes),
        plant=plant or PlantOptions(),
    )  # fmt: skip
    robot = Robot(load_robot("mini_cheetah", overrides))
    return rollout(scenario, robot, seed=1, log=log), robot


def context(recording: Recording, robot: Robot) -> Context:
    """What rules look at."""
    return Context(Run.of(recording, robot))


@pytest.fixture(scope="session")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of a walk in which nothing goes wrong."""
    path = tmp_path_factory.mktemp("walked") / "walked.lcmlog"
    rolled(log=path)
    return path


@pytest.fixture(scope="session")
def fallen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of a robot that falls because a knee goes dead."""
    path = tmp_path_factory.mktemp("fallen") / "fallen.lcmlog"
    rolled(faults=[Fault(t=WRONG, kind="motor_off", joint="FR.knee")], seconds=2.8, log=path)
    return path
