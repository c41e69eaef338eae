"""Drive model against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.load import load_robot
from procs.model.motor import drive_torque, drives, link_inertia_about_joint, rotor_inertia
from procs.model.robot import Robot

ROBOT = Robot(load_robot("mini_cheetah"))
DRIVES = drives(ROBOT, 1e-3)
N = ROBOT.num_joints
OFF = np.zeros(N, np.int8)
ON = np.ones(N, np.int8)


def torque(q=0.0, qd=0.0, q_des=0.0, qd_des=0.0, tau_ff=0.0, kp=0.0, kd=0.0, enable=ON, constants=DRIVES):
    return drive_torque(*(np.full(N, float(v)) for v in (q, qd, q_des, qd_des, tau_ff, kp, kd)), enable, constants)


def test_pd_law_within_the_limits_is_exact():
    applied, active, limited = torque(q=0.1, qd=0.0, q_des=0.2, qd_des=0.5, tau_ff=-1.0, kp=20.0, kd=0.4)
    np.testing.assert_allclose(active, 20.0 * 0.1 + 0.4 * 0.5 - 1.0, rtol=1e-12)
    np.testing.assert_array_equal(applied, active)  # no friction at rest
    assert not limited.any()


def test_stall_torque_is_the_motor_limit_behind_the_gear():
    for sign in (1, -1):
        _applied, active, limited = torque(tau_ff=sign * 1000.0)
        volts = DRIVES.voltage / DRIVES.resistance * DRIVES.torque_constant
        np.testing.assert_allclose(active, sign * DRIVES.gear * np.minimum(DRIVES.motor_torque_max, volts))
        assert limited.all()


def test_no_load_speed_leaves_no_torque_and_half_of_it_half_the_stall_current():
    no_load = DRIVES.voltage / (DRIVES.back_emf * DRIVES.gear)  # 40 rad/s at gear 6 (MIT's ActuatorModel.h)
    assert no_load[0] == pytest.approx(40.0)
    endless = DRIVES._replace(motor_torque_max=np.full(N, 1e9))
    for fraction in (1.0, 0.5):
        wanted = np.full(N, 1e6)
        zero = np.zeros(N)
        got = drive_torque(zero, fraction * no_load, zero, zero, wanted, zero, zero, ON, endless)[1]
        stall = DRIVES.gear * DRIVES.torque_constant * DRIVES.voltage / DRIVES.resistance
        np.testing.assert_allclose(got, (1 - fraction) * stall, atol=1e-9)


def test_beyond_no_load_speed_the_drive_can_only_brake():
    zero, fast = np.zeros(N), 1.5 * DRIVES.voltage / (DRIVES.back_emf * DRIVES.gear)
    active, limited = drive_torque(zero, fast, zero, zero, np.full(N, 5.0), zero, zero, ON, DRIVES)[1:]
    assert (active < 0).all() and limited.all()
    assert (np.abs(active) <= DRIVES.gear * DRIVES.motor_torque_max + 1e-12).all()


def test_disabled_drive_leaves_only_damping_and_friction():
    applied, active, limited = torque(qd=2.0, q_des=1.0, tau_ff=9.0, kp=100.0, enable=OFF)
    assert not active.any() and not limited.any()
    np.testing.assert_allclose(applied, -DRIVES.damping * 2.0 - DRIVES.friction)


def test_demand_that_is_not_finite_gives_no_torque():
    applied, active, _ = torque(tau_ff=np.nan)
    assert not active.any() and not applied.any()


@given(st.floats(-50, 50), st.floats(0, 0.999))
def test_friction_opposes_motion_and_never_reverses_the_link_within_a_step(qd, fraction):
    applied = torque(qd=qd, enable=OFF)[0]
    assert (applied * qd <= 0).all()
    slow = fraction * DRIVES.friction / DRIVES.friction_slope
    zero = np.zeros(N)
    applied = drive_torque(zero, slow, zero, zero, zero, zero, zero, OFF, DRIVES)[0]
    after = slow + applied / link_inertia_about_joint(ROBOT) * 1e-3
    assert (after >= 0).all() and (after <= 0.5 * slow + 1e-15).all()


@given(st.lists(st.floats(-60, 60), min_size=N, max_size=N), st.floats(-1e6, 1e6))
def test_torque_is_always_within_every_limit(qd, wanted):
    zero, speed = np.zeros(N), np.array(qd)
    active = drive_torque(zero, speed, zero, zero, np.full(N, wanted), zero, zero, ON, DRIVES)[1]
    motor = active / DRIVES.gear
    assert (np.abs(motor) <= DRIVES.motor_torque_max * (1 + 1e-12)).all()
    volts = motor / DRIVES.torque_constant * DRIVES.resistance + DRIVES.back_emf * DRIVES.gear * speed
    braking = motor * speed <= 0  # a drive at its torque limit that brakes an overspeed sees more than its supply
    assert (braking | (np.abs(volts) <= DRIVES.voltage * (1 + 1e-9))).all()


def test_reflected_rotor_inertia_is_gear_squared_times_the_spin_inertia():
    abad, _hip, knee = ROBOT.actuators
    assert rotor_inertia(abad) == pytest.approx(0.0023, abs=5e-5)  # MIT's MiniCheetah.h: 6^2 x 63e-6
    assert rotor_inertia(knee) == pytest.approx(0.0055, abs=5e-5)
