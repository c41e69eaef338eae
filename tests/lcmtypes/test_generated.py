"""Generated classes against the real lcm-gen's: the same bytes and fingerprints for every native type."""

from __future__ import annotations

import importlib.util
import math
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lcmtypes import generate, generated, lcmfile
from lcmtypes.message import DecodeError

FOLDER = Path(lcmfile.__file__).parent
STRUCTS = {s.name: s for s in map(lcmfile.read, sorted(FOLDER.glob("*.lcm")))}
LCM_GEN = Path(sys.executable).with_name("lcm-gen")
INTEGERS = {"int8_t": 8, "int16_t": 16, "int32_t": 32, "int64_t": 64}

every_type = pytest.mark.parametrize("name", sorted(STRUCTS))
quick = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def lcm_gen(tmp_path_factory):
    """Classes of the real lcm-gen by type name, loaded under names of their own: its package is called as ours."""
    out = tmp_path_factory.mktemp("lcm_gen")
    files = [str(p) for p in sorted(FOLDER.glob("*.lcm"))]
    subprocess.run([str(LCM_GEN), "-p", "--ppath", str(out), *files], check=True, timeout=60)
    classes = {}
    for name in STRUCTS:
        spec = importlib.util.spec_from_file_location(f"lcm_gen_{name}", out / "lcmtypes" / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        classes[name] = getattr(module, name)
    return classes


def ours(name):
    return getattr(generated, generate.class_name(STRUCTS[name]))


def random_values(struct, rng):
    """A value per member; sizes first, so that arrays fit."""
    named = {d for m in struct.members for d in m.dims if not d.isdigit()}
    sizes = {d: rng.randrange(6) for d in sorted(named)}

    def value(kind):
        if kind == "string":
            return "".join(rng.choice("abc äß✓ _/") for _ in range(rng.randrange(8)))
        if kind == "double":
            return rng.choice((0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, 1.7e308, rng.gauss(0, 1e3)))
        bits = INTEGERS[kind]
        return rng.choice((0, -1, 1, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1, rng.randrange(2 ** (bits - 1))))

    def array(kind, dims):
        if not dims:
            return value(kind)
        return [array(kind, dims[1:]) for _ in range(sizes.get(dims[0]) if dims[0] in sizes else int(dims[0]))]

    return {m.name: sizes[m.name] if m.name in sizes else array(m.type, m.dims) for m in struct.members}


def fill_ours(name, values):
    given_sizes = generate._split(STRUCTS[name])[2]
    message = ours(name)(*(values[size] for size in given_sizes))
    for field in message.FIELDS:
        if isinstance(getattr(message, field), np.ndarray):
            getattr(message, field)[...] = np.reshape(values[field], getattr(message, field).shape)
        else:
            setattr(message, field, values[field])
    return message


def fill_theirs(cls, values):
    message = cls()
    for field, value in values.items():
        setattr(message, field, value)
    return message


@every_type
@quick
@given(seed=st.integers(0, 2**32))
def test_bytes_are_those_of_lcm_gen_and_both_read_each_other(lcm_gen, name, seed):
    values = random_values(STRUCTS[name], random.Random(seed))
    mine, theirs = fill_ours(name, values), fill_theirs(lcm_gen[name], values)
    data = theirs.encode()
    assert mine.encode() == data
    assert ours(name).decode(data).encode() == data
    assert lcm_gen[name].decode(mine.encode()).encode() == data
    again = ours(name).decode(data).fields()
    for field, value in mine.fields().items():
        np.testing.assert_equal(again[field], value)


@every_type
def test_fingerprints_are_those_of_lcm_gen(lcm_gen, name):
    assert STRUCTS[name].fingerprint.to_bytes(8, "big") == lcm_gen[name]._get_packed_fingerprint()
    assert STRUCTS[name].fingerprint == ours(name).FINGERPRINT


@every_type
@quick
@given(seed=st.integers(0, 2**32), cut=st.floats(0, 1, exclude_max=True))
def test_truncated_bytes_are_a_decode_error(name, seed, cut):
    data = fill_ours(name, random_values(STRUCTS[name], random.Random(seed))).encode()
    with pytest.raises(DecodeError):
        ours(name).decode(data[: int(cut * len(data))])
    with pytest.raises(DecodeError):
        ours(name).decode(data + b"\0")


@every_type
@quick
@given(garbage=st.binary(max_size=300))
def test_garbage_behind_a_good_fingerprint_is_read_or_a_decode_error(name, garbage):
    data = ours(name).FINGERPRINT.to_bytes(8, "big") + garbage
    try:
        message = ours(name).decode(data)
    except DecodeError:
        return
    assert len(message.encode()) <= len(data)


@pytest.mark.filterwarnings("ignore:.* encountered in")  # nonsense numbers; see the huge ones below
@every_type
@quick
@given(seed=st.integers(0, 2**32), bits=st.lists(st.integers(0, 2**16), min_size=1, max_size=6))
def test_flipped_bits_are_read_or_a_decode_error(name, seed, bits):
    data = bytearray(fill_ours(name, random_values(STRUCTS[name], random.Random(seed))).encode())
    for bit in bits:
        data[bit // 8 % len(data)] ^= 1 << bit % 8
    try:
        ours(name).decode(bytes(data)).finite()
    except DecodeError as error:
        assert name in str(error)


@pytest.mark.parametrize("other", sorted(STRUCTS))
def test_bytes_of_another_type_are_a_decode_error(other):
    data = fill_ours(other, random_values(STRUCTS[other], random.Random(1))).encode()
    for name in STRUCTS:
        if name != other:
            with pytest.raises(DecodeError, match="fingerprint"):
                ours(name).decode(data)


@every_type
def test_a_number_that_is_not_finite_is_found_wherever_it_stands(name):
    struct = STRUCTS[name]
    sizes = [2] * len(generate._split(struct)[2])
    for member in struct.members:
        if member.type != "double":
            continue
        for wrong in (math.nan, math.inf, -math.inf):
            message = ours(name)(*sizes)
            assert message.finite()
            if member.dims:
                getattr(message, member.name).flat[-1] = wrong
            else:
                setattr(message, member.name, wrong)
            assert not message.finite()


def test_huge_but_finite_numbers_are_finite_without_a_warning():
    message = generated.Imu()
    message.block[:] = 1.7e308
    assert message.finite()


def test_a_copy_is_independent():
    first = generated.JointState(3)
    second = first.copy()
    second.q[1], second.used = 1.0, [5]
    assert first.q[1] == 0.0
    assert first.used == []
    assert first != second
    assert first == generated.JointState(3)


def test_the_generated_code_is_current():
    assert {p.name: p.read_text() for p in generate.OUT.glob("*.py")} == generate.generate()


def test_a_struct_that_cannot_be_read_is_named_with_its_line(tmp_path):
    path = tmp_path / "bad_t.lcm"
    path.write_text("package lcmtypes;\nstruct bad_t\n{\n    other_t thing;\n}\n")
    with pytest.raises(ValueError, match="other_t thing"):
        lcmfile.read(path)
