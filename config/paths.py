"""Dotted paths into a configuration: what the schema expects there, and overrides `a.b.c=value`."""

from __future__ import annotations

import difflib
import types
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Union, get_args, get_origin

import yaml
from pydantic import BaseModel

from config.problems import Absent, Problem
from config.yamlfile import Loader


def alternatives(kind: Any) -> list[Any]:
    """The members of a union without None; a list of one for anything else."""
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) in (Union, types.UnionType):
        return [m for arg in get_args(kind) if arg is not type(None) for m in alternatives(arg)]
    return [kind]


def child(kind: Any, part: str | int) -> Any:
    """The type of one element of a type, or None if the schema has no such element."""
    for member in alternatives(kind):
        origin, args = get_origin(member), get_args(member)
        if isinstance(member, type) and issubclass(member, BaseModel):
            field = member.model_fields.get(str(part))
            if field is not None:
                return field.annotation
        elif origin is dict:
            return args[1]
        elif origin is list:
            return args[0]
        elif origin is tuple and isinstance(part, int) and part < len(args):
            return args[part]
    return None


def known_keys(kind: Any, data: object) -> list[str]:
    """Names allowed below a place: fields of the schema, else the keys or indices that are there."""
    for member in alternatives(kind):
        if isinstance(member, type) and issubclass(member, BaseModel):
            return list(member.model_fields)
    if isinstance(data, dict):
        return [str(k) for k in data]
    if isinstance(data, list):
        return [str(i) for i in range(len(data))]
    return []


def type_at(kind: Any, loc: Iterable[str | int]) -> Any:
    """The type the schema expects at a location, or None."""
    for part in loc:
        if kind is None:
            return None
        kind = child(kind, part)
    return kind


def nearest(name: str, known: Sequence[str]) -> str:
    """Advice for a name that is not among the known ones."""
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    if close:
        return f"did you mean {close[0]}?"
    return f"known here: {', '.join(known)}" if known else "nothing can be set below this"


def apply_override(root: type[BaseModel], data: object, text: str) -> Problem | None:
    """Set one `a.b.c=value` in the raw data; the problem if that cannot be done."""
    path, equals, value_text = text.partition("=")
    path = path.strip()
    if not equals or not path:
        return Problem("--set", text, "want path=value, such as control.mpc.horizon=8")
    try:
        value = yaml.load(value_text, Loader)
    except yaml.YAMLError as error:
        return Problem(path, value_text, f"want a YAML value ({' '.join(str(error).split())})")
    parts = path.split(".")
    kind: Any = root
    for i, part in enumerate(parts):
        known = known_keys(kind, data)
        if part not in known:
            return Problem(f"--set {path}", Absent("unknown key " + ".".join(parts[: i + 1])), nearest(part, known))
        key: Any = int(part) if isinstance(data, list) else part
        kind = child(kind, key)
        if not isinstance(data, dict | list):
            return Problem(f"--set {path}", data, f"{'.'.join(parts[:i])} has no parts to set")
        if i == len(parts) - 1:
            data[key] = value
            return None
        if isinstance(data, dict) and data.get(key) is None:
            data[key] = {}
        data = data[key]
    return None
