"""What stands in the way on this machine, each with the command that mends it. Exit code 0: nothing fails; 1: something
does; 2: usage or robot. With --robot, the devices that its buses need must be there too."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter

from rich.console import Console
from rich.markup import escape

import procs
from config.load import ConfigError, load_robot
from procs.runtime.bus import DEFAULT_URL
from tools.doctor.checks import CHECKS, Check
from tools.doctor.machine import Finding, Machine

assert procs  # importing it sets the kernels' cache
STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}

Findings = list[tuple[Check, Finding]]


def show(console: Console, findings: Findings) -> None:
    """One line a check, and below it how to mend it; nothing is cut or folded, so that commands can be copied."""
    width, group = max(len(check.name) for check in CHECKS), ""
    for check, finding in findings:
        if check.group != group:
            group = check.group
            console.print(f"[bold]{group}[/]")
        style = STYLES[finding.status]
        line = f"  [{style}]{finding.status:4}[/]  {check.name:{width}}  {escape(finding.text)}"
        console.print(line, highlight=False, soft_wrap=True)
        if finding.mend:
            console.print(f"{'':{width + 10}}[cyan]{escape(finding.mend)}[/]", highlight=False, soft_wrap=True)
    count = Counter(str(finding.status) for _, finding in findings)
    console.print(", ".join(f"[{STYLES[s]}]{count[s]} {s}[/]" for s in STYLES if count[s]), highlight=False)


def as_json(findings: Findings) -> str:
    """The same for programs."""
    checks = [
        {"group": c.group, "name": c.name, "status": f.status, "text": f.text, "mend": f.mend} for c, f in findings
    ]
    return json.dumps({"passed": all(f.status != "fail" for _, f in findings), "checks": checks}, indent=1)


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m tools.doctor", description=__doc__)
    parser.add_argument("--robot", help="name or YAML file: check its bus devices too")
    parser.add_argument("--lcm-url", default=DEFAULT_URL, help="listened to for two seconds; nothing is sent on it")
    parser.add_argument("--json", action="store_true", help="for programs")
    args = parser.parse_args()
    try:
        robot = load_robot(args.robot) if args.robot else None
    except ConfigError as error:
        print(f"doctor: {error}", file=sys.stderr)
        return 2
    machine, console = Machine(url=args.lcm_url, robot=robot), Console()
    findings: Findings = []
    try:
        with Console(stderr=True).status("looking ...") as status:
            for check in CHECKS:
                status.update(f"looking at {check.group}: {check.name} ...")
                findings.append((check, check(machine)))
    except KeyboardInterrupt:
        print("doctor: interrupted", file=sys.stderr)
    if args.json:
        print(as_json(findings))
    else:
        show(console, findings)
    if len(findings) < len(CHECKS):
        return 130
    return int(any(f.status == "fail" for _, f in findings))


if __name__ == "__main__":
    sys.exit(main())
