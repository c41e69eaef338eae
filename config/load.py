"""Reads robots and scenarios: YAML and overrides in, frozen descriptions or one ConfigError with all problems out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError

from config.checks import check_sections
from config.live import check_live, live_parameters, with_values
from config.paths import alternatives, apply_override, known_keys, nearest, type_at
from config.problems import Absent, ConfigError, Problem
from config.scenario import Command, Scenario
from config.schema import RobotDescription
from config.yamlfile import read_yaml

__all__ = [
    "ConfigError", "as_overrides", "load_commands", "load_robot", "load_scenario", "parse_robot", "robot_names",
    "robot_text", "scenario_names",
]  # fmt: skip

FOLDER = Path(__file__).parent
Model = TypeVar("Model", bound=BaseModel)


def robot_names() -> list[str]:
    """Names that load_robot knows."""
    return sorted(p.stem for p in (FOLDER / "robots").glob("*.yaml"))


def scenario_names() -> list[str]:
    """Names that load_scenario knows."""
    return sorted(p.stem for p in (FOLDER / "scenarios").glob("*.yaml"))


def load_robot(name_or_path: str | Path, overrides: Sequence[str] = ()) -> RobotDescription:
    """The robot of a name in config/robots or of a YAML file, with `a.b=value` overrides; raises ConfigError."""
    text, where = _read(name_or_path, "robots", robot_names())
    return parse_robot(text, overrides, where)


def parse_robot(text: str, overrides: Sequence[str] = (), where: str = "robot description") -> RobotDescription:
    """The robot described by a YAML text; raises ConfigError."""
    data, problems = _prepare(RobotDescription, text, overrides, where)
    description, more = _validate(RobotDescription, data)
    problems += more + check_sections(_valid_sections(data) if description is None else dict(description))
    if description is not None and not problems:
        problems += _check_live(description)
    if problems or description is None:
        raise ConfigError(where, problems)
    return description


def _check_live(description: RobotDescription) -> list[Problem]:
    """The live parameters themselves, and the description at both ends of their ranges."""
    problems = list(check_live(description))
    for end in ("min", "max") if description.live and not problems else ():
        values = {name: getattr(p, f"{end}imum") for name, p in live_parameters(description).items()}
        data = with_values(description, values).model_dump(mode="json")
        there, more = _validate(RobotDescription, data)
        more += [] if there is None else check_sections(dict(there))
        problems += [Problem(f"live: at {end} {p.path}", p.value, p.allowed) for p in more]
    return problems


def robot_text(name_or_path: str | Path, overrides: Sequence[str] = ()) -> str:
    """Canonical YAML of a robot after overrides, defaults written out: what is published and logged."""
    return dump(load_robot(name_or_path, overrides))


def dump(model: BaseModel) -> str:
    """Canonical YAML of a description; numbers survive exactly."""
    return yaml.safe_dump(model.model_dump(mode="json"), sort_keys=False, default_flow_style=None, width=120)


def load_scenario(name_or_path: str | Path, overrides: Sequence[str] = ()) -> Scenario:
    """The scenario of a name in config/scenarios or of a YAML file; raises ConfigError."""
    text, where = _read(name_or_path, "scenarios", scenario_names())
    data, problems = _prepare(Scenario, text, overrides, where)
    scenario, more = _validate(Scenario, data)
    problems += more
    if problems or scenario is None:
        raise ConfigError(where, problems)
    return scenario


def load_commands(path: str | Path) -> tuple[list[Command], float | None]:
    """Commands of a scenario's file or of one that has nothing else, and the duration if it says one."""
    text, where = _read(Path(path), "scenarios", [])
    data, problems = read_yaml(text)
    if data is None:
        raise ConfigError(where, problems)
    scenario, more = _validate(Scenario, {"name": where, "duration": 1.0, **data})
    problems += more
    if scenario is not None and not scenario.commands:
        problems.append(Problem("commands", Absent("missing"), "want a list of commands as in a scenario"))
    if problems or scenario is None:
        raise ConfigError(where, problems)
    return scenario.commands, scenario.duration if "duration" in data else None


