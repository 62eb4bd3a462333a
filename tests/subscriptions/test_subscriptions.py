"""``cedr.Subscriptions``: who subscribes, what is refused, what fails, what is saved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cedr
from cedr.diagnostics.exceptions import HostError, LanguageError, StreamError
from cedr.expression import own
from cedr.expression.functions import FUNCTIONS
from cedr.model.stream import Guarantee, Insert, Retract
from cedr.runtime.values.arrow_arrays import same_values
from tests.subscriptions.predicates import MEASURED, filters, payloads, times

TRADE = "TYPE TRADE (symbol STRING, price FLOAT) REVISABLE"


@pytest.fixture
def trades() -> cedr.Subscriptions:
    subscriptions = cedr.Subscriptions(TRADE)
    subscriptions.add("alice", "symbol = 'ACME' AND price > 10")
    subscriptions.add("bob", cedr.col("price") > 20)
    return subscriptions


def batch(ids: list[str], symbols: list[str], prices: list[float], **times_: list[int]) -> cedr.EventBatch:
    vs = times_.pop("vs", [*range(1, len(ids) + 1)])
    return cedr.EventBatch("TRADE", ids, vs, payload={"symbol": symbols, "price": prices}, **times_)


def told(routed: cedr.Routed) -> list[tuple[str, str, str]]:
    return [(row["subscription"], row["change"], row["id"]) for row in routed]


def test_events_go_to_those_who_match(trades: cedr.Subscriptions) -> None:
    routed = trades.step(batch(["a", "b", "c"], ["ACME", "ACME", "X"], [11.0, 9.0, 21.0]))
    assert told(routed) == [("alice", "insert", "a"), ("bob", "insert", "c")]
    assert len(routed) == 2
    assert routed.subscriptions().to_pylist() == ["alice", "bob"]
    assert set(routed.by_type()) == {"TRADE"}
    assert repr(routed) == "<2 pairs of a subscription and an event at CEDR time 1>"


def test_a_modification_goes_to_those_who_matched_and_those_who_match(trades: cedr.Subscriptions) -> None:
    """Reading: R4: a new version closes the earlier one."""
    trades.step(batch(["a"], ["ACME"], [11.0]))
    routed = trades.step(batch(["a"], ["X"], [25.0], vs=[1], os=[4]))
    assert told(routed) == [("alice", "shorten", "a"), ("bob", "insert", "a")]
    assert [(row["Os"], row["Oe"]) for row in routed] == [(1, 4), (4, cedr.FOREVER)]


def test_a_retraction_goes_to_those_who_were_told(trades: cedr.Subscriptions) -> None:
    """Reading: R3."""
    trades.step(batch(["a"], ["ACME"], [11.0]))
    trades.add("late", "price > 0")
    assert told(trades.step(Retract("TRADE/a@1", valid_end=5))) == [("alice", "shorten", "a")]
    (gone,) = trades.step(Retract("TRADE/a@1"))
    assert (gone["subscription"], gone["change"], gone["Oe"]) == ("alice", "retract", 1)
    assert told(trades.step(Guarantee(9))) == []
    assert trades.guarantee == 9


def test_a_shortening_may_end_a_match_or_begin_one() -> None:
    subscriptions = cedr.Subscriptions(TRADE)
    subscriptions.add_all({"open": "Ve > 100", "short": "Ve - Vs < 10"})
    assert told(subscriptions.step(batch(["a"], ["ACME"], [11.0]))) == [("open", "insert", "a")]
    routed = subscriptions.step(Retract("TRADE/a@1", valid_end=5))
    assert told(routed) == [("open", "retract", "a"), ("short", "insert", "a")]


def test_who_is_removed_gets_nothing_more(trades: cedr.Subscriptions) -> None:
    trades.step(batch(["a"], ["ACME"], [25.0]))
    trades.remove("alice")
    assert told(trades.step(Retract("TRADE/a@1"))) == [("bob", "retract", "a")]
    trades.add("alice", "symbol = 'ACME'")
    assert "alice" in trades
    assert [each.id for each in trades] == ["bob", "alice"]
    assert trades["alice"].where == "symbol = 'ACME'"
    assert told(trades.step(batch(["b"], ["ACME"], [1.0], vs=[7]))) == [("alice", "insert", "b")]


def test_a_strong_level_routes_what_is_final() -> None:
    """Reading: R35."""
    subscriptions = cedr.Subscriptions(TRADE, consistency="STRONG")
    subscriptions.add("all", "TRUE")
    assert told(subscriptions.step([batch(["a"], ["ACME"], [11.0]), Retract("TRADE/a@1")])) == []
    assert told(subscriptions.step([batch(["b"], ["ACME"], [11.0], vs=[3]), Guarantee(2)])) == []
    assert told(subscriptions.step(Guarantee(3))) == [("all", "insert", "b")]


def test_types_of_their_own_columns() -> None:
    subscriptions = cedr.Subscriptions("TYPE A (x INTEGER); TYPE B (x STRING, y INTEGER)")
    subscriptions.add_all([("a", "x > 1", "A"), ("b", "x = 'u'", "B")])
    routed = subscriptions.step(
        [
            cedr.EventBatch("A", [1, 2], [1, 2], payload={"x": [1, 2]}),
            {"insert": {"type": "B", "id": "b1", "vs": 1, "payload": {"x": "u", "y": 3}}},
        ]
    )
    assert told(routed) == [("a", "insert", "2"), ("b", "insert", "b1")]
    assert routed.by_type()["B"].column("y").to_pylist() == [3]
    assert routed.to_arrow().column_names[-3:] == ["A_x", "B_x", "y"]
    with pytest.raises(LanguageError, match="no-event-type"):
        subscriptions.add("c", "x = 1")
    with pytest.raises(LanguageError, match="unknown-event-type"):
        subscriptions.add("c", "x = 1", type="C")


def test_tables_of_subscriptions() -> None:
    table = pa.table({"id": [1, 2], "where": ["price > 1", "price > 2"]})
    for many in (table, table.to_pylist(), [(str(n), f"price > {n}") for n in (1, 2)]):
        subscriptions = cedr.Subscriptions(TRADE)
        subscriptions.add_all(many)
        assert subscriptions.to_arrow().column("id").to_pylist() == ["1", "2"]
        assert len(subscriptions) == 2


@pytest.mark.parametrize(
    ("many", "code"),
    [
        ({"a": "price > 1", "b": "pric > 1"}, "unknown-attribute"),
        ({"a": "price > 'x'"}, "type-mismatch"),
        ({"a": "price"}, "type-mismatch"),
        ({"a": ""}, "empty-predicate"),
        ({"a": "price > 1; TRUE"}, "syntax"),
        ({"a": "price > 1 GROUP BY price"}, "syntax"),
        ({"a": "COUNT(*) > 1"}, "aggregate-not-allowed"),
        ({"alice": "price > 1"}, "duplicate-subscription"),
        ([("a", "TRUE"), ("a", "TRUE")], "duplicate-subscription"),
        ({"": "TRUE"}, "bad-subscription"),
        ([5], "bad-subscription"),
        (5, "bad-subscription"),
        (pa.table({"id": ["a"], "where": pa.array([None], pa.string())}), "bad-subscription"),
        (pa.table({"id": ["a"], "what": ["TRUE"]}), "unknown-column"),
    ],
)
def test_what_is_refused_changes_nothing(trades: cedr.Subscriptions, many: object, code: str) -> None:
    with pytest.raises(cedr.CedrError, match=code):
        trades.add_all(many)
    assert [each.id for each in trades] == ["alice", "bob"]
    assert told(trades.step(batch(["a"], ["ACME"], [11.0]))) == [("alice", "insert", "a")]


def test_an_error_shows_its_place(trades: cedr.Subscriptions) -> None:
    with pytest.raises(LanguageError) as raised:
        trades.add_all({"a": "symbol = 'x' AND pric > 1", "b": "symbol > 3"})
    assert [error.code for error in raised.value.diagnostics] == ["unknown-attribute", "type-mismatch"]
    assert "--> subscription a:1:18" in str(raised.value)
    assert "did you mean TRADE.price?" in str(raised.value)


def test_who_is_not_there_cannot_be_removed(trades: cedr.Subscriptions) -> None:
    with pytest.raises(StreamError, match='did you mean "alice"'):
        trades.remove("bob", "alic")
    assert len(trades) == 2
    with pytest.raises(LanguageError, match="no-event-type"):
        cedr.Subscriptions("EVENT Q WHEN ANY(A)")
    with pytest.raises(HostError, match="clock-back"):
        trades.step([], cedr_time=0)


@pytest.fixture
def careful() -> Iterator[None]:
    """A function that raises for one value."""

    @cedr.function("FLOAT", returns="BOOLEAN", name="CAREFUL")
    def careful_(values: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        if (values == 13.0).any():
            message = "13"
            raise ValueError(message)
        return values > 10.0

    yield
    del own.DEFINITIONS["CAREFUL"], FUNCTIONS["CAREFUL"]


@pytest.mark.usefixtures("careful")
def test_a_predicate_that_raises_stops_nothing_else(trades: cedr.Subscriptions) -> None:
    trades.add_all({"c1": "CAREFUL(price)", "c2": "CAREFUL(price) AND symbol = 'Y'"})
    routed = trades.step(batch(["a", "b", "c"], ["ACME", "Y", "Y"], [13.0, 13.0, 12.0]))
    assert told(routed) == [("alice", "insert", "a"), ("c1", "insert", "c"), ("c2", "insert", "c")]
    assert trades.failed == 3
    assert {(error.code, error.primary) for error in trades.failures} == {
        ("subscription-failed", 'the subscription "c1" failed: CAREFUL raised ValueError: 13'),
        ("subscription-failed", 'the subscription "c2" failed: CAREFUL raised ValueError: 13'),
    }
    assert any("the event b" in error.detail for error in trades.failures)


def test_what_cannot_be_used_is_a_dead_letter(trades: cedr.Subscriptions) -> None:
    trades.step([{"insert": {"type": "TRADE"}}, batch(["a"], ["ACME"], [11.0]), Guarantee(5)])
    trades.step([batch(["b"], ["ACME"], [11.0], vs=[3]), Retract("never")])
    assert sorted(letter.code for letter in trades.dead_letters) == [
        "broken-guarantee",
        "missing-field",
        "retraction-without-insert",
    ]


def test_data_of_any_form_is_routed(trades: cedr.Subscriptions, tmp_path: Path) -> None:
    rows = [{"symbol": "ACME", "price": 5.0 * n, "ts": n} for n in range(6)]
    table = pa.Table.from_pylist(rows)
    path = tmp_path / "trades.csv"
    path.write_text("symbol,price,ts\n" + "".join(f"ACME,{5.0 * n},{n}\n" for n in range(6)))
    expected = [("alice", 15.0), ("alice", 20.0), ("alice", 25.0), ("bob", 25.0)]
    for data in (rows, table, path):
        subscriptions = cedr.Subscriptions(TRADE)
        subscriptions.add_all((each.id, each.where) for each in trades)
        steps = [*subscriptions.route(data, type="TRADE", time="ts", time_unit="ticks", batch=2)]
        assert [(row["subscription"], row["price"]) for routed in steps for row in routed] == expected
        assert len(steps) >= 3


def test_messages_are_routed_as_they_come(trades: cedr.Subscriptions) -> None:
    asked = []

    def arriving() -> Iterator[object]:
        for number in (1, 2):
            asked.append(number)
            yield batch([f"e{number}"], ["ACME"], [11.0], vs=[number])

    steps = trades.route(arriving())
    assert told(next(steps)) == [("alice", "insert", "e1")]
    assert asked == [1]
    assert told(next(steps)) == [("alice", "insert", "e2")]


@given(st.lists(filters(), min_size=1, max_size=6), st.lists(payloads(), min_size=2, max_size=4))
def test_what_is_restored_goes_on_as_before(texts: list[str], batches: list[dict[str, pa.Array]]) -> None:
    first = cedr.Subscriptions(MEASURED)
    segments: dict[str, bytes] = {}
    for number, payload in enumerate(batches):
        first.add_all({f"{number}.{place}": where for place, where in enumerate(texts)})
        if number:
            first.remove(f"{number - 1}.0")
        size = len(payload["i"])
        events = cedr.EventBatch("M", np.arange(size) + 10 * number, times(size) + number, payload=payload)
        retracted = Retract(f"M/{10 * number - 10}@{number - 1}") if number else Guarantee(-1)
        fresh = cedr.Subscriptions(MEASURED)
        for name, kept in first.state().items():
            segments.pop(name, None)
            if kept is not None:
                segments[name] = kept
        fresh.restore(segments)
        assert fresh.to_arrow() == first.to_arrow()
        assert repr(fresh.step([events, retracted]).to_pylist()) == repr(first.step([events, retracted]).to_pylist())


def test_subscriptions_are_saved_again_only_where_they_have_changed(trades: cedr.Subscriptions) -> None:
    assert "subscriptions/book" in trades.state()
    trades.step(batch(["a"], ["ACME"], [11.0]))
    assert "subscriptions/book" not in trades.state()
    trades.remove("bob")
    assert "subscriptions/book" in trades.state()


def test_a_state_is_refused_where_it_does_not_fit(trades: cedr.Subscriptions) -> None:
    with pytest.raises(HostError, match="restore-too-late"):
        trades.restore({})
    with pytest.raises(HostError, match="no-segment"):
        cedr.Subscriptions(TRADE).restore({})


def test_columns_that_hold_nothing_are_alike() -> None:
    """Of two rows that stand for one another, an attribute that no event has ever had is the same."""
    assert same_values(pa.nulls(2), pa.nulls(2)).tolist() == [True, True]
    subscriptions = cedr.Subscriptions("TYPE A (x INTEGER) REVISABLE")
    subscriptions.add("all", "TRUE")
    row = cedr.primitive("A", "a", 1, 5, payload={"x": None})
    subscriptions.step(Insert(row, "k"))
    again = Insert(cedr.primitive("A", "a", 1, 4, payload={"x": None}), "l")
    routed = subscriptions.step([Retract("k"), again, Guarantee(9)])
    assert [(row["change"], row["Ve"]) for row in routed] == [("shorten", 4)]


def test_an_attribute_of_any_type_may_hold_values_of_several_kinds() -> None:
    subscriptions = cedr.Subscriptions("TYPE A (x ANY) REVISABLE")
    subscriptions.add_all({"number": "x > 1", "text": "x = 'u'"})
    values = (2, "u", 0.5, None)
    for number, value in enumerate(values):
        subscriptions.step(Insert(cedr.primitive("A", f"e{number}", number + 1, payload={"x": value}), f"k{number}"))
    routed = subscriptions.step(
        [
            *(
                Insert(cedr.primitive("A", f"f{n}", n + 5, payload={"x": value}), f"l{n}")
                for n, value in enumerate(values)
            ),
            Retract("k0"),
            Retract("k1", valid_end=5),
        ]
    )
    assert sorted((row["subscription"], row["change"], row["id"], row["x"]) for row in routed) == [
        ("number", "insert", "f0", "2"),
        ("number", "retract", "e0", "2"),
        ("text", "insert", "f1", '"u"'),
        ("text", "shorten", "e1", '"u"'),
    ]
