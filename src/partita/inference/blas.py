"""Matrix products in one thread, for as long as a fit lasts.

The matrices here are small: more threads lose time, on a busy machine ten times over, since those that wait keep a core
busy. And what is computed in one thread is rounded the same way wherever it runs.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    """Looking for the libraries takes milliseconds, as long as a small fit: it is done once."""
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    return _controller().limit(limits=1, user_api="blas")
