"""Says whether the estimate may be relied on, and if not, why; every reason goes away by itself with its cause."""

from __future__ import annotations

from config.schema import Safety
from procs.estimator.orientation import GRAVITY

HANG_TIME = 0.3  # s without load on any foot after which nothing holds the velocity
LOAD_TIME = 0.05  # s of load after which it is trusted again
HANG_LOAD = 0.25  # fraction of the weight that the feet must carry
NEAR_GRAVITY = 0.3  # fraction of g: farther off it is flight or a fall, not a rig
TURNING = 2.0  # rad/s: faster is a fall
VELOCITY_STD = 0.5  # m/s


class Suspension:
    """Knows a robot that hangs (or lies on its belly): gravity is felt, nothing turns, and no foot carries load."""

    def __init__(self, mass: float) -> None:
        self.load = HANG_LOAD * mass * GRAVITY  # N, vertical foot load from which the feet carry the robot
        self.reset()

    def reset(self) -> None:
        """A new run."""
        self.hangs = False
        self._without = 0.0
        self._with = 0.0

    def step(self, force: float, rotation: float, load: float, dt: float) -> bool:
        """True while it hangs; low-passed |specific force| m/s^2, |rotation| rad/s, vertical foot load N."""
        if load > self.load:
            self._with += dt
            self._without = 0.0
        else:
            self._with = 0.0
            if abs(force - GRAVITY) < NEAR_GRAVITY * GRAVITY and rotation < TURNING:
                self._without += dt
        if self._without > HANG_TIME:
            self.hangs = True
        elif self._with > LOAD_TIME:
            self.hangs = False
        return self.hangs


class ImuWatch:
    """Counts how long there has been no good IMU sample."""

    def __init__(self, safety: Safety) -> None:
        self._limit = safety.reject_time
        self.reset()

    def reset(self) -> None:
        """A new run."""
        self.age: float | None = None  # s; None: never seen

    def step(self, good: bool, dt: float) -> None:
        """One tick."""
        if good:
            self.age = 0.0
        elif self.age is not None:
            self.age += dt

    @property
    def lost(self) -> bool:
        """True if the last good sample is too old to go on with."""
        return self.age is None or self.age > self._limit

    @property
    def reason(self) -> str:
        """Empty, or what is wrong."""
        if self.age is None:
            return "no imu sample yet"
        return f"imu invalid for {1e3 * self.age:.0f} ms" if self.lost else ""
