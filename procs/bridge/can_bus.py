"""CAN transports: frames out and in on one bus. python-can is imported here alone, when it is needed.

No Notifier thread: the plant's tick sends, then takes what has come. A full transmit buffer drops the frame and counts
it: an old command must not wait in a queue.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from config.bus import CanBus, CanLine
from procs.bridge.errors import TransportError
from procs.wire import can_errors
from procs.wire.can_errors import ErrorClass
from procs.wire.emulated import bit_rate_name
from procs.wire.frame import CanFrame

# Bits of a data frame with eight bytes and the worst bit stuffing, with the three bits between frames (ISO 11898-1).
STANDARD_BITS, EXTENDED_BITS, REMOTE_BITS = 111 + 24, 131 + 29, 47 + 8


class Link(Protocol):
    """One CAN bus."""

    name: str

    @property
    def last_error(self) -> str:
        """Of a failed send or an error frame; empty if there was none, or the controller has come back since."""

    @property
    def errors(self) -> int:
        """Error frames since it was opened."""

    def open(self) -> None:
        """Open it; TransportError."""

    def send(self, frame: CanFrame) -> bool:
        """False: not sent, the buffer is full or the bus is off."""

    def receive(self, wait: float) -> CanFrame | None:
        """The next frame; waits up to `wait` s for one."""

    def retune(self, bitrate: int) -> bool:
        """Open it again at another bit rate; False where the interface's own settings rule."""

    def close(self) -> None:
        """Release it."""


SET_OUTSIDE = ("socketcan", "udp_multicast", "virtual")  # interfaces whose bit rate python-can cannot set


class PythonCanLink:
    """A bus of python-can."""

    def __init__(self, line: CanLine) -> None:
        self.line, self.name = line, line.channel
        self.last_error, self.errors = "", 0
        self._bus: Any = None
        self._can: Any = None
        # This back end hears itself, others do not.
        self._own: Counter[CanFrame] | None = Counter() if line.interface == "udp_multicast" else None

    def open(self) -> None:
        """Open the interface."""
        try:
            import can  # noqa: PLC0415
        except ImportError as error:
            raise TransportError("the package python-can is not installed: make setup") from error
        self._can = can
        line = self.line
        more: dict[str, Any] = {"bitrate": line.bitrate}
        if line.interface == "udp_multicast":  # stays on this machine
            more = {"hop_limit": 0, "fd": False, **({} if line.port is None else {"port": line.port})}
        try:
            self._bus = can.Bus(interface=line.interface, channel=line.channel, **more)
        except (can.CanError, OSError, ValueError) as error:
            raise TransportError(
                f"bus.can.buses: {line.interface} {line.channel} cannot be opened ({error}); for socketcan: "
                f"ip link set {line.channel} up type can bitrate {line.bitrate}"
            ) from error

    def send(self, frame: CanFrame) -> bool:
        """Hand a frame to the driver."""
        can = self._can
        message = can.Message(
            arbitration_id=frame.can_id,
            data=None if frame.remote else frame.data,
            dlc=frame.length if frame.remote else None,
            is_extended_id=frame.extended,
            is_remote_frame=frame.remote,
        )
        try:
            self._bus.send(message, timeout=0)
        except (can.CanError, OSError) as error:
            self._note(str(error))
            return False
        if self._own is not None:
            self._own[frame] += 1
        return True

    def receive(self, wait: float) -> CanFrame | None:
        """The next frame that is not our own."""
        while True:
            try:
                message = self._bus.recv(wait)
            except (self._can.CanError, OSError) as error:
                self._note(str(error))
                return None
            if message is None:
                return None
            if message.is_error_frame:
                self._on_error(message.arbitration_id, bytes(message.data))
                continue
            frame = CanFrame(
                message.arbitration_id,
                bytes(message.data),
                message.is_extended_id,
                message.is_remote_frame,
                message.dlc if message.is_remote_frame else 0,
            )
            if self._own is not None and self._own[frame] > 0:
                self._own[frame] -= 1
                continue
            return frame

    def retune(self, bitrate: int) -> bool:
        """Where python-can sets the bit rate."""
        if self.line.interface in SET_OUTSIDE:
            return False
        self.close()
        self.line = self.line.model_copy(update={"bitrate": bitrate})
        self.open()
        return True

    def close(self) -> None:
        """Shut the interface down."""
        if self._bus is not None:
            self._bus.shutdown()
            self._bus = None

    def _note(self, error: str) -> None:
        self.last_error = error

    def _on_error(self, can_id: int, data: bytes) -> None:
        """What the controller itself has to say."""
        self.errors += 1
        self._note(can_errors.words(can_id, data))


