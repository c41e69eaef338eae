"""config.load: names, overrides, and every error at once with its path."""

from pathlib import Path

import pytest
import yaml

from config.load import (
    ConfigError,
    as_overrides,
    load_robot,
    load_scenario,
    parse_robot,
    robot_names,
    robot_text,
)

SCENARIO = """
name: stroll
duration: 5
commands: [{t: 0, mode: walk}, {t: 1, vx: 0.3}]
faults: [{t: 2, kind: nan, joint: FR.hip}]
expect: {fell: false, vx_mean: {min: 0.27}}
set: {control.mpc.horizon: 8}
"""


def problems_of(text: str, overrides: tuple[str, ...] = ()) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        parse_robot(text, overrides, "robot.yaml")
    assert str(caught.value).startswith(f"robot.yaml: {len(caught.value.problems)} problem")
    return caught.value.problems


def test_both_robots_are_known_by_name() -> None:
    assert {"mini_cheetah", "tocatl"} <= set(robot_names())


@pytest.mark.parametrize("name", ["mini_cheetah", "tocatl"])
def test_canonical_text_says_the_same_as_the_file(name: str) -> None:
    assert parse_robot(robot_text(name)) == load_robot(name)


def test_canonical_text_holds_the_overrides() -> None:
    overrides = ["control.mpc.horizon=8", "legs.foot_radius=0.0123456789012345678"]
    assert parse_robot(robot_text("mini_cheetah", overrides)) == load_robot("mini_cheetah", overrides)


def test_a_path_is_read_as_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(robot_text("mini_cheetah", ["name=mine"]), encoding="utf-8")
    assert load_robot(path).name == load_robot(str(path)).name == "mine"


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"'mini_cheeta': known robots: .*mini_cheetah.*tocatl"):
        load_robot("mini_cheeta")


def test_a_missing_file_is_a_config_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_robot(tmp_path / "none.yaml")


def test_all_errors_come_at_once_types_and_meaning_alike() -> None:
    data = yaml.safe_load(robot_text("mini_cheetah"))
    data["control"]["gaits"]["trot"]["offsets"] = [0, 0.5]
    data["legs"]["chain"][1]["axis"] = [0, 0, 0]
    data["actuators"]["hip"]["gear"] = -6
    data["imu"]["nois"] = 1
    del data["safety"]["source"]
    assert set(problems_of(yaml.safe_dump(data))) == {
        "control.gaits.trot.offsets: [0.0, 0.5]: want 4 numbers, one per leg",
        "legs.chain.1.axis: (0.0, 0.0, 0.0): want a unit vector (within 1e-6), its length is 0",
        "actuators.hip.gear: -6: want greater than 0",
        "imu.nois: 1: unknown key, did you mean noise?",
        "safety.source: missing: required",
    }


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        (("legs", "foot"), [1, 2], "legs.foot: [1, 2]: want 3 items"),
        (("legs", "foot"), [1, 2, 3, 4], "legs.foot: [1, 2, 3, 4]: want 3 items"),
        (("body", "mass"), float("nan"), "body.mass: nan: want a finite number"),
        (("body", "mass"), "heavy", "body.mass: 'heavy': want a valid number, unable to parse string as a number"),
        (("body", "shape"), "ball", "body.shape: 'ball': want 'box' or 'cylinder'"),
        (("sim", "start"), 3, "sim.start: 3: want a section of height, pose, suspended_height"),
    ],
)
def test_a_wrong_value_names_path_value_and_what_is_allowed(path: tuple[str, str], value: object, line: str) -> None:
    data = yaml.safe_load(robot_text("mini_cheetah"))
    data[path[0]][path[1]] = value
    assert line in problems_of(yaml.safe_dump(data))


def test_a_syntax_error_names_its_line() -> None:
    assert problems_of("name: a\nbody: [1,\nlegs: }")[0].startswith("line 3, column ")


