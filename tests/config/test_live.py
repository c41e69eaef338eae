"""Which numbers may be changed while the robot runs: checked when the description is read."""

import pytest

from config.live import live_parameters, value_at, with_values
from config.load import ConfigError, dump, load_robot


def robot(live):
    return load_robot("mini_cheetah", [f"live={live}"])


def test_a_marked_vector_gives_one_parameter_for_each_element():
    found = live_parameters(robot("{control.stand.kp: {min: 10, max: 200}}"))
    assert list(found) == [f"control.stand.kp.{i}" for i in range(3)]
    parameter = found["control.stand.kp.2"]
    assert (parameter.process, parameter.value, parameter.ramp) == ("controller", 80.0, 0.5)


def test_a_ramp_is_as_the_description_says():
    marked = "{control.stand.kp: {min: 10, max: 200, ramp: 2}, control.nominal_height: {min: 0.25, max: 0.3}}"
    found = live_parameters(robot(marked))
    assert [p.ramp for p in found.values()] == [2.0, 2.0, 2.0, 0.0]


@pytest.mark.parametrize(
    ("live", "words"),
    [
        ("{control.rate: {min: 1, max: 1000}}", "cannot be changed while it runs"),
        ("{control.gaits.stand.duty: {min: 0.5, max: 1}}", "cannot be changed while it runs"),
        ("{control.stand.kq: {min: 1, max: 2}}", "there is no kq"),
        ("{control.gaits.trot.swing_height: {min: 0.1, max: 0.2}}", "want a number there, it is None"),
        ("{control.nominal_height: {min: 0.3, max: 0.2}}", "want min < max"),
        ("{control.nominal_height: {min: 0.3, max: 0.32}}", "want a range that holds control.nominal_height = 0.299"),
        ("{control.nominal_height: {min: 0.1, max: 0.32}}", "want within control.limits.height"),
        ("{control.gaits.trot.duty: {min: 0.1, max: 2}}", "less than or equal to 1"),
        ("{control.stand.kp: {min: 1}}", "live.control.stand.kp.max: missing"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(live, words):
    with pytest.raises(ConfigError, match="live") as caught:
        robot(live)
    assert words in str(caught.value)


def test_values_are_put_in_their_place_and_nothing_else_changes():
    description = load_robot("mini_cheetah")
    values = {"control.gaits.trot.offsets.1": 0.25, "control.stand.kp.0": 90.0, "control.nominal_height": 0.28}
    changed = with_values(description, values)
    assert {name: value_at(changed, name) for name in values} == values
    back = with_values(changed, {name: value_at(description, name) for name in values})
    assert dump(back) == dump(description)


def test_an_overlay_file_is_a_mapping_of_overrides(tmp_path):
    overlay = tmp_path / "tuned.yaml"
    overlay.write_text("control.stand.kp.0: 90.0\ncontrol.nominal_height: 0.28\n")
    description = load_robot("mini_cheetah", [f"@{overlay}"])
    assert description.control.stand.kp == (90.0, 80.0, 80.0)
    assert description.control.nominal_height == 0.28
    with pytest.raises(ConfigError, match="cannot be read"):
        load_robot("mini_cheetah", ["@nowhere.yaml"])
    overlay.write_text("control.stand.kq.0: 90.0\n")
    with pytest.raises(ConfigError, match="unknown key"):
        load_robot("mini_cheetah", [f"@{overlay}"])
