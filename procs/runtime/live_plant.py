"""Live runner of a plant: owns the timer, lock step and pace, on an LCM bus.

Lock step: the next tick waits for this tick's joint_command. Real time: a tick every period on an absolute schedule.
Both begin paused: tick 0 is sent until all processes have answered once.
"""

from __future__ import annotations

import logging
import secrets
import time
from typing import Any

from lcmtypes.channels import (
    BODY_STATE,
    ESTOP,
    JOINT_COMMAND,
    LEG_COMMAND,
    LEG_STATE,
    MOTION_COMMAND,
    PROC_HEALTH,
    RESET,
    Channel,
)
from procs.runtime.bus import Bus
from procs.runtime.commands import CommandPlayer
from procs.runtime.engine import Sent
from procs.runtime.health import Health, Times
from procs.runtime.plant_loop import PlantLoop
from procs.runtime.single import Single
from procs.runtime.timer import SPIN, sleep_until

LOG = logging.getLogger(__name__)

RESEND = 0.05  # s of wall time after which a sample is sent again
PATIENCE = 1.0  # s of wall time without an answer after which lock step is left
FRESH = 0.5  # s for which a motion_command counts as motion being asked for
CATCH_UP = 0.1  # s a late lock step at a pace may make up for
CATCH_UP_REAL_TIME = 0.01  # s in real time: drives must not see a burst of ticks
CHAIN = (BODY_STATE, LEG_STATE, LEG_COMMAND, JOINT_COMMAND)  # in the order in which a tick's answers appear


