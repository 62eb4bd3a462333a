"""Data frames and tables at hand: pandas, polars, Arrow, whatever speaks Arrow's interface; rows as dictionaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from cedr.data.origins import Raw
from cedr.data.places import Places
from cedr.data.values import fitted, inferred, is_text
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.model.schema import DataType


class Frame:
    """A table that is there already."""

    def __init__(self, table: pa.Table, name: str, untyped: frozenset[str] = frozenset()) -> None:
        """``untyped``: columns of mixed values, as texts."""
        self._table = table
        self._name = name
        self._untyped = untyped

    @property
    def name(self) -> str:
        """What it is."""
        return self._name

    def names(self) -> list[str]:
        """Its columns."""
        return list(self._table.column_names)

    def types(self) -> dict[str, pa.DataType]:
        """Their types; texts are texts, not to be read as anything else."""
        return {each.name: each.type for each in self._table.schema if each.name not in self._untyped}

    def read(self, columns: Sequence[str]) -> Raw:
        """Some of its columns."""
        places = Places()
        places.add(self._name, 1, self._table.num_rows)
        asked = self._table.select([name for name in columns if name in self._table.column_names])
        return Raw(asked, places, untyped=self._untyped)


def is_frame(given: object) -> bool:
    """Whether something is a table, or can be taken for one."""
    return (
        isinstance(given, pa.Table | pa.RecordBatch | pa.RecordBatchReader)
        or hasattr(given, "__arrow_c_stream__")
        or (hasattr(given, "to_arrow") and hasattr(given, "columns"))
        or _is_pandas(given)
    )


def frame_of(given: Any) -> Frame:
    """A table, whoever has made it.  Raises ``StreamError`` where it has no columns of one type each."""
    module = type(given).__module__.partition(".")[0]
    if isinstance(given, pa.Table):
        return Frame(given, "Arrow table")
    if isinstance(given, pa.RecordBatch):
        return Frame(pa.Table.from_batches([given]), "Arrow record batch")
    if isinstance(given, pa.RecordBatchReader):
        return Frame(given.read_all(), "Arrow record batches")
    if _is_pandas(given):
        return _of_pandas(given)
    try:
        table = given.to_arrow() if not hasattr(given, "__arrow_c_stream__") else pa.table(given)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise _unfit(module, error) from None
    return Frame(table, f"{module} data frame")


def frame_of_rows(rows: Sequence[Mapping[str, object]]) -> Frame:
    """Rows as dictionaries; columns are those that any of them has."""
    names = dict.fromkeys(name for row in rows for name in row)
    return _of_columns({name: [row.get(name) for row in rows] for name in names}, "rows")


def _is_pandas(given: object) -> bool:
    return type(given).__module__.partition(".")[0] == "pandas" and type(given).__name__ == "DataFrame"


def _of_pandas(frame: Any) -> Frame:
    """With the index where it has a name; a column of mixed values as texts."""
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    doubled = frame.columns[frame.columns.duplicated()]
    if len(doubled):
        raise StreamError(Diagnostic("bad-header", f'two columns of the data frame are called "{doubled[0]}"'))
    columns: dict[str, Any] = {}
    for name in frame.columns:
        try:
            columns[str(name)] = pa.array(frame[name], from_pandas=True)
            if frame[name].dtype == object and _nearly_numbers(columns[str(name)]):
                columns[str(name)] = _Mixed(columns[str(name)])
        except (pa.ArrowException, TypeError, ValueError):
            missing = frame[name].isna().tolist()
            values = zip(frame[name].tolist(), missing, strict=True)
            columns[str(name)] = [None if gone else value for value, gone in values]
    return _of_columns(columns, "pandas data frame")


def _of_columns(columns: Mapping[str, Any], name: str) -> Frame:
    """Columns as Arrow arrays or as lists; a list of values of several types becomes one of texts."""
    arrays, untyped = {}, set()
    for column, values in columns.items():
        if isinstance(values, _Mixed):
            arrays[column] = values.texts
            untyped.add(column)
            continue
        try:
            arrays[column] = pa.array(values) if isinstance(values, list) else values
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            if any(isinstance(value, Mapping | list | tuple | set) for value in values):
                what = f'column "{column}"'
                raise _unfit(what, error) from None
            arrays[column] = pa.array([None if value is None else str(value) for value in values], pa.string())
            untyped.add(column)
    return Frame(pa.table(arrays), name, frozenset(untyped))


class _Mixed(NamedTuple):
    """Texts of which nearly all stand for numbers: what pandas makes of a column with one that does not."""

    texts: pa.Array


def _nearly_numbers(array: pa.Array) -> bool:
    """A column whose texts *all* stand for numbers was meant to be one of texts: pandas would have read numbers."""
    if not is_text(array.type):
        return False
    of = inferred(array)
    return of in (DataType.INTEGER, DataType.FLOAT) and fitted(array, of).misfits is not None


def _unfit(what: str, error: Exception) -> StreamError:
    first = str(error).splitlines()[0] if str(error) else type(error).__name__
    return StreamError(Diagnostic("bad-frame", f"{what} does not fit into columns of one type each", detail=first))
