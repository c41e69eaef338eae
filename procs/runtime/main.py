"""The command line that all processes share: python -m procs.NAME --robot mini_cheetah --lcm-url ..."""

from __future__ import annotations

import argparse
import ctypes
import gc
import logging
import os
import signal
import sys
from collections.abc import Callable

from config.load import ConfigError, load_robot
from procs.model.robot import Robot
from procs.runtime.bus import DEFAULT_URL, Bus, BusError
from procs.runtime.live import LiveProcess
from procs.runtime.single import DuplicateProcessError
from procs.runtime.spec import ProcessSpec

LOG = logging.getLogger(__name__)

PR_SET_PDEATHSIG = 1


def arguments(name: str, doc: str | None) -> argparse.ArgumentParser:
    """The options every process has."""
    parser = argparse.ArgumentParser(prog=f"python -m {name}", description=doc)
    parser.add_argument("--robot", default="mini_cheetah", help="name in config/robots or path of a YAML file")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override, e.g. control.mpc.horizon=8"
    )
    parser.add_argument("--lcm-url", default=DEFAULT_URL)
    parser.add_argument("--rt", action="store_true", help="SCHED_FIFO and locked memory, where allowed")
    parser.add_argument("--with-parent", type=int, metavar="PID", help="end when this process, our parent, dies")
    parser.add_argument("--verbose", action="store_true")
    return parser


def prepare(name: str, args: argparse.Namespace) -> None:
    """Logging, real-time scheduling, end with the parent."""
    level = logging.DEBUG if args.verbose else logging.INFO
    logging.basicConfig(level=level, format=f"{name}: %(levelname)s %(message)s", stream=sys.stderr)
    libc = ctypes.CDLL(None, use_errno=True)
    if args.with_parent:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != args.with_parent:
            sys.exit(f"{name}: the parent {args.with_parent} is gone")
    if args.rt:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(60))
            libc.mlockall(3)
        except PermissionError as error:
            LOG.warning("real-time scheduling refused (%s); set rtprio in /etc/security/limits.conf", error)


def robot_of(args: argparse.Namespace) -> Robot:
    """The robot named on the command line."""
    return Robot(load_robot(args.robot, args.set))


def guarded(name: str, run: Callable[[], None]) -> int:
    """Run; expected errors become one clear line and exit code 2."""
    gc.collect()
    gc.freeze()  # what exists now lives for ever: the collector need not look at it again
    try:
        run()
    except (ConfigError, BusError, DuplicateProcessError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    return 0


def run_process(
    spec: ProcessSpec,
    doc: str | None = None,
    runner: type[LiveProcess] = LiveProcess,
    ready: Callable[[], None] = lambda: None,
) -> int:
    """Main function of a process of the pipeline; `ready` is called before the bus is opened."""
    args = arguments(f"procs.{spec.name}", doc).parse_args()
    prepare(spec.name, args)
    ready()

    def run() -> None:
        robot = robot_of(args)
        process = runner(spec, robot, Bus(args.lcm_url))
        for sig in (signal.SIGTERM, signal.SIGINT):
            signal.signal(sig, process.stop)
        process.run()

    return guarded(spec.name, run)
