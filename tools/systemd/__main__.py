"""Write the systemd units of a robot's computer, filled in for this checkout, this user and this robot.

    python -m tools.systemd --robot my_robot                                      # into build/systemd, to be looked at
    sudo .venv/bin/python -m tools.systemd --robot my_robot --user robot --install-dir /etc/systemd/system

Prints what is left to do. Exit code 0; 2: no such user or robot, or a folder that cannot be written.
"""

from __future__ import annotations

import argparse
import getpass
import pwd
import re
import shlex
import shutil
import sys
from pathlib import Path

from config.load import ConfigError, load_robot
from procs.runtime.bus import DEFAULT_URL
from tools.launch import ROOT
from tools.processes import PLANTS

FOLDER = Path(__file__).resolve().parent
SYSTEM = Path("/etc/systemd/system")
UNITS = ("legged-up.service", "legged-multicast.service")


class UnitError(RuntimeError):
    """A unit cannot be filled in."""


def fill(template: str, values: dict[str, str]) -> str:
    """The template with each @name@ replaced; UnitError if one is not known."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise UnitError(f"the template has @{match[1]}@, known are {', '.join(values)}")
        return values[match[1]].replace("%", "%%")  # systemd's specifiers begin with it

    return "\n".join(line.rstrip() for line in re.sub(r"@(\w+)@", value, template).splitlines()) + "\n"


def values(args: argparse.Namespace) -> dict[str, str]:
    """What stands in the units; raises UnitError and ConfigError."""
    try:
        user = pwd.getpwnam(args.user)
    except KeyError:
        raise UnitError(f"no user {args.user!r} on this computer; give one with --user") from None
    load_robot(args.robot, args.set)
    robot = str(Path(args.robot).resolve()) if Path(args.robot).suffix else args.robot
    options = [*(["--rt"] if args.rt else []), *(part for key in args.set for part in ("--set", key)), *args.options]
    for name, text in (("python", sys.executable), ("root", str(ROOT))):
        if re.search(r"\s", text):
            raise UnitError(f"the path {text!r} of {name} has blanks in it, which systemd does not take here")
    return {
        "python": sys.executable,
        "root": str(ROOT),
        "home": user.pw_dir,
        "user": args.user,
        "robot": _quoted(robot),
        "plant": args.plant,
        "url": _quoted(args.lcm_url),
        "options": " ".join(_quoted(x) for x in options),
        "interface": args.interface,
        "ip": shutil.which("ip", path="/usr/sbin:/sbin:/usr/bin:/bin") or "/usr/sbin/ip",
    }


def _quoted(text: str) -> str:
    quoted = shlex.quote(text)
    return quoted.replace("$", "$$")


def write(folder: Path, filled: dict[str, str]) -> list[Path]:
    """The unit files in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name in UNITS:
        path = folder / name
        path.write_text(fill((FOLDER / name).read_text(), filled))
        written.append(path)
    return written


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.systemd", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--robot", default="mini_cheetah", help="name or path")
    parser.add_argument("--plant", choices=tuple(PLANTS), default="bridge")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="as in tools.up")
    parser.add_argument("--user", default=getpass.getuser(), help="who runs the processes (default: you)")
    parser.add_argument("--lcm-url", default=DEFAULT_URL)
    parser.add_argument("--interface", default="lo", help="of LCM's packets (lo); see TWO_COMPUTERS.md")
    parser.add_argument("--no-rt", dest="rt", action="store_false", help="without --rt for tools.up")
    parser.add_argument("--install-dir", type=Path, default=ROOT / "build" / "systemd", metavar="DIR")
    parser.add_argument("options", nargs="*", metavar="-- OPTION", help="handed to tools.up, e.g. -- --with relay")
    args = parser.parse_args()
    try:
        units = write(args.install_dir, values(args))
    except (UnitError, ConfigError, OSError) as error:
        print(f"systemd: {error}", file=sys.stderr)
        return 2
    print("\n".join(f"wrote {path}" for path in units))
    copy = f"sudo cp {args.install_dir}/*.service {SYSTEM}/ && " if args.install_dir != SYSTEM else ""
    print(f"next:  {copy}sudo systemctl daemon-reload && sudo systemctl enable --now legged-up")
    print("then:  systemctl status legged-up; journalctl -fu legged-up")
    if args.interface != "lo" and "ttl=0" in args.lcm_url:
        print(f"note:  ttl=0 in the URL keeps packets on this computer, whatever {args.interface} is")
    return 0


if __name__ == "__main__":
    sys.exit(main())
