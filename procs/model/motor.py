"""Drive model at the physics step: command and joint state in, joint torque out. All joints in one call.

The drive closes the PD loop itself (MIT's ActuatorModel.h): demanded torque -> motor current -> voltage limit with
back-EMF -> motor torque limit -> gear, then viscous damping and dry friction of the joint.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from config.inertials import steiner
from config.schema import Actuator
from procs.model.robot import Robot


class Drives(NamedTuple):
    """Constants of all drives, arrays (joints,). Joint side unless the name says motor or rotor."""

    gear: np.ndarray  # motor turns per joint turn
    motor_torque_max: np.ndarray  # N m
    torque_constant: np.ndarray  # N m/A at the rotor
    back_emf: np.ndarray  # V s/rad at the rotor
    resistance: np.ndarray  # ohm
    voltage: np.ndarray  # V
    damping: np.ndarray  # N m s/rad
    friction: np.ndarray  # N m, dry
    friction_slope: np.ndarray  # N m s/rad of the dry friction around rest


def rotor_inertia(actuator: Actuator) -> float:
    """Reflected inertia of the rotor on the joint's side, kg m^2: gear^2 I."""
    return actuator.gear**2 * actuator.rotor_inertia


def link_inertia_about_joint(robot: Robot) -> np.ndarray:
    """(joints,) kg m^2: each link alone about its own joint's axis, with its reflected rotor."""
    out = []
    for leg in range(robot.num_legs):
        for j, (mass, com, inertia) in enumerate(robot.link_inertials(leg)):
            axis = robot.chains.axes[leg, j]
            out.append(axis @ (inertia + steiner(mass, com)) @ axis + rotor_inertia(robot.actuators[j]))
    return np.array(out)


def drives(robot: Robot, step: float) -> Drives:
    """Constants for physics steps of `step` s.

    Dry friction is Coulomb with a linear part around rest, so that a resting joint does not chatter: its slope takes
    half of the link's own speed in one step, which is the steepest that stays well damped in explicit integration.
    """
    inertia = link_inertia_about_joint(robot)
    names = ("gear", "motor_torque_max", "torque_constant", "back_emf", "resistance", "voltage", "damping", "friction")
    columns = [robot.per_joint([getattr(a, name) for a in robot.actuators]) for name in names]
    return Drives._make([*columns, 0.5 * inertia / step])


@njit(cache=True)
def drive_torque(
    q: np.ndarray,
    qd: np.ndarray,
    q_des: np.ndarray,
    qd_des: np.ndarray,
    tau_ff: np.ndarray,
    kp: np.ndarray,
    kd: np.ndarray,
    enable: np.ndarray,
    d: Drives,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Torque on the joint, torque of the drive alone (before damping and friction) N m, and 1.0 where a limit cut it.

    A disabled drive, or one whose demand is not finite, is an open circuit: no active torque.
    """
    n = q.shape[0]
    applied = np.empty(n)
    active = np.zeros(n)
    limited = np.zeros(n)
    for j in range(n):
        if enable[j] != 0:
            wanted = kp[j] * (q_des[j] - q[j]) + kd[j] * (qd_des[j] - qd[j]) + tau_ff[j]
            if np.isfinite(wanted):
                motor = wanted / d.gear[j]
                emf = d.back_emf[j] * d.gear[j] * qd[j]
                volts = motor / d.torque_constant[j] * d.resistance[j] + emf
                volts = min(d.voltage[j], max(-d.voltage[j], volts))
                got = d.torque_constant[j] * (volts - emf) / d.resistance[j]
                got = min(d.motor_torque_max[j], max(-d.motor_torque_max[j], got))
                if abs(got - motor) > 1e-9 * (1.0 + abs(motor)):
                    limited[j] = 1.0
                active[j] = d.gear[j] * got
        dry = min(d.friction[j], max(-d.friction[j], d.friction_slope[j] * qd[j]))
        applied[j] = active[j] - d.damping[j] * qd[j] - dry
    return applied, active, limited
