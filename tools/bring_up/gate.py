"""Stages of the guide and what must have passed before each; without a drive watchdog the ground needs plain words."""

from __future__ import annotations

from procs.model.robot import Robot
from tools.bring_up.ask import Asker
from tools.bring_up.session import Record, Session, Verdict

GROUND = ("rig", "ground")  # stages in which the robot's weight hangs on the motors
WORDS = "nothing stops these motors when this computer falls silent and I stay at the emergency stop"


def missing(robot: Robot, session: Session) -> list[str]:
    """What has not passed yet, in words."""
    out = []
    calls = session.latest("roll-call")
    absent = [n for n in robot.joint_names if not session.passed("roll-call", n)]
    if absent:
        out.append(f"roll-call: {', '.join(absent)}")
    strangers = [r.target for r in calls if r.verdict is Verdict.FOREIGN]
    if strangers:
        out.append(f"roll-call: strangers {', '.join(strangers)}")
    for step in ("step", "zero", "quantum"):
        undone = [n for n in robot.joint_names if not session.passed(step, n)]
        if undone:
            out.append(f"{step}: {', '.join(undone)}")
    if not silences(session):
        out.append("silence: no drive has been measured")
    return out


def silences(session: Session) -> list[Record]:
    """Drives that were measured."""
    return [r for r in session.latest("silence") if r.verdict in (Verdict.OK, Verdict.NO_WATCHDOG)]


def has_watchdog(session: Session) -> bool:
    """Every drive that was measured stopped by itself."""
    found = silences(session)
    return bool(found) and all(r.verdict is Verdict.OK for r in found)


def accepted(session: Session) -> bool:
    """The words were said, after the newest measurement."""
    said = [r.data.get("words") == WORDS for r in session.latest("words")]
    return bool(said) and said[-1]


def gate(robot: Robot, session: Session, asker: Asker, stage: str) -> Record:
    """Whether a ground stage may begin."""
    lacking = missing(robot, session)
    if lacking:
        return Record(stage, "robot", Verdict.REFUSED, "; ".join(lacking))
    if not has_watchdog(session):
        question = f"No drive watchdog. To go on all the same, type: {WORDS}"
        said = asker.text(f"{stage}.words", question)
        if said != WORDS:
            return Record(
                stage, "robot", Verdict.REFUSED, "no drive watchdog, and it was not accepted in so many words"
            )
        session.add(Record("words", "robot", Verdict.OK, "no drive watchdog: accepted", {"words": said}))
    return Record(stage, "robot", Verdict.OK, f"may begin: see the guide, stage {stage}")
