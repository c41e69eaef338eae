"""A drive's second word on where its output is, asked while the motor rests: before a step, at its end, back again.

CyberGear: parameter mechPos, a float over all turns, against the fixed-point position of its feedback. GIM6010 in MIT
control: encoder estimates in rotor turns against the output position of the reply. MIT-mode drives have no second one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from procs.wire import cybergear, gim6010
from procs.wire.cybergear import CyberGearCodec, ParameterValue
from procs.wire.cybergear_tables import RANGE, RANGE_4PI
from procs.wire.decode import DecodeError
from procs.wire.frame import CanFrame
from procs.wire.mit_motors import MOTORS
from tools.bring_up.bench import Bench
from tools.bring_up.session import Verdict

SLIP = 0.02  # rad at the motor by which the two may come apart over out and back
SCALE = 0.02  # by which one may have gone farther than the other
LEAST = 0.05  # rad of motion to compare
FOUR_PI = RANGE_4PI.position / RANGE.position  # 1.0053: told from 1 by its own, finer bound
FINE = 0.0025
Reader = Callable[[CanFrame], float | None]


@dataclass
class Pairs:
    """(reported, witness) rad at the motor: at rest, at the end of the way, back."""

    source: str = ""
    at: list[tuple[float, float]] = field(default_factory=list)

    def add(self, reported: float, witness: float | None) -> None:
        """One look at both; who does not answer leaves no pair."""
        if witness is not None and math.isfinite(reported):
            self.at.append((reported, witness))

    def judge(self, gear: str) -> tuple[Verdict, str] | None:
        """What the two disagree about; None: nothing, or nothing can be said."""
        if len(self.at) < 3:
            return None
        (p0, w0), (p1, w1), (p2, w2) = self.at[:3]
        apart = (w2 - w0) - (p2 - p0)
        if abs(apart) > SLIP:
            words = f"its two positions (reported, {self.source}) have come apart by {apart:+.3f} rad"
            return Verdict.SLIP, f"{words}: a coupling, a belt in the drive or an encoder's magnet slips"
        if abs(p1 - p0) < LEAST:
            return None
        scale = (w1 - w0) / (p1 - p0)
        if abs(scale / FOUR_PI - 1) < FINE and abs(scale - 1) > FINE and self.source == "mechPos":
            return Verdict.RANGE, f"{self.source} goes {scale:.4f} of the reported way: its range is +-4 pi, not +-12.5"
        if abs(scale - 1) > SCALE:
            return Verdict.RATIO, f"{self.source} goes {scale:.3f} of the reported way: {gear}"
        return None


def witness_of(bench: Bench, joint: int) -> tuple[str, Callable[[], float | None]] | None:
    """(name of the source, a function that asks it: rad at the motor or None); None where a drive has no second one."""
    can, wire = bench.bus.can, bench.wires[joint]
    if can is None:
        return None
    if can.protocol == "cybergear":
        frame, read = cybergear.read_parameter(wire.id, can.host_id, "mechPos"), _mech_pos(wire.id)
        return "mechPos", lambda: _ask(bench, wire.line, frame, read)
    if can.protocol == "gim6010" and can.gim_input == "mit":
        request = gim6010.request(wire.id, "get_encoder_estimates")
        gear = MOTORS[wire.drive].gear if wire.drive in MOTORS else 1.0
        estimate = _estimate(wire.id, gear)
        return "encoder estimates", lambda: _ask(bench, wire.line, request, estimate)
    return None


def _ask(bench: Bench, line: int, frame: CanFrame, read: Reader) -> float | None:
    found = None
    for _, on, answer in bench.ask(line, frame):
        value = read(answer) if on == line else None
        found = value if value is not None else found
    return found


def _mech_pos(motor: int) -> Reader:
    codec = CyberGearCodec([motor])

    def read(frame: CanFrame) -> float | None:
        try:
            message = codec.unpack(frame)
        except DecodeError:
            return None
        if not isinstance(message, ParameterValue) or message.parameter.name != "mechPos" or message.motor != motor:
            return None
        return float(message.value) if message.valid else None

    return read


def _estimate(node: int, gear: float) -> Reader:
    def read(frame: CanFrame) -> float | None:
        try:
            message = gim6010.unpack(frame)
        except DecodeError:
            return None
        if message.command.name != "get_encoder_estimates" or message.node != node or not message.valid:
            return None
        return float(gim6010.output_rad(message.values["position"], gear))

    return read
