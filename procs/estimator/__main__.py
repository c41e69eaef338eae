"""Estimator process: imu and joint_state in, body_state and leg_state out."""

import sys

from procs.estimator.estimator import SPEC
from procs.runtime.main import run_process

sys.exit(run_process(SPEC, __doc__))
