"""The table of processes: what depends on it is right for every line."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tools.processes import ALWAYS, LISTENER, LISTENERS, PIPELINE, PLANT, PLANTS, Run, available, listeners, processes

ALL = [*PIPELINE, *(p for plant in PLANTS.values() for p in plant), *LISTENERS.values()]


def test_every_module_is_there():
    assert [p.module for p in ALL if find_spec(p.module) is None] == []
    assert available() == list(LISTENERS)


def test_the_pipeline_stops_before_the_plant_and_the_listeners_last():
    for plant, line in PLANTS.items():
        assert line[-1].stops == PLANT
        assert max(p.stops for p in PIPELINE) < PLANT < min(p.stops for p in LISTENERS.values()) == LISTENER
        assert processes(plant)[: len(line)] == line


@pytest.mark.parametrize("plant", ["bridge", "emulated"])
def test_nothing_that_moves_motors_is_started_again_by_itself(plant):
    assert not any(p.restart for p in PLANTS[plant])


def test_no_listener_can_end_the_stack():
    assert not any(p.essential for p in LISTENERS.values())
    assert all(p.essential for p in (*PIPELINE, *(p for plant in PLANTS.values() for p in plant)))


def test_the_flight_recorder_is_always_there_and_does_the_recorders_work():
    assert ALWAYS == ("flight_recorder",)
    run = Run(Path("/run"), record=Path("/logs/a.lcmlog"), flight=Path("/logs"))
    assert [p.name for p in listeners(["recorder", "flight_recorder"])] == ["flight_recorder"]
    assert LISTENERS["flight_recorder"].options(run) == ["--folder", "/logs", "--record", "/logs/a.lcmlog"]
    assert [p.name for p in listeners(["recorder"])] == ["recorder"]
    assert LISTENERS["recorder"].options(run) == ["--out", "/logs/a.lcmlog", "--no-overwrite"]
    assert [p.name for p in listeners(["relay"])] == ["mit_relay"]
