"""What is watched in a log besides counts, as a table: modes, faults, estops, refusals, and the words for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcmtypes.channels import (
    BODY_STATE,
    BUS_STATUS,
    ESTOP,
    IMU,
    JOINT_COMMAND,
    JOINT_STATE,
    LEG_COMMAND,
    MODE_STATE,
    PARAMETER_RESPONSE,
    PROC_HEALTH,
    RESET,
    ROBOT_CONFIG,
)
from lcmtypes.layout import Layout, Layouts
from procs.runtime.eventblock import Block

Say = Callable[..., str]  # the watched fields of one message -> what is wrong, or ""


@dataclass(frozen=True)
class Watched:
    """Fields of a channel, and the words for their values; `by`: the field that tells senders apart."""

    fields: tuple[str, ...]
    kind: str
    say: Say
    by: str = ""


def _joints(status: str, fault: tuple[int, ...]) -> str:
    names = {1: "predicted", 2: "lost"}
    said = [f"joint {k} {names.get(f, f'fault {f}')}" for k, f in enumerate(fault) if f]
    return "; ".join(filter(None, (status, ", ".join(said))))


def _bus(state: str, reason: str, fault: tuple[str, ...]) -> str:
    said = [f"motor {k}: {words}" for k, words in enumerate(fault) if words]
    return "; ".join(filter(None, (f"{state}: {reason}" if reason else "", ", ".join(said))))


def _unless(good: int, reason: str) -> str:
    return reason if good else reason or "not valid"


WATCHED: dict[str, Watched] = {
    MODE_STATE.name: Watched(("reason", "target"), "mode", lambda reason, target: reason),
    ESTOP.name: Watched(("source", "reason"), "estop", lambda source, reason: f"by {source}: {reason}"),
    RESET.name: Watched(("source", "reason"), "reset", lambda source, reason: f"by {source}: {reason}"),
    IMU.name: Watched(("valid", "status"), "fault", _unless),
    JOINT_STATE.name: Watched(("status", "fault"), "fault", _joints),
    BODY_STATE.name: Watched(("valid", "reason"), "fault", _unless),
    LEG_COMMAND.name: Watched(("reason",), "disabled", lambda reason: reason),
    JOINT_COMMAND.name: Watched(("reason",), "limited", lambda reason: reason),
    BUS_STATUS.name: Watched(("state", "reason", "fault"), "fault", _bus),
    PARAMETER_RESPONSE.name: Watched(
        ("process", "name", "ok", "reason", "value"), "parameter",
        lambda process, name, ok, why, value: f"{process} {name} " + (f"= {value:g}" if ok else f"refused: {why}"),
    ),
    PROC_HEALTH.name: Watched(("last_error",), "error", lambda error: error, by="name"),
}  # fmt: skip
MODES = ("mode", "gait", "busy")
HEALTH = ("ticks", "missed", "old", "repeated", "decode_errors", "not_finite", "refused", "estops")
CONFIG = ("robot", "hash", "revision", "cpu")
FIELDS: dict[str, tuple[str, ...]] = {  # all that is decoded of a channel
    **{name: (*((w.by,) if w.by else ()), *w.fields) for name, w in WATCHED.items()},
    MODE_STATE.name: (*MODES, *WATCHED[MODE_STATE.name].fields),
    PROC_HEALTH.name: ("name", "state", *HEALTH, *WATCHED[PROC_HEALTH.name].fields),
    ROBOT_CONFIG.name: CONFIG,
}


def changes(
    block: Block, which: np.ndarray, layouts: Layouts, fields: tuple[str, ...]
) -> tuple[np.ndarray, list[tuple[Any, ...]], np.ndarray]:
    """Where the fields may have changed: indices (k,) into the decodable messages, the values there, and those (n,).

    Only these few are decoded; the rest is compared as bytes.
    """
    good, begin = np.zeros(len(which), bool), np.zeros(len(which), bool)
    values: dict[int, tuple[Any, ...]] = {}
    sizes = block.size[which]
    for size in np.unique(sizes).tolist():
        same = np.flatnonzero(sizes == size)
        mine = which[same]
        for layout, part in layouts.split(size, len(same), block.reader(mine)):
            at = same[part]
            good[at] = True
            places = [layout.places[name] for name in fields]
            start, stop = min(p.start for p in places), max(p.stop for p in places)
            raw = block.rows(mine[part], start, stop)
            mask = np.zeros(stop - start, np.uint8)
            for p in places:
                mask[p.start - start : p.stop - start] = 255
            new = np.ones(len(at), bool)
            new[1:] = ((raw[1:] ^ raw[:-1]) & mask).any(1) | (np.diff(at) != 1)
            begin[at] = new
            some = np.flatnonzero(new)
            found = [_values(layout, raw[some, p.start - start : p.stop - start], p.member.name) for p in places]
            values.update(zip(at[some].tolist(), zip(*found, strict=True), strict=True))
    decoded = np.flatnonzero(good)
    return np.flatnonzero(begin[decoded]), [values[k] for k in np.flatnonzero(begin).tolist()], decoded


def _values(layout: Layout, raw: np.ndarray, name: str) -> list[Any]:
    place = layout.places[name]
    if place.is_text:
        words = layout.words(raw, name).tolist()
        return [tuple(w) for w in words] if place.shape else [w[0] for w in words]
    numbers = layout.numbers(raw, name)
    return [tuple(x) for x in numbers.tolist()] if place.shape else numbers.tolist()
