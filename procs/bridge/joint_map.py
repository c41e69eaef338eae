"""Joint side to motor side and back, all joints at once: q_motor = sign ratio q + offset.

Velocity scales as sign ratio, torque as sign / ratio (so that power is the same on both sides), gains as 1 / ratio^2.
The reference and Scotty's firmware each leave a part of it out: the reference sends the knee's gains unscaled
(`scaled_gains` False), Scotty's firmware turns velocity and torque the wrong way round (procs.wire.spine_scotty).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from config.bus import JointWiring

Array = NDArray[np.float64]


@dataclass(slots=True)
class DriveCommand:
    """What drives are told, arrays (n,): at the joints or, after `JointMap.to_motors`, at the motors' outputs."""

    position: Array
    velocity: Array
    kp: Array
    kd: Array
    torque: Array
    enable: NDArray[np.bool_]

    @classmethod
    def zero(cls, n: int) -> DriveCommand:
        """Nothing wanted, disabled."""
        return cls(np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n, bool))


class JointMap:
    """Signs, ratios and offsets of all joints, in the robot's joint order."""

    def __init__(
        self, sign: Sequence[float], ratio: Sequence[float], offset: Sequence[float], scaled_gains: bool = True
    ) -> None:
        self.turn: Array = np.asarray(sign, dtype=float) * np.asarray(ratio, dtype=float)
        self.offset: Array = np.asarray(offset, dtype=float)
        if not (np.isfinite(self.turn).all() and np.isfinite(self.offset).all() and self.turn.all()):
            raise ValueError(f"{sign=}, {ratio=}, {offset=}: want finite numbers and no ratio of 0")
        self.gain: Array = 1.0 / self.turn**2 if scaled_gains else np.ones_like(self.turn)
        for array in (self.turn, self.offset, self.gain):
            array.flags.writeable = False

    @classmethod
    def of(cls, wires: Sequence[JointWiring], scaled_gains: bool = True) -> JointMap:
        """From the wiring of the joints, in their order."""
        return cls([w.sign for w in wires], [w.ratio for w in wires], [w.offset for w in wires], scaled_gains)

    def to_motors(self, joints: DriveCommand) -> DriveCommand:
        """Command at the motors."""
        turn, gain = self.turn, self.gain
        return DriveCommand(
            joints.position * turn + self.offset,
            joints.velocity * turn,
            joints.kp * gain,
            joints.kd * gain,
            joints.torque / turn,
            joints.enable,
        )

    def to_joints(self, position: Array, velocity: Array, torque: Array) -> tuple[Array, Array, Array]:
        """(q rad, qd rad/s, tau N m) at the joints."""
        return (position - self.offset) / self.turn, velocity / self.turn, torque * self.turn
