"""Live parameters: numbers of the description that may be changed while the robot runs, by name as in --set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from config.problems import Problem
from config.schema import RobotDescription

# What each process can change while it runs; everything else is read once, at the start.
CHANGEABLE: dict[str, tuple[str, ...]] = {
    "controller": (
        "control.nominal_height",
        "control.stand",
        "control.swing",
        "control.stance",
        "control.gaits",
        "control.foothold",
        "control.mpc.weights",
        "control.mpc.force_weight",
        "control.mpc.friction",
        "control.mpc.force_max",
        "control.mpc.height_gain",
    ),
}
FIXED = ("control.gaits.stand",)  # walking begins and ends in it
GAINS = ("kp", "kd", "kd_joint")  # changed over time, or the robot would be kicked
GAIN_RAMP = 0.5  # s, unless the YAML says otherwise


@dataclass(frozen=True)
class LiveParameter:
    """One number: its name, who applies it, its value in the description, its range, and how fast it changes."""

    name: str
    process: str
    value: float
    minimum: float
    maximum: float
    ramp: float  # s from the old value to the new one


def live_parameters(description: RobotDescription) -> dict[str, LiveParameter]:
    """All live parameters by name; a marked vector gives one for each element."""
    out = {}
    for marked, live in description.live.items():
        process = changed_by(marked)
        if process is None:
            continue
        for name in _leaves(description, marked):
            is_gain = any(part in GAINS for part in name.split("."))
            ramp = live.ramp if live.ramp is not None else GAIN_RAMP if is_gain else 0.0
            value = float(value_at(description, name))
            out[name] = LiveParameter(name, process, value, live.min, live.max, ramp)
    return out


def changed_by(name: str) -> str | None:
    """The process that can change a name (or what lies below it) while it runs."""
    for process, prefixes in CHANGEABLE.items():
        if _below(name, prefixes) and not _below(name, FIXED):
            return process
    return None


def _below(name: str, prefixes: tuple[str, ...]) -> bool:
    return any(name == p or name.startswith(p + ".") for p in prefixes)


def value_at(description: RobotDescription, name: str) -> Any:
    """What stands at a dotted name; KeyError if there is nothing."""
    value: Any = description
    for part in name.split("."):
        value = _child(value, part)
    return value


def with_values(description: RobotDescription, values: Mapping[str, float]) -> RobotDescription:
    """The description with other numbers; the caller has checked them."""
    for name, value in values.items():
        description = _replaced(description, name.split("."), value)
    return description


def check_live(description: RobotDescription) -> Iterator[Problem]:
    """Names that exist, can be changed, and stand within their range."""
    for marked, live in description.live.items():
        path = f"live.{marked}"
        if not live.min < live.max:
            yield Problem(path, (live.min, live.max), "want min < max")
        if changed_by(marked) is None:
            able = ", ".join(sorted(p for prefixes in CHANGEABLE.values() for p in prefixes))
            yield Problem(path, marked, f"cannot be changed while it runs; these can: {able}")
            continue
        try:
            names = list(_leaves(description, marked))
        except KeyError as error:
            yield Problem(path, marked, f"there is no {error.args[0]}")
            continue
        for name in names:
            value = value_at(description, name)
            if not isinstance(value, float | int) or isinstance(value, bool):
                yield Problem(path, name, f"want a number there, it is {value!r}")
            elif not live.min <= value <= live.max:
                yield Problem(path, (live.min, live.max), f"want a range that holds {name} = {value:g}")


def _leaves(description: RobotDescription, name: str) -> Iterator[str]:
    value = value_at(description, name)
    if isinstance(value, tuple | list):
        yield from (f"{name}.{i}" for i in range(len(value)))
    else:
        yield name


def _child(value: Any, part: str) -> Any:
    try:
        if isinstance(value, BaseModel):
            return getattr(value, part)
        if isinstance(value, dict):
            return value[part]
        return value[int(part)]
    except (AttributeError, KeyError, IndexError, ValueError, TypeError):
        raise KeyError(part) from None


def _replaced(value: Any, parts: list[str], new: float) -> Any:
    if not parts:
        return new
    part, rest = parts[0], parts[1:]
    child = _replaced(_child(value, part), rest, new)
    if isinstance(value, BaseModel):
        return value.model_copy(update={part: child})
    if isinstance(value, dict):
        return {**value, part: child}
    i = int(part)
    return type(value)((*value[:i], child, *value[i + 1 :]))
