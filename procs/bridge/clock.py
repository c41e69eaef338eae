"""The bridge's only look at the clock: time-outs of transports. What it publishes is stamped by the plant's runner."""

import time

monotonic = time.monotonic  # noqa: TID251
sleep = time.sleep  # noqa: TID251
