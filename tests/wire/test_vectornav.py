"""VN-100 binary output: the manual's packet, layouts, a stream that is split, noisy and starts anywhere."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from procs.wire.decode import DecodeError, Reason
from procs.wire.vectornav import FIELD_OF, GROUPS, MIT_HEADER, Parser, header_of, imu_sample, layout, pack, unpack

MANUAL = bytes.fromhex("fa01080093502e42833ef13f48b504bb9288")  # VN-100 user manual: yaw, pitch, roll


def sample(seed: int = 0) -> dict[tuple[int, str], object]:
    rng = np.random.default_rng(seed)
    quat = rng.normal(size=4)
    return {
        (0, "quaternion"): quat / np.linalg.norm(quat),
        (0, "gyro"): rng.normal(size=3),
        (0, "accel"): [0, 0, -9.81],
    }


def test_packet_of_the_manual() -> None:
    assert unpack(MANUAL)[0, "yaw_pitch_roll_deg"] == pytest.approx([43.578686, 1.8847202, -0.0020249654], rel=1e-6)
    assert pack({(0, "yaw_pitch_roll_deg"): unpack(MANUAL)[0, "yaw_pitch_roll_deg"]}) == MANUAL


def test_length_of_a_published_configuration() -> None:
    """jerabaul29/LoggerWavesInIce: header fa 14 3e 00 3a 00; 44 bytes of IMU and 72 of attitude fields."""
    found = layout(bytes.fromhex("143e003a00"))
    assert found is not None
    assert found[1:] == (5, 1 + 5 + 44 + 72 + 2)
    assert [f.name for g, f in found[0] if g == 4] == ["yaw_pitch_roll_deg", "dcm", "mag_ned", "accel_ned"]


def test_header_of_the_mini_cheetah() -> None:
    assert MIT_HEADER.hex() == "013001"
    assert len(pack(sample())) == 1 + 3 + 40 + 2


@given(st.sets(st.sampled_from(sorted(FIELD_OF)), min_size=1), st.integers(0, 2**32))
def test_any_selection_of_fields_comes_back(fields: set[tuple[int, str]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinds = {(g, f.name): f for g, group in GROUPS.items() for f in group}
    values = {key: rng.integers(0, 200, kinds[key].elements).astype(kinds[key].kind) for key in fields}
    packet = pack(values)
    back = unpack(packet)
    assert set(back) == fields
    assert all(np.array_equal(back[key], values[key]) for key in fields)
    assert packet[1:].startswith(header_of(fields))
    parsed = Parser(header_of(fields)).feed(b"\xfa\x01" + packet)
    assert len(parsed) == 1


@pytest.mark.parametrize("groups", [(0, 0, 0), (4, 2, 2), (4, 0, 2)])
def test_quaternion_becomes_w_x_y_z_from_whichever_group(groups: tuple[int, ...]) -> None:
    values = dict(zip([(g, n) for g, n in zip(groups, ("quaternion", "gyro", "accel"), strict=True)],
                      ([0.1, 0.2, 0.3, np.sqrt(1 - 0.14)], [1, 2, 3], [0, 0, -9.81]), strict=True))  # fmt: skip
    found = imu_sample(unpack(pack(values)))
    assert found is not None
    assert found.quat == pytest.approx([np.sqrt(1 - 0.14), 0.1, 0.2, 0.3], abs=1e-6)
    assert (found.gyro.tolist(), found.valid) == ([1, 2, 3], True)


def test_a_sample_that_is_incomplete_or_no_rotation_is_marked() -> None:
    assert imu_sample(unpack(MANUAL)) is None
    values = sample()
    values[0, "quaternion"] = [0, 0, 0, 0]
    assert not imu_sample(unpack(pack(values))).valid
    packet = unpack(pack(sample()))
    packet[0, "gyro"] = np.array([np.nan, 0, 0], "<f4")
    assert not imu_sample(packet).valid


@pytest.mark.parametrize("header", [None, MIT_HEADER])
@pytest.mark.parametrize("seed", range(20))
def test_every_whole_packet_of_a_noisy_split_stream_is_found(header: bytes | None, seed: int) -> None:
    """Garbage in between, also with sync bytes in it; the packets themselves are whole. The tail releases the last."""
    rng = random.Random(seed)
    wanted, stream = [], b""
    for i in range(30):
        if rng.random() < 0.5:
            noise = rng.choice(
                [b"$VNYMR,+001.2*6F\r\n", rng.randbytes(rng.randrange(40)), b"\xfa", b"\xfa\x01\x30\x01"]
            )
            stream += noise
        packet = pack(sample(i))
        if rng.random() < 0.2:
            stream += packet[: rng.randrange(1, 46)]  # cut off
        else:
            wanted.append(packet)
            stream += packet
    stream += bytes(700)
    parser, found = Parser(header), []
    while stream:
        size = rng.randrange(1, 60)
        found += parser.feed(stream[:size])
        stream = stream[size:]
    mine = [pack(packet) for packet in found]
    assert [p for p in mine if len(p) == 46] == wanted
    assert parser.packets == len(found)


def test_with_the_header_a_packet_comes_out_with_its_last_byte_whatever_came_before() -> None:
    parser, packet = Parser(MIT_HEADER), pack(sample())
    assert parser.feed(b"\xfa\x15\xff\x7f" + packet[:-1]) == []
    assert len(parser.feed(packet[-1:])) == 1
    assert parser.skipped_bytes == 4


def test_a_broken_packet_is_counted_and_the_next_one_found() -> None:
    parser, packet = Parser(MIT_HEADER), pack(sample())
    broken = bytearray(packet)
    broken[20] ^= 1
    assert len(parser.feed(bytes(broken) + packet)) == 1
    assert (parser.packets, parser.bad_crc) == (1, 1)


def test_every_single_and_double_flip_of_a_packet_is_seen() -> None:
    packet = int.from_bytes(pack(sample()), "big")
    bits = 46 * 8
    rng = random.Random(1)
    pairs = [(i, i) for i in range(bits - 8)] + [tuple(rng.sample(range(bits - 8), 2)) for _ in range(3000)]
    for a, b in pairs:
        flipped = packet ^ (1 << a | 1 << b)
        with pytest.raises(DecodeError):
            unpack(flipped.to_bytes(46, "big"))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", Reason.IDENTIFIER),
        (b"\xfb" + MANUAL[1:], Reason.IDENTIFIER),
        (MANUAL[:-1], Reason.LENGTH),
        (MANUAL[:-1] + b"\x00", Reason.CHECKSUM),
        (b"\xfa\x08\x01\x00" + bytes(10), Reason.UNKNOWN),
        (b"\xfa\x01\x00\x80" + bytes(10), Reason.UNKNOWN),
    ],
)
def test_bad_packets_are_rejected_with_their_reason(data: bytes, reason: Reason) -> None:
    with pytest.raises(DecodeError) as info:
        unpack(data)
    assert info.value.reason is reason


def test_refusals() -> None:
    values = sample()
    values[0, "gyro"] = [0, np.nan, 0]
    with pytest.raises(ValueError, match=r"gyro = .*nan"):
        pack(values)
    values[0, "gyro"] = [0, 1e39, 0]
    with pytest.raises(ValueError, match="gyro"):
        pack(values)
