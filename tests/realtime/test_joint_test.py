"""Joints of a robot in a rig, tested from the command line on a running stack."""

from lcmtypes.channels import MODE_STATE


def test_a_joint_in_the_rig_follows_and_its_error_is_told(start, listen, tmp_path):
    up, ear = start("tools.up", "--set", "plant.suspended=true", "--logs", tmp_path), listen()
    ear.until(lambda: ear.settled("ready"), "ready")
    table = tmp_path / "errors.csv"
    tool = start(
        "tools.joint_test", "FR.hip", "RL.knee", "--yes", "--seconds", "1", "--amplitude", "0.1", "--kp", "20",
        "--csv", table,
    )  # fmt: skip
    assert tool.wait() == 0, tool.text()
    rows = {line.split(",")[0]: line.split(",") for line in table.read_text().splitlines()[1:]}
    assert set(rows) == {"FR.hip", "RL.knee", "hip", "knee"}
    assert all(0 < float(row[1]) < 0.1 and int(row[4]) > 100 for row in rows.values())
    ear.until(lambda: ear.newest[MODE_STATE].mode == "ready", "ready again")
    assert {"joint_test", "ready"} <= set(ear.modes)
    up.interrupt()
    up.wait()


def test_a_robot_that_stands_is_not_tested(start, listen, tmp_path):
    up, ear = start("tools.up", "--logs", tmp_path), listen()
    ear.until(lambda: ear.settled("ready"), "ready")
    held = start("tools.command", "stand")
    ear.until(lambda: ear.settled("stand"), "standing")
    held.interrupt()
    tool = start("tools.joint_test", "FR.hip", "--yes")
    assert tool.wait() == 1
    assert "the controller is in stand and does not go to joint_test: no way from stand to joint_test" in tool.text()
    up.interrupt()
    up.wait()
