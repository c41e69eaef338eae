"""Step `report`: overlay YAML (values that replace those of the description), the corrected description, a report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from config.load import as_overrides, dump, parse_robot
from procs.bridge.build import wires_of
from procs.model.robot import Robot
from tools.bring_up.ask import Asker
from tools.bring_up.gate import accepted, has_watchdog, missing, silences
from tools.bring_up.html import page
from tools.bring_up.session import Record, Session, Verdict
from tools.bring_up.wiring import corrected


def overlay(robot: Robot, session: Session) -> dict[str, Any]:
    """`path: value`, as --set takes it."""
    wires = corrected(robot, session)
    wiring = {n: w.model_dump(mode="json") for n, w in zip(robot.joint_names, wires, strict=True)}
    out: dict[str, Any] = {"bus.wiring": wiring}
    if silences(session):
        out["bus.start.drive_watchdog"] = has_watchdog(session)
    return out


def read_overlay(path: Path) -> list[str]:
    """The overrides of an overlay file, for config.load."""
    return as_overrides(yaml.safe_load(path.read_text(encoding="utf-8")))


def changes(robot: Robot, session: Session) -> list[str]:
    """What the overlay changes, in words."""
    out = []
    for name, old, new in zip(robot.joint_names, wires_of(robot), corrected(robot, session), strict=True):
        before, after = old.model_dump(), new.model_dump()
        diff = [f"{key} {before[key]} -> {after[key]}" for key in before if before[key] != after[key]]
        if diff:
            out.append(f"{name}: {', '.join(diff)}")
    return out


def report(robot: Robot, session: Session, asker: Asker, folder: Path) -> Record:
    """Write the three files; the name under it is the person's who answers for it."""
    folder.mkdir(parents=True, exist_ok=True)
    values = overlay(robot, session)
    head = f"# Written by the bring-up of {robot.name}; each line is one --set\n"
    places = [folder / f"{robot.name}_{what}" for what in ("overlay.yaml", "brought_up.yaml", "report.html")]
    places[0].write_text(head + yaml.safe_dump(values, sort_keys=False, default_flow_style=None, width=120))
    description = parse_robot(dump(robot.description), as_overrides(values), str(places[0]))
    places[1].write_text(dump(description))
    lacking = missing(robot, session)
    signed = asker.text("report.signed_by", "Who signs this off (empty: nobody)?")
    words = f"{places[0]}, {places[1].name}, {places[2].name}"
    if lacking:
        words += f"; not done: {'; '.join(lacking)}"
    verdict = Verdict.UNCLEAR if lacking or not signed else Verdict.OK
    data = {"signed_by": signed, "files": [str(p) for p in places], "changes": changes(robot, session)}
    record = session.add(Record("report", "robot", verdict, words, data))
    places[2].write_text(
        page(robot, session, changes(robot, session), lacking, signed, record.at, accepted(session)), encoding="utf-8"
    )
    return record
