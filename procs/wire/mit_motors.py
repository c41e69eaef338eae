"""Ranges of MIT-mode motors: a table of motor types and firmwares. Which joint uses which stands in the robot's YAML.

Ranges differ by firmware, not only by model, and nothing on the bus tells them: compare the smallest step of a recorded
stream with `MotorRange.quanta` (the quantum test) before trusting an entry.
Sources: S1 Scotty firmware; S5 CubeMars AK manual V1.0.8; S6 neurobionics/TMotorCANControl; S7 PyPI
mini-cheetah-motor-driver-socketcan 0.4.3; S16 MW vendor SDK; D quanta seen in real logs.
"""

from __future__ import annotations

from dataclasses import dataclass

P_BITS, SMALL_BITS = 16, 12


@dataclass(frozen=True, slots=True)
class MotorRange:
    """Half ranges at the output shaft: position rad, velocity rad/s, torque N m; gains from 0, N m/rad, N m s/rad."""

    position: float
    velocity: float
    torque: float
    gear: float
    source: str
    kp: float = 500.0
    kd: float = 5.0

    @property
    def quanta(self) -> tuple[float, float, float]:
        """Step of position rad, velocity rad/s and torque N m in a reply."""
        small = 2**SMALL_BITS - 1
        return 2 * self.position / (2**P_BITS - 1), 2 * self.velocity / small, 2 * self.torque / small


MOTORS: dict[str, MotorRange] = {
    "mini_cheetah": MotorRange(12.5, 65, 18, 6, "SPIne firmware copies with V_MIN -65 (hobbyking_cheetah)"),
    "mini_cheetah_v45": MotorRange(12.5, 45, 18, 6, "SPIne firmware copy with V_MIN -45"),
    "AK10-9_V2.0": MotorRange(12.5, 50, 65, 9, "S1, S6, S7, D; KV60"),
    "AK80-9_V2": MotorRange(12.5, 50, 18, 9, "S6, D"),
    "AK80-9_V2_dfki": MotorRange(12.5, 25.64, 18, 9, "S7: velocity re-tuned after comparing with dp/dt"),
    "AK80-9_V1.1": MotorRange(12.5, 22.5, 18, 9, "S7"),
    "AK80-6_V2": MotorRange(12.5, 76, 12, 6, "S6, S7"),
    "AK80-6_V1.1": MotorRange(12.5, 22.5, 12, 6, "S7"),
    "AK80-6_V1.0": MotorRange(95.5, 45, 18, 6, "S7, D (DFKI pendulum)"),
    "AK60-6": MotorRange(12.5, 50, 15, 6, "S6"),
    "AK60-6_v45": MotorRange(12.5, 45, 15, 6, "some manuals"),
    "AK70-10": MotorRange(12.5, 50, 25, 10, "S6"),
    "AK70-10_V1.1": MotorRange(12.5, 50, 24, 10, "S7"),
    "AK80-64": MotorRange(12.5, 8, 144, 64, "S6"),
    "GIM6010-8": MotorRange(12.5, 65, 50, 8, "S16: command 0x008, output shaft"),
}
