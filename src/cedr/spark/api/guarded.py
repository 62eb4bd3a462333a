"""Guards the DataFrame of ``cedr.query``, so that it raises our errors and not Spark's.

An error in a worker reaches the driver as the text of an exception of Spark, below a Java and a Python trace.  So the
DataFrame of a query, and what its methods return (other DataFrames, writers, running queries), examine each exception:
if it carries an error of a CEDR query, they raise that error, with Spark's exception as its cause.  They stay
DataFrames of classic PySpark or of Spark Connect; their class is a subclass that is made here.

A guarded writer also starts a stream with as many partitions as the query has buckets.  Spark takes the number from the
session when a stream starts for the first time; the default is 200, each with a task and processes in every batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from threading import Lock
from typing import Any, Final

from cedr.diagnostics.exceptions import CedrError
from cedr.plan.explain import Explanation
from cedr.spark.output.change_rows import Told
from cedr.spark.output.failures import failure
from cedr.spark.session.cores import PARTITIONS

_KINDS: Final = frozenset(
    {
        "DataFrame",
        "DataFrameNaFunctions",
        "DataFrameStatFunctions",
        "DataFrameWriter",
        "DataFrameWriterV2",
        "DataStreamWriter",
        "GroupedData",
        "StreamingQuery",
    }
)
_STARTS: Final = ("start", "toTable")
_STARTING: Final = Lock()
_SUBCLASSES: Final[dict[type[Any], type[Any]]] = {}


@dataclass(frozen=True, eq=False)
class Run:
    """What a guarded object knows of its query."""

    session: Any
    explanation: Explanation | None
    """The plan of the query; None where events are only matched."""
    partitions: int | None
    """The number of partitions of the state of a stream; None for a bounded query."""
    told: Told | None = None
    """What sinks are told of its rows; None where they cannot take them."""


class Guarded:
    """Guards the methods of a class of Spark: the errors that they raise, and the objects that they return."""

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("_"):
            return super().__getattribute__(name)
        run: Run = self.__dict__["_cedr_run"]
        with _raise_ours():
            value = super().__getattribute__(name)
        if callable(value) and not isinstance(value, Guarded):
            return _guarded_call(value, run, starts=name in _STARTS)
        return guarded(value, run)


def guarded(value: Any, run: Run) -> Any:
    """Guard a DataFrame, or an object made from one; other values are returned as they are."""
    kind = type(value)
    if kind.__name__ in _KINDS and kind.__module__.startswith("pyspark.sql"):
        value.__dict__["_cedr_run"] = run
        if run.explanation is not None:
            value.__dict__["cedr_explanation"] = run.explanation
        value.__class__ = _guarding(kind)
    elif isinstance(value, BaseException):
        return failure(value) or value
    elif isinstance(value, Iterator):
        return _iterated(value)
    return value


def _guarding(kind: type[Any]) -> type[Any]:
    """The guarding subclass of a class of Spark; it is made once."""
    if kind not in _SUBCLASSES:
        _SUBCLASSES[kind] = type(kind.__name__, (Guarded, kind), {"__doc__": kind.__doc__})
    return _SUBCLASSES[kind]


def _guarded_call(function: Callable[..., Any], run: Run, *, starts: bool) -> Callable[..., Any]:
    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        with _raise_ours():
            if starts and run.partitions is not None:
                with _partitions(run.session, run.partitions):
                    return guarded(function(*arguments, **named), run)
            return guarded(function(*arguments, **named), run)

    return call


@contextmanager
def _raise_ours() -> Iterator[None]:
    """Raise the error of a CEDR query that an error of Spark carries, with Spark's as the cause."""
    try:
        yield
    except (CedrError, AttributeError):
        raise
    except Exception as error:
        ours = failure(error)
        if ours is None:
            raise
        raise ours from error


def _iterated(rows: Iterator[Any]) -> Iterator[Any]:
    with _raise_ours():
        yield from rows


@contextmanager
def _partitions(session: Any, count: int) -> Iterator[None]:
    """Set the number of partitions while a stream starts; the session has its own number again afterwards."""
    with _STARTING:
        before = session.conf.get(PARTITIONS)
        session.conf.set(PARTITIONS, str(count))
        try:
            yield
        finally:
            session.conf.set(PARTITIONS, before)
