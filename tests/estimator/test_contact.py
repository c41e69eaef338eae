"""Contacts: plan, force and motion together."""

from __future__ import annotations

import numpy as np
import pytest

from procs.estimator.contact import ContactModel, foot_force, force_odds, motion_odds, plan_odds, probability
from procs.model.legs import joint_torques, leg_kinematics

MODEL = ContactModel(12.0, 4.0, 0.004, 0.2, 0.01)


def test_foot_force_is_what_the_torques_carry(robot):
    _p, J, _axes = leg_kinematics(robot.pose("stand"), robot.chains)
    force = np.tile([3.0, -2.0, 30.0], (4, 1))
    tau = joint_torques(J, -force)
    assert np.allclose(foot_force(J[0], tau[:3], 0.0), force[0])
    assert np.allclose(foot_force(J[0], tau[:3], 0.012), force[0], atol=1.5)


def test_a_stretched_leg_gives_a_finite_force(robot):
    _p, J, _axes = leg_kinematics(np.zeros(12), robot.chains)
    assert np.isfinite(foot_force(J[0], np.array([1.0, 5.0, 5.0]), 0.012)).all()


@pytest.mark.parametrize(
    ("case", "stance", "phase", "force", "speed", "low", "high"),
    [
        ("standing as planned", True, 0.5, 22, 0.0, 0.9, 1.0),
        ("swinging as planned", False, 0.5, 0, 2.0, 0.0, 0.01),
        ("early touch-down", False, 0.7, 40, 0.0, 0.7, 1.0),
        ("late contact: planned, no load, still sinking", True, 0.3, 0, 0.6, 0.0, 0.3),
        ("pressed through the air by stance forces", True, 0.1, 30, 2.0, 0.0, 0.5),
        ("inertia of a swing is no contact", False, 0.4, 15, 1.5, 0.0, 0.05),
        ("first instant of a planned stance without load", True, 0.0, 0, 0.0, 0.0, 0.2),
    ],
)
def test_evidence_adds_up(case, stance, phase, force, speed, low, high):
    odds = plan_odds(stance, phase, MODEL.window) + force_odds(force, MODEL) + motion_odds(speed, 0.03)
    assert low <= probability(odds) <= high, case


def test_an_unknown_body_speed_says_nothing_of_a_foot():
    assert abs(motion_odds(3.0, 5.0)) < 0.02
