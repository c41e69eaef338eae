"""Types by the fingerprint that every LCM message begins with: ours and MIT's, whatever the channel is called."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lcmtypes.lcmfile import Struct, read

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Known:
    """A message type that can be told by its fingerprint."""

    name: str  # struct name; several with " or " where types have equal members and so equal fingerprints
    struct: Struct
    native: bool  # ours: begins with the common header (utime, run, seq, used)


@cache
def known_types() -> dict[int, Known]:
    """All types of lcmtypes/*.lcm and lcmtypes/mit/*.lcm by fingerprint."""
    found: dict[int, Known] = {}
    for native, folder in ((True, HERE), (False, HERE / "mit")):
        for path in sorted(folder.glob("*.lcm")):
            struct = read(path)
            same = found.get(struct.fingerprint)
            name = f"{same.name} or {struct.name}" if same else struct.name
            found[struct.fingerprint] = Known(name, same.struct if same else struct, native)
    return found
