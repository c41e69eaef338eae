"""Packer process: leg_command and leg_state in, joint_command out (leg law, limits)."""

import sys

from procs.packer.packer import SPEC
from procs.runtime.main import run_process

sys.exit(run_process(SPEC, __doc__))
