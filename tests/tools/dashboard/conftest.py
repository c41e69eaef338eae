"""A robot, made-up messages, and, for the tests in a browser, a stack with its dashboard and a headless Chromium."""

from __future__ import annotations

import importlib
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from config.load import load_robot
from config.scenario import Scenario
from lcmtypes.channels import (
    BODY_STATE,
    ESTOP,
    JOINT_STATE,
    LEG_STATE,
    MODE_STATE,
    MOTION_COMMAND,
    RESET,
    ROBOT_CONFIG,
)
from lcmtypes.generated import BodyState, JointState, LegState, ModeState, ProcHealth
from procs.model.robot import Robot
from procs.runtime.bus import Bus
from procs.runtime.engine import Engine
from procs.runtime.plant_loop import PlantLoop
from procs.runtime.rollout import Rollout
from tools.launch import private_url
from tools.record import robot_config
from tools.stack import SPECS, make_plant

ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 60.0  # s; generous: the machine may be busy


@pytest.fixture(scope="session")
def robot():
    return Robot(load_robot("mini_cheetah"))


class Made:
    """Messages with the fields that are given; every one newer than the last."""

    def __init__(self, robot):
        self.robot, self.seq = robot, 0

    def _stamped(self, message, fields):
        self.seq += 1
        message.run, message.seq, message.utime = 1, self.seq, 2000 * self.seq
        for name, value in fields.items():
            target = getattr(message, name)
            if hasattr(target, "shape"):
                target[...] = value
            else:
                setattr(message, name, value)
        return message

    def joints(self, **fields):
        message = JointState(self.robot.num_joints)
        message.q[:] = self.robot.pose("stand")
        return self._stamped(message, fields)

    def legs(self, **fields):
        return self._stamped(LegState(self.robot.num_legs, self.robot.num_joints), fields)

    def body(self, **fields):
        message = BodyState(self.robot.num_legs)
        message.valid, message.quat[0] = 1, 1.0
        message.position[2] = self.robot.description.control.nominal_height
        return self._stamped(message, fields)

    def mode(self, mode="stand", **fields):
        message = ModeState()
        message.mode = message.target = mode
        message.allowed = ["down", "walk"]
        return self._stamped(message, fields)

    def health(self, name="controller", **fields):
        message = ProcHealth()
        message.name, message.instance, message.state = name, 7, "running"
        return self._stamped(message, fields)

    def fill(self, state, now, **mode):
        """A robot that stands, heard at `now`."""
        state.put(JOINT_STATE, self.joints(), now)
        state.put(LEG_STATE, self.legs(q=self.robot.pose("stand")), now)
        state.put(BODY_STATE, self.body(contact=1.0), now)
        state.put(MODE_STATE, self.mode(**mode), now)


@pytest.fixture
def made(robot):
    return Made(robot)


def until(condition, what, seconds=PATIENCE):
    """Poll; an error with `what` after a generous time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"not within {seconds:g} s: {what() if callable(what) else what}")


# -- in a browser -----------------------------------------------------------------------------------------------------


class Tool:
    """A tool started as a user would; its output in a file."""

    def __init__(self, output, *command):
        self.output = output
        with output.open("wb") as sink:
            self.process = subprocess.Popen(
                [sys.executable, "-m", *map(str, command)], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=sink,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    def text(self):
        return self.output.read_text(errors="replace")

    def address(self):
        """http://..., once it is announced."""

        def announced():
            assert self.process.poll() is None, self.text()
            return next((w for w in self.text().split() if w.startswith("http://")), "")

        return until(announced, self.text)

    def end(self):
        """Ctrl-C; the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise


@pytest.fixture
def start(tmp_path):
    """Start tools; all are ended."""
    tools = []

    def make(*command):
        tools.append(Tool(tmp_path / f"tool{len(tools)}.out", *command))
        return tools[-1]

    yield make
    for tool in reversed(tools):
        tool.end()


@pytest.fixture
def url():
    return private_url()


class Stack(threading.Thread):
    """Plant loop, simulator and pipeline in one thread, joined to a bus like separate processes: never late."""

    def __init__(self, robot, url, **plant):
        super().__init__(name="stack", daemon=True)
        self.robot, self.bus = robot, Bus(url)
        self.loop = PlantLoop(make_plant(robot, Scenario(name="dashboard", duration=1.0, plant=plant), 1), robot)
        self.rollout = Rollout(self.loop, [Engine(spec, robot) for spec in SPECS.values()], self._observe)
        self.asked, self.newest = [], {}
        self.paused, self.ended = threading.Event(), threading.Event()
        self._operators, self._own, self.failure = [], False, None
        self.bus.subscribe((MOTION_COMMAND, ESTOP, RESET), self._hear)

    def _hear(self, channel, message):
        self._operators.append((channel, message))
        if channel is MOTION_COMMAND:
            self.asked.append(message)

    def _observe(self, channel, message):
        self.newest[channel] = message
        if not self._own:
            self.bus.publish(channel, message)

    def run(self):
        try:
            self._run()
        except Exception as error:
            self.failure = error
            raise
        finally:
            self.loop.plant.stop()

    def _run(self):
        run, due, config = 1, time.monotonic(), robot_config(self.robot.description)
        self.loop.start(run)
        while not self.ended.wait(max(0.0, due - time.monotonic())):
            due = max(due + self.robot.dt, time.monotonic() - 0.1)
            self.bus.drain()
            if self.paused.is_set():
                continue
            if self.loop.seq % 250 == 0:
                self.bus.publish(ROBOT_CONFIG, config)
            if any(channel is RESET for channel, _ in self._operators):
                run += 1
                self.loop.start(run)
            self.rollout.tick(self._given)

    def _given(self):
        """Operators' messages, delivered to all but the bus, where they are already."""
        heard, self._operators = self._operators, []
        self._own = True
        self.rollout.send(heard)
        self._own = False
        return []

    # -- for the tests --

    def mode(self):
        return self.newest.get(MODE_STATE)

    def settled(self, mode):
        state = self.mode()
        return state is not None and state.mode == mode and not state.busy

    def until(self, condition, what):
        def look():
            assert self.failure is None, self.failure
            return condition()

        return until(look, lambda: f"{what}; {self.mode()}, {len(self.asked)} commands, latched {self.loop.latched!r}")


