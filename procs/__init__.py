"""The processes of the stack."""

import os

# One BLAS thread: our matrices are small, and the order of summation must not depend on the machine.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