class EmulatedCanLink(PythonCanLink):
    """A bus of emulated motors: DIR/can.json, written by the emulator, says where each is."""

    def __init__(self, directory: Path, line: int, channel: str) -> None:
        self._file, self._index = directory / "can.json", line
        self._is_off = False
        super().__init__(CanLine(interface="udp_multicast", channel=channel))

    def open(self) -> None:
        """Find the place and open it."""
        try:
            place = json.loads(self._file.read_text())["buses"][self._index]
            self.line = CanLine(interface="udp_multicast", channel=place["channel"], port=place["port"])
        except (OSError, ValueError, KeyError, IndexError) as error:
            raise TransportError(f"{self._file}: no bus {self._index} there ({error!r})") from error
        self._is_off = False
        super().open()

    def retune(self, bitrate: int) -> bool:
        """The emulator looks into the file at each tick."""
        (self._file.parent / bit_rate_name(self._index)).write_text(str(bitrate))
        return True

    def send(self, frame: CanFrame) -> bool:
        """A controller that is off the bus takes nothing, as a socketcan interface's."""
        return not self._is_off and super().send(frame)

    def _on_error(self, can_id: int, data: bytes) -> None:
        if can_id & ErrorClass.BUS_OFF:
            self._is_off = True
        elif can_id & ErrorClass.RESTARTED:
            self._is_off = False
        super()._on_error(can_id, data)


class CallableLink:
    """A bus within the process: `answer` gives the frames that follow a frame of the host."""

    def __init__(self, answer: Callable[[CanFrame], Sequence[CanFrame]], name: str = "memory") -> None:
        self.name, self.answer = name, answer
        self.last_error, self.errors = "", 0
        self.waiting: deque[CanFrame] = deque()
        self.full = False

    def open(self) -> None:
        """Nothing to open."""

    def send(self, frame: CanFrame) -> bool:
        """Ask the function."""
        if self.full:
            return False
        self.waiting.extend(self.answer(frame))
        return True

    def retune(self, bitrate: int) -> bool:
        """It has no bit rate."""
        return False

    def receive(self, wait: float) -> CanFrame | None:
        """The next frame."""
        return self.waiting.popleft() if self.waiting else None

    def close(self) -> None:
        """Nothing to close."""


def frame_bits(extended: bool) -> int:
    """Worst case of one data frame on the wire."""
    return EXTENDED_BITS if extended else STANDARD_BITS


def bus_load(bus: CanBus, motors: int, rate: float, line: CanLine) -> float:
    """Share of the bit rate that `motors` need on a line: a command, perhaps a request, and a reply each per tick."""
    bits = 2 * frame_bits(bus.protocol == "cybergear")
    if bus.protocol == "gim6010" and bus.gim_input == "position":
        bits += REMOTE_BITS
    return motors * bits * rate / line.bitrate


def overload(bus: CanBus, lines: Sequence[int], rate: float) -> list[tuple[int, str]]:
    """(line, what is wrong) of buses that cannot carry their motors; `lines`: the line of each motor."""
    out = []
    for index, line in enumerate(bus.buses):
        motors = sum(1 for used in lines if used == index)
        load, gaps = bus_load(bus, motors, rate, line), motors * bus.frame_gap * rate
        if load > bus.load_max:
            need = f"{motors} motors at {rate:g} Hz need {100 * load:.0f} % of {line.bitrate} bit/s"
            allowed = f"{100 * bus.load_max:.0f} % are allowed: fewer motors on it, or a lower control.rate"
            out.append((index, f"{need}, {allowed}"))
        elif gaps > 1:
            out.append((index, f"{motors} gaps of {1e6 * bus.frame_gap:.0f} us do not fit into {1e3 / rate:g} ms"))
    return out
