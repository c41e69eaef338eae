"""Watches the processes of a stack: names who dies, falls silent or never comes alive, and starts it again if it may.

Has no clock and no screen: `look(now)` is called often, and what there is to say goes to `say`. When a process of the
stack is lost while the robot is driven, damping is latched with an estop (`latch`): a controller that is back would
take a target that an operator still holds for a new one, and a packer that is back would drive a robot that has fallen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from procs.controller.modes import DRIVEN
from tools.launch import Child, Launcher
from tools.lcm_run import Watch
from tools.processes import PLANT, UP, Process
from tools.up.restarts import LIMIT, WINDOW, Restarts

SILENT = 2.5  # s without proc_health, which comes once a second, after which a process is called silent
DEAF = 2.0  # s without even the own reports
HUNG = 10.0  # s after which a silent one is taken for hung
USAGE = 2  # exit code of a wrong file or option: the next start would end in the same way


@dataclass
class Tracked:
    """What is known of one process."""

    process: Process
    started: float  # s
    alive: bool = False  # it has reported since its start
    silent: bool = False
    due: float | None = None  # s, when it will be started again
    over: bool = False  # dead for good
    warning: str = ""  # the last thing that was said of it
    restarts: Restarts = field(default_factory=Restarts)


class Supervisor:
    """The processes of one launcher. `failure` is set when the stack cannot go on, `ended` when the plant is done."""

    def __init__(
        self, launcher: Launcher, watch: Watch, say: Callable[[str], None], latch: Callable[[str], None],
        restart: bool = True,
    ) -> None:  # fmt: skip
        self.launcher, self.watch, self._say, self._latch, self._restart = launcher, watch, say, latch, restart
        self.tracked: dict[str, Tracked] = {}
        self.failure = ""
        self.ended = False
        self.last_death = ""  # one line
        self._deaf = False
        self.stopping = False  # nothing is started again any more

    def track(self, process: Process, now: float) -> None:
        """Watch over a process that was started now."""
        self.tracked[process.name] = Tracked(process, now)

    def all_alive(self) -> bool:
        """Every process that the robot needs has reported and lives."""
        needed = [t for t in self.tracked.values() if t.process.essential]
        return bool(needed) and all(t.alive and not t.over for t in needed)

    def plant_runs(self) -> bool:
        """The plant ticks and obeys the pipeline."""
        health = self.watch.health.get(self.launcher.plant)
        return health is not None and health.state == "running" and not self.launcher.over()

    def look(self, now: float) -> None:
        """Judge every process once."""
        deaf = now - self.watch.heard.get(UP, now) > DEAF
        if deaf and not self._deaf:
            self._say("nothing is heard, not even the own reports: is the network interface of LCM down?")
        self._deaf = deaf
        for name, tracked in self.tracked.items():
            child = self.launcher.children[name]
            if tracked.over:
                continue
            if tracked.due is not None:
                if now >= tracked.due and not self.stopping:
                    self._start_again(tracked, now)
            elif child.process.poll() is not None:
                self._died(tracked, child, now)
            elif not tracked.alive:
                self._wait_for(tracked, child, now)
            elif deaf:
                self.watch.heard[name] = now  # it may well be alive
            else:
                self._listen(tracked, child, now)

    def _wait_for(self, tracked: Tracked, child: Child, now: float) -> None:
        health = self.watch.health.get(child.name)
        if health is not None and health.state not in ("starting", "stopping"):
            tracked.alive = True
            self._say(f"{child.name} runs, {now - tracked.started:.1f} s after its start")
            if tracked.restarts.total:
                self._hold(tracked, f"{child.name} was lost and is back")  # the new one has not heard of it
                self._advise(tracked)
        elif now - tracked.started > tracked.process.alive:
            self._say(f"{child.name} has not reported within {tracked.process.alive:g} s of its start: killed")
            child.process.kill()
            child.process.wait()

    def _listen(self, tracked: Tracked, child: Child, now: float) -> None:
        age = now - self.watch.heard.get(child.name, now)
        if age <= SILENT:
            tracked.silent = False
        elif not tracked.silent:
            tracked.silent = True
            tracked.warning = f"silent although it runs (process {child.process.pid})"
            self._say(f"{child.name} is {tracked.warning}: it hangs, or was stopped, or the machine is too busy")
            self._hold(tracked, f"{child.name} is silent")
        if age > HUNG and tracked.process.restart and self._restart and not self.stopping:
            self._say(f"{child.name} has been silent for {age:.0f} s: killed")
            child.process.kill()
            child.process.wait()

    def _died(self, tracked: Tracked, child: Child, now: float) -> None:
        tracked.alive = False
        process, code = tracked.process, child.process.returncode
        is_plant = child.name == self.launcher.plant
        if self.stopping:
            tracked.over = True
            return
        if not code and (is_plant or (process.stops > PLANT and process.essential and self.launcher.over())):
            tracked.over = self.ended = True  # a scenario is over
            return
        why, wait = "", None
        if code == USAGE:
            why = "it would end in the same way"
        elif not process.restart:
            why = "what moves the robot is not started again unseen"
        elif not self._restart:
            why = "--no-restart"
        elif is_plant and "--scenario" in child.command:
            why = "a scenario is not begun again"
        else:
            wait = tracked.restarts.wait(now)
            if wait is None:
                why = f"it has been started {LIMIT} times within {WINDOW:g} s"
        self.last_death = tracked.warning = f"{child.name} {child.ending()} after {now - tracked.started:.1f} s"
        self._hold(tracked, self.last_death)
        words = (child.last_words() or "(it said nothing)").replace("\n", "\n  ")
        obituary = f"{self.last_death}. Its last words:\n  {words}"
        if wait is not None:
            tracked.due = now + wait
            self._say(f"{obituary}\n{child.name} is started again in {wait:g} s")
            return
        tracked.over = True
        self._say(f"{obituary}\n{child.name} is not started again: {why}")
        if process.essential:
            self.failure = f"the robot cannot be driven without {child.name}"

    def _hold(self, tracked: Tracked, reason: str) -> None:
        """Latch damping if the robot is driven and this process had a part in it. A new plant knows nothing of it, but
        the controller, which outlives the plant's runs, does."""
        mode = self.watch.mode
        if tracked.process.essential and mode is not None and mode.mode in DRIVEN:
            self._latch(reason)

    def _start_again(self, tracked: Tracked, now: float) -> None:
        name = tracked.process.name
        self.watch.health.pop(name, None)
        tracked.due, tracked.started, tracked.silent = None, now, False
        self.launcher.restart(name)

    def _advise(self, tracked: Tracked) -> None:
        """What the operator must do now that an essential process is back: `up` itself sends no reset."""
        if tracked.process.essential:
            self._say(
                f"{tracked.process.name} is back. Look at the robot, end all commands of motion, then: "
                "python -m tools.command reset, and python -m tools.command stand"
            )
