"""MIT relay process: our channels in, MIT's own channels with MIT's own wire types out, for tools made for those."""

import sys

from procs.mit_relay.relay import SPEC
from procs.runtime.main import run_process
from procs.runtime.onlooker import LiveOnlooker, stand_back

sys.exit(run_process(SPEC, __doc__, LiveOnlooker, stand_back))