@pytest.fixture
def stack(robot, url):
    """A robot that lies there, ready."""
    stack = Stack(robot, url)
    stack.start()
    yield stack
    stack.ended.set()
    stack.join(PATIENCE)


@pytest.fixture
def browser(tmp_path):
    """Headless Chromium."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed (extra `browser-test`)")
    pytest.importorskip("viser", reason="viser is not installed (extra `dashboard`)")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("Chromium and chromedriver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (
        "--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
        "--disable-background-networking", "--no-first-run", "--disable-dev-shm-usage", "--window-size=900,700",
        f"--user-data-dir={tmp_path / 'chromium'}",
    ):  # fmt: skip
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield Page(driver)
    finally:
        driver.quit()


class Page:
    """The dashboard as a person sees it: buttons by what is written on them."""

    def __init__(self, driver):
        self.driver = driver
        driver.set_script_timeout(PATIENCE)

    def open(self, address):
        self.driver.get(f"{address}/?fixedDpr=0.2")  # few pixels: no graphics card here

    def text(self):
        return self.driver.execute_script("return document.body.innerText")

    def until_text(self, text):
        until(lambda: text in self.text(), lambda: f"{text!r} in:\n{self.text()}")

    def button(self, label):
        """The button with this label, once it is there."""
        script = "return [...document.querySelectorAll('button')].find(b => b.innerText.trim() === arguments[0])"
        return until(lambda: self.driver.execute_script(script, label), f"a button {label!r}")

    def tab(self, title):
        """Choose a page."""
        script = "return [...document.querySelectorAll('[role=tab]')].find(e => e.innerText.trim() === arguments[0])"
        until(lambda: self.driver.execute_script(script, title), f"a tab {title!r}").click()

    def press_if_there(self, label):
        """Press such a button if it is there now and can be pressed; whether it was."""
        find = "[...document.querySelectorAll('button:enabled')].find(b => b.innerText.trim() === arguments[0])"
        return self.driver.execute_script(f"const b = {find}; b?.click(); return !!b", label)

    def press(self, label):
        until(lambda: self.button(label).is_enabled(), lambda: f"{label!r} enabled; the page says:\n{self.text()}")
        self.button(label).click()

    def errors(self):
        """What JavaScript complained about."""
        return [e for e in self.driver.get_log("browser") if e["level"] == "SEVERE"]

    def slide(self, label, steps):
        """Move a slider by arrow keys, as a person may."""
        script = (
            "const l = [...document.querySelectorAll('label')].find(e => e.innerText.trim() === arguments[0]);"
            "return l && document.getElementById(l.htmlFor).closest('div').parentElement.querySelector('[role=slider]')"
        )
        thumb = until(lambda: self.driver.execute_script(script, label), f"a slider {label!r}")
        keys = importlib.import_module("selenium.webdriver.common.keys").Keys
        thumb.send_keys((keys.ARROW_RIGHT if steps > 0 else keys.ARROW_LEFT) * abs(steps))
