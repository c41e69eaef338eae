"""Many messages decoded at once: the same values as the message classes and struct give one by one."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from lcmtypes.channels import CHANNELS
from lcmtypes.known import known_types
from lcmtypes.layout import Layout, Layouts, sizes_of
from lcmtypes.message import DecodeError

CODES = {"int8_t": "b", "int16_t": "h", "int32_t": "i", "int64_t": "q", "float": "f", "double": "d"}
OURS = sorted(CHANNELS.values(), key=lambda c: c.name)
MIT = [known for known in known_types().values() if not known.native]


def table(layouts, messages):
    """Field values of equally long messages, by layout groups, in message order; None where not decodable."""
    rows = np.frombuffer(b"".join(messages), np.uint8).reshape(len(messages), -1)
    out = [None] * len(messages)
    for layout, which in layouts.split(rows.shape[1], len(rows), lambda k, a, b: rows[k, a:b]):
        for name, place in layout.places.items():
            raw = rows[which, place.start : place.stop]
            values = (layout.words if place.is_text else layout.numbers)(raw, name)
            for k, value in zip(which, values.reshape(len(which), *place.shape).tolist(), strict=True):
                out[k] = (out[k] or {}) | {name: value}
    return out


def random_message(kind, rng, joints, words):
    count = kind.__init__.__code__.co_argcount - 1
    message = kind(*([4, joints] if count == 2 else [joints] * count))
    message.utime, message.run, message.seq = 5, int(rng.integers(1 << 62)), int(rng.integers(1 << 40))
    message.used = rng.integers(-1, 99, rng.integers(0, 3)).tolist()
    for name in kind.FIELDS:
        value = getattr(message, name)
        if isinstance(value, str):
            setattr(message, name, str(rng.choice(words)))
        elif isinstance(value, list) and value and isinstance(value[0], str):
            setattr(message, name, rng.choice(words, len(value)).tolist())
        elif isinstance(value, np.ndarray):
            value[...] = rng.integers(-3, 3, value.shape) if value.dtype == np.int8 else rng.normal(size=value.shape)
    return message


@pytest.mark.parametrize("channel", OURS, ids=lambda c: c.name)
def test_our_messages_of_any_sizes_decode_as_their_classes_do(channel):
    rng = np.random.default_rng(3)
    layouts = Layouts(known_types()[channel.type.FINGERPRINT].struct)
    words = ["", "a", "bc", "ab", "zwölf", "a reason, with 3 numbers"]
    by_size: dict[int, list[bytes]] = {}
    for _ in range(300):
        data = random_message(channel.type, rng, int(rng.integers(1, 4)), words).encode()
        by_size.setdefault(len(data), []).append(data)
    assert len(by_size) > 1
    for messages in by_size.values():
        for data, got in zip(messages, table(layouts, messages), strict=True):
            want = channel.type.decode(data).fields()
            assert {name: got[name] for name in want} == want
    assert layouts.bad == 0


@pytest.mark.parametrize("known", MIT, ids=lambda k: k.name)
def test_mits_messages_decode_as_struct_does(known):
    rng = np.random.default_rng(4)
    counts = [int(np.prod([int(d) if d.isdigit() else 5 for d in m.dims])) for m in known.struct.members]
    code = ">Q" + "".join(f"{n}{CODES[m.type]}" for n, m in zip(counts, known.struct.members, strict=True))
    values = rng.integers(-100, 100, (3, sum(counts)))
    for k, member in enumerate(known.struct.members):
        if member.name in sizes_of(known.struct):
            values[:, sum(counts[:k])] = 5
    values = values.tolist()
    messages = [struct.pack(code, known.struct.fingerprint, *v) for v in values]
    for value, got in zip(values, table(Layouts(known.struct), messages), strict=True):
        assert np.concatenate([np.ravel(got[m.name]) for m in known.struct.members]).tolist() == value


def test_all_31_mit_types_are_known_by_fingerprint_and_none_is_taken_for_ours():
    names = {name for known in MIT for name in known.name.split(" or ")}
    assert len(names) == 31
    assert {c.type.FINGERPRINT for c in OURS} <= {f for f, k in known_types().items() if k.native}
    assert "control_parameter_request_lcmt or control_parameter_respones_lcmt" in {k.name for k in MIT}


def test_equally_long_messages_with_different_strings_are_told_apart():
    kind = CHANNELS["mode_state"].type
    a, b = kind(), kind()
    a.mode, a.target, b.mode, b.target = "stand", "no", "no", "stand"
    got = table(Layouts(known_types()[kind.FINGERPRINT].struct), [a.encode(), b.encode(), a.encode()])
    assert [(g["mode"], g["target"]) for g in got] == [("stand", "no"), ("no", "stand"), ("stand", "no")]


@pytest.mark.parametrize("channel", OURS, ids=lambda c: c.name)
def test_broken_messages_are_errors_or_counted_never_wrong_values(channel):
    rng = np.random.default_rng(5)
    known = known_types()[channel.type.FINGERPRINT]
    data = random_message(channel.type, rng, 3, ["", "a word"]).encode()
    for cut in range(8, len(data), 3):
        with pytest.raises(DecodeError):
            Layout.of(known.struct, data[:cut])
    layouts, bad = Layouts(known.struct), 0
    for k in range(8, len(data)):
        broken = data[:k] + bytes([data[k] ^ 0x80]) + data[k + 1 :]
        (got,) = table(layouts, [broken])
        try:
            channel.type.decode(broken)
        except (DecodeError, UnicodeDecodeError):
            bad += got is None
        else:
            assert got is not None
    assert layouts.bad == bad > 0