def as_overrides(values: Mapping[str, Any]) -> list[str]:
    """A mapping such as Scenario.set as override strings."""

    def flow(value: Any) -> str:
        return yaml.safe_dump(value, default_flow_style=True, width=10**6).removesuffix("...\n").strip()

    return [f"{path}={flow(value)}" for path, value in values.items()]


def _read(name_or_path: str | Path, folder: str, names: list[str]) -> tuple[str, str]:
    name = str(name_or_path)
    is_path = isinstance(name_or_path, Path) or "/" in name or name.endswith((".yaml", ".yml"))
    path = Path(name) if is_path else FOLDER / folder / f"{name}.yaml"
    where = name if is_path else f"config/{folder}/{name}.yaml"
    if not is_path and name not in names:
        kind = folder.removesuffix("s")
        advice = f"known {folder}: {', '.join(names)}; or give the path of a YAML file"
        raise ConfigError(where, [Problem(kind, name, advice)])
    try:
        return path.read_text(encoding="utf-8"), where
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(where, [Problem("file", name, f"cannot be read: {error}")]) from error


def _prepare(root: type[BaseModel], text: str, overrides: Sequence[str], where: str) -> tuple[dict, list[Problem]]:
    data, problems = read_yaml(text)
    if data is None:
        raise ConfigError(where, problems)
    for override in overrides:
        problems += [p for p in (apply_override(root, data, one) for one in _overlay(override)) if p]
    return data, problems


def _overlay(override: str) -> list[str]:
    """One override, or those of an overlay file given as `@FILE`: a mapping of dotted names to values."""
    if not override.startswith("@"):
        return [override]
    try:
        values, problems = read_yaml(Path(override[1:]).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(override, [Problem("file", override[1:], f"cannot be read: {error}")]) from error
    if values is None or problems:
        raise ConfigError(override, problems)
    return as_overrides(values)


def _validate(root: type[Model], data: object) -> tuple[Model | None, list[Problem]]:
    try:
        return root.model_validate(data), []
    except ValidationError as error:
        return None, [_problem(root, data, e) for e in error.errors(include_url=False)]


def _valid_sections(data: dict) -> dict[str, object]:
    """The sections that are right by themselves, so that their checks run beside the errors of others."""
    sections: dict[str, object] = {}
    for name, field in RobotDescription.model_fields.items():
        if name == "actuators" and isinstance(data.get(name), dict):
            kind = get_args(field.annotation)[1]
            valid = {k: _validate(kind, v)[0] for k, v in data[name].items()}
            if all(v is not None for v in valid.values()):
                sections[name] = valid
        elif isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel) and name in data:
            section, _ = _validate(field.annotation, data[name])
            if section is not None:
                sections[name] = section
    return sections


def _value_at(data: object, loc: Sequence[str | int]) -> object:
    for part in loc:
        try:
            data = data[part]  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def _problem(root: type[BaseModel], data: object, error: Any) -> Problem:
    """One of pydantic's errors in our words."""
    loc, kind, value = list(error["loc"]), error["type"], error["input"]
    if kind in ("missing", "too_short", "too_long"):
        if kind == "missing" and loc and isinstance(loc[-1], str):
            return Problem(".".join(map(str, loc)), Absent("missing"), "required")
        at = loc[:-1] if kind == "missing" else loc
        for member in alternatives(type_at(root, at)):
            if get_origin(member) is tuple:
                there = _value_at(data, at)
                return Problem(".".join(map(str, at)), there, f"want {len(get_args(member))} items")
    path = ".".join(map(str, loc)) or "(top)"
    if kind == "extra_forbidden":
        known = known_keys(type_at(root, loc[:-1]), None)
        return Problem(path, value, f"unknown key, {nearest(str(loc[-1]), known)}")
    if kind == "model_type":
        return Problem(path, value, f"want a section of {', '.join(known_keys(type_at(root, loc), None))}")
    message = error["msg"].removeprefix("Value error, ")
    for prefix in ("Input should be ", "List should have ", "Dictionary should have ", "String should have "):
        if message.startswith(prefix):
            message = "want " + message.removeprefix(prefix)
    return Problem(path, value, message)
