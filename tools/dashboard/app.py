"""The running dashboard: looks at the bus, keeps the state, and lets scene and pages draw it while a browser looks."""

from __future__ import annotations

import threading
import time
from typing import Any

import viser

from config.load import ConfigError, parse_robot
from config.schema import RobotDescription
from lcmtypes.channels import MODE_STATE, ROBOT_CONFIG, Channel
from procs.model.robot import Robot
from procs.runtime.bus import Bus
from tools.dashboard.bar import Bar
from tools.dashboard.commands import Commands
from tools.dashboard.events import FORCED, EventFinder, EventLog
from tools.dashboard.heartbeat import PATIENCE, Heartbeat
from tools.dashboard.origin import only_ours
from tools.dashboard.page import Context, Page
from tools.dashboard.pages import PAGES
from tools.dashboard.sampler import OPEN, Sampler
from tools.dashboard.scene import Scene
from tools.dashboard.state import SILENT, State
from tools.dashboard.style import SHEET, sheet
from tools.operator import Operator

LOOKS = 30.0  # Hz while a browser looks
IDLE = 2.0  # Hz while none does
PANEL, SIDE = 400.0, 430.0  # px
ALARMED = 1.0  # s between checks for silent processes


class LocalServer(viser.ViserServer):
    """viser's server, on this machine alone: it never opens a tunnel to a public address."""

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Refused."""
        return None


def make_server(port: int, title: str) -> LocalServer:
    """A server on the loopback interface, dark, without viser's own branding."""
    with only_ours():
        server = LocalServer(host="127.0.0.1", port=port, label=title, verbose=False)
    server.gui.configure_theme(dark_mode=True, show_logo=False, show_share_button=False, brand_color=(38, 166, 154))
    return server


