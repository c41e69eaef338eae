"""What an operator may ask of a robot, from its description: ranges, slews, gaits. SI units, heading frame."""

from __future__ import annotations

from dataclasses import dataclass, field

from config.schema import RobotDescription

Range = tuple[float, float]

SPEEDS = ("vx", "vy", "yaw_rate")  # held: zero as soon as nothing holds them
SETTINGS = ("height", "roll", "pitch")  # set: they stay until they are changed


@dataclass(frozen=True)
class Envelope:
    """Limits of one robot."""

    robot: str
    ranges: dict[str, Range]  # of SPEEDS and SETTINGS
    slews: dict[str, float]  # of SPEEDS: m/s^2, rad/s^2
    nominal_height: float
    default_gait: str
    gaits: dict[str, Range | None] = field(default_factory=dict)  # that walk -> narrower range of vx

    @classmethod
    def of(cls, description: RobotDescription) -> Envelope:
        """From a robot description; gaits in which all feet always stand are none to drive with."""
        control, limits = description.control, description.control.limits
        return cls(
            robot=description.name,
            ranges={name: getattr(limits, name) for name in SPEEDS + SETTINGS},
            slews={"vx": limits.accel, "vy": limits.accel, "yaw_rate": limits.yaw_accel},
            nominal_height=control.nominal_height,
            default_gait=control.default_gait,
            gaits={name: gait.vx for name, gait in control.gaits.items() if gait.duty < 1.0},
        )

    def speed(self, axis: str, gait: str) -> Range:
        """Range of a speed in a gait."""
        narrower = self.gaits.get(gait or self.default_gait)
        return narrower if axis == "vx" and narrower is not None else self.ranges[axis]
