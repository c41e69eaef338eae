"""Step `silence JOINT`: what a drive does by itself when the host says nothing more. The result is kept for ever.

The motor is told to turn slowly, at zero stiffness, and then not one frame is sent. How far it has turned when it is
asked again says how long it went on: all the way is a drive without a watchdog.
"""

from __future__ import annotations

import math

from tools.bring_up.ask import Asker
from tools.bring_up.bench import Bench
from tools.bring_up.motion import DRIVE_KD, AbortError, start
from tools.bring_up.session import Record, Verdict
from tools.bring_up.step import plan_for

SPEED = 0.5  # rad/s at the joint
SILENCE = 0.5  # s
TURNING = 0.15  # s in which it must have come up to speed
SLOW = 0.4  # of the speed: below, nothing can be said
ALL = 0.8  # of the way that an undisturbed motor makes: it went on


def silence(bench: Bench, asker: Asker, name: str) -> Record:
    """Measure one drive."""
    joint = bench.robot.joint_names.index(name)
    way = math.degrees(SPEED * (SILENCE + TURNING))
    what = (
        f"{name}: turns by up to {way:.0f} deg at {SPEED} rad/s without stiffness; then not a frame is sent for "
        f"{SILENCE} s. Is there room?"
    )
    if not asker.consent(f"silence.{name}.transmit", what):
        return Record("silence", name, Verdict.REFUSED, "not tried")
    try:
        data = _measure(bench, joint)
    except AbortError as abort:
        return Record("silence", name, abort.verdict, abort.words)
    finally:
        bench.off()
    if abs(data["speed"]) < SLOW * SPEED:
        words = f"turns with {data['speed']:.2f} rad/s only: held by something, nothing can be said"
        return Record("silence", name, Verdict.UNCLEAR, words, data)
    went_on = data["way"] / (data["speed"] * SILENCE)
    data["stopped_after"] = round(max(0.0, went_on) * SILENCE, 3)
    if went_on > ALL:
        words = f"went on for the whole {SILENCE} s of silence: this drive has no watchdog"
        return Record("silence", name, Verdict.NO_WATCHDOG, words, data)
    words = f"stopped by itself about {data['stopped_after']:.2f} s after the last frame"
    return Record("silence", name, Verdict.OK, words, data)


def _measure(bench: Bench, joint: int) -> dict:
    wire = bench.wires[joint]
    turn, plan = wire.sign * wire.ratio, plan_for(bench.robot, joint)
    speed = math.copysign(SPEED, plan.travel) * turn
    rest, _ = start(bench, joint)
    begin, place, at = bench.now, rest, []
    while bench.now - begin < TURNING:
        s = bench.exchange(joint, True, place, speed, 0.0, DRIVE_KD)
        if s.faults:
            raise AbortError(Verdict.ERROR, s.faults)
        if s.valid:
            place = s.position
            at.append((s.time, s.position))
    if len(at) < 10:
        raise AbortError(Verdict.ERROR, "it does not answer while it turns")
    bench.pause(SILENCE)
    after = [bench.exchange(joint, True, place) for _ in range(3)]
    heard = [s for s in after if s.valid]
    if not heard:
        raise AbortError(Verdict.ERROR, f"says nothing after the silence: {after[-1].why}")
    late = at[len(at) // 2 :]
    rate = (late[-1][1] - late[0][1]) / (late[-1][0] - late[0][0])
    way = heard[-1].position - place
    sign = math.copysign(1.0, speed)
    return {"speed": sign * rate / wire.ratio, "way": sign * way / wire.ratio, "silence": SILENCE,
            "after": heard[-1].faults}  # fmt: skip
