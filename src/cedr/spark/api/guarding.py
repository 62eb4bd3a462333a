"""What ``cedr.query`` gives raises our errors, not Spark's.

An error in a worker reaches the driver as the text of an exception of Spark, below a Java and a Python trace.  So the
DataFrame of a query, and what is made from it by its own methods (other DataFrames, writers, running queries), look at
every exception that leaves them: where a query of ours has said what is wrong, that is raised, and Spark's exception is
its cause.  They are what they were, DataFrames of classic PySpark or of Spark Connect, of a subclass that is made here.

Such a writer also starts a stream with as many partitions as the query has buckets.  Spark takes the number from the
session at the first start of a stream; by default there would be 200, each a task with processes in every batch.
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
from cedr.spark.session.cores import PARTITIONS
from cedr.spark.step.failures import failure

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
_MADE: Final[dict[type[Any], type[Any]]] = {}


@dataclass(frozen=True, eq=False)
class Run:
    """What is known of a query where its DataFrame is used."""

    session: Any
    explanation: Explanation
    partitions: int | None
    """How many partitions the state of a stream has; None where there is none."""


class Guarded:
    """Looks at what the methods of a class of Spark raise and give."""

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("_"):
            return super().__getattribute__(name)
        run: Run = self.__dict__["_cedr_run"]
        with _ours_first():
            value = super().__getattribute__(name)
        if callable(value) and not isinstance(value, Guarded):
            return _guarded_call(value, run, starts=name in _STARTS)
        return guarded(value, run)


def guarded(value: Any, run: Run) -> Any:
    """A DataFrame, or what comes from one, that raises our errors; anything else as it is."""
    kind = type(value)
    if kind.__name__ in _KINDS and kind.__module__.startswith("pyspark.sql"):
        value.__dict__["_cedr_run"] = run
        value.__dict__["cedr_explanation"] = run.explanation
        value.__class__ = _guarding(kind)
    elif isinstance(value, BaseException):
        return failure(value) or value
    elif isinstance(value, Iterator):
        return _iterated(value)
    return value


def _guarding(kind: type[Any]) -> type[Any]:
    """The subclass of a class of Spark that guards; it is made once."""
    if kind not in _MADE:
        _MADE[kind] = type(kind.__name__, (Guarded, kind), {"__doc__": kind.__doc__})
    return _MADE[kind]


def _guarded_call(function: Callable[..., Any], run: Run, *, starts: bool) -> Callable[..., Any]:
    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        with _ours_first():
            if starts and run.partitions is not None:
                with _partitions(run.session, run.partitions):
                    return guarded(function(*arguments, **named), run)
            return guarded(function(*arguments, **named), run)

    return call


@contextmanager
def _ours_first() -> Iterator[None]:
    """Raise what a query of ours has said, with the error that brought it as the cause."""
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
    with _ours_first():
        yield from rows


@contextmanager
def _partitions(session: Any, count: int) -> Iterator[None]:
    """Start a stream: it takes the number from its session now, and the session has its own again when it runs."""
    with _STARTING:
        before = session.conf.get(PARTITIONS)
        session.conf.set(PARTITIONS, str(count))
        try:
            yield
        finally:
            session.conf.set(PARTITIONS, before)
