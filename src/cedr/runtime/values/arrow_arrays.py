"""NumPy arrays and Python texts as Arrow arrays, and back, without loading pandas.

PyArrow's own conversions (``pa.array``, ``pa.scalar``, ``to_numpy``) import pandas where it is installed, because they
may be given its objects.  That takes a second, longer than everything else of a small query.  Here the buffers are
handed over as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

_PLAIN = frozenset("biuf")
"""Kinds of NumPy's types whose values lie as Arrow has them; truths are packed."""
_LARGEST_32 = 2**31 - 1


def bitmap(present: Mask) -> pa.Buffer:
    """What is present, as Arrow keeps it."""
    return pa.py_buffer(np.packbits(present, bitorder="little"))


def arrow(values: Array, missing: Mask | None = None) -> pa.Array:
    """An array of numbers or truths as Arrow's, NULL where something is missing; numbers are not copied.

    >>> arrow(np.array([1.5, 2.0]), np.array([False, True])).to_pylist()
    [1.5, None]
    """
    if values.dtype.kind not in _PLAIN or not values.dtype.isnative:
        return pa.array(values, mask=missing)
    valid = None if missing is None or not missing.any() else bitmap(~missing)
    truths = values.dtype.kind == "b"
    data = bitmap(values) if truths else pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [valid, data])


def arrow_texts(values: Sequence[str | None], *, large: bool = False) -> pa.Array:
    """Texts as Arrow's, of the large kind where asked for or needed; None is NULL.

    Raises:
        UnicodeEncodeError: There is half a surrogate pair in one of them.

    >>> arrow_texts(["a", None, "ü"]).to_pylist()
    ['a', None, 'ü']
    """
    texts = [value or "" for value in values]
    joined = "".join(texts)
    data = joined.encode()
    sizes = map(len, texts) if len(data) == len(joined) else (len(text.encode()) for text in texts)
    large = large or len(data) > _LARGEST_32
    offsets = np.zeros(len(texts) + 1, np.int64 if large else np.int32)
    np.cumsum(np.fromiter(sizes, offsets.dtype, len(texts)), out=offsets[1:])
    present = np.fromiter((value is not None for value in values), np.bool_, len(texts))
    nulls = None if present.all() else bitmap(present)
    kind = pa.LargeStringArray if large else pa.StringArray
    return kind.from_buffers(len(texts), pa.py_buffer(offsets), pa.py_buffer(data), nulls)


def numpy_of(array: pa.Array) -> Array:
    """Arrow's numbers or truths, none of them NULL, as NumPy's; not to be written to, and numbers not copied.

    >>> numpy_of(arrow(np.array([False, True, True]))[1:])
    array([ True,  True])
    """
    kind = array.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)) or array.null_count:
        found: Array = array.to_numpy(zero_copy_only=False)
        return found
    data, end = array.buffers()[1], array.offset + len(array)
    if data is None or not len(array):
        return np.zeros(0, kind.to_pandas_dtype())
    if pa.types.is_boolean(kind):
        bits = np.unpackbits(np.frombuffer(data, np.uint8), count=end, bitorder="little")
        return bits[array.offset :].view(np.bool_)
    values = np.frombuffer(data, kind.to_pandas_dtype(), end)[array.offset :]
    values.flags.writeable = False  # as to_numpy gives it
    return values


def present_in(array: pa.Array) -> Mask:
    """Which values of an Arrow array are not NULL."""
    return numpy_of(array.is_valid())


def same_values(some: pa.Array, others: pa.Array) -> Mask:
    """Which values equal those in the same places of another array of the type; NULL equals NULL.

    >>> same_values(pa.array([1, 2, None]), pa.array([1, 3, None])).tolist()
    [True, False, True]
    """
    if pa.types.is_null(some.type) and pa.types.is_null(others.type):
        return np.ones(len(some), np.bool_)
    if pa.types.is_nested(some.type) or pa.types.is_dictionary(some.type) or some.type != others.type:
        pairs = zip(some.to_pylist(), others.to_pylist(), strict=True)
        return np.fromiter((one == other for one, other in pairs), np.bool_, len(some))
    if not some.null_count and not others.null_count:
        return numpy_of(pc.equal(some, others))
    missing, missing_there = numpy_of(some.is_null()), numpy_of(others.is_null())
    found, there = missing & missing_there, ~(missing | missing_there)
    chosen = arrow(np.flatnonzero(there))
    found[there] = numpy_of(pc.equal(some.take(chosen), others.take(chosen)))
    return found
