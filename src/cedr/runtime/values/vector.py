"""A column of values at chosen rows, as expressions take and give it.

Reading: R20.  ``values`` is an ndarray of int64, float64, bool_ or objects, or an Arrow array of text, structs, lists
or maps.  ``valid`` says which values are not NULL, ``None`` that all are; an Arrow array carries its own NULLs and has
``valid`` None.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa


class Vector(NamedTuple):
    """Values and which of them are not NULL."""

    values: np.ndarray[Any, Any] | pa.Array
    valid: np.ndarray[Any, np.dtype[np.bool_]] | None = None
