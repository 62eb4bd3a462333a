"""Prints the way of a batch through the engine: each function once, in the order of its first call.

The batch is one of a plain SEQUENCE on the local host; with ``--spark`` it is one of a bucket, and with ``--query`` the
way is that of the query itself, from its text to its operators.

A step of the way is a function of ``src/cedr`` that is called from another file; what a file calls of its own is read
there (``--own`` shows it).  Left out, because they are what the steps are made of and everybody calls them:

    runtime/kernels, runtime/values    compiled loops, arrays
    runtime/store, runtime/ids         tables, columns, sorted rows, IDs (``--store`` shows them)
    model, plan, expression            messages, clocks, what is known of a query beforehand

Attributes that are read (properties, ``len``) are no steps.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any, Final, NamedTuple

import cedr

SOURCE: Final = f"{Path(cedr.__file__).parent}/"
MATERIAL: Final = ("runtime/kernels/", "runtime/values/", "model/", "diagnostics/")
"""Folders that are left out."""
STORE: Final = ("runtime/store/", "runtime/ids/")
"""Folders that are left out unless they are asked for."""
PLANNED: Final = ("plan/", "expression/")
"""Folders that are left out where the query runs already."""
LAYERS: Final = (
    ("connect/", "data/", "hosts/", "spark/"),
    ("consistency/admission/",),
    ("runtime/dataflow/",),
    ("runtime/operators/", "runtime/expressions/"),
    ("consistency/emission/", "consistency/emitter.py"),
)
"""The layers that a batch passes; ``consistency/pipeline.py`` and ``run.py`` are the step, which calls one by one."""
QUERY: Final = """
TYPE A (k INTEGER);
TYPE B (k INTEGER);
EVENT Pairs WHEN SEQUENCE(A AS a, B AS b, 10) WHERE CorrelationKey(k, EQUAL) OUTPUT a.k AS k
"""
_BATCHES: Final = 4
"""How many batches the query is given; the way is that of the last one."""
_ROWS: Final = 8
"""How many rows of each type a batch has."""


class Function(NamedTuple):
    """A function: its file, under ``src/cedr``, and its name there."""

    file: str
    name: str

    @property
    def place(self) -> str:
        """File and name, as the walk prints them."""
        return f"{self.file}:{self.name}"

    @property
    def layer(self) -> int | None:
        """The number of its layer, counted in the order of the way; None: the step itself, or what all layers use."""
        return next((number for number, files in enumerate(LAYERS) if self.file.startswith(files)), None)

    @property
    def read(self) -> bool:
        """Whether a call of it looks like the reading of an attribute."""
        found: Any = import_module("cedr." + self.file.removesuffix(".py").replace("/", "."))
        for part in self.name.split("."):
            found = vars(found).get(part) if isinstance(found, type | ModuleType) else None
        return isinstance(found, property | cached_property) or self.name.rpartition(".")[2].startswith("__")


class Step(NamedTuple):
    """A function on the way, and how many others of the way it was called through."""

    function: Function
    depth: int


@dataclass
class Walk:
    """What was called while a batch was on its way."""

    functions: dict[Function, tuple[Function, ...]] = field(default_factory=dict)
    """Each function, with those that it was called through the first time, outermost first."""
    calls: dict[tuple[Function | None, Function], None] = field(default_factory=dict)
    """Who called whom; None: nobody of ours."""
    passes: dict[tuple[Function, Function], None] = field(default_factory=dict)
    """The same among functions of layers, whatever is called in between."""

    def steps(self, hidden: tuple[str, ...] = MATERIAL + STORE + PLANNED, *, own: bool = False) -> list[Step]:
        """The way, in the order of the first calls, without what some folders do."""
        called = {to for caller, to in self.calls if own or caller is None or caller.file != to.file}
        shown = {each for each in called if not each.file.startswith(hidden) and not each.read}
        return [Step(f, len(shown.intersection(around))) for f, around in self.functions.items() if f in shown]

    def backward(self) -> list[tuple[Function, Function]]:
        """Calls of a function of an earlier layer from a later one."""
        return [(caller, to) for caller, to in self.passes if (to.layer or 0) < (caller.layer or 0)]


class _Tracer:
    """Notes the calls of functions of ``src/cedr``; comprehensions and lambdas count as the function they are in."""

    def __init__(self) -> None:
        self.walk = Walk()
        self._stack: list[Function | None] = []
        self._known: dict[CodeType, Function | None] = {}

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:  # noqa: ARG002 - sys.setprofile's
        if event == "return" and self._stack:
            self._stack.pop()
        if event != "call":
            return
        code = frame.f_code
        if code not in self._known:
            self._known[code] = _function(code)
        function = self._known[code]
        if function is not None:
            around = [each for each in self._stack if each is not None]
            self.walk.functions.setdefault(function, tuple(around))
            self.walk.calls.setdefault((around[-1] if around else None, function))
            caller = next((each for each in reversed(around) if each.layer is not None), None)
            if caller is not None and function.layer is not None:
                self.walk.passes.setdefault((caller, function))
        self._stack.append(function)


def _function(code: CodeType) -> Function | None:
    name = code.co_qualname
    if not code.co_filename.startswith(SOURCE) or name.endswith(">"):
        return None
    return Function(code.co_filename.removeprefix(SOURCE), name)


# -- the two ways -----------------------------------------------------------------------------------------------------


def on_local_host() -> Walk:
    """A batch of columns and a guarantee through ``cedr.run``, once the query has run for some batches."""
    from cedr.consistency.batch import EventBatch
    from cedr.model.stream import Guarantee

    tracer = _Tracer()

    def batches() -> Iterator[list[Any]]:
        for number in range(_BATCHES):
            start = 2 * _ROWS * number
            batch: list[Any] = [Guarantee(start + 2 * _ROWS - 1)]
            for stream, first in (("B", start + _ROWS), ("A", start)):
                times = list(range(first, first + _ROWS))
                payload = {"k": [time % 3 for time in times]}
                batch.insert(0, EventBatch(stream, [f"{stream}{time}" for time in times], times, payload=payload))
            if number == _BATCHES - 1:
                sys.setprofile(tracer)
            yield batch

    for _ in cedr.run(QUERY, batches(), consistency="MIDDLE", host="local"):
        sys.setprofile(None)
    return tracer.walk


class _Value:
    """A value in the state of a stream, as Spark gives it to a worker."""

    def __init__(self) -> None:
        self._value: tuple[Any, ...] | None = None

    def exists(self) -> bool:
        return self._value is not None

    def get(self) -> tuple[Any, ...] | None:
        return self._value

    def update(self, value: tuple[Any, ...]) -> None:
        self._value = value


class _Map:
    """Named values in the state of a stream."""

    def __init__(self) -> None:
        self._values: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def getValue(self, key: tuple[Any, ...]) -> tuple[Any, ...] | None:
        return self._values.get(key)

    def updateValue(self, key: tuple[Any, ...], value: tuple[Any, ...]) -> None:
        self._values[key] = value

    def removeKey(self, key: tuple[Any, ...]) -> None:
        del self._values[key]


def in_a_bucket() -> Walk:
    """A batch of a stream on Spark: the rows of a map task, packed, then a step of the worker of a bucket."""
    import pyarrow as pa
    from pyspark.sql import types as st

    from cedr.spark.map_task.pack import SCHEMA, Pack
    from cedr.spark.plan.planning import Options, plan
    from cedr.spark.sources.events import Events, EventSource
    from cedr.spark.step.worker import Worker

    header = {"time": None, "id": None, "type": None}
    source = EventSource(None, None, header, {"time": st.LongType()}, {"k": st.LongType()}, disorder=0)
    layout = plan(QUERY, Events((source,)), Options("MIDDLE", None, None, (), 1, changes=True, letters=True)).layout
    slot = next(iter(layout.types[0].slots.values()))
    worker, tracer = Worker(layout, _Value(), _Map()), _Tracer()
    for number in range(_BATCHES):
        times = pa.array(range(2 * _ROWS * number, 2 * _ROWS * (number + 1)), pa.int64())
        codes = pa.array([0] * _ROWS + [1] * _ROWS, pa.int8())
        ids = pa.array([f"e{time}" for time in times.to_pylist()])
        keys = pa.array([time % 3 for time in times.to_pylist()], pa.int64())
        rows = pa.record_batch({"code": codes, "id": ids, "vs": times, slot: keys})
        if number == _BATCHES - 1:
            sys.setprofile(tracer)
        sent = pa.Table.from_batches(list(Pack(layout)(iter([rows]))), SCHEMA)
        for _ in worker.step_rows(layout.tokens[0], iter([sent.to_pandas()])):
            pass
        sys.setprofile(None)
    return tracer.walk


def of_a_query() -> Walk:
    """A query from its text to the pipeline that runs it."""
    from cedr.consistency.pipeline import Pipeline
    from cedr.model.level import MIDDLE
    from cedr.plan.compile import compile_text

    def begin() -> None:
        program = compile_text(QUERY)
        Pipeline(program.queries["Pairs"].plan, MIDDLE, program.types)

    begin()
    tracer = _Tracer()
    sys.setprofile(tracer)
    begin()
    sys.setprofile(None)
    return tracer.walk


# -- what is printed --------------------------------------------------------------------------------------------------


def lines(walk: Walk, steps: list[Step]) -> Iterator[str]:
    """The way as text."""
    for step in steps:
        yield "  " * step.depth + step.function.place
    yield f"{len(steps)} functions in {len({step.function.file for step in steps})} files"
    for caller, to in walk.backward():
        yield f"backward: {caller.place} calls {to.place}"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Prints the way of a batch through the engine.")
    parser.add_argument("--spark", action="store_true", help="a batch of a bucket on Spark (no JVM is started)")
    parser.add_argument("--query", action="store_true", help="a query, from its text to its operators")
    parser.add_argument("--own", action="store_true", help="also functions that only their own file calls")
    parser.add_argument("--store", action="store_true", help="also tables, columns and IDs")
    chosen = parser.parse_args()
    walk = of_a_query() if chosen.query else in_a_bucket() if chosen.spark else on_local_host()
    hidden = MATERIAL + (() if chosen.store else STORE) + (() if chosen.query else PLANNED)
    print("\n".join(lines(walk, walk.steps(hidden, own=chosen.own))))


if __name__ == "__main__":
    main()
