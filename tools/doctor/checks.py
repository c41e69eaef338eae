"""The table of checks, in the order in which one would mend."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tools.doctor import devices, network, software, system
from tools.doctor.machine import Finding, Machine, fail


@dataclass(frozen=True)
class Check:
    """One line of the table."""

    group: str
    name: str
    look: Callable[[Machine], Finding]

    def __call__(self, machine: Machine) -> Finding:
        """Look; a check that breaks is itself a finding."""
        try:
            return self.look(machine)
        except Exception as error:
            return fail(f"could not be checked: {type(error).__name__}: {error}")


CHECKS = (
    Check("software", "python", software.python),
    Check("software", "packages", software.packages),
    Check("software", "compiled packages", software.native),
    Check("software", "kernels", software.kernels),
    Check("software", "revision", software.revision),
    Check("software", "disk", software.disk),
    Check("LCM", "multicast route", network.route),
    Check("LCM", "round trip", network.loop),
    Check("LCM", "receive buffer", network.buffers),
    Check("LCM", "URL", network.reach),
    Check("LCM", "others on the URL", network.stack),
    Check("LCM", "clocks", network.clocks),
    Check("LCM", "left over", system.left_over),
    Check("real time", "SCHED_FIFO", system.realtime),
    Check("real time", "memory lock", system.memory_lock),
    Check("real time", "CPU governor", system.governor),
    Check("real time", "cores", system.cores),
    Check("buses", "SPI", devices.spi),
    Check("buses", "CAN", devices.can),
    Check("buses", "IMU", devices.imu),
    Check("viewers", "display", software.display),
    Check("viewers", "Java", software.java),
    Check("viewers", "browser", software.browser),
)
