"""Framing between the bridge and emulated hardware: local sockets in one directory, nothing a real bus has.

    DIR/sync    SOCK_SEQPACKET  TICK (run, seq) opens a tick, answered by ACK once the IMU's bytes of that tick are out;
                                DONE closes it when the last frame of the tick has been exchanged (CAN)
    DIR/spi<n>  SOCK_SEQPACKET  board n: the host's 132 bytes, answered by the board's 132 bytes (full duplex)
    DIR/can<n>.bitrate          a file in which the host may say at what bit rate its controller of bus n runs
    DIR/imu     symbolic link to the pseudo-terminal on which the emulated VN-100 writes

CAN travels over python-can's `udp_multicast` bus. A tick: TICK, ACK, all transfers of the tick, [DONE]; then the
simulator steps its physics one control period with the commands it was given. SPIne boards need no DONE: a tick is
complete when every board has been served once. A new run in TICK restarts the simulator's world.
"""

from __future__ import annotations

import struct

SYNC, IMU = "sync", "imu"
_TICK = struct.Struct(">4sqq")
TICK, ACK, DONE = b"TICK", b"ACK ", b"DONE"


def spi_name(board: int) -> str:
    """Socket name of a board."""
    return f"spi{board}"


def bit_rate_name(line: int) -> str:
    """File name of a CAN bus's bit rate."""
    return f"can{line}.bitrate"


def tick(run: int, seq: int) -> bytes:
    """Datagram that opens tick `seq` of `run`."""
    return _TICK.pack(TICK, run, seq)


def read_tick(data: bytes) -> tuple[int, int] | None:
    """(run, seq) of a TICK datagram; None if it is something else."""
    if len(data) != _TICK.size or data[:4] != TICK:
        return None
    _, run, seq = _TICK.unpack(data)
    return run, seq
