"""Arrays of one value, which take no room: all places are the same one.

NumPy's ``broadcast_to`` gives the same, at several times the cost, which single events feel.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_TRUE = b"\x01"


def constant(value: int, n: int) -> NDArray[np.int64]:
    """A number n times; not to be written to.

    >>> constant(7, 3).tolist(), constant(7, 3).strides
    ([7, 7, 7], (0,))
    """
    return np.ndarray((n,), np.int64, int(value).to_bytes(8, "little", signed=True), 0, (0,))


def always(n: int) -> NDArray[np.bool_]:
    """True n times; not to be written to.

    >>> always(2).tolist()
    [True, True]
    """
    return np.ndarray((n,), np.bool_, _TRUE, 0, (0,))
