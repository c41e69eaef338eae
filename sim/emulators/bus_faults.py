"""Bus faults of a scenario: bytes on their way from boards, motors and IMU to the host, spoiled by tick and seed.

Every way in which a real bus lied to somebody: bad checksum, dead bus, two boards on one line, shifted bytes, NaN,
saturated and jumping values whose checksum is right, flipped bits, pairs of flips that an XOR does not see, old data
again, silence, wrong lengths, foreign ids, answers in another order, and drives that report a fault.
`channel: imu` in a fault means the IMU's line, `line` a board or CAN bus, nothing all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from config.scenario import BUS_KINDS, BYTE_KINDS, CAN_KINDS, Fault
from lcmtypes.channels import IMU
from procs.model.robot import Robot
from procs.wire.frame import CanFrame
from procs.wire.mit_motors import MOTORS
from sim.emulators.spine_board import pack_frame, swap, unpack_reply_frame

STATE_BYTES = 60  # of a SPIne reply
Spoil = Callable[["BusFaults", int, bytes], bytes]


class BusFaults:
    """All bus faults of a run; `counts` says how often each was applied."""

    def __init__(self, robot: Robot, faults: Sequence[Fault], rng: np.random.Generator) -> None:
        bus = robot.description.bus
        assert bus is not None
        self.protocol = "spine" if bus.can is None else bus.can.protocol
        self.wires = [bus.wiring[name] for name in robot.joint_names]
        self.faults = [fault for fault in faults if fault.kind in BUS_KINDS]
        self.spans = []
        lines = len(bus.spine.boards) if bus.spine else len(bus.can.buses) if bus.can else 0
        self._bytes = any(fault.kind in BYTE_KINDS for fault in self.faults)
        for fault in self.faults:
            first = round(fault.t / robot.dt)
            length = np.inf if fault.duration is None else max(1, round(fault.duration / robot.dt))
            self.spans.append((first, first + length))
            if fault.joint is not None and fault.joint not in robot.joint_names:
                raise ValueError(f"fault {fault.kind}: no joint {fault.joint!r} in {', '.join(robot.joint_names)}")
            if fault.line is not None and fault.line >= lines:
                raise ValueError(f"fault {fault.kind}: no line {fault.line}, there are {lines}")
            if fault.channel not in (None, IMU.name):
                raise ValueError(f"fault {fault.kind} on channel {fault.channel!r}: only {IMU.name} has a line")
            if fault.kind in CAN_KINDS and bus.can is None:
                raise ValueError(f"fault {fault.kind}: {robot.name} has no CAN bus, its drives sit behind SPIne boards")
        self.joints = [robot.joint_names.index(f.joint) if f.joint is not None else -1 for f in self.faults]
        self.reset(rng)

    def reset(self, rng: np.random.Generator) -> None:
        """A new run."""
        self.rng = rng
        self.counts: Counter[str] = Counter()
        self._last: dict[object, bytes] = {}  # what each line or motor sent last, before any fault
        self._failed: dict[int, int] = {}

    def of(self, kind: str, seq: int, line: int | None = None) -> list[tuple[Fault, int]]:
        """The faults of a kind in force at this tick (on a line), with their joint numbers."""
        if not self.faults:
            return []
        there = (None, line) if line is not None else ()
        return [(f, j) for f, j in self._active(seq) if f.kind == kind and (line is None or f.line in there)]

    def happens(self, kind: str, seq: int, line: int) -> bool:
        """Whether a fault of this kind hits the next frame of a line."""
        for fault, _ in self.of(kind, seq, line):
            if fault.probability is None or self.rng.random() < fault.probability:
                self.counts[kind] += 1
                return True
        return False

    def failed_motors(self, seq: int) -> list[tuple[int, int]]:
        """(joint, code) of drives whose fault comes or goes (code 0) at this tick."""
        now = {j: int(f.value or 0) for f, j in self.of("motor_fault", seq)}
        changed = [(j, now.get(j, 0)) for j in sorted(self._failed | now) if self._failed.get(j, 0) != now.get(j, 0)]
        self._failed = now
        return changed

    def spi(self, board: int, rx: bytes, seq: int) -> bytes:
        """A board's reply as the host gets it."""
        if not self._bytes:
            return rx
        old = self._last.get(board, rx)
        self._last[board] = rx
        out = rx
        for fault in self._hits(board, seq):
            if fault.kind == "bus_silent":
                out = bytes(len(rx))
            elif fault.kind == "stale":
                out = old
            elif fault.kind == "wrong_dlc":
                out = rx[: int(self.rng.integers(1, len(rx)))]
            elif fault.kind == "bus_corrupt":
                out = SPI_MODES[fault.mode or ""](self, board, out)
        return out

    def can(self, line: int, frame: CanFrame, seq: int) -> list[CanFrame]:
        """A drive's frame as it appears on the bus: none, one, or more."""
        if not self._bytes:
            return [frame]
        key = (line, frame.can_id & 0x1FFF00FF if frame.extended else frame.can_id, frame.data[:1])
        old = self._last.get(key, frame.data)
        self._last[key] = frame.data
        extra = []
        for fault in self._hits(line, seq):
            if fault.kind == "bus_silent":
                return []
            if fault.kind == "stale":
                frame = frame._replace(data=old)
            elif fault.kind == "wrong_dlc":
                lengths = [n for n in range(9) if n != len(frame.data)]
                frame = frame._replace(data=frame.data.ljust(8, b"\0")[: int(self.rng.choice(lengths))])
            elif fault.kind == "foreign_id":
                foreign = int(self.rng.integers(0, 1 << 29)) if frame.extended else int(self.rng.integers(0, 1 << 11))
                extra.append(frame._replace(can_id=foreign, data=bytes([int(self.rng.integers(100, 256))]) * 8))
            elif fault.kind == "bus_corrupt":
                frame = frame._replace(data=self._spoil_can(fault.mode or "", frame.data))
        return [frame, *extra]

    def order(self, line: int, frames: list[CanFrame], seq: int) -> list[CanFrame]:
        """Frames that waited together, perhaps in another order."""
        for fault in self._hits(line, seq, "reordered") if frames else ():
            del fault
            frames = [frames[i] for i in self.rng.permutation(len(frames))]
        return frames

    def imu(self, data: bytes, seq: int) -> bytes:
        """The IMU's bytes as they arrive."""
        if not data or not self._bytes:
            return data
        old = self._last.get(IMU.name, data)
        self._last[IMU.name] = data
        for fault in self._hits(IMU.name, seq):
            if fault.kind == "bus_silent":
                return b""
            if fault.kind == "stale":
                data = old
            elif fault.kind == "wrong_dlc":
                data = data[: int(self.rng.integers(1, len(data)))]
            elif fault.mode == "zero":
                data = bytes(len(data))
            elif fault.mode == "shift":
                data = self.rng.bytes(int(self.rng.integers(1, 8))) + data
            elif fault.kind == "bus_corrupt":
                data = self.flip(data, 1)
        return data

    def flip(self, data: bytes, bits: int) -> bytes:
        """The bytes with some bits turned over."""
        out = bytearray(data)
        for bit in self.rng.choice(8 * len(out), size=min(bits, 8 * len(out)), replace=False) if out else ():
            out[bit // 8] ^= 1 << (bit % 8)
        return bytes(out)

    def other(self, board: int) -> bytes:
        """What another board sent last."""
        return next((data for key, data in self._last.items() if isinstance(key, int) and key != board), b"")

    def position_end(self, board: int) -> float:
        """Rad at the end of the position range of a board's drives."""
        return next(MOTORS[w.drive].position for w in self.wires if w.line == board)

    def _active(self, seq: int) -> list[tuple[Fault, int]]:
        rows = zip(self.faults, self.joints, self.spans, strict=True)
        return [(f, joint) for f, joint, (first, end) in rows if first <= seq < end]

    def _hits(self, line: int | str, seq: int, kind: str = "") -> list[Fault]:
        """The faults that hit the next message of a line."""
        out = []
        for fault, _joint in self._active(seq):
            if fault.kind not in BYTE_KINDS or (fault.kind == "reordered") != (kind == "reordered"):
                continue
            if (fault.channel or "") != (line if isinstance(line, str) else ""):
                continue
            if fault.line is not None and fault.line != line:
                continue
            if fault.probability is None or self.rng.random() < fault.probability:
                out.append(fault)
                self.counts[fault.mode or fault.kind] += 1
        return out

    def _spoil_can(self, mode: str, data: bytes) -> bytes:
        """A frame's data; the position stands at `at`."""
        at, width = {"mit": (1, 2), "cybergear": (0, 2)}.get(self.protocol, (0, 4))
        if mode == "zero":
            return bytes(len(data))
        if mode == "shift":
            return (b"\0" + data)[: len(data)]
        if mode in ("or", "last_wins"):
            return bytes(a | b for a, b in zip(data, self.rng.bytes(len(data)), strict=True))
        if mode == "nan":
            return data[:at] + (b"\xff" * width)[: width - 1] + b"\x7f" + data[at + width :]
        if mode == "saturate":
            return data[:at] + (b"\xff" * width) + data[at + width :]
        if mode == "jump" and len(data) > at:
            high = at if width == 2 else at + 3
            return data[:high] + bytes([data[high] ^ 1 << int(self.rng.integers(3, 7))]) + data[high + 1 :]
        return self.flip(data, 2 if mode == "pair" else 1)


def _spoil_number(change: Callable[[BusFaults, int, list[float], int], None]) -> Spoil:
    """Change one of the six positions of a reply and make the checksum right again."""

    def spoil(faults: BusFaults, board: int, rx: bytes) -> bytes:
        q, qd, flags = unpack_reply_frame(rx)
        change(faults, board, q, int(faults.rng.integers(6)))
        return pack_frame(q, qd, flags)

    return spoil


def _nan(_faults: BusFaults, _board: int, q: list[float], i: int) -> None:
    q[i] = float("nan")


def _saturate(faults: BusFaults, board: int, q: list[float], i: int) -> None:
    q[i] = faults.position_end(board) * (1 if faults.rng.random() < 0.5 else -1)


def _jump(faults: BusFaults, _board: int, q: list[float], i: int) -> None:
    q[i] += float(faults.rng.uniform(0.5, 3.0)) * (1 if faults.rng.random() < 0.5 else -1)


def _checksum(faults: BusFaults, _board: int, rx: bytes) -> bytes:
    wrong = bytes(a ^ b for a, b in zip(rx[56:60], faults.flip(bytes(4), 3), strict=True))
    return rx[:56] + wrong + rx[60:]


def _or(faults: BusFaults, board: int, rx: bytes) -> bytes:
    return bytes(a | b for a, b in zip(rx, faults.other(board).ljust(len(rx), b"\0"), strict=True))


def _last_wins(faults: BusFaults, board: int, rx: bytes) -> bytes:
    other = faults.other(board).ljust(len(rx), b"\0")
    at = 2 * int(faults.rng.integers(0, STATE_BYTES // 2))
    return rx[:at] + other[at:]


def _shift(faults: BusFaults, _board: int, rx: bytes) -> bytes:
    by = int(faults.rng.integers(1, 4))
    return faults.rng.bytes(by) + rx[:-by]


def _flip(faults: BusFaults, _board: int, rx: bytes) -> bytes:
    return faults.flip(rx[:STATE_BYTES], int(faults.rng.integers(1, 4))) + rx[STATE_BYTES:]


def _pair(faults: BusFaults, _board: int, rx: bytes) -> bytes:
    """The same bit of two 32-bit words: the XOR stays right."""
    words = bytearray(swap(rx[:STATE_BYTES]))
    byte, mask = int(faults.rng.integers(4)), 1 << int(faults.rng.integers(8))
    for word in faults.rng.choice(14, size=2, replace=False):
        words[4 * word + byte] ^= mask
    return swap(bytes(words)) + rx[STATE_BYTES:]


SPI_MODES: dict[str, Spoil] = {
    "checksum": _checksum,
    "zero": lambda _faults, _board, rx: bytes(len(rx)),
    "or": _or,
    "last_wins": _last_wins,
    "shift": _shift,
    "nan": _spoil_number(_nan),
    "saturate": _spoil_number(_saturate),
    "jump": _spoil_number(_jump),
    "flip": _flip,
    "pair": _pair,
}
