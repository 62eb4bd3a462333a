"""Spark's data types, ours and Arrow's.  Readings: R1 (times are microseconds), R20 (kinds of values)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from pyspark.sql import types as st

from cedr.model.schema import DataType, Shape

_OURS: Final[dict[type[st.DataType], DataType]] = {
    st.ByteType: DataType.INTEGER,
    st.ShortType: DataType.INTEGER,
    st.IntegerType: DataType.INTEGER,
    st.LongType: DataType.INTEGER,
    st.FloatType: DataType.FLOAT,
    st.DoubleType: DataType.FLOAT,
    st.DecimalType: DataType.DECIMAL,
    st.StringType: DataType.STRING,
    st.VarcharType: DataType.STRING,
    st.CharType: DataType.STRING,
    st.BooleanType: DataType.BOOLEAN,
    st.TimestampType: DataType.TIMESTAMP,
    st.TimestampNTZType: DataType.TIMESTAMP,
    st.DateType: DataType.DATE,
    st.DayTimeIntervalType: DataType.DURATION,
    st.BinaryType: DataType.BINARY,
    st.StructType: DataType.STRUCT,
    st.MapType: DataType.STRUCT,
    st.ArrayType: DataType.LIST,
}

_SPARKS: Final[dict[DataType, st.DataType]] = {
    DataType.INTEGER: st.LongType(),
    DataType.FLOAT: st.DoubleType(),
    DataType.DECIMAL: st.DecimalType(38, 18),
    DataType.STRING: st.StringType(),
    DataType.BOOLEAN: st.BooleanType(),
    DataType.TIMESTAMP: st.TimestampType(),
    DataType.DURATION: st.DayTimeIntervalType(),
    DataType.DATE: st.DateType(),
    DataType.BINARY: st.BinaryType(),
    DataType.NULL: st.StringType(),
}

TIMES: Final = (st.TimestampType, st.TimestampNTZType, st.DateType)
"""Types of points in time, which become microseconds; whole numbers are ticks."""

WHOLE: Final = (st.ByteType, st.ShortType, st.IntegerType, st.LongType)


def ours(of: st.DataType) -> DataType | None:
    """Our type for the values of a Spark column; None if we have none."""
    return _OURS.get(type(of))


def sparks(of: DataType) -> st.DataType | None:
    """The Spark type of a computed output; None if no single type fits."""
    return _SPARKS.get(of)


def shape_of(of: st.DataType) -> Shape:
    """Our type for the values of a Spark column, with the types of its fields and elements."""
    kind = ours(of) or DataType.ANY
    if isinstance(of, st.StructType):
        return Shape(kind, {field.name: shape_of(field.dataType) for field in of.fields})
    if isinstance(of, st.MapType):
        return Shape(kind, element=shape_of(of.valueType)) if isinstance(of.keyType, st.StringType) else Shape(kind)
    return Shape(kind, element=shape_of(of.elementType)) if isinstance(of, st.ArrayType) else Shape(kind)


def inside(of: st.DataType | None, names: Sequence[str]) -> st.DataType | None:
    """The type of a nested field, given by the names on its path; None if there is none."""
    for name in names:
        if isinstance(of, st.StructType):
            of = next((field.dataType for field in of.fields if field.name == name), None)
        else:
            of = of.valueType if isinstance(of, st.MapType) and isinstance(of.keyType, st.StringType) else None
    return of


def pruned(of: st.DataType, ways: Collection[Sequence[str]]) -> st.DataType:
    """A struct type with only the fields on the given paths; an empty path keeps all of it."""
    if not isinstance(of, st.StructType) or not all(ways):
        return of
    kept = {
        field.name: [way[1:] for way in ways if way[0] == field.name]
        for field in of.fields
        if any(way[0] == field.name for way in ways)
    }
    if not kept:  # there is no such field: its value is NULL
        return of
    fields = [
        st.StructField(field.name, pruned(field.dataType, kept[field.name]))
        for field in of.fields
        if field.name in kept
    ]
    return st.StructType(fields)


def fits(column: st.DataType, declared: Shape) -> bool:
    """Whether a column fits a declared type, with its fields; a struct may have more fields than are declared."""
    if not _fits(column, declared.type):
        return False
    if isinstance(column, st.StructType) and declared.fields is not None:
        found = {field.name: field.dataType for field in column.fields}
        return all(name in found and fits(found[name], of) for name, of in declared.fields.items())
    if isinstance(column, st.MapType) and declared.fields is not None:
        return all(fits(column.valueType, of) for of in declared.fields.values())
    of_items = column.elementType if isinstance(column, st.ArrayType) else None
    return of_items is None or declared.element is None or fits(of_items, declared.element)


def _fits(column: st.DataType, declared: DataType) -> bool:
    """Whether the values of a column fit a declared type; whole numbers also fit decimals, floats and times."""
    found = ours(column)
    if declared is DataType.ANY or found is declared:
        return found is not None
    return declared in _WIDER.get(found, ()) if found is not None else False


_WIDER: Final = {
    DataType.INTEGER: (DataType.FLOAT, DataType.DECIMAL, DataType.TIMESTAMP, DataType.DURATION),
    DataType.DECIMAL: (DataType.FLOAT,),
}
