"""Decoding by fingerprint against the generated classes; rows of fields; sparklines."""

import contextlib
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcmtypes.channels import CHANNELS
from lcmtypes.generated import BodyState, LegCommand, ModeState
from lcmtypes.known import known_types
from lcmtypes.message import DecodeError
from tools.spy_text.decode import decode, recognise
from tools.spy_text.fields import BLOCKS, History, fields, hex_rows, sparkline

NATIVE = sorted({c.type for c in CHANNELS.values()}, key=lambda t: t.TYPE)


def filled(kind):
    """A message in which all numbers differ, as far as the class has them."""
    for sizes in ((), (4,), (12,), (4, 12), (4, 4, 4), (2, 3, 4, 5), (3, 4, 5)):
        try:
            message = kind(*sizes)
            break
        except TypeError:
            continue
    message.utime, message.run, message.seq, message.used = 1, 2, 3, [4, -1]
    for name in kind.FIELDS:
        value = getattr(message, name)
        if isinstance(value, np.ndarray) and value.size:
            value[...] = np.arange(value.size).reshape(value.shape) + 0.5
        elif isinstance(value, str):
            setattr(message, name, f"{name} ü")
    return message


@pytest.mark.parametrize("kind", NATIVE, ids=lambda k: k.TYPE)
def test_every_type_of_ours_gives_the_fields_of_its_class(kind):
    message = filled(kind)
    known = recognise(message.encode())
    assert kind.TYPE in known.name.split(" or ")
    assert decode(message.encode(), known.struct) == message.fields()


@pytest.mark.parametrize("kind", NATIVE, ids=lambda k: k.TYPE)
def test_bytes_cut_off_or_added_are_decode_errors(kind):
    data = filled(kind).encode()
    known = recognise(data)
    for wrong in (*(data[:n] for n in range(8, len(data))), data + b"\0"):
        with pytest.raises(DecodeError):
            decode(wrong, known.struct)


@given(st.binary(max_size=200), st.sampled_from(sorted(known_types())))
def test_garbage_is_decoded_or_a_decode_error(data, fingerprint):
    data = fingerprint.to_bytes(8, "big") + data
    with contextlib.suppress(DecodeError):
        decode(data, recognise(data).struct)


def test_a_message_of_mits_is_decoded():
    known = next(k for k in known_types().values() if k.name == "leg_control_data_lcmt")
    data = known.struct.fingerprint.to_bytes(8, "big") + np.arange(5 * 12, dtype=">f4").tobytes()
    got = decode(data, recognise(data).struct)
    assert list(got) == ["q", "qd", "p", "v", "tau_est"]
    assert got["qd"] == list(range(12, 24))


def test_rows_are_fields_in_order_and_arrays_open():
    message = BodyState(4)
    message.v_body[:] = 3.0, 4.0, 0.0
    data = decode(message.encode(), recognise(message.encode()).struct)
    closed, opened = fields(data), fields(data, {"v_body"})
    assert [f.path for f in closed] == list(BodyState.FIELDS)
    row = next(f for f in closed if f.path == "v_body")
    assert row.array and row.text == "[3]  3, 4, 0" and row.number == pytest.approx(5.0)
    at = [f.path for f in opened].index("v_body")
    assert [(f.path, f.depth, f.number) for f in opened[at + 1 : at + 4]] == [
        ("v_body[0]", 1, 3.0), ("v_body[1]", 1, 4.0), ("v_body[2]", 1, 0.0),
    ]  # fmt: skip


def test_arrays_of_arrays_open_one_after_the_other():
    data = {"f_ff": LegCommand(4, 12).fields()["f_ff"]}
    assert [f.text for f in fields(data)] == ["[4 x 3]"]
    assert [f.path for f in fields(data, {"f_ff", "f_ff[1]"})] == [
        "f_ff", "f_ff[0]", "f_ff[1]", "f_ff[1][0]", "f_ff[1][1]", "f_ff[1][2]", "f_ff[2]", "f_ff[3]",
    ]  # fmt: skip


def test_texts_and_empty_arrays_have_no_number():
    state = ModeState()
    state.mode, state.allowed = "walk", ["down", "stand"]
    rows = {f.path: f for f in fields(state.fields(), {"allowed"})}
    assert (rows["mode"].text, rows["mode"].number) == ("'walk'", None)
    assert (rows["used"].text, rows["used"].array) == ("[]", False)
    assert (rows["allowed"].number, rows["allowed[1]"].text) == (None, "'stand'")


def test_unknown_bytes_are_dumped():
    rows = hex_rows(bytes.fromhex("0123456789abcdef") + b"hello, spy")
    assert rows[0].text == "0123456789abcdef"
    assert rows[1].text == "18"
    assert rows[2].text.startswith("01 23 45") and rows[2].text.endswith("hello, s")
    assert rows[3].text.split()[0] == "70"
    assert len(hex_rows(bytes(10_000))) < 40


def test_a_sparkline_of_a_ramp_is_the_ramp_of_blocks():
    assert sparkline(range(8), 20) == BLOCKS
    assert sparkline(range(8), 3) == "▁▅█"
    assert sparkline([2.0, 2.0], 5) == "▄▄"
    assert sparkline([0.0, math.nan, 1.0], 5) == "▁×█"
    assert sparkline([], 5) == sparkline([1.0], 0) == ""


@given(st.lists(st.floats(), max_size=30), st.integers(0, 40))
def test_a_sparkline_has_a_block_for_each_of_the_last_values(values, width):
    drawn = sparkline(values, width)
    assert len(drawn) == min(len(values), width)
    assert set(drawn) <= set(BLOCKS) | {"×"}


def test_history_keeps_the_last_values_of_each_number():
    history = History(3)
    for k in range(5):
        history.add(fields({"a": k, "b": "text"}))
    assert list(history.of("a")) == [2.0, 3.0, 4.0]
    assert list(history.of("b")) == []