class LivePlant:
    """Runs a plant loop on a bus. `lock_step` False: real time. `pace` 1.0: lock step kept to real time, None: max."""

    def __init__(
        self,
        name: str,
        loop: PlantLoop,
        bus: Bus,
        *,
        lock_step: bool,
        pace: float | None,
        player: CommandPlayer | None = None,
        duration: float | None = None,
        hardware: bool = False,
    ) -> None:
        self.loop, self.bus, self.player = loop, bus, player
        self.lock_step, self.pace = lock_step, pace
        self.hardware = hardware
        self.health = Health(name)
        self.single = Single(bus, self.health)
        self.latency = Times()  # ms, sample to joint_command
        self.late = Times()  # ms, tick behind its schedule
        self.stopping = False
        self.lost = ""  # the first channel that lacks this tick's seq once lock step was left
        self.waits_for = ""  # what keeps the plant from ticking as it should, in words
        self._ticks = None if duration is None else round(duration / loop.robot.dt)
        self._period = loop.robot.dt
        self._reset = ""
        self._motion: Any = None
        self._motion_at = 0.0
        self._told = ""  # what the last report said of damping
        self._answered = -1  # seq of the newest command for the current run
        self._sent_at = 0.0
        bus.subscribe((JOINT_COMMAND, ESTOP, RESET, MOTION_COMMAND), self._on_message)

    def _on_message(self, channel: Channel, message: Any) -> None:
        if channel is JOINT_COMMAND:
            if self.loop.accept(message) and message.seq > self._answered:
                self._answered = message.seq
                if message.seq == self.loop.seq:
                    self.latency.add(1e3 * (time.perf_counter() - self._sent_at))
        elif channel is MOTION_COMMAND:
            self._motion, self._motion_at = message, time.monotonic()
        elif self.player is not None and message.run == self.loop.run:
            return  # our own scenario's, obeyed when it was sent
        elif channel is ESTOP:
            self._reset = ""  # a reset that was not obeyed yet does not release a later estop
            self.loop.obey(channel, message)
        else:
            self._reset = message.source or "unnamed"

    def stop(self, *_: object) -> None:
        """End `run` after the current tick (also a signal handler)."""
        self.stopping = True

    def run(self) -> None:
        """Tick until stopped or the duration is over; the plant is always stopped at the end."""
        self.single.claim()
        try:
            self._begin()
            while not self.stopping:
                if self._reset:
                    self._obey_reset()
                self._tick()
                if self._ticks is not None and self.loop.seq + 1 >= self._ticks and not self._reset:
                    break
        finally:
            self.loop.plant.stop()
            self.health.state = "stopping"
            self._report()

    def _look_around(self) -> None:
        """What has to be done now and then, also while nothing ticks."""
        self.single.check()
        if self.health.due() or self.loop.why != self._told:  # damping is told at once
            self._report()

    def _begin(self) -> None:
        """A new run: paused at tick 0 until everybody has answered."""
        self.loop.start(run=secrets.randbits(62))
        self._answered, self.lost, self.waits_for = -1, "", ""
        if self.player is not None:
            self.player.reset()
        self.health.state = "paused"
        sample = self._sample(lock_step=self.lock_step)
        asked = time.monotonic()
        while self._answered < 0 and not self.stopping and not self._reset:
            self._send(sample)
            self._serve(time.monotonic() + RESEND, until_answer=True)
            if time.monotonic() - asked > PATIENCE and self._answered < 0:
                asked = time.monotonic()
                self.waits_for = f"paused: no {self._first_missing(sample)} of tick 0 yet"
            self._look_around()
        self.waits_for = ""
        self.loop.act()
        self.health.state = "running"
        self._next = time.monotonic() + self._period

    def _obey_reset(self) -> None:
        asked, self._reset = self._reset, ""
        moving = (
            self._motion is not None
            and self.player is None
            and time.monotonic() - self._motion_at < FRESH
            and (self._motion.mode == "walk" and any((self._motion.vx, self._motion.vy, self._motion.yaw_rate)))
        )
        if moving:
            self.loop.counts.last_error = f"reset by {asked} refused: {self._motion.source} asks for motion"
            LOG.warning(self.loop.counts.last_error)
        elif self.hardware:
            self.loop.release()
        else:
            LOG.info("reset by %s", asked)
            self._begin()

    def _sample(self, lock_step: bool) -> Sent:
        utime = time.monotonic_ns() // 1000 if self.hardware else None
        sample = self.loop.sample(utime)
        loop = self.loop
        sample[-1][1].lock_step = int(lock_step)  # type: ignore[attr-defined]
        if self.player is not None:
            commands = self.player.messages(loop.seq, loop.utime, loop.run)
            for channel, message in commands:
                loop.obey(channel, message)
            sample = [*commands, *sample]
        return sample

    def _send(self, sample: Sent) -> None:
        self._sent_at = time.perf_counter()
        for channel, message in sample:
            self.bus.publish(channel, message)

    def _tick(self) -> None:
        waits = self.lock_step and not self.lost
        timed = not waits or self.pace is not None
        if timed:
            self._serve(self._next)
            now = time.monotonic()
            self.late.add(1e3 * (now - self._next))
            late = CATCH_UP if waits else CATCH_UP_REAL_TIME
            self._next = max(self._next + self._period / (self.pace or 1.0), now - late)
        begin = time.perf_counter()
        sample = self._sample(waits)
        self._send(sample)
        self.loop.plant.work_ahead()
        self.health.steps.add(1e6 * (time.perf_counter() - begin))
        if waits:
            self._await_answer(sample)
        else:
            self._serve(self._next - 0.0002)
        self.loop.act()
        self._look_around()

    def _await_answer(self, sample: Sent) -> None:
        """Wait for this tick's joint_command; re-send the sample; after PATIENCE leave lock step and say who lacks."""
        begin = time.monotonic()
        seq = self.loop.seq
        while self._answered < seq and not self.stopping and not self._reset:
            if self._serve(time.monotonic() + RESEND, until_answer=True):
                return
            if time.monotonic() - begin > PATIENCE:
                self.lost = self._first_missing(sample)
                self.waits_for = f"lock step left at tick {seq}: no {self.lost} of this tick for {PATIENCE:g} s"
                LOG.error(self.waits_for)
                self.health.state = "lost"
                self._report()
                self._next = time.monotonic() + self._period
                return
            self._send(sample)
            self._look_around()

    def _first_missing(self, sample: Sent) -> str:
        """Send the sample once more and listen which answers appear."""
        seen: set[str] = set()
        key = (self.loop.run, self.loop.seq)

        def note(channel: Channel, message: Any) -> None:
            if (message.run, message.seq) == key:
                seen.add(channel.name)

        handles = self.bus.subscribe(CHAIN, note)
        self._send(sample)
        self._serve(time.monotonic() + RESEND)
        self.bus.unsubscribe(handles)
        return next((c.name for c in CHAIN if c.name not in seen), CHAIN[-1].name)

    def _serve(self, until: float, until_answer: bool = False) -> bool:
        """Handle messages until a time, or until this tick is answered (True)."""
        while not self.stopping:
            if until_answer and self._answered >= self.loop.seq:
                return True
            left = until - time.monotonic()
            if left <= 0:
                self.bus.drain()
                break
            if left < SPIN:
                self.bus.drain()
                sleep_until(until)
            else:
                self.bus.wait(left - SPIN)
        return until_answer and self._answered >= self.loop.seq

    def _report(self) -> None:
        counts, bus, self._told = self.loop.counts, self.bus, self.loop.why
        health = self.health.message()
        health.ticks, health.refused, health.estops = self.loop.seq + 1, counts.refused, counts.estops
        health.missed = counts.missed + max(0, self.loop.age() - 1)
        health.decode_errors, health.not_finite = bus.counts["decode_errors"], bus.counts["not_finite"]
        now = (self.waits_for, self.loop.why)  # what is wrong now comes before what once was
        health.last_error = "; ".join(filter(None, now if any(now) else (counts.last_error or bus.last_error,)))
        if self.loop.state in ("latched", "damping") and self.health.state == "running":
            health.state = self.loop.state
        health.latency_p50, health.latency_p99, health.latency_max = self.latency.take()
        health.late_p99 = self.late.take()[1]
        bus.publish(PROC_HEALTH, health)
