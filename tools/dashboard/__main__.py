"""The dashboard in the browser: the robot in 3D, plots, events, health, and, once control is taken, commands.

Listens on 127.0.0.1 only. Publishes nothing until somebody presses `Take control`; E-STOP works at any time.
Exit code 0 after Ctrl-C; 2: usage, no LCM, a taken port, or viser is not installed.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib.util
import logging
import os
import signal
import socket
import sys
import threading

from config.load import ConfigError, load_robot
from procs.runtime.bus import DEFAULT_URL, Bus, BusError

INSTALL = "viser is not installed; `make dashboard` installs it, or: .venv/bin/python -m pip install viser"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    out = argparse.ArgumentParser(
        prog="python -m tools.dashboard", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    out.add_argument("--robot", help="name or path (default: the robot_config that is heard; kinematic: mini_cheetah)")
    out.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="as in tools.scenario")
    out.add_argument("--lcm-url", default=DEFAULT_URL)
    out.add_argument("--port", type=int, default=8080, help="of the page; 0: any free one")
    out.add_argument("--kinematic", action="store_true", help="no bus: sliders move the model, to check axes and signs")
    out.add_argument(
        "--patience",
        type=float,
        default=1.5,
        metavar="S",
        help="control is lost when the browser answers nothing for so long",
    )
    out.add_argument("--verbose", action="store_true")
    return out


def free(port: int) -> bool:
    """viser would take the next port without a word."""
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def main() -> int:
    """Entry point."""
    args = parser().parse_args()
    logging.basicConfig(
        level=logging.DEBUG if args.verbose else logging.INFO, format="dashboard: %(levelname)s %(message)s"
    )
    if not args.verbose:
        logging.getLogger("websockets").setLevel(logging.ERROR)  # a browser that goes away is no error
    if importlib.util.find_spec("viser") is None:
        return _fail(INSTALL)
    if args.port and not free(args.port):
        return _fail(f"port {args.port} is taken (another dashboard?); choose one with --port, 0 takes any")
    ended = threading.Event()
    for sig in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sig, lambda *_: ended.set())
    try:
        run_kinematic(args, ended) if args.kinematic else run_live(args, ended)
    except (ConfigError, BusError) as error:
        return _fail(error)
    return 0


def _fail(text: object) -> int:
    print(f"dashboard: {text}", file=sys.stderr)
    return 2


def run_live(args: argparse.Namespace, ended: threading.Event) -> None:
    """Look at a bus."""
    from tools.dashboard.app import Dashboard, make_server  # noqa: PLC0415 (viser is an extra)

    description = load_robot(args.robot, args.set) if args.robot else None
    bus = Bus(args.lcm_url)
    with quiet():
        server = make_server(args.port, "dashboard")
    dashboard = Dashboard(server, bus, description, args.patience)
    dashboard.ended = ended
    print(f"dashboard: http://127.0.0.1:{server.get_port()}  on {args.lcm_url}; Ctrl-C ends it", flush=True)
    sys.setswitchinterval(0.001)  # s: an E-STOP waits for no other thread
    gc.collect()
    gc.freeze()
    try:
        dashboard.run()
    finally:
        with quiet():
            dashboard.stop()


def run_kinematic(args: argparse.Namespace, ended: threading.Event) -> None:
    """Move the model by hand."""
    from tools.dashboard.app import make_server  # noqa: PLC0415
    from tools.dashboard.kinematic import Kinematic  # noqa: PLC0415

    description = load_robot(args.robot or "mini_cheetah", args.set)
    with quiet():
        server = make_server(args.port, "kinematic")
    print(f"dashboard: http://127.0.0.1:{server.get_port()}  kinematic, no bus; Ctrl-C ends it", flush=True)
    try:
        Kinematic(server, description).run(ended)
    finally:
        with quiet():
            server.stop()


@contextlib.contextmanager
def quiet():  # type: ignore[no-untyped-def]
    """viser announces itself; this tool says what there is to say."""
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        yield


if __name__ == "__main__":
    sys.exit(main())
