"""Record every channel into an LCM event log, without loss: the queue is unbounded (lcm-logger's holds 30 messages)."""

from __future__ import annotations

import argparse
import gc
import logging
import platform
import signal
import subprocess
import sys
import threading
import time
from hashlib import sha256
from pathlib import Path

from config.load import ConfigError, dump, load_robot
from config.schema import RobotDescription
from lcmtypes.channels import PROC_HEALTH, ROBOT_CONFIG
from lcmtypes.generated import RobotConfig
from procs.runtime.bus import DEFAULT_URL, Bus, BusError
from procs.runtime.health import Health
from procs.runtime.logs import LogError, LogWriter
from procs.runtime.main import prepare

LOG = logging.getLogger(__name__)
ROOT = Path(__file__).resolve().parent.parent
LAST = 2.0  # s at the most in which the rest is taken after the end
GATHER = 0.01  # s in which events gather: the recorder must not take the cores from those it records


def revision() -> str:
    """Software revision: git's description of the checkout, `-dirty` with local changes."""
    try:
        done = subprocess.run(
            ("git", "describe", "--always", "--dirty", "--abbrev=12"),
            cwd=ROOT,
            text=True,
            capture_output=True,
            check=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return done.stdout.strip()


def cpu_kind() -> str:
    """Model name of the CPU: bit-for-bit replay is promised on the same kind."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def robot_config(description: RobotDescription) -> RobotConfig:
    """The robot_config message of a description."""
    config = RobotConfig()
    config.utime = time.monotonic_ns() // 1000
    config.robot, config.yaml = description.name, dump(description)
    config.hash = sha256(config.yaml.encode()).hexdigest()
    config.revision, config.cpu = revision(), cpu_kind()
    return config


def unused(path: Path) -> Path:
    """The path, or with -2, -3, ... behind its stem: a recorder that is started again keeps what it had."""
    other, number = path, 1
    while other.exists():
        number += 1
        other = path.with_stem(f"{path.stem}-{number}")
    return other


class Recorder:
    """Writes all channels of a URL to a file until stopped; the robot description is the first event."""

    def __init__(self, path: Path, url: str, config: RobotConfig | None) -> None:
        self.bus = Bus(url)
        self.writer = LogWriter(path)
        self.health = Health("recorder")
        self._stop = threading.Event()
        if config is not None:
            self.writer.write(ROBOT_CONFIG, config, time.time_ns() // 1000)
        self.bus.subscribe_raw(".*", self._on_event)

    def _on_event(self, name: str, data: bytes) -> None:
        self.writer.write_raw(name, data, time.time_ns() // 1000)

    def stop(self, *_: object) -> None:
        """End `run` (also a signal handler)."""
        self._stop.set()

    def run(self) -> None:
        """Record until stopped, then take what is still on its way and close the file."""
        self.health.state = "running"
        while not self._stop.is_set():
            if self.bus.wait(min(0.1, self.health.until_due())):
                time.sleep(GATHER)
            if self.health.due():
                message = self.health.message()
                message.ticks = self.writer.events
                self.bus.publish(PROC_HEALTH, message)
        end = time.monotonic() + LAST
        while time.monotonic() < end and self.bus.wait(0.05):
            pass
        self.writer.close()


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m tools.record", description=__doc__)
    parser.add_argument("--out", type=Path, help="default: logs/<date>_<time>.lcmlog")
    parser.add_argument("--no-overwrite", action="store_true", help="write to NAME-2, NAME-3, ... if --out exists")
    parser.add_argument("--robot", default="mini_cheetah", help="whose description goes into the log")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--lcm-url", default=DEFAULT_URL)
    parser.add_argument("--rt", action="store_true")
    parser.add_argument("--with-parent", type=int, metavar="PID", help="end when this process, our parent, dies")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    prepare("record", args)
    path = args.out or ROOT / "logs" / time.strftime("%Y%m%d_%H%M%S.lcmlog")
    path = unused(path) if args.no_overwrite else path
    try:
        recorder = Recorder(path, args.lcm_url, robot_config(load_robot(args.robot, args.set)))
    except (ConfigError, BusError, LogError) as error:
        print(f"record: {error}", file=sys.stderr)
        return 2
    for sig in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sig, recorder.stop)
    gc.collect()
    gc.freeze()
    recorder.run()
    LOG.info("%d events in %s", recorder.writer.events, path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
