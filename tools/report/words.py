"""What the log itself says at a tick, in words."""

from __future__ import annotations

from lcmtypes.channels import BODY_STATE, BUS_STATUS, IMU, JOINT_STATE, MODE_STATE, MPC_DEBUG, PROC_HEALTH, Channel
from tools.report.context import Context


def _last(c: Context, channel: Channel, k: int) -> object:
    said = [m for t, m in c.run.events(channel) if t <= c.t[k] + c.dt / 2]
    return said[-1] if said else None


def bus(c: Context, k: int) -> str:
    """What the bridge says."""
    return getattr(_last(c, BUS_STATUS, k), "reason", "")


def motor(c: Context, k: int) -> str:
    """The drives' faults."""
    faults = getattr(_last(c, BUS_STATUS, k), "fault", ())
    groups: dict[str, list[str]] = {}
    for name, fault in zip(c.robot.joint_names, faults, strict=False):
        if fault:
            groups.setdefault(fault, []).append(name)
    return "; ".join(f"{', '.join(names)}: {fault}" for fault, names in groups.items())


def joint(c: Context, k: int) -> str:
    """joint_state.status."""
    return str(c.run.words(JOINT_STATE, "status")[k])


def imu(c: Context, k: int) -> str:
    """imu.status."""
    return str(c.run.words(IMU, "status")[k])


def push(c: Context, _k: int) -> str:
    """How far the torques can be believed."""
    if c.joints.measured:
        return ""
    return "torques are computed from the commands here: a drive that does not give them looks the same"


def process(c: Context, k: int) -> str:
    """last_error of the reports at this moment."""
    near = [m for t, m in c.run.events(PROC_HEALTH) if abs(t - c.t[k]) < 0.05 and m.last_error]
    return "; ".join(dict.fromkeys(f"{m.name}: {m.last_error}" for m in near))


def refusal(c: Context, k: int) -> str:
    """mode_state.reason."""
    return str(c.run.words(MODE_STATE, "reason")[k])


def estimate(c: Context, k: int) -> str:
    """body_state.reason."""
    return str(c.run.words(BODY_STATE, "reason")[k])


def mpc(c: Context, k: int) -> str:
    """mpc_debug.status."""
    return str(c.run.words(MPC_DEBUG, "status")[k])
