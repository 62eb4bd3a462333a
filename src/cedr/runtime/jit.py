"""How a loop becomes machine code: compiled at its first call, kept on disk, free of the interpreter's lock.

With ``NUMBA_DISABLE_JIT=1`` a kernel is the plain function, which gives the same results: 64-bit words wrap around as
they do in machine code, and NumPy is told to keep quiet about it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar

import numba
import numpy as np

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """A function over arrays and numbers, compiled."""
    return _compiled(function, inline="never")


def inlined(function: F) -> F:
    """A part of kernels, for their innermost loops: it becomes part of each kernel that calls it."""
    return _compiled(function, inline="always")


def _compiled(function: F, inline: Literal["never", "always"]) -> F:
    compiled: Any = numba.njit(cache=True, nogil=True, inline=inline)(function)
    if compiled is function:
        compiled = np.errstate(over="ignore")(function)
    result: F = compiled
    return result
