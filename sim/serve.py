"""Serves emulated hardware to a bridge: `python -m sim --serve-bus DIR`. The simulator is the slave here.

In DIR (see procs.wire.emulated): sockets sync and spi<n>, the IMU's pseudo-terminal imu, and can.json (see
sim.emulators.can_link). One tick: TICK, ACK, transfers, [DONE], then the physics of one control period. ground_truth
of each tick goes out over LCM under the bridge's (run, seq). Ends when the bridge has gone, or on stop().
"""

from __future__ import annotations

import contextlib
import logging
import os
import selectors
import socket
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from config.bus import CanLine
from lcmtypes.channels import GROUND_TRUTH, PROC_HEALTH
from lcmtypes.generated import GroundTruth
from procs.runtime.bus import Bus
from procs.runtime.health import Health
from procs.runtime.single import Single
from procs.wire.emulated import ACK, DONE, IMU, SYNC, bit_rate_name, read_tick, spi_name
from sim.emulators.can_link import CanLink, places
from sim.emulators.hardware import EmulatedCan, EmulatedSpine, Hardware
from sim.emulators.vn100 import Pty

LOG = logging.getLogger(__name__)

LINGER = 1.0  # s after the last connection has closed: a guardian may still send exit frames
LOOK_AROUND = 0.2  # s at most between two looks at LCM
MOST = 4096  # bytes of a datagram
Handler = Callable[[socket.socket], None]


