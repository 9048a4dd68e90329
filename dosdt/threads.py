"""Keeping libraries that multiply matrices to one thread."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Keep matrix products to one thread: ours are small, and threads that wait for each other cost far more."""
    context: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return context
