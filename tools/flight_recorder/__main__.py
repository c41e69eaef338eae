"""Keep the last 60 s of all channels in memory; when a fault, fall or estop occurs or a process dies, save them and the
5 s after it as an LCM log. Can record everything into a log too, at little more cost.

`python -m tools.up` runs it always. Exit code 0 after Ctrl-C; 2: usage, no LCM, or a folder that cannot be written.
"""

from __future__ import annotations

import argparse
import gc
import logging
import os
import signal
import sys
import threading
import time
from pathlib import Path
from sys import intern

from config.load import ConfigError, load_robot
from lcmtypes.channels import PROC_HEALTH, ROBOT_CONFIG
from lcmtypes.generated import RobotConfig
from procs.runtime.bus import DEFAULT_URL, Bus, BusError
from procs.runtime.health import Health
from procs.runtime.logs import LogError, LogWriter
from procs.runtime.main import prepare
from tools.flight_recorder.ring import SECONDS, Block, Ring
from tools.flight_recorder.saving import KEEP_BYTES, KEEP_FILES, Flight, prune
from tools.flight_recorder.triggers import Triggers
from tools.record import ROOT, robot_config, unused

LOG = logging.getLogger(__name__)
GATHER = 0.03  # s in which messages gather: LCM's thread takes them from the kernel meanwhile
SLICE = 2000  # messages written per turn: saving must not take a core from those it records
LAST = 2.0  # s at the most in which the rest is taken after the end


class FlightRecorder:
    """Takes all messages of a URL until stopped."""

    def __init__(self, folder: Path, url: str, config: RobotConfig, *, seconds: float = SECONDS,
                 record: Path | None = None, keep: tuple[int, int] = (KEEP_FILES, KEEP_BYTES)) -> None:  # fmt: skip
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.config, self._keep = folder, config, keep
        self.bus, self.health = Bus(url), Health("flight_recorder")
        self.ring, self.triggers = Ring(seconds), Triggers()
        self.flight: Flight | None = None
        self.saved: list[Path] = []
        self.said = ""
        self.messages = 0
        self._names: list[str] = []
        self._datas: list[bytes] = []
        self._writer = LogWriter(record) if record is not None else None
        if self._writer is not None:
            self._writer.write(ROBOT_CONFIG, config, time.time_ns() // 1000)
        self._stop = threading.Event()
        self.bus.subscribe_raw(".*", self._on_message)

    def _on_message(self, name: str, data: bytes) -> None:
        self._names.append(intern(name))
        self._datas.append(data)

    def stop(self, *_: object) -> None:
        """End `run` (also a signal handler)."""
        self._stop.set()

    def run(self, parent: int | None = None) -> None:
        """Record until stopped, then finish the files. The death of `parent`, whose child this is, is a reason too."""
        self.health.state = "running"
        while not self._stop.is_set():
            if self.bus.wait(min(0.1, self.health.until_due())):
                time.sleep(GATHER)
            self.turn()
            if self.health.due():
                self.report()
        end = time.monotonic() + LAST
        while time.monotonic() < end and self.bus.wait(0.05):
            pass
        if parent is not None and os.getppid() != parent and not self.triggers.stopping:
            self.trigger("the supervisor died", time.monotonic())
        self.turn()
        self.close()

    def turn(self) -> None:
        """What has come: into the ring, into the files, and is something wrong?"""
        now = time.monotonic()
        block = Block(now, time.time_ns() // 1000, self._names, self._datas)
        self._names, self._datas = [], []
        self.messages += len(block.names)
        self.ring.add(block)
        reason = self.triggers.look(block)
        try:
            if self._writer is not None:
                for name, data in zip(block.names, block.datas, strict=True):
                    self._writer.write_raw(name, data, block.wall_us)
            if self.flight is not None:
                self.flight.add(block)
        except (LogError, OSError, ValueError) as error:
            self._say(f"cannot record: {error}")
            self._writer = None
        if reason:
            self.trigger(reason, now)
        self._write(now)

    def trigger(self, reason: str, now: float) -> None:
        """Save the ring, or more of what is being saved."""
        if self.flight is not None and now < self.flight.until:
            self.flight.again(reason, now)
            return
        self._finish()
        try:
            prune(self.folder, self._keep[0] - 1, self._keep[1] - self.ring.size)
            self.flight = Flight(self.folder, self.config, self.ring.unsaved(), reason, now)
        except (LogError, OSError) as error:
            self._say(f"cannot save the last {SECONDS:g} s ({reason}): {error}")

    def _write(self, now: float) -> None:
        if self.flight is None:
            return
        try:
            done = self.flight.write(SLICE)
        except (OSError, ValueError) as error:
            self._say(f"cannot go on saving {self.flight.path}: {error}")
            self.flight = None
            return
        if done and now >= self.flight.until:
            self._finish()

    def _finish(self) -> None:
        flight, self.flight = self.flight, None
        if flight is None:
            return
        try:
            self._say(f"saved {flight.close()}")
            self.saved.append(flight.path)
        except (OSError, ValueError) as error:
            self._say(f"cannot finish {flight.path}: {error}")

    def _say(self, text: str) -> None:
        self.said = text
        LOG.info(text)
        self.report()

    def report(self) -> None:
        """Publish proc_health."""
        message = self.health.message()
        message.ticks, message.last_error = self.messages, self.said
        self.bus.publish(PROC_HEALTH, message)

    def close(self) -> None:
        """Finish all files."""
        self._finish()
        if self._writer is not None:
            self._writer.close()


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m tools.flight_recorder", description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / "logs", help="where the files go (logs/)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="kept in memory (60)")
    parser.add_argument("--keep-files", type=int, default=KEEP_FILES, help="flight files kept; the oldest is deleted")
    parser.add_argument("--keep-mb", type=int, default=KEEP_BYTES // 1_000_000, help="MB of them in all")
    parser.add_argument("--record", type=Path, metavar="LOG", help="record everything into a log as well")
    parser.add_argument("--robot", default="mini_cheetah", help="whose description goes into the files")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--lcm-url", default=DEFAULT_URL)
    parser.add_argument("--rt", action="store_true")
    parser.add_argument("--with-parent", type=int, metavar="PID", help="end when this process, our parent, dies")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    if args.seconds <= 0 or args.keep_files < 1 or args.keep_mb < 1:
        parser.error("--seconds, --keep-files and --keep-mb must be positive")
    prepare("flight_recorder", args)
    try:
        config = robot_config(load_robot(args.robot, args.set))
        record = unused(args.record) if args.record else None
        recorder = FlightRecorder(
            args.folder, args.lcm_url, config, seconds=args.seconds, record=record,
            keep=(args.keep_files, 1_000_000 * args.keep_mb),
        )  # fmt: skip
    except (ConfigError, BusError, LogError, OSError) as error:
        print(f"flight_recorder: {error}", file=sys.stderr)
        return 2
    for sig in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sig, recorder.stop)
    gc.collect()
    gc.freeze()
    recorder.run(args.with_parent)
    LOG.info("%d messages, %d files saved", recorder.messages, len(recorder.saved))
    return 0


if __name__ == "__main__":
    sys.exit(main())
