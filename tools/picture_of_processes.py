"""The picture of processes and channels in README.md, made from the declarations of the processes.

`python -m tools.picture_of_processes` prints it, `--write` puts it into README.md, `--check` says if that is old.
"""

from __future__ import annotations

import argparse
import sys

from lcmtypes.channels import CHANNELS, ESTOP, JOINT_COMMAND, MOTION_COMMAND, RESET, Channel
from tools.launch import ROOT
from tools.stack import SPECS

README = ROOT / "README.md"
BEGIN = "<!-- picture: written by `python -m tools.picture_of_processes --write` -->"
END = "<!-- /picture -->"

# The plant's side is a loop, not a spec; a test compares this with what the loop subscribes to.
PLANT_READS = (JOINT_COMMAND, ESTOP, RESET, MOTION_COMMAND)
PLANTS = ("plant", "sim", "bridge")


def publisher(channel: Channel) -> str:
    """Node of the picture that publishes a channel; empty for what every process or tool sends."""
    for name, spec in SPECS.items():
        if channel in spec.writes:
            return name
    if channel.by in PLANTS:
        return "plant"
    return "operator" if channel.by == "operator" else ""


def readers(channel: Channel) -> list[str]:
    """Nodes that read a channel; `watchers` where no process does."""
    found = [name for name, spec in SPECS.items() if channel in spec.channels]
    if channel in PLANT_READS:
        found.append("plant")
    return found or ["watchers"]


def edges() -> dict[tuple[str, str], list[str]]:
    """(from, to) -> channel names, in the order of the channel table."""
    out: dict[tuple[str, str], list[str]] = {}
    for channel in CHANNELS.values():
        source = publisher(channel)
        for reader in readers(channel) if source else ():
            out.setdefault((source, reader), []).append(channel.name)
    return out


def mermaid() -> str:
    """The picture as a mermaid flowchart."""
    lines = ["flowchart LR", '  operator(["operator: scenario, tools"])', '  plant["plant: simulator or robot"]']
    lines += [f"  {name}[{name}]" for name in SPECS]
    lines.append('  watchers(["recorder, lcm-spy, tools"])')
    lines += [f'  {a} -->|"{"<br>".join(names)}"| {b}' for (a, b), names in edges().items()]
    return "\n".join(lines)


def table() -> str:
    """The declarations as a table: what starts a step, what else is read, what goes out."""
    rows = ["| process | a step starts on | reads besides | publishes, in this order |", "|---|---|---|---|"]
    for name, spec in SPECS.items():
        reads = [f"`{r.channel.name}`{'' if r.kind == 'latest' else f' ({r.kind} tick)'}" for r in spec.reads]
        writes = [f"`{c.name}`" for c in spec.writes]
        rows.append(f"| {name} | `{spec.trigger.name}` | {', '.join(reads)} | {', '.join(writes)} |")
    return "\n".join(rows)


def block() -> str:
    """What stands between the markers."""
    return f"{BEGIN}\n```mermaid\n{mermaid()}\n```\n\n{table()}\n{END}"


def renewed(text: str) -> str:
    """README text with the block of today; ValueError without the markers."""
    if BEGIN not in text or END not in text:
        raise ValueError(f"README.md has no block from {BEGIN!r} to {END!r}")
    head, rest = text.split(BEGIN, 1)
    return head + block() + rest.split(END, 1)[1]


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m tools.picture_of_processes", description=__doc__)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--write", action="store_true", help="renew README.md")
    what.add_argument("--check", action="store_true", help="exit code 1 if README.md is old")
    args = parser.parse_args()
    if not (args.write or args.check):
        print(block())
        return 0
    text = README.read_text()
    new = renewed(text)
    if args.check and text != new:
        print("the picture in README.md is old: python -m tools.picture_of_processes --write", file=sys.stderr)
        return 1
    if args.write and text != new:
        README.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
