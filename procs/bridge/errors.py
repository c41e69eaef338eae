"""Errors of the bridge."""

from __future__ import annotations

from procs.runtime.bus import BusError


class TransportError(BusError):
    """A device that cannot be opened or has failed: path, what happened, what to do. Example: no /dev/spidev2.0."""
