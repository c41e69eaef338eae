"""Shared by all tests: kernels' cache and BLAS threads before numba and numpy, the recordings of others."""

from pathlib import Path

import pytest

import procs  # noqa: F401

DATA = Path(__file__).parent / "data"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--recordings", help="folder with the recordings of other robots (default ../shared/data)")


@pytest.fixture(scope="session")
def recordings(request: pytest.FixtureRequest) -> Path:
    """Folder of other people's recordings; skips where it is absent."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(request.config.getoption("--recordings") or default)
    if not folder.is_dir():
        pytest.skip(f"no recordings at {folder}; give their place with --recordings")
    return folder