class Server:
    """Sockets in a directory around one set of emulated hardware."""

    def __init__(self, hardware: Hardware, directory: Path, bus: Bus | None = None) -> None:
        self.hardware, self.directory, self.bus = hardware, directory, bus
        self.health = Health("sim")
        self.single = Single(bus, self.health) if bus is not None else None
        self.period_us = round(1e6 * hardware.robot.robot.dt)
        self.seq, self.ticks, self.overruns = -1, 0, 0
        self._served: set[int] = set()
        self._open = False  # a tick was opened and not closed yet
        self._connections: set[socket.socket] = set()
        self._seen = False  # somebody has connected
        self._stopping = False
        self._selector = selectors.DefaultSelector()
        self._listeners: list[tuple[socket.socket, Path]] = []
        self._wake_in, self._wake_out = socket.socketpair()
        self._pty: Pty | None = None
        self._can: CanLink | None = None
        self._listed: Sequence[CanLine] = ()

    def stop(self, *_: object) -> None:
        """End `run` soon (also a signal handler)."""
        self._stopping = True
        with contextlib.suppress(OSError):  # it has ended by itself
            self._wake_out.send(b"\0")

    def run(self) -> None:
        """Serve until the bridge has gone or stop()."""
        try:
            if self.single is not None:
                self.single.claim()
            self._begin()
            self.health.state = "running"
            while not self._stopping:
                self._serve()
        finally:
            self._end()

    def _begin(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        self._selector.register(self._wake_in, selectors.EVENT_READ, partial(self._wake_in.recv, 64))
        self._pty = Pty(str(self.directory / IMU))
        if isinstance(self.hardware, EmulatedCan):
            self._listed = self.hardware.can.buses
            for line in range(len(self._listed)):  # of a host that is gone
                (self.directory / bit_rate_name(line)).unlink(missing_ok=True)
            self._can = CanLink("udp_multicast", places(self.directory, self._listed))
            for line, bus in enumerate(self._can.buses):
                self._selector.register(bus.fileno(), selectors.EVENT_READ, partial(self._on_can, line))
        else:
            for board in range(len(self.hardware.joints)):
                self._listen(spi_name(board), partial(self._on_spi, board))
        self._listen(SYNC, self._on_sync)

    def _listen(self, name: str, handler: Handler) -> None:
        path = self.directory / name
        path.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(str(path))
        listener.listen()
        self._listeners.append((listener, path))
        self._selector.register(listener, selectors.EVENT_READ, lambda: self._accept(listener, handler))

    def _accept(self, listener: socket.socket, handler: Handler) -> None:
        sock, _ = listener.accept()
        self._connections.add(sock)
        self._seen = True
        self._selector.register(sock, selectors.EVENT_READ, lambda: handler(sock))

    def _serve(self) -> None:
        """Wait for something to do, and do it."""
        alone = self._seen and not self._connections
        ready = self._selector.select(LINGER if alone else LOOK_AROUND)
        for key, _ in ready:
            key.data()
        if alone and not ready:
            LOG.info("the bridge has gone after %d ticks", self.ticks)
            self._stopping = True
        if self.bus is not None and self.single is not None:
            self.bus.drain()
            self.single.check()
            if self.health.due():
                self._report(self.bus)

    def _receive(self, sock: socket.socket) -> bytes:
        """A datagram; empty at the end of the connection, which is taken off."""
        try:
            data = sock.recv(MOST)
        except ConnectionError:
            data = b""
        if not data:
            self._selector.unregister(sock)
            self._connections.discard(sock)
            sock.close()
        return data

    def _answer(self, sock: socket.socket, data: bytes) -> None:
        try:
            sock.send(data)
        except OSError as error:  # gone meanwhile: its end is read next
            LOG.debug("answer not sent: %s", error)

    def _on_sync(self, sock: socket.socket) -> None:
        data = self._receive(sock)
        found = read_tick(data)
        if found is not None:
            self._tick(*found)
            self._answer(sock, ACK)
        elif data == DONE:
            self._drain_can()
            self._close_tick()
        elif data:
            LOG.warning("sync: %r is neither TICK nor DONE", data[:16])

    def _tick(self, run: int, seq: int) -> None:
        self._look_at_bit_rates()
        self._drain_can()
        self.overruns += self._open
        self.hardware.tick(run, seq)
        self.seq, self._open = seq, True
        self.ticks += 1
        self._served.clear()
        assert self._pty is not None
        self._pty.write(self.hardware.imu_bytes())
        for line in range(len(self._can.buses) if self._can else 0):
            self._pass_on(line)
        if self.bus is not None and seq >= 0:
            self.bus.publish(GROUND_TRUTH, self._truth(run, seq))

    def _look_at_bit_rates(self) -> None:
        """What the host has set its controllers to, as an interface's settings would say; only where it matters."""
        if not isinstance(self.hardware, EmulatedCan) or not self.hardware.rates_matter:
            return
        for line in range(len(self.hardware.bit_rates)):
            path = self.directory / bit_rate_name(line)
            if path.exists():
                with contextlib.suppress(ValueError):
                    self.hardware.bit_rates[line] = int(path.read_text())

    def _truth(self, run: int, seq: int) -> GroundTruth:
        truth = self.hardware.robot.truth
        truth.utime, truth.run, truth.seq = seq * self.period_us, run, seq
        return truth

    def _close_tick(self) -> None:
        if self._open:
            self._open = False
            self.hardware.done()

    def _on_spi(self, board: int, sock: socket.socket) -> None:
        tx = self._receive(sock)
        if not tx:
            return
        assert isinstance(self.hardware, EmulatedSpine)
        if self.hardware.run is None:
            self.hardware.tick(0, -1)  # powered, though nobody has opened a tick
        self._answer(sock, self.hardware.exchange(board, tx))
        self._served.add(board)
        if len(self._served) == len(self.hardware.boards):
            self._close_tick()

    def _on_can(self, line: int) -> None:
        assert self._can is not None and isinstance(self.hardware, EmulatedCan)
        if self.hardware.run is None:
            self.hardware.tick(0, -1)
        for frame in self._can.receive(line):
            self.hardware.send(line, frame)
        self._pass_on(line)

    def _pass_on(self, line: int) -> None:
        """What drives on a bus have to say."""
        assert self._can is not None and isinstance(self.hardware, EmulatedCan)
        for can_id, data in self.hardware.errors(line):
            self._can.send_error(line, can_id, data)
        for frame in self.hardware.receive(line):
            self._can.send(line, frame)

    def _drain_can(self) -> None:
        """Frames that are on their way belong to the tick that is open."""
        for line in range(len(self._can.buses) if self._can else 0):
            self._on_can(line)

    def _report(self, bus: Bus) -> None:
        health = self.health.message()
        health.ticks, health.missed = self.ticks, self.overruns
        health.decode_errors, health.not_finite = bus.counts["decode_errors"], bus.counts["not_finite"]
        bus.publish(PROC_HEALTH, health)

    def _end(self) -> None:
        self.health.state = "stopping"
        if self.bus is not None:
            self._report(self.bus)
        for sock in self._connections:
            sock.close()
        for listener, path in self._listeners:
            listener.close()
            path.unlink(missing_ok=True)
        if self._pty is not None:
            self._pty.close()
        if self._can is not None:
            self._can.close()
            os.unlink(self.directory / "can.json")
            for line in range(len(self._listed)):
                (self.directory / bit_rate_name(line)).unlink(missing_ok=True)
        self._selector.close()
        self._wake_in.close()
        self._wake_out.close()
        self.hardware.stop()
