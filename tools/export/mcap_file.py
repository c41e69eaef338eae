"""MCAP: every message as JSON with a schema per type (Foxglove, the mcap tools); time stamps as in the log."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from mcap.writer import CompressionType, Writer

from lcmtypes.lcmfile import Member
from tools.export.decode import Piece
from tools.export.select import Column, Source
from tools.inspect.summary import Summary
from tools.inspect.watch import CONFIG

JSON_TYPES = {"string": "string", "float": "number", "double": "number"}  # all others: integer
LIBRARY = "legged-control-stack"


def schema(source: Source) -> dict[str, Any]:
    """JSON schema of what is exported of a message type, with unit and meaning of each member."""
    members = {m.name: m for m in source.known.struct.members}
    properties = {_key(c): _property(members[c.member], len(c.index)) for c in source.columns}
    title, comment = source.known.name, source.known.struct.comment if source.known.native else ""
    return {"title": title, "description": comment, "type": "object", "properties": properties}


def _key(column: Column) -> str:
    return column.member + "".join(f"_{i}" for i in column.index)


def _property(member: Member, skip: int) -> dict[str, Any]:
    kind: dict[str, Any] = {"type": JSON_TYPES.get(member.type, "integer")}
    if kind["type"] == "number":
        kind["type"] = ["number", "null"]  # null: not finite
    for dim in reversed(member.dims[skip:]):
        kind = {"type": "array", "items": kind}
        if dim.isdigit():
            kind |= {"minItems": int(dim), "maxItems": int(dim)}
    return {**kind, "description": member.comment} if member.comment else kind


def write_mcap(out: Path, blocks: Iterable[list[Piece]], summary: Summary) -> int:
    """Write all messages in log order; returns their number."""
    count = 0
    with out.open("wb") as file:
        writer = Writer(file, compression=CompressionType.ZSTD)
        writer.start(profile="", library=LIBRARY)
        for span in summary.configs.spans[:1]:
            writer.add_metadata("robot", dict(zip(CONFIG, map(str, span.value), strict=True)))
        channels: dict[str, int] = {}
        for pieces in blocks:
            for piece in pieces:
                if piece.source.name not in channels:
                    channels[piece.source.name] = _channel(writer, piece.source)
            messages = [message for piece in pieces for message in _messages(piece, channels[piece.source.name])]
            for order, channel, stamp, data in sorted(messages):
                writer.add_message(channel, stamp, data, stamp, order & 0xFFFFFFFF)
            count += len(messages)
        writer.finish()
    return count


def _channel(writer: Writer, source: Source) -> int:
    text = json.dumps(schema(source)).encode()
    number = writer.register_schema(source.known.name, "jsonschema", text)
    return int(writer.register_channel(source.name, "json", number, {"fingerprint": f"{source.fingerprint:016x}"}))


def _messages(piece: Piece, channel: int) -> Iterator[tuple[int, int, int, bytes]]:
    """Number, channel, stamp in ns, JSON; a number that is not finite is null."""
    keys = [_key(c) for c in piece.source.columns]
    values = [_plain(column) for column in piece.columns]
    dump = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
    stamps = (1000 * piece.stamp).tolist()
    for order, stamp, row in zip(piece.order.tolist(), stamps, zip(*values, strict=True), strict=True):
        yield order, channel, stamp, dump(dict(zip(keys, row, strict=True))).encode()


def _plain(column: np.ndarray) -> list[Any]:
    if column.dtype.kind == "f" and not np.isfinite(column).all():
        values = column.astype(object)
        values[~np.isfinite(column)] = None
        return values.tolist()
    return column.tolist()
