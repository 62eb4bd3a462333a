"""Functions and aggregates that users define: declared, checked, the same on every host.  R20, R30."""

from __future__ import annotations

import pickle
from datetime import timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest

import cedr
from cedr.expression.aggregate import AGGREGATES
from cedr.expression.functions import FUNCTIONS
from cedr.expression.own import DEFINITIONS, OwnFailure, OwnFunction
from cedr.hosts.result import Result
from cedr.model.schema import DataType

TYPES = "TYPE A (k INTEGER, v FLOAT, s STRING); TYPE B (k INTEGER, v FLOAT, s STRING);"
ROWS = [("A", "a1", 1, 1, 5.0), ("B", "b1", 3, 2, 3.0), ("B", "b2", 4, 1, None), ("A", "a2", 5, 2, 2.0)]
EVENTS = [
    {"insert": {"type": of, "id": name, "vs": vs, "ve": vs + 10, "payload": {"k": k, "v": v, "s": "x" * vs}}}
    for of, name, vs, k, v in ROWS
]
PAIRS = "EVENT Q WHEN SEQUENCE(A AS a, B AS b, 9) "
HOSTS = pytest.mark.parametrize("host", ["oracle", "local"])


pytestmark = pytest.mark.usefixtures("declarations_taken_back")


def run(query: str, host: str) -> Result:
    return cedr.evaluate(TYPES + query, EVENTS, host=host)


def payloads(query: str, host: str) -> list[Any]:
    return [row["payload"] for row in run(query, host).to_dicts()]


@HOSTS
def test_a_function_over_numpy_arrays(host: str) -> None:
    """R20: in WHERE and OUTPUT, by its name in any case; whole numbers go where FLOAT is asked for."""
    seen: list[np.ndarray[Any, Any]] = []

    @cedr.function("FLOAT", "FLOAT", returns="FLOAT")
    def gap(high: Any, low: Any) -> Any:
        seen.append(high)
        return high - low

    query = PAIRS + "WHERE gap(a.v, b.v) > 1 OUTPUT GAP(a.v, b.v) AS s, Gap(a.k, b.k) AS k"
    assert payloads(query, host) == [{"s": 2.0, "k": -1.0}]
    assert {each.dtype for each in seen} == {np.dtype(np.float64)}


@HOSTS
def test_a_function_over_arrow_arrays(host: str) -> None:
    """R20."""

    @cedr.function("STRING", returns="INTEGER", name="letters", arrow=True)
    def count(text: Any) -> Any:
        return pc.utf8_length(text)

    assert payloads(PAIRS + "OUTPUT LETTERS(b.s) AS n", host) == [{"n": 3}, {"n": 4}]


@HOSTS
def test_rows_with_a_null_are_null_and_are_not_seen(host: str) -> None:
    """R20: and what is neither a number nor an infinity is NULL."""

    @cedr.function("FLOAT", returns="FLOAT")
    def inverse(x: Any) -> Any:
        assert len(x)
        assert not np.isnan(x).any()
        with np.errstate(divide="ignore"):
            return 1 / (x - 3)

    assert payloads(PAIRS + "OUTPUT inverse(b.v) AS n", host) == [{"n": None}, {"n": None}]


@HOSTS
def test_what_raises_names_function_query_and_event(host: str) -> None:
    @cedr.function("INTEGER", returns="INTEGER")
    def picky(k: Any) -> Any:
        if (k > 1).any():
            message = "too large"
            raise RuntimeError(message)
        return k

    with pytest.raises(cedr.HostError, match=r"PICKY raised RuntimeError: too large\n.*query Q, at the event b1 \(b\)"):
        run(PAIRS + "OUTPUT picky(b.k) AS n", host)
    guarded = PAIRS + "OUTPUT CASE WHEN b.k < 2 THEN picky(b.k) ELSE 0 END AS n"
    assert payloads(guarded, host) == [{"n": 0}, {"n": 1}]
    with pytest.raises(cedr.HostError, match=r"in the query Q, at the event b1 \(b\)"):
        run(PAIRS + "WHERE {a.v > 1 AND picky(b.k) >= 0}", host)


@HOSTS
@pytest.mark.parametrize(
    ("returns", "gives", "said"),
    [
        ("INTEGER", lambda k: np.array(["x"] * len(k)), "gave 'x', a str, where it declares INTEGER"),
        ("INTEGER", lambda k: k + 0.5, "a float, where it declares INTEGER"),
        ("BOOLEAN", lambda k: k, "an? int, where it declares BOOLEAN"),
        ("STRING", lambda k: [object()] * len(k), "an? object, where it declares STRING"),
        ("INTEGER", lambda k: [*k.tolist(), 1], r"gave \d values for \d"),
        ("INTEGER", lambda k: k.sum(), "where an array is wanted"),
        ("INTEGER", lambda _: None, "gave a NoneType where an array is wanted"),
    ],
)
def test_the_wrong_type_or_length(host: str, returns: str, gives: Any, said: str) -> None:
    cedr.function("INTEGER", returns=returns, name="wrong")(gives)
    with pytest.raises(cedr.HostError, match=said) as raised:
        run(PAIRS + "OUTPUT wrong(b.k) AS n", host)
    assert raised.value.diagnostics[0].code == "function-result"
    assert raised.value.diagnostics[0].detail.startswith("in the query Q, at the event b1")


