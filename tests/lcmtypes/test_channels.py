"""The channel table: unique names, every type used, types that LCM can tell apart."""

from __future__ import annotations

from collections import Counter

from lcmtypes import generated
from lcmtypes.channels import CHANNELS, ESTOP, PIPELINE, RESET


def test_names_are_unique_and_those_of_the_table():
    assert all(name == channel.name for name, channel in CHANNELS.items())
    assert max(Counter(channel.name for channel in CHANNELS.values()).values()) == 1
    assert all(channel.name.islower() and channel.doc and channel.by for channel in CHANNELS.values())


def test_every_type_has_a_channel_and_every_channel_a_type():
    types = {getattr(generated, name) for name in generated.__all__}
    assert {channel.type for channel in CHANNELS.values()} == types


def test_a_type_says_which_channel_it_is_for():
    for name, channel in CHANNELS.items():
        assert f"{name}_t" == channel.type.TYPE


def test_fingerprints_differ_so_that_no_message_passes_for_another():
    fingerprints = Counter(channel.type.FINGERPRINT for channel in CHANNELS.values())
    assert max(fingerprints.values()) == 1
    assert ESTOP.type.FINGERPRINT != RESET.type.FINGERPRINT


def test_every_message_begins_with_the_common_header():
    for channel in CHANNELS.values():
        assert channel.type.FIELDS[:4] == ("utime", "run", "seq", "used")


def test_the_pipeline_is_part_of_the_table():
    assert len(set(PIPELINE)) == len(PIPELINE)
    assert set(PIPELINE) <= set(CHANNELS.values())
