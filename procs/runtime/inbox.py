"""Inbox: keeps what a process has read and finds the inputs of a trigger by run and seq."""

from __future__ import annotations

from lcmtypes.channels import Channel
from lcmtypes.message import Message
from procs.runtime.spec import Inputs, ProcessSpec

KEPT = 8  # ticks of `same` and `previous` channels kept; the pipeline is one tick deep


class Inbox:
    """Newest messages of the channels a spec reads."""

    def __init__(self, spec: ProcessSpec) -> None:
        self.spec = spec
        self.trigger: Message | None = None
        self.skipped = 0  # triggers replaced before they were stepped
        self.old = 0  # triggers that came after a newer one of their run
        self._held: dict[Channel, Message] = {}
        self._ticks: dict[Channel, dict[tuple[int, int], Message]] = {
            r.channel: {} for r in spec.reads if r.kind != "latest"
        }

    def put(self, channel: Channel, message: Message) -> None:
        """Store one message; a trigger replaces the one that waits (the newest wins)."""
        if channel is self.spec.trigger:
            waiting = self.trigger
            if waiting is not None and waiting.run == message.run and message.seq <= waiting.seq:
                self.old += message.seq < waiting.seq
                return
            self.skipped += waiting is not None
            self.trigger = message
        elif channel in self._ticks:
            ticks = self._ticks[channel]
            ticks[message.run, message.seq] = message
            while len(ticks) > KEPT:
                del ticks[next(iter(ticks))]
        else:
            self._held[channel] = message

    def inputs(self, trigger: Message) -> tuple[Inputs, list[Channel]]:
        """The inputs of a trigger, and the `same`/`previous` channels that are still missing."""
        found: Inputs = {self.spec.trigger: trigger}
        missing = []
        for read in self.spec.reads:
            if read.kind == "latest":
                found[read.channel] = self._held.get(read.channel)
                continue
            seq = trigger.seq - (read.kind == "previous")
            message = self._ticks[read.channel].get((trigger.run, seq))
            found[read.channel] = message
            if message is None and seq >= 0:
                missing.append(read.channel)
        return found, missing

    def newest(self, channel: Channel, run: int) -> Message | None:
        """The newest message of a `previous` channel in this run: what real time uses if the exact one is late."""
        seqs = [seq for r, seq in self._ticks[channel] if r == run]
        return self._ticks[channel][run, max(seqs)] if seqs else None