def test_values_are_taken_as_they_come() -> None:
    """Lists, NumPy's and Arrow's arrays; times and durations as Python's own; NULLs where a function gives none."""

    def given(gives: DataType, values: Any) -> Any:
        return OwnFunction("F", (DataType.INTEGER,), gives, lambda _: values).apply([[1, 2]])

    assert given(DataType.INTEGER, [1, None]) == [1, None]
    assert given(DataType.FLOAT, np.array([1, 2])) == [1.0, 2.0]
    assert given(DataType.DECIMAL, [Decimal("1.5"), 2]) == [Decimal("1.5"), Decimal(2)]
    assert given(DataType.DURATION, [timedelta(seconds=1), 5]) == [1_000_000, 5]
    assert given(DataType.LIST, [[1], [np.int64(2)]]) == [(1,), (2,)]
    assert given(DataType.FLOAT, np.ma.masked_array([1.0, 2.0], [False, True])) == [1.0, None]
    with pytest.raises(OwnFailure):
        given(DataType.INTEGER, [True, 1])


class Mean:
    """The mean."""

    def accumulate(self, values: Any) -> tuple[float, int]:
        return float(values.sum()), len(values)

    def merge(self, one: tuple[float, int], other: tuple[float, int]) -> tuple[float, int]:
        return one[0] + other[0], one[1] + other[1]

    def value(self, state: tuple[float, int]) -> float:
        return state[0] / state[1]

    def retract(self, state: tuple[float, int], values: Any) -> tuple[float, int]:
        return state[0] - float(values.sum()), state[1] - len(values)


@HOSTS
def test_an_aggregate_over_contributors(host: str) -> None:
    """R23."""
    cedr.aggregate("FLOAT", returns="FLOAT")(Mean)
    assert payloads(PAIRS + "OUTPUT mean(v) AS n", host) == [{"n": 4.0}, {"n": 5.0}]


def test_an_aggregate_of_groups() -> None:
    """R30: NULLs are left out, of nothing it is NULL, DISTINCT counts equal values once."""
    cedr.aggregate("FLOAT", returns="FLOAT", name="average")(Mean)
    query = "EVENT Q FROM B AS b GROUP BY b.k OUTPUT b.k AS k, AVERAGE(b.v) AS n, AVERAGE(DISTINCT b.k) AS d"
    assert payloads(query, "oracle") == [{"k": 2, "n": 3.0, "d": 2.0}, {"k": 1, "n": None, "d": 1.0}]


def test_an_aggregate_that_fails_names_itself_the_query_and_an_event() -> None:
    @cedr.aggregate("FLOAT", returns="FLOAT")
    class Worst(Mean):
        def value(self, _: object) -> Any:
            return "worst"

    with pytest.raises(cedr.HostError, match=r"WORST gave 'worst', a str, .*\n.*query Q, at the group of the event b1"):
        run("EVENT Q FROM B AS b OUTPUT worst(b.v) AS n", "oracle")


def test_its_types_are_checked_with_the_text() -> None:
    cedr.function("FLOAT", returns="STRING", name="shown")(lambda x: x)
    cedr.aggregate("FLOAT", returns="FLOAT", name="average")(Mean)
    query = TYPES + "EVENT Q FROM A AS a GROUP BY a.s OUTPUT shown(a.s) AS x, shown(1, 2) AS y, average(a.s) AS z"
    with pytest.raises(cedr.LanguageError) as raised:
        cedr.compile(query)
    assert [found.code for found in raised.value.diagnostics] == ["type-mismatch", "wrong-arguments", "type-mismatch"]
    made = cedr.compile(TYPES + "EVENT Q FROM A AS a OUTPUT shown(a.v) AS x").queries["Q"]
    assert made.plan.type.attributes == {"x": DataType.STRING}


def test_a_plan_takes_its_definitions_along() -> None:
    """Also into another process, and whatever is declared later under the name."""
    cedr.function("FLOAT", returns="FLOAT", name="doubled")(np.positive)
    cedr.aggregate("FLOAT", returns="FLOAT", name="average")(Mean)
    query = TYPES + "EVENT Q WHEN ANY(A AS a) OUTPUT doubled(a.v) AS d, average(v) AS m"
    compiled = cedr.compile(query).queries["Q"]
    packed = pickle.dumps(compiled.plan)
    for table in (FUNCTIONS, AGGREGATES, DEFINITIONS):
        for name in ("DOUBLED", "AVERAGE"):
            table.pop(name, None)  # type: ignore[attr-defined]
    from cedr.semantics.evaluate import evaluate

    rows = evaluate(pickle.loads(packed), {"A": [cedr.primitive("A", "a", 1, payload={"v": 2.0})]})
    assert [dict(row.payload) for row in rows] == [{"d": 2.0, "m": 2.0}]


@pytest.mark.parametrize("name", ["sum", "UPPER", "two words", ""])
def test_names_that_cannot_be_given(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be named"):
        cedr.aggregate("FLOAT", returns="FLOAT", name=name or "-")(Mean)
    with pytest.raises(ValueError, match="cannot be named"):
        cedr.function("FLOAT", returns="FLOAT", name=name or "-")(np.positive)


def test_declarations_that_mean_nothing() -> None:
    with pytest.raises(ValueError, match="there is no type 'NUMBER'"):
        cedr.function("NUMBER", returns="FLOAT")(np.positive)
    with pytest.raises(TypeError, match="at least one argument"):
        cedr.function(returns="FLOAT", name="nothing")(np.positive)
    with pytest.raises(TypeError, match="has no merge and no value"):
        cedr.aggregate("FLOAT", returns="FLOAT")(type("Half", (), {"accumulate": len}))


def test_a_name_is_declared_once_as_a_function_or_an_aggregate() -> None:
    cedr.function("FLOAT", returns="FLOAT", name="twice")(np.positive)
    cedr.aggregate("FLOAT", returns="FLOAT", name="twice")(Mean)
    assert "TWICE" in AGGREGATES
    assert "TWICE" not in FUNCTIONS
