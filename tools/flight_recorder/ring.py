"""The last seconds of all channels as raw bytes, bounded in time and size."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

SECONDS = 60.0
MOST_BYTES = 400_000_000  # of messages; a quadruped at 500 Hz sends some 2.5 MB/s


@dataclass(slots=True)
class Block:
    """Messages taken from the bus at one time, in order."""

    now: float  # s of the monotonic clock
    wall_us: int
    names: list[str]
    datas: list[bytes]
    size: int = field(default=0)  # bytes
    saved: bool = False

    def __post_init__(self) -> None:
        self.size = sum(map(len, self.datas))


class Ring:
    """Blocks of the last `seconds`, oldest first."""

    def __init__(self, seconds: float = SECONDS, most_bytes: int = MOST_BYTES) -> None:
        self._seconds, self._most = seconds, most_bytes
        self._blocks: deque[Block] = deque()
        self.size = 0  # bytes

    def add(self, block: Block) -> None:
        """Append, and drop what is too old or too much."""
        blocks = self._blocks
        blocks.append(block)
        self.size += block.size
        while len(blocks) > 1 and (block.now - blocks[0].now > self._seconds or self.size > self._most):
            self.size -= blocks.popleft().size

    def unsaved(self) -> Iterator[Block]:
        """What no file holds yet."""
        return (block for block in self._blocks if not block.saved)
