"""Our classes of MIT's types: bytes, errors, immutability, the table of MIT's channels."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcmtypes.channels import CHANNELS
from lcmtypes.lcmfile import Member, Struct
from lcmtypes.message import DecodeError
from lcmtypes.mit_channels import MIT_CHANNELS
from lcmtypes.mit_types import MIT_TYPES, message_class

FACTS = json.loads((Path(__file__).parents[1] / "data" / "lcm_types_mit.json").read_text())
FIXED = sorted(n for n in FACTS if FACTS[n]["encoded_size_bytes"] is not None)
every_type = pytest.mark.parametrize("name", FIXED)


def test_all_types_of_a_fixed_size_are_there():
    assert sorted(MIT_TYPES) == FIXED


@every_type
def test_size_and_fingerprint(name):
    message = MIT_TYPES[name]()
    assert len(message.encode()) == FACTS[name]["encoded_size_bytes"]
    assert message.encode()[:8].hex() == FACTS[name]["fingerprint"]
    assert message.fields().keys() == {f["name"] for f in FACTS[name]["fields"]}


@settings(deadline=None, max_examples=10)
@given(data=st.data())
@every_type
def test_any_bytes_of_the_right_size_are_read_and_written_again(name, data):
    kind = MIT_TYPES[name]
    size = kind.DTYPE.itemsize - 8
    body = data.draw(st.binary(min_size=min(size, 900), max_size=min(size, 900)))
    raw = kind.HEAD + body + bytes(size - len(body))
    message = kind.decode(raw)
    assert message.encode() == raw
    assert message.copy() == message
    message.finite()


@every_type
def test_wrong_sizes_and_fingerprints_are_decode_errors(name):
    data = MIT_TYPES[name]().encode()
    for wrong in (data[:-1], data + b"\0", b"", bytes(len(data))):
        with pytest.raises(DecodeError, match=name):
            MIT_TYPES[name].decode(wrong)


@every_type
def test_a_number_that_is_not_finite_is_found_wherever_it_stands(name):
    kind = MIT_TYPES[name]
    assert kind().finite()
    for field in FACTS[name]["fields"]:
        if field["type"] not in ("float", "double"):
            continue
        for wrong in (math.nan, math.inf, -math.inf):
            record = np.zeros(kind.DTYPE[field["name"]].shape or (1,))
            record.flat[-1] = wrong
            assert not kind(**{field["name"]: record if field["dims"] else wrong}).finite()


def test_integers_that_look_like_nan_are_no_numbers():
    assert MIT_TYPES["spi_data_t"](flags=[-1, -1, -1, -1], spi_driver_status=-1).finite()
    assert MIT_TYPES["simulator_lcmt"](timesteps=-1).finite()


def test_values_are_set_by_name_and_read_by_attribute():
    message = MIT_TYPES["simulator_lcmt"](time=1.5, p=[1, 2, 3], timesteps=7)
    assert (message.time, message.timesteps, message.p.tolist(), message.R.shape) == (1.5, 7, [1, 2, 3], (3, 3))
    with pytest.raises(TypeError, match="no field 'speed'"):
        MIT_TYPES["simulator_lcmt"](speed=1)
    with pytest.raises(AttributeError, match="no field 'speed'"):
        message.speed  # noqa: B018


def test_a_value_too_large_for_32_bits_is_not_finite():
    assert not MIT_TYPES["spi_torque_t"](tau_hip=[0, 0, 1e39, 0]).finite()


def test_a_message_cannot_be_changed_behind_its_bytes():
    message = MIT_TYPES["localization_lcmt"](xyz=[1, 2, 3])
    with pytest.raises(ValueError, match="read-only"):
        message.xyz[0] = 5.0


def test_a_copy_keeps_what_stands_beside_the_bytes():
    message = MIT_TYPES["localization_lcmt"]()
    message.run, message.seq, message.utime, message.used = 3, 4, 5, [6]
    copy = message.copy()
    copy.used.append(7)
    assert (copy.run, copy.seq, copy.utime, message.used) == (3, 4, 5, [6])


def test_a_struct_of_variable_size_is_refused():
    with pytest.raises(ValueError, match=r"x_t\.data: not of a fixed size"):
        message_class(Struct("x_t", (Member("int32_t", "n", ()), Member("double", "data", ("n",)))))


def test_mits_channels_are_a_table_of_their_own():
    assert not MIT_CHANNELS.keys() & CHANNELS.keys()
    assert all(name == channel.name and channel.by and channel.doc for name, channel in MIT_CHANNELS.items())
    assert set(MIT_TYPES.values()) >= {channel.type for channel in MIT_CHANNELS.values()}
