"""One CAN frame as plain data, whatever bus carries it."""

from __future__ import annotations

from typing import NamedTuple


class CanFrame(NamedTuple):
    """Classic CAN: 11-bit id, or 29-bit with `extended`; `remote` asks for data and carries none."""

    can_id: int
    data: bytes = b""
    extended: bool = False
    remote: bool = False
    length: int = 0  # DLC of a remote frame
