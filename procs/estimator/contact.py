"""Which feet carry load: joint torques give foot forces; force, plan and foot motion are added as log-odds."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from procs.model.legs import solve3

PLAN_ODDS = 2.5  # log-odds of a plan in the middle of its phase: e^2.5 = 12 to 1
FORCE_ODDS = 4.0  # most that a force says; more than the plan, so that early and late contacts are found
STILL_ODDS, MOVING_ODDS = 1.0, -6.0  # a foot at rest in the world, a foot that surely moves (more than force says)
STILL_SPEED = 0.2  # m/s at which motion says nothing
SURE_SPEED_STD = 0.2  # m/s: with a body speed less certain than this, foot motion says little
HELD = 0.35  # probability below which a foot's position in the world is not held
SURE = 0.9  # probability from which a foot is fully believed
SINGULAR = 0.03  # damping of the force, as a fraction of the leg's length


class ContactModel(NamedTuple):
    """Constants of the contact estimate."""

    force: float  # N, normal force at which contact is as likely as not
    force_scale: float  # N per unit of log-odds
    force_delay: float  # s, time constant of the force's low-pass
    window: float  # fraction of a phase at both its ends in which the plan is not sure
    damping: float  # m


@njit(cache=True)
def foot_force(J: np.ndarray, tau: np.ndarray, damping: float) -> np.ndarray:
    """Force (3,) N of the ground on a foot, body axes: -(J^T)^-1 tau, damped where J (3, 3) is singular.

    Weight and inertia of the leg are neglected: an error of a few N, less than contact_force must be.
    """
    force = solve3(J.T, tau, damping)
    for i in range(3):
        force[i] = -force[i]
    return force


@njit(cache=True)
def plan_odds(stance: bool, phase: float, window: float) -> float:
    """Log-odds of contact by the plan: sure in the middle of stance or swing, undecided at the changes."""
    sure = min(1.0, max(0.0, min(phase, 1.0 - phase) / max(window, 1e-6)))
    return PLAN_ODDS * sure if stance else -PLAN_ODDS * sure


@njit(cache=True)
def force_odds(force: float, model: ContactModel) -> float:
    """Log-odds of contact by the normal force, N."""
    return min(FORCE_ODDS, max(-FORCE_ODDS, (force - model.force) / max(model.force_scale, 1e-3)))


@njit(cache=True)
def motion_odds(speed: float, body_speed_std: float) -> float:
    """Log-odds of contact by the speed of the foot's contact point in the world, m/s."""
    odds = max(MOVING_ODDS, STILL_ODDS * (1.0 - speed / STILL_SPEED))
    return odds / (1.0 + (body_speed_std / SURE_SPEED_STD) ** 2)


@njit(cache=True)
def probability(odds: float) -> float:
    """0..1 of log-odds."""
    return 1.0 / (1.0 + math.exp(-odds))


@njit(cache=True)
def trust(contact: float) -> float:
    """How far a foot is believed not to move, 0..1, of its contact probability."""
    return min(1.0, max(0.0, (contact - 0.5) / (SURE - 0.5)))
