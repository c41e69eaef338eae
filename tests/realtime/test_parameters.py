"""Live parameters from the command line, on a running stack."""

from lcmtypes.channels import MODE_STATE


def test_parameters_are_listed_set_refused_and_saved(start, listen, tmp_path):
    up, ear = start("tools.up", "--logs", tmp_path), listen()
    ear.until(lambda: ear.newest.get(MODE_STATE) is not None, "a controller")
    assert start("tools.parameters", "set", "control.stand.kp.0=90").wait() == 0
    refused = start("tools.parameters", "set", "control.stand.kp.0=900")
    assert refused.wait() == 1
    assert "control.stand.kp.0 = 90  refused: 900 is not within 10 to 200" in refused.text()
    unknown = start("tools.parameters", "get", "control.rate")
    assert unknown.wait() == 2
    shown = start("tools.parameters", "list", "stand.kp")
    assert shown.wait() == 0
    (line,) = [text.split() for text in shown.text().splitlines() if "kp.0" in text]
    assert line == ["control.stand.kp.0", "90", "80", "10", "200"]
    assert start("tools.parameters", "save", tmp_path / "tuned.yaml").wait() == 0
    assert (tmp_path / "tuned.yaml").read_text().splitlines()[1:] == ["control.stand.kp.0: 90.0"]
    up.interrupt()
    up.wait()


def test_without_a_robot_it_says_so(start):
    alone = start("tools.parameters", "list")
    assert alone.wait() == 2
    assert "nobody publishes robot_config" in alone.text()
    given = start("tools.parameters", "get", "control.stand.kp.0", "--robot", "mini_cheetah")
    assert given.wait() == 1
    assert "controller does not answer" in given.text()
