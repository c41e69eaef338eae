"""Controller process: body_state and leg_state in, leg_command out (modes, gaits, convex MPC)."""

import sys

from procs.controller.controller import SPEC
from procs.runtime.main import run_process

sys.exit(run_process(SPEC, __doc__))
