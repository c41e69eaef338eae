"""Compile all kernels once, so that the first run starts at once."""

from __future__ import annotations

import sys
import time

from config.load import load_robot, load_scenario
from procs.model.robot import Robot
from tools.stack import rollout


def main() -> int:
    """Step every process of a short walk once; the compiled kernels stay in build/numba."""
    begin = time.perf_counter()
    print("compiling the kernels (once per change of their sources) ...", flush=True)
    scenario = load_scenario("trot_forward", ["duration=2.2"])
    rollout(scenario, Robot(load_robot(scenario.robot)), seed=1)
    print(f"kernels ready in {time.perf_counter() - begin:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
