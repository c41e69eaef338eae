"""Motors behind SPIne boards, two legs each: one transfer per board and tick."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from config.bus import JointWiring
from procs.bridge.joint_map import DriveCommand
from procs.bridge.lines import Watch, close_lines, open_lines
from procs.bridge.raw import BusCounts, RawState
from procs.bridge.spi import Board
from procs.wire import spine, spine_scotty
from procs.wire.decode import Fault, Reason
from procs.wire.mit_can import MitCodec
from procs.wire.mit_motors import MOTORS
from procs.wire.spine import ENABLE, ESTOP_MARK, JOINTS, PER_BOARD

DISTRUST = 3  # exchanges from enable to the drives' second answer: edge cycle, stale reply, answer to the enter frame
HISTORY = 16  # replies of a board that are remembered, to know an old one when it comes again
MOVED = 0.01  # rad: nearer to the last reply an old one may be a joint at rest, and does no harm
STILL, LOOK_BACK = 0.002, 3  # rad: a board is at rest if all joints stayed so near for so many replies before the last
REPLAYED = "an old reply once more"
MIT_STOPS = {1: "abad", 2: "hip"}  # data flags of MIT's firmware


class SpineDrives:
    """All drives of a robot on SPIne boards."""

    def __init__(
        self, boards: Sequence[Board], wires: Sequence[JointWiring], variant: str = "mit", reply_age: int = 0
    ) -> None:
        self.boards, self.counts = tuple(boards), BusCounts()
        self.flags_carry_torque = variant == "scotty"
        self.torque_measured, self.reply_age = self.flags_carry_torque, reply_age
        n = len(wires)
        # Place of each joint in the boards' arrays; and back, for what is sent.
        places = (w.place(j) for j, w in enumerate(wires))
        self._place = np.array([PER_BOARD * board + JOINTS * leg + slot for board, leg, slot in places])
        if sorted(self._place) != list(range(PER_BOARD * len(boards))):
            raise ValueError(f"{n} joints do not fill {len(boards)} boards: places {self._place.tolist()}")
        self._joint = np.argsort(self._place)
        motors = [MOTORS[w.drive] for w in wires]
        self._grid = MitCodec(motors).reply_grid
        self.half_range = np.array([m.position for m in motors])
        self._board_of = np.array([w.line for w in wires])
        self._last: list[bytes] = [b""] * len(boards)
        self._watch = Watch(boards)
        self.begin()

    def open(self, need_all: bool = True) -> None:
        """Open all boards, or what can be opened."""
        open_lines(self.boards, need_all)

    def close(self) -> None:
        """Close all boards."""
        close_lines(self.boards)

    def begin(self) -> None:
        """A new run."""
        self._on: NDArray[np.bool_] = np.zeros(len(self.boards), bool)
        self._since = np.full(len(self.boards), DISTRUST)  # exchanges since a board's last enable
        self._last = [b""] * len(self.boards)
        self._seen: list[deque[bytes]] = [deque(maxlen=HISTORY) for _ in self.boards]
        # rad, of the last sound replies, newest first; the last may be a wrong one between two of a robot at rest
        self._at: NDArray[np.float64] = np.full((1 + LOOK_BACK, len(self.boards), PER_BOARD), np.nan)

    def assume_on(self) -> None:
        """Nothing to do: the enable flag is a level, and the boards know what they have enabled."""

    def zero(self, joints: NDArray[np.bool_], exchanges: int) -> None:
        """The boards have no such command."""
        raise ValueError("SPIne boards cannot set a zero: measure bus.wiring.*.offset instead (bring-up step zero)")

    def frames(self, command: DriveCommand) -> list[bytes]:
        """What goes to each board. A board enables all its six drives or none: who is not wanted gets zero gains."""
        wanted = command.enable
        on: NDArray[np.bool_] = np.any(wanted[self._joint].reshape(len(self.boards), PER_BOARD), axis=1)
        mask = wanted.astype(float)
        flags = np.repeat(np.where(on, ENABLE, 0), spine.LEGS)
        columns = np.stack(
            (command.position, command.velocity, command.kp * mask, command.kd * mask, command.torque * mask)
        )[:, self._joint]
        self._since = np.where(on & ~self._on, 0, self._since + 1)
        self._on = on
        q_des, qd_des, kp, kd, tau = columns
        return spine.pack_commands(q_des, qd_des, kp, kd, tau, flags)

    def exchange(self, command: DriveCommand) -> RawState:
        """One transfer with every board."""
        replies = [self._transfer(board, frame) for board, frame in enumerate(self.frames(command))]
        for board, reply in enumerate(replies):  # when all have got theirs
            self._watch.exchanged(board, not reply)
        data = spine.unpack_boards(replies)
        place = self._place
        raw = RawState(
            data.q[place],
            data.qd[place],
            np.zeros(len(place)),
            data.valid[place],
            np.array([bool(r) and r == last for r, last in zip(replies, self._last, strict=True)])[self._board_of],
            (self._since < DISTRUST)[self._board_of],
        )
        self._refuse_replays(raw, data, replies)
        self._last = replies
        self._flags(raw, data)
        self._judge(raw, data, replies)
        return raw

    def _transfer(self, board: int, frame: bytes) -> bytes:
        """Reply of a board, empty if the transfer failed; a board that raises must not keep the others from theirs."""
        reply = None
        try:
            reply = self.boards[board].transfer(frame)
        except Exception as error:  # whatever a driver makes of a device that is gone
            self._watch.note(board, error)
        self.counts.missing += reply is None
        return reply or b""

    def _refuse_replays(self, raw: RawState, data: spine.RobotData, replies: list[bytes]) -> None:
        """A reply that equals an earlier one, but not the last, is old: moving joints do not meet again to the bit."""
        for board, (reply, last, seen) in enumerate(zip(replies, self._last, self._seen, strict=True)):
            if data.reasons[board] is not None:
                continue
            q = data.q[PER_BOARD * board : PER_BOARD * (board + 1)]
            if reply != last and reply in seen and self._moved(board, q):
                mine = self._board_of == board
                raw.valid = raw.valid & ~mine
                self.counts.reject(REPLAYED)
                for j in np.flatnonzero(mine).tolist():
                    raw.why[j] = REPLAYED
                continue
            seen.append(reply)
            self._at[1:, board] = self._at[:-1, board].copy()
            self._at[0, board] = q

    def _moved(self, board: int, q: NDArray[np.float64]) -> bool:
        """Whether the board's joints have left q (6,) rad since; only the last reply may be wrong about that."""
        away = np.abs(q - self._at[:, board]).max(axis=1)
        return bool(away[0] > MOVED and not (away[1:] <= STILL).all())

    def _flags(self, raw: RawState, data: spine.RobotData) -> None:
        """Torques and soft stops of Scotty's boards, soft stops and e-stop of MIT's."""
        flags = data.flags
        if self.flags_carry_torque:
            tau, stops, ok = spine_scotty.unpack_torques(flags)
            good = ok.reshape(-1)[self._place]
            raw.torque = np.where(good, tau.reshape(-1)[self._place], 0.0)
            marks = [spine_scotty.SoftStop(int(s)).name.lower() if s else "" for s in stops]
        elif flags.any():
            marks = ["estop" if f == ESTOP_MARK else MIT_STOPS.get(int(f) & 3, "abad and hip" if f & 3 else "")
                     for f in flags]  # fmt: skip
        else:
            return
        for j, place in enumerate(self._place):
            mark = marks[place // JOINTS]
            if mark == "estop":
                raw.faults[j] = [Fault("board's e-stop pin is low", "release the e-stop; check its cable")]
            elif mark and not self.flags_carry_torque and ("abad", "hip", "")[place % JOINTS] in mark.split(" and "):
                raw.notes[j] = "soft stop: the board pushes back from its own limit"
            elif mark and self.flags_carry_torque:
                raw.notes[j] = f"soft stop of this leg ({mark}): the board pushes back from its own limit"

    def _judge(self, raw: RawState, data: spine.RobotData, replies: list[bytes]) -> None:
        counts = self.counts
        for board, reason in enumerate(data.reasons):
            if reason is None:
                counts.frames += 1
                continue
            text = "transfer failed" if not replies[board] else str(reason)
            counts.reject(text)
            counts.checksum_errors += reason is Reason.CHECKSUM
            text += f" ({self._watch.errors[board]})" if not replies[board] and self._watch.errors[board] else ""
            for j in np.flatnonzero(self._board_of == board).tolist():
                raw.why[j] = f"{self.boards[board].name}: {text}"
        counts.stale += len(set(self._board_of[raw.repeated].tolist()))
        at_end = self._grid.at_end(np.column_stack((raw.position, raw.velocity, raw.torque * 0.0)))[:, :2].any(axis=1)
        bad = raw.valid & at_end
        if bad.any() or not raw.valid.all():
            if bad.any():
                counts.reject(str(Reason.SATURATED), int(bad.sum()))
            for j in np.flatnonzero(bad).tolist():
                raw.why[j] = str(Reason.SATURATED)
            for j in np.flatnonzero(~raw.valid & ~bad).tolist():
                raw.why.setdefault(j, str(Reason.NOT_FINITE))
            raw.valid = raw.valid & ~bad