class Dashboard:
    """One bus, one server; the pages are built when the robot is known."""

    def __init__(
        self, server: viser.ViserServer, bus: Bus, description: RobotDescription | None, patience: float = PATIENCE
    ) -> None:
        self.server, self.bus, self._patience = server, bus, patience
        self.ended = threading.Event()
        self.log = EventLog()
        self._finder = EventFinder(self.log)
        self._hash = ""
        self._given = description is not None
        self._pages: list[tuple[int, Page]] = []
        self._looks = 0
        self._alarmed = 0.0
        self._alarms: set[str] = set()
        self.context: Context | None = None
        self._heartbeat: Heartbeat | None = None
        server.on_client_disconnect(self._gone)
        self._sampler = Sampler(bus, self._heard)
        if description is not None:
            self._build(description)
        else:
            wait = "<div class='d-bar'>waiting for a robot: none was given, and no robot_config is heard yet</div>"
            server.gui.add_html(sheet(SHEET) + wait)

    def _note(self, level: str, text: str) -> None:
        self._finder.note(time.time(), level, "dashboard", text)

    def _gone(self, client: viser.ClientHandle) -> None:
        if self.context is not None:
            self.context.commands.release(client.client_id, "the browser has gone")

    # -- building -----------------------------------------------------------------------------------------------------

    def _build(self, description: RobotDescription) -> None:
        """Everything that depends on the robot; a second time if another robot appears."""
        self._close()
        robot = Robot(description)
        server = self.server
        server.gui.reset()
        server.scene.reset()
        self._finder = EventFinder(self.log, robot.joint_names)
        self._sampler.opened = max(OPEN, 2.5 * robot.dt)
        self.context = context = Context(
            server, self.bus.url, robot, State(robot), self.log, Scene(server, robot),
            Commands(Operator(self.bus, "dashboard"), description.control, self._note),
            self.bus, Operator(self.bus, "dashboard"), self._note, self._patience,
        )  # fmt: skip
        self._pages = [(3, Bar(context)), *build_pages(context)]
        context.commands.start()
        self._heartbeat = Heartbeat(server, context.commands, self._patience)
        self._heartbeat.start()

    def _close(self) -> None:
        if self._heartbeat is not None:
            self._heartbeat.stop()
        if self.context is not None:
            self.context.commands.stop()

    # -- the bus ------------------------------------------------------------------------------------------------------

    def _heard(self, channel: Channel, message: Any) -> None:
        if channel is ROBOT_CONFIG:
            self._configure(message)
        self._finder.take(channel, message, time.time())
        if self.context is not None:
            state = self.context.state
            before = state.messages.get(MODE_STATE)
            state.put(channel, message, time.monotonic())
            if channel is MODE_STATE and message.mode in FORCED and (before is None or before.mode != message.mode):
                self.context.commands.forced()

    def _configure(self, message: Any) -> None:
        """A robot that is announced: drawn if none was given on the command line."""
        if message.hash == self._hash:
            return
        self._hash = message.hash
        try:
            description = parse_robot(message.yaml, where="robot_config")
        except ConfigError as error:
            self._note("error", f"the robot_config on the bus cannot be read: {error}")
            return
        if not self._given:
            self._build(description)
        elif self.context is not None and description != self.context.robot.description:
            self._note("warning", f"the bus announces another description ({message.robot}) than the one shown")

    # -- the loop -----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Until `ended`; slowly while nobody looks."""
        due = time.monotonic()
        while not self.ended.is_set():
            looked_at = bool(self.server.get_clients())
            self.look(draw=looked_at)
            now = time.monotonic()
            due = max(due + 1.0 / (LOOKS if looked_at else IDLE), now)
            self._wait(due - now, looked_at)

    def _wait(self, seconds: float, looked_at: bool) -> None:
        """Sleep; an idle dashboard wakes up when a browser comes."""
        end = time.monotonic() + seconds
        while not self.ended.wait(max(0.0, min(0.1, end - time.monotonic()))):
            if time.monotonic() >= end or (not looked_at and self.server.get_clients()):
                return

    def look(self, draw: bool) -> None:
        """One look at the bus, and a drawing of it."""
        self._sampler.look()
        context, now = self.context, time.monotonic()
        if context is None:
            return
        context.state.remember(now)
        self._raise_alarms(context.state, now)
        if not draw:
            return
        self._looks += 1
        with self.server.atomic():
            context.scene.update(context.state, now)
            for i, (every, page) in enumerate(self._pages):
                if (self._looks + i) % every == 0:  # not all in the same look
                    page.update(now)

    def _raise_alarms(self, state: State, now: float) -> None:
        """Processes that fell silent, and the plant's data going stale or coming back: once each."""
        if now - self._alarmed < ALARMED:
            return
        self._alarmed = now
        for name, health in state.health.items():
            silent = state.silent(name, now) > 0 and health.state != "stopping"
            self._alarm(silent, name, f"{name} has been silent for {SILENT:g} s", f"{name} reports again")
        stale = state.connection(now).kind == "stale"
        self._alarm(
            stale, "data", "nothing new from the plant: all that is shown is old", "the plant's data is live again"
        )

    def _alarm(self, on: bool, key: str, text: str, over: str) -> None:
        if on and key not in self._alarms:
            self._alarms.add(key)
            self._note("error", text)
        elif not on and key in self._alarms:
            self._alarms.discard(key)
            self._note("info", over)

    def stop(self) -> None:
        """Fall silent and close the server."""
        self.ended.set()
        self._close()
        self.server.stop()


def build_pages(context: Context) -> list[tuple[int, Page]]:
    """Tabs of the main panel on the right, panels on the left, as the table says."""
    gui = context.server.gui
    built: list[tuple[int, Page]] = []
    tabs = gui.add_tab_group()
    gui.main_panel.dock_right()
    gui.main_panel.set_width(PANEL)
    above: viser.PanelHandle | None = None
    for spec in PAGES:
        if spec.column == "right":
            tab = tabs.add_tab(spec.title)
        else:
            panel = gui.add_panel()
            if above is None:
                panel.dock_left()
                panel.set_width(SIDE)
            else:
                panel.dock_below(above)
            above = panel
            tab = panel.add_tab(spec.title)
        with tab:
            built.append((spec.every, spec.build(context)))
    return built
