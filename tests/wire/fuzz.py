"""Random, mutated, cut and mixed frames into every decoder: nothing but DecodeError or a mark of invalid may come out.

A long run: `python -m tests.wire.fuzz --frames 10000000 [--seed 1]`. The default tests do 20 000 frames.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable

import numpy as np

from procs.wire import candump, gim6010, vectornav
from procs.wire.cybergear import CyberGearCodec, enable, read_parameter
from procs.wire.decode import DecodeError
from procs.wire.frame import CanFrame
from procs.wire.gim6010_tables import COMMANDS, Heartbeat
from procs.wire.mit_can import MitCodec, Special
from procs.wire.mit_motors import MOTORS
from procs.wire.spine import pack_commands, unpack_boards, unpack_command, unpack_data
from procs.wire.spine_scotty import (
    ScottyData,
    check_command_flags,
    pack_scotty_data,
    unpack_scotty_data,
    unpack_torques,
)

MIT = MitCodec([MOTORS["AK10-9_V2.0"], MOTORS["mini_cheetah"]])
CYBERGEAR = CyberGearCodec([11])
PARSER = vectornav.Parser()


def finite_where_valid(numbers: object, valid: object) -> bool:
    return bool(np.isfinite(np.asarray(numbers, dtype=float)[np.asarray(valid)]).all())


def spine(data: bytes) -> None:
    robot = unpack_boards((data, data[::-1]))
    assert finite_where_valid(robot.q, robot.valid)
    assert finite_where_valid(robot.qd, robot.valid)
    unpack_torques(robot.flags)
    unpack_data(data)
    unpack_scotty_data(data)


def spine_command(data: bytes) -> None:
    command = unpack_command(data)
    assert np.isfinite([command.q_des, command.kp, command.tau_ff]).all()
    check_command_flags(command.flags)


def mit(data: bytes) -> None:
    reply = MIT.unpack([data, data[1:]], ids=[1, 2])
    for numbers in (reply.position, reply.velocity, reply.torque):
        assert finite_where_valid(numbers, reply.valid)
    assert all((reason is None) == valid for reason, valid in zip(reply.reasons, reply.valid, strict=True))
    command = MIT.unpack_command(data)
    assert isinstance(command, Special) or np.isfinite(command).all()


def can_frame(data: bytes) -> CanFrame:
    """First byte: kind of frame; next four: id."""
    head = data[:5].ljust(5, b"\0")
    kind = head[0]
    identifier = int.from_bytes(head[1:], "big") & (0x1FFFFFFF if kind & 1 else 0x7FF)
    return CanFrame(identifier, data[5:], bool(kind & 1), kind & 0xE0 == 0xE0)


def cybergear(data: bytes) -> None:
    CYBERGEAR.unpack(can_frame(data))


def cybergear_control(data: bytes) -> None:
    CYBERGEAR.unpack_control(can_frame(data))


def gim(data: bytes) -> None:
    message = gim6010.unpack(can_frame(data))
    if message.valid:
        numbers = [v for v in message.values.values() if not isinstance(v, bytes)]
        assert np.isfinite(np.array(numbers, dtype=float)).all()


def heartbeat(data: bytes) -> None:
    for layout in Heartbeat:
        gim6010.axis_status(can_frame(data), layout)


def imu(data: bytes) -> None:
    sample = vectornav.imu_sample(vectornav.unpack(data))
    if sample is not None and sample.valid:
        assert np.isfinite(np.concatenate([sample.quat, sample.gyro, sample.accel])).all()


def imu_stream(data: bytes) -> None:
    for packet in PARSER.feed(data):
        vectornav.imu_sample(packet)
    assert len(PARSER._buffer) < 1024


def log_line(data: bytes) -> None:
    candump.parse_line(data.decode("latin-1"))


def _seeds() -> dict[Callable[[bytes], None], list[bytes]]:
    """Good frames of each decoder, to mutate."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(5, 6))
    reply = ScottyData(numbers[0].reshape(2, 3), numbers[1].reshape(2, 3), numbers[2].reshape(2, 3), np.array([1, 2]),
                       None, None)  # fmt: skip

    def flat(frame: CanFrame) -> bytes:
        return bytes([frame.extended]) + frame.can_id.to_bytes(4, "big") + frame.data

    control = CYBERGEAR.control(0.1, 0.2, 10, 1, 0.5)
    gears = [enable(11, 0xFD), read_parameter(11, 0xFD, "VBUS"), CYBERGEAR.feedback(11, 0xFD, 1, 2, 3, 33.3), *control]
    parameters = [CanFrame(frame.can_id - (1 << 24), frame.data, True) for frame in gears]
    gims = [CanFrame(gim6010.can_id(5, n), bytes(range(8))) for n in COMMANDS]
    packets = [
        vectornav.pack({(0, "quaternion"): [0, 0, 0, 1], (0, "gyro"): numbers[0, :3], (0, "accel"): numbers[1, :3]})
    ]
    lines = [candump.format_line(candump.Logged(10**12, "can0", frame)).encode() for frame in (gears[0], gims[0])]
    return {
        spine: [pack_scotty_data(reply)],
        spine_command: pack_commands(*numbers, [1, 1]),
        mit: [*MIT.pack_replies([1, 2], 0.1, 0.2, 0.3, b"\x40\0"), *MIT.pack(1, 2, 3, 1, 0), Special.ENTER.value],
        cybergear: [flat(frame) for frame in gears + parameters],
        cybergear_control: [flat(frame) for frame in control],
        gim: [flat(frame) for frame in gims],
        heartbeat: [flat(gims[0])],
        imu: packets,
        imu_stream: packets,
        log_line: lines,
    }


