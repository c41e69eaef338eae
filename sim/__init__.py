"""The simulator."""

import procs  # noqa: F401 - sets the BLAS threads and the kernels' cache before numba is imported
