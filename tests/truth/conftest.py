"""Long runs of the kernels: the plain twins would take hours here, and are compared draw by draw elsewhere."""

import pytest

from partita.kernels import BACKEND


@pytest.fixture(autouse=True)
def native_only():
    if BACKEND != "native":
        pytest.skip(f"BACKEND is {BACKEND!r}: long runs need the native kernels")
