"""YAML text to plain data: syntax errors with their line, duplicate keys refused, 1e-3 read as a number."""

from __future__ import annotations

import re
from typing import Any

import yaml

from config.problems import Absent, Problem


class Loader(yaml.SafeLoader):
    """YAML 1.1 as PyYAML reads it, and floats without a dot (1e-3) as in YAML 1.2."""


Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"), list("-+0123456789")
)


def _duplicates(node: yaml.Node, path: str, open_nodes: frozenset[int]) -> list[Problem]:
    if id(node) in open_nodes:
        return [Problem(path or "(top)", Absent("*alias"), "a value cannot contain itself")]
    open_nodes = open_nodes | {id(node)}
    out: list[Problem] = []
    if isinstance(node, yaml.MappingNode):
        lines: dict[str, int] = {}
        for key, value in node.value:
            here = f"{path}.{key.value}".lstrip(".") if isinstance(key, yaml.ScalarNode) else path
            if here in lines:
                line = key.start_mark.line + 1
                out.append(Problem(here, Absent(f"line {line}"), f"key stands already on line {lines[here]}"))
            lines.setdefault(here, key.start_mark.line + 1)
            out += _duplicates(value, here, open_nodes)
    elif isinstance(node, yaml.SequenceNode):
        for i, value in enumerate(node.value):
            out += _duplicates(value, f"{path}.{i}".lstrip("."), open_nodes)
    return out


def _unshared(value: Any) -> Any:
    """A copy in which what an alias repeats is an object of its own, so that setting one leaves the other."""
    if isinstance(value, dict):
        return {key: _unshared(v) for key, v in value.items()}
    return [_unshared(v) for v in value] if isinstance(value, list) else value


def read_yaml(text: str) -> tuple[dict | None, list[Problem]]:
    """The mapping in the text (None if it cannot be read at all), and what is wrong with it."""
    loader = Loader(text)
    try:
        node = loader.get_single_node()
        if not isinstance(node, yaml.MappingNode):
            return None, [Problem("(top)", Absent("no mapping"), "want sections as `name: ...`")]
        problems = _duplicates(node, "", frozenset())
        if any(str(p.value) == "*alias" for p in problems):
            return None, problems
        return _unshared(loader.construct_document(node)), problems
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "YAML"
        return None, [Problem(line, Absent("not YAML"), error.problem or str(error))]
    except yaml.YAMLError as error:
        return None, [Problem("YAML", Absent("unreadable"), str(error))]
    finally:
        loader.dispose()
