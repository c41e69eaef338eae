"""Motors on CAN buses: every tick a command to each, and its reply. What protocols do is in can_protocol.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from config.bus import JointWiring
from procs.bridge import clock
from procs.bridge.can_bus import Link
from procs.bridge.can_protocol import Heard, Protocol
from procs.bridge.joint_map import DriveCommand
from procs.bridge.lines import Watch, close_lines, open_lines
from procs.bridge.raw import BusCounts, RawState
from procs.wire.frame import CanFrame

SILENT_PATIENCE = 0.005  # s for those who did not answer last time
DISTRUST = 1  # exchanges: the answer to the enter frame
ZEROING = "sets its zero and does not answer meanwhile"


class CanDrives:
    """All drives of a robot on CAN buses. `reply_timeout` s to wait for a tick's replies."""

    reply_age = 0

    def __init__(
        self, links: Sequence[Link], wires: Sequence[JointWiring], protocol: Protocol, *, reply_timeout: float,
        frame_gap: float = 0.0, before: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        self.links, self.protocol, self.counts = tuple(links), protocol, BusCounts()
        self.half_range, self.torque_measured = protocol.half_range, protocol.torque_measured
        self._line = [w.line for w in wires]
        self._joint_of = {(w.line, w.id): j for j, w in enumerate(wires)}
        if len(self._joint_of) != len(wires):
            raise ValueError("two motors with one id on one bus")
        # One frame per bus in turn, so that all buses work at once.
        order = sorted(range(len(wires)), key=lambda j: (self._line[:j].count(self._line[j]), self._line[j]))
        self._order = order
        self._timeout, self._gap, self._before = reply_timeout, frame_gap, before
        self._silent = np.zeros(len(wires), np.int64)  # exchanges without a reply
        self._owed = np.zeros(len(wires), bool)  # exit frames that nobody has answered yet
        self._watch, self._refused = Watch(links), [False] * len(links)
        self.begin()

    def open(self, need_all: bool = True) -> None:
        """Open all buses, or what can be opened."""
        open_lines(self.links, need_all)

    def close(self) -> None:
        """Close all buses."""
        close_lines(self.links)

    def begin(self) -> None:
        """A new run; drives that have not answered their exit frames still get them."""
        n = len(self._line)
        self._on = np.zeros(n, bool)
        self._since = np.full(n, DISTRUST)
        self._silent[:] = 0
        self._zeroing = np.zeros(n, np.int64)  # exchanges for which a drive is left alone
        self.protocol.begin()

    def assume_on(self) -> None:
        """As if all drives were enabled."""
        self._on[:] = True

    def zero(self, joints: NDArray[np.bool_], exchanges: int) -> None:
        """Set-zero to each; from now on no frame goes to them until their time is over."""
        if (self._on & joints).any():
            raise ValueError("a motor that is enabled must not change its zero: disable it first")
        for j in np.flatnonzero(joints).tolist():
            for frame in self.protocol.zero(j):
                self._send(self._line[j], frame)
            self._zeroing[j] = exchanges

    def exchange(self, command: DriveCommand) -> RawState:
        """Late frames away, commands out, replies in."""
        self._before()
        for line in range(len(self.links)):
            self._refused[line] = False
            while (frame := self._receive(line, 0.0)) is not None:
                self.unasked(line, frame)
        resting = self._zeroing > 0
        enable = command.enable & ~resting
        entering, leaving = enable & ~self._on, (self._on | self._owed) & ~enable & ~resting
        frames = self.protocol.frames(command, entering, leaving)
        self._since = np.where(entering | resting, 0, self._since + 1)
        self._on = enable
        for j in np.flatnonzero(resting).tolist():
            frames[j] = []
            self._zeroing[j] -= 1
        for j in self._order:
            for frame in frames[j]:
                self._send(self._line[j], frame)
                if self._gap:
                    self._wait_gap()
        expected = [sum(map(self.protocol.answered, sent)) for sent in frames]
        heard = self._collect(expected)
        self._owed = leaving & (self._silent > 0)
        raw = self.decode(heard, self._since < DISTRUST, expected, resting)
        speaking = {line for line, _ in heard}
        for line, refused in enumerate(self._refused):
            self._watch.exchanged(line, refused and line not in speaking)
        return raw

    def _send(self, line: int, frame: CanFrame) -> None:
        """Send; a bus that takes nothing, or raises, must not keep the others from getting theirs."""
        sent = False
        try:
            sent = self.links[line].send(frame)
        except Exception as error:  # whatever a driver makes of an adapter that is gone
            self._watch.note(line, error)
        if not sent:
            self.counts.refused += 1
            self._refused[line] = True

    def _receive(self, line: int, wait: float) -> CanFrame | None:
        try:
            return self.links[line].receive(wait)
        except Exception as error:
            self._watch.note(line, error)
            self._refused[line] = True
            return None

    def decode(
        self, heard: Sequence[tuple[int, CanFrame]], distrusted: NDArray[np.bool_], expected: Sequence[int],
        resting: NDArray[np.bool_] | None = None,
    ) -> RawState:  # fmt: skip
        """Raw state of the (line, frame) that came in one exchange; `expected`: replies of each joint."""
        found = Heard(self._joint_of, len(self._line))
        found.expected = list(expected)
        for line, frame in heard:
            self.protocol.hear(found, line, frame, self.counts)
        raw = self.protocol.state(found, self.counts)
        raw.distrusted = distrusted
        counts = self.counts
        for j in np.flatnonzero(~raw.valid).tolist():
            if resting is not None and resting[j]:
                raw.why[j] = ZEROING
            elif j not in raw.why:
                link = self.links[self._line[j]]
                counts.missing += 1
                silent = not any(found.frames[k] for k in range(len(self._line)) if self._line[k] == self._line[j])
                cause = link.last_error or self._watch.errors[self._line[j]] or "power, cable, termination, bit rate"
                raw.why[j] = f"bus {link.name} silent: {cause}" if silent else "no reply: check its cable and id"
        counts.frames += int(raw.valid.sum())
        return raw

    def edges(self, sent: Sequence[tuple[int, CanFrame]]) -> tuple[NDArray[np.bool_], NDArray[np.bool_], list[int]]:
        """Of the frames sent in one exchange: who was entered, who was left, how many replies each joint owes."""
        n = len(self._line)
        entered, left, expected = np.zeros(n, bool), np.zeros(n, bool), [0] * n
        for line, frame in sent:
            joint = self._joint_of.get((line, self.protocol.motor_of(frame)))
            if joint is not None:
                edge = self.protocol.edge(frame)
                entered[joint] |= edge > 0
                left[joint] |= edge < 0
                expected[joint] += self.protocol.answered(frame)
        return entered, left, expected

    def unasked(self, line: int, frame: CanFrame) -> None:
        """A frame that came after its tick: of no use, but foreign ones are worth knowing, and heartbeats count."""
        self.counts.late += self.protocol.unasked(line, frame, self._joint_of, self.counts)

    def _collect(self, expected: Sequence[int]) -> list[tuple[int, CanFrame]]:
        """Frames until every reply has come or the time is over; who was silent before is not waited for long."""
        heard: list[tuple[int, CanFrame]] = []
        begin = clock.monotonic()
        self._silent += 1
        for line in range(len(self.links)):
            missing = {j: many for j, many in enumerate(expected) if self._line[j] == line}
            while True:
                live = any(many > 0 and self._silent[j] == 1 for j, many in missing.items())
                patience = self._timeout if live else min(self._timeout, SILENT_PATIENCE)
                wait = begin + patience - clock.monotonic() if any(many > 0 for many in missing.values()) else 0.0
                frame = self._receive(line, max(0.0, wait))
                if frame is None:
                    break
                heard.append((line, frame))
                joint = self.protocol.answers(line, frame, self._joint_of)
                if joint is not None:
                    missing[joint] -= 1
                    self._silent[joint] = 0
        return heard

    def _wait_gap(self) -> None:
        end = clock.monotonic() + self._gap
        while clock.monotonic() < end:
            pass