@pytest.mark.parametrize("text", ["", "- 1", "3"])
def test_a_text_without_sections_is_refused(text: str) -> None:
    assert problems_of(text) == ("(top): no mapping: want sections as `name: ...`",)


def test_a_value_that_holds_itself_is_refused() -> None:
    assert problems_of("a: &x [*x]") == ("a.0: *alias: a value cannot contain itself",)


def test_a_key_that_stands_twice_is_an_error() -> None:
    text = robot_text("mini_cheetah") + "name: other\n"
    assert [p for p in problems_of(text) if p.startswith("name: line ")] == [
        f"name: line {len(text.splitlines())}: key stands already on line 1"
    ]


def test_numbers_may_be_written_without_a_dot() -> None:
    assert load_robot("mini_cheetah", ["legs.foot_radius=17e-3"]).legs.foot_radius == 0.017


def test_overrides_reach_fields_lists_dictionaries_and_optional_values() -> None:
    overrides = ["control.mpc.horizon=8", "legs.chain.0.limits.1=1.5", "control.gaits.trot.period=0.4",
                 "control.gaits.trot.vx=[-1, 1]", "sim.contact_stiffness=1e4"]  # fmt: skip
    robot = load_robot("mini_cheetah", overrides)
    assert robot.control.mpc.horizon == 8
    assert robot.legs.chain[0].limits == (-1.6, 1.5)
    assert robot.control.gaits["trot"].period == 0.4
    assert robot.control.gaits["trot"].vx == (-1, 1)
    assert robot.sim.contact_stiffness == 1e4


def test_an_override_of_an_aliased_section_leaves_the_other_alone() -> None:
    robot = load_robot("mini_cheetah", ["actuators.hip.gear=7"])
    assert (robot.actuators["abad"].gear, robot.actuators["hip"].gear) == (6, 7)


@pytest.mark.parametrize(
    ("override", "advice"),
    [
        ("control.mpc.horizn=8", "unknown key control.mpc.horizn: did you mean horizon?"),
        ("controll.mpc.horizon=8", "unknown key controll: did you mean control?"),
        ("control.gaits.trott.period=1", "did you mean trot?"),
        ("legs.chain.3.limits=[0, 1]", "unknown key legs.chain.3: known here: 0, 1, 2"),
        ("body.mass.kg=1", "nothing can be set below this"),
        ("control.mpc.horizon", "want path=value"),
        ("=8", "want path=value"),
        ("control.mpc.horizon=[", "want a YAML value"),
        ("control.mpc.horizon=-8", "want greater than or equal to 2"),
        ("sim.start.pose=nowhere", "want one of down, stand"),
    ],
)
def test_a_wrong_override_is_refused_with_advice(override: str, advice: str) -> None:
    (problem,) = problems_of(robot_text("mini_cheetah"), (override,))
    assert advice in problem


def test_wrong_overrides_are_reported_together() -> None:
    lines = problems_of(robot_text("mini_cheetah"), ("control.mpc.horizn=8", "control.mpc.step=-1", "nothing=1"))
    assert len(lines) == 3


def test_a_scenario_is_read_with_overrides_and_gives_robot_overrides(tmp_path: Path) -> None:
    path = tmp_path / "stroll.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    scenario = load_scenario(path, ["commands.1.vx=0.5"])
    assert scenario.commands[1].vx == 0.5
    assert load_robot(scenario.robot, as_overrides(scenario.set)).control.mpc.horizon == 8


def test_a_wrong_scenario_lists_its_problems(tmp_path: Path) -> None:
    path = tmp_path / "stroll.yaml"
    path.write_text(SCENARIO.replace("joint: FR.hip", "value: 1").replace("t: 1", "t: -1"), encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_scenario(path)
    text = str(caught.value)
    assert "a fault of kind nan needs joint or channel" in text
    assert "commands.1.t: -1: want greater than or equal to 0" in text


def test_an_unknown_scenario_lists_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="known scenarios: "):
        load_scenario("no_such_scenario")
