"""Spark's data types, ours and Arrow's.  Readings: R1 (times are microseconds), R20 (kinds of values)."""

from __future__ import annotations

from typing import Final

from pyspark.sql import types as st

from cedr.model.schema import DataType

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
"""Instants, which count in microseconds; whole numbers are ticks."""

WHOLE: Final = (st.ByteType, st.ShortType, st.IntegerType, st.LongType)


def ours(of: st.DataType) -> DataType | None:
    """Our type for the values of a Spark column; None where we have none."""
    return _OURS.get(type(of))


def sparks(of: DataType) -> st.DataType | None:
    """The Spark type of a computed output; None where values are of no single type."""
    return _SPARKS.get(of)


def fits(column: st.DataType, declared: DataType) -> bool:
    """Whether the values of a column are of a declared type; whole numbers are also decimals, floats and times."""
    found = ours(column)
    if declared is DataType.ANY or found is declared:
        return found is not None
    return declared in _WIDER.get(found, ()) if found is not None else False


_WIDER: Final = {
    DataType.INTEGER: (DataType.FLOAT, DataType.DECIMAL, DataType.TIMESTAMP, DataType.DURATION),
    DataType.DECIMAL: (DataType.FLOAT,),
}