def mutate(rng: random.Random, good: list[bytes]) -> bytes:
    """A good frame damaged in one of the ways that buses and programmes know, or noise."""
    frame = bytearray(rng.choice(good))
    way = rng.randrange(9)
    if way == 0:
        return rng.randbytes(rng.randrange(200))
    if way == 1:
        return rng.randbytes(len(frame))
    if way == 2:
        return bytes(frame[: rng.randrange(len(frame) + 1)]) + rng.randbytes(rng.randrange(3))
    if way == 3:
        other = rng.choice(good)
        return bytes(a | b for a, b in zip(frame, other, strict=False))
    if way == 4:
        shift = rng.randrange(1, 8)
        return (bytes(shift) + bytes(frame))[: len(frame)]
    if way == 5:
        return rng.choice((b"\0", b"\xff")) * len(frame)
    for _ in range(rng.choice((0, 1, 1, 2, 8))):
        at = rng.randrange(len(frame))
        frame[at] = rng.choice((frame[at] ^ 1 << rng.randrange(8), rng.randrange(256), 0, 0xFF))
    if way == 6 and len(frame) >= 4:  # a word that is no number, with the SPIne checksum kept
        at = 4 * rng.randrange(len(frame) // 4)
        frame[at : at + 4] = rng.choice((b"\xc0\x7f\0\0", b"\0\0\xc0\x7f", b"\xa0\x7f\0\1", b"\x80\x7f\0\0"))
        if len(frame) == 132:
            words = np.frombuffer(bytes(frame), np.uint32).copy()
            for end in (14, 32):
                words[end] = np.bitwise_xor.reduce(words[:end])
            return words.tobytes()
    return bytes(frame)


def run(frames: int, seed: int) -> Counter[str]:
    """How many frames each decoder took or rejected, and why; raises with decoder and bytes where one misbehaves."""
    rng = random.Random(seed)
    seeds = _seeds()
    decoders = list(seeds)
    counts: Counter[str] = Counter()
    for i in range(frames):
        decoder = decoders[i % len(decoders)]
        data = mutate(rng, seeds[decoder])
        try:
            decoder(data)
            counts[f"{decoder.__name__}: taken"] += 1
        except DecodeError as error:
            counts[f"{decoder.__name__}: {error.reason}"] += 1
        except Exception as error:
            raise AssertionError(f"{decoder.__name__}({data.hex()}) raised {error!r}") from error
    return counts


def main() -> int:
    """Long run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    for name, count in sorted(run(args.frames, args.seed).items()):
        print(f"{count:10d}  {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
