"""The processes of the stack."""

import os
from hashlib import sha256
from pathlib import Path

_HERE = Path(__file__).parent

# One BLAS thread: our matrices are small, and the order of summation must not depend on the machine.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# numba's cache does not notice when a kernel's callee in another file has changed: one cache per state of the sources.
_kernels = sha256()
for _path in sorted((*_HERE.rglob("*.py"), *_HERE.parent.glob("sim/*.py"))):
    _source = _path.read_bytes()
    if b"njit" in _source:
        _kernels.update(_source)
os.environ.setdefault("NUMBA_CACHE_DIR", str(_HERE.parent / "build" / "numba" / _kernels.hexdigest()[:16]))
