"""How a run ended, in words: whether it fell or was stopped, when, why, and what began it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from config.scenario import Command, Scenario
from lcmtypes.channels import ESTOP, MODE_STATE, MOTION_COMMAND, PROC_HEALTH
from tools.metrics import FALL_HEIGHT, FALL_TILT, metrics
from tools.report.anomalies import Anomaly, find, first_cause
from tools.report.context import TAIL, Context
from tools.report.log import FORCED

LOOK_BACK = 0.01  # s: an anomaly that begins as the stop comes still belongs to it
PLANT_DAMPS = ("damping", "latched", "lost")


@dataclass(frozen=True)
class Verdict:
    """Kind: ok (nothing stopped it), warn (something left its range), bad (fell or was stopped)."""

    kind: str
    head: str
    why: str
    stop: float | None  # s
    cause: Anomaly | None
    found: list[Anomaly]
    values: dict[str, Any]  # metrics, where there is ground truth

    @property
    def calm(self) -> float:
        """s until which nothing had begun that led to the stop; infinite if nothing stopped it."""
        if self.stop is None:
            return np.inf
        return self.stop if self.cause is None else self.cause.begin


def judge(c: Context) -> Verdict:
    """The verdict of a run."""
    values = figures(c)
    stop, why = _stop(c)
    fell = _fell(c, values)
    if fell is not None and (stop is None or fell < stop):
        stop = fell
    found = find(c, np.inf if stop is None else stop + LOOK_BACK)
    cause = first_cause(found, stop)
    if fell is not None:
        first = f"Stopped at {stop:.2f} s, fell" if stop is not None and stop < fell - LOOK_BACK else "Fell"
        return Verdict("bad", f"{first} at {fell:.2f} s", why.removeprefix("fall: "), stop, cause, found, values)
    if stop is not None:
        return Verdict("bad", f"Stopped at {stop:.2f} s", why, stop, cause, found, values)
    calm = "Did not fall and was not stopped"
    if cause is not None:
        return Verdict("warn", f"{calm}, but something left its normal range", "", None, cause, found, values)
    return Verdict("ok", f"{calm}; everything stayed in its normal range", "", None, None, found, values)


def figures(c: Context) -> dict[str, Any]:
    """Metrics of the ticks shown; empty without ground truth."""
    if not c.signals.has_truth:
        return {}
    recording = c.run.recording()
    commands = [Command(t=max(0.0, t), vx=m.vx, vy=m.vy, yaw_rate=m.yaw_rate) for t, m in _changes(c)]
    scenario = Scenario(name="log", duration=float(c.t[-1] + c.dt), commands=commands)
    values = metrics(scenario, c.robot, recording)
    return values if values.get("fell") is not None else {}


def _changes(c: Context) -> list[tuple[float, Any]]:
    """motion_commands that say something else than the one before."""
    out: list[tuple[float, Any]] = []
    for t, m in c.run.events(MOTION_COMMAND):
        said = (m.mode, m.gait, m.vx, m.vy, m.yaw_rate)
        if not out or said != (out[-1][1].mode, out[-1][1].gait, out[-1][1].vx, out[-1][1].vy, out[-1][1].yaw_rate):
            out.append((t, m))
    return out


def _stop(c: Context) -> tuple[float | None, str]:
    """When controller or plant first left the chosen modes, and why."""
    forced = np.isin(c.signals.mode, FORCED)
    at = int(forced.argmax())
    if forced.any():
        reason = next((w for w in c.run.words(MODE_STATE, "reason")[at:] if w), "")
        return float(c.t[at]), reason or str(c.signals.mode[at])
    for t, m in c.run.events(PROC_HEALTH):
        if m.state in PLANT_DAMPS and c.signals.driven.any() and t < c.t[-1] - TAIL:  # at the end processes just leave
            return t, f"{m.name} {m.state}: {m.last_error}"
    for t, m in c.run.events(ESTOP):
        return t, f"estop by {m.source}: {m.reason}"
    return None, ""


def _fell(c: Context, values: dict[str, Any]) -> float | None:
    """By the project's definition (tools/metrics.py) on the truth, without it on the estimate."""
    if values:
        return values["fall_time_s"]
    s, tilt, height = c.signals, c.signals.tilt, c.signals.height
    bad = np.zeros(len(c.t), bool)
    if tilt is not None:
        bad |= tilt > np.degrees(np.arccos(FALL_TILT))
    if height is not None:
        bad |= s.carrying & (height < FALL_HEIGHT * c.robot.description.control.nominal_height)
    reasons = c.run.words(MODE_STATE, "reason")
    bad |= (s.mode == "damping") & np.array([str(r).startswith("fall") for r in reasons])
    return float(c.t[bad.argmax()]) if bad.any() else None
