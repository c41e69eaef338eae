"""What the pages write: tables, colours, words; foreign text is harmless."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest
import yaml

from config.live import live_parameters
from config.load import load_robot, robot_names
from lcmtypes.channels import BUS_STATUS, PROC_HEALTH
from lcmtypes.generated import BusStatus
from procs.model.robot import Robot
from procs.runtime.bus import Bus
from tests.tools.dashboard.conftest import until
from tools.dashboard.console import line
from tools.dashboard.drive import banner
from tools.dashboard.events import Event
from tools.dashboard.healthpage import Load, bus_table, process_table
from tools.dashboard.parameterpage import group_of, save, step_of
from tools.dashboard.state import State, feet_in_body
from tools.dashboard.stepping import STRIDE, Stepping
from tools.launch import private_url


def test_processes_show_rate_step_and_cpu_and_a_silent_one_is_red(robot, made):
    state = State(robot)
    for k in range(2):
        message = made.health("controller", ticks=500 * k, step_p50=300.0, step_p99=450.0, last_error="<b>bad</b>")
        message.utime = 1_000_000 * k
        state.put(PROC_HEALTH, message, float(k))
    text = process_table(state, {"controller": 31.4, "relay": 2.0}, 1.5)
    for word in ("controller", ">500<", "300/450", ">31<", "relay", "&lt;b&gt;bad&lt;/b&gt;"):
        assert word in text
    assert "silent 9 s" in process_table(state, {}, 10.0)


def test_the_cpu_of_processes_is_found_by_the_url_on_their_command_line(tmp_path):
    url = private_url()
    command = [sys.executable, "-c", "import time; time.sleep(60)", "-m", "procs.packer", "--lcm-url", url]
    process = subprocess.Popen(command)
    try:
        for known in (url, Bus(url).url):  # the bus adds an option of its own
            load = Load(known)
            until(lambda load=load: "packer" in load.read(time.monotonic() + 1e6), "the process is found")
    finally:
        process.kill()
        process.wait()


def test_buses_show_counters_and_every_motor_by_its_joint(robot):
    state = State(robot)
    assert "no bridge reports" in bus_table(state, 0.0)
    status = BusStatus(12)
    status.state, status.checksum_errors, status.fault[5] = "running", 3, "overheated"
    status.temperature[5], status.voltage[5] = 82.0, 23.7
    state.put(BUS_STATUS, status, 0.0)
    text = bus_table(state, 0.0)
    for word in ("running", ">3<", "FL.knee", "overheated", "82", "23.7"):
        assert word in text
    assert "heard 9 s ago" in bus_table(state, 9.0)


def test_a_line_of_the_console_is_escaped_and_counted():
    text = line(Event(0.25, "warning", "bus", "<script>x</script>", times=3))
    assert "&lt;script&gt;" in text and "<script>" not in text
    assert "×3" in text


def test_who_is_obeyed_is_said(made):
    assert "only looks" in banner(made.mode(), "dashboard:a:1", owned=False)
    assert "teleop:a:2</" not in banner(made.mode(), "dashboard:a:1", owned=True)
    assert "teleop:a:2" in banner(made.mode(source="teleop:a:2"), "dashboard:a:1", owned=True)
    assert "You are in control" in banner(made.mode(source="dashboard:a:1"), "dashboard:a:1", owned=True)


def test_parameters_are_grouped_stepped_and_saved_as_an_overlay(robot, tmp_path):
    table = live_parameters(robot.description)
    assert group_of("control.stand.kp.0") == "control.stand"
    assert {group_of(n) for n in table} >= {"control", "control.stand", "control.mpc"}
    for p in table.values():
        assert 1e-3 <= step_of(p) / (p.maximum - p.minimum) <= 0.0101
    values = {n: p.value for n, p in table.items()} | {"control.stand.kp.0": 91.0}
    path = tmp_path / "logs" / "tuned.yaml"
    assert save(path, table, values, unread=0)[0] == "info"
    assert yaml.safe_load(path.read_text()) == {"control.stand.kp.0": 91.0}
    assert "2 were never read" in save(path, table, values, unread=2)[1]


@pytest.mark.parametrize("name", robot_names())
def test_stepping_slides_standing_feet_on_the_ground_and_lifts_the_others(name):
    robot = Robot(load_robot(name))
    control = robot.description.control
    gait = next(g for g in control.gaits.values() if g.duty < 1.0)
    stepping, ground = Stepping(robot, gait), feet_in_body(robot, robot.pose("stand"))[:, 2]
    lifted = np.zeros(robot.num_legs)
    for t in np.arange(0.0, 4 * gait.period * 1.01, 0.02):
        q = stepping.angles(t)
        assert (q >= robot.q_lower).all() and (q <= robot.q_upper).all()
        moved = feet_in_body(robot, q) - feet_in_body(robot, robot.pose("stand"))
        assert np.abs(moved[:, 0]).max() < 0.51 * STRIDE * control.nominal_height + 1e-6
        lifted = np.maximum(lifted, feet_in_body(robot, q)[:, 2] - ground)
    assert (lifted > 0.8 * (gait.swing_height or control.foothold.swing_height)).all()


@pytest.mark.parametrize("name", robot_names())
def test_arrows_of_axes_stand_at_the_joints_of_the_drawn_robot(name):
    pytest.importorskip("viser", reason="viser is not installed (extra `dashboard`)")
    from procs.model.rotations import quat_to_matrix
    from tools.dashboard.kinematic import joint_places
    from tools.dashboard.model import Model

    robot = Robot(load_robot(name))
    model, q = Model(robot.description), np.random.default_rng(2).uniform(-1, 1, robot.num_joints)
    places, axes = joint_places(robot, q)
    placed = {"body": (np.zeros(3), np.eye(3))}
    for i, (link, quat) in enumerate(zip(model.links, model.quats(q), strict=True)):
        at, R = placed[link.parent]
        at, R = at + R @ link.position, R @ quat_to_matrix(quat)
        placed[link.name] = at, R
        np.testing.assert_allclose(places[i], at, atol=1e-12)
        np.testing.assert_allclose(axes[i], R @ link.axis, atol=1e-12)
