"""Which events match which filters: the index gives what the evaluator gives for each filter alone."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cedr
from cedr.expression.evaluate import holds
from cedr.subscriptions.bounds import closed
from cedr.subscriptions.constants import Column, sort_of_value
from cedr.subscriptions.predicates import read_predicate
from cedr.subscriptions.segments import Segment
from cedr.subscriptions.texts import Reader
from tests.subscriptions.predicates import LARGE, MEASURED, filters, payloads, times


def alone(known: dict[str, str], batch: cedr.EventBatch) -> list[tuple[int, str]]:
    """Each filter alone, asked of each event by the evaluator.  Reading: R20."""
    events = [message.event for message in batch.inserts()]
    trees = {id_: read_predicate(where, MEASURED) for id_, where in known.items()}
    return sorted(
        (row, id_) for id_, tree in trees.items() for row, event in enumerate(events) if holds(tree, {"M": event})
    )


def matched(subscriptions: cedr.Subscriptions, batch: cedr.EventBatch) -> list[tuple[int, str]]:
    found = subscriptions.match(batch)
    assert np.array_equal(np.sort(found.events), found.events)
    return sorted(zip(found.events.tolist(), found.subscriptions.to_pylist(), strict=True))


def batch_of(payload: dict[str, pa.Array]) -> cedr.EventBatch:
    size = len(payload["i"])
    return cedr.EventBatch("M", np.arange(size), times(size), payload=payload)


@given(st.lists(st.lists(filters(), max_size=8), max_size=4), st.lists(payloads(), min_size=1, max_size=3), st.data())
def test_an_index_gives_what_each_filter_gives_alone(
    bulks: list[list[str]], batches: list[dict[str, pa.Array]], data: st.DataObject
) -> None:
    """Reading: R20.  Also while filters come in bulks and go one by one."""
    subscriptions, known = cedr.Subscriptions(MEASURED), dict[str, str]()
    for number, bulk in enumerate(bulks):
        new = {f"{number}.{place}": where for place, where in enumerate(bulk)}
        subscriptions.add_all(new)
        known |= new
        batch = batch_of(batches[number % len(batches)])
        assert matched(subscriptions, batch) == alone(known, batch)
        gone = data.draw(st.lists(st.sampled_from(sorted(known)), unique=True)) if known else []
        subscriptions.remove(*gone)
        known = {id_: where for id_, where in known.items() if id_ not in gone}
        for each in batches:
            assert matched(subscriptions, batch_of(each)) == alone(known, batch_of(each))


@given(
    st.sampled_from(("=", "<", "<=", ">", ">=")),
    st.one_of(
        st.integers(-(2**63), 2**63 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.decimals(allow_nan=False, allow_infinity=False, places=3),
        st.integers(2**63, 2**70),
        st.sampled_from((2**63 - 1, -(2**63), LARGE + 1, 2.0**63, -(2.0**63), Decimal(2**63), Decimal("0.1"))),
    ),
    st.data(),
)
def test_a_comparison_is_a_closed_interval(sign: str, constant: float | Decimal, data: st.DataObject) -> None:
    """Reading: R20: numbers of different types compare exactly."""
    sort = sort_of_value(constant)
    assert sort is not None
    column = Column(sort)
    column.extend([constant])
    near = int(constant) + data.draw(st.integers(-2, 2)) if abs(constant) < 2**62 else 0
    whole = data.draw(st.one_of(st.just(near), st.integers(-(2**63), 2**63 - 1), st.just(2**63 - 1), st.just(-(2**63))))
    close = float(constant) if abs(constant) < 10**300 else 1.0
    real = data.draw(st.one_of(st.just(close), st.just(np.nextafter(close, 9e300).item()), st.floats(-1e300, 1e300)))
    for scale, value in (("i", whole), ("f", real)):
        (low,), (high,) = closed(sign, column, 0, 1, scale)
        expected = {
            "=": value == constant,
            "<": value < constant,
            "<=": value <= constant,
            ">": value > constant,
            ">=": value >= constant,
        }[sign]
        assert (low.item() <= value <= high.item()) == expected


@given(st.lists(filters(), min_size=1, max_size=12))
def test_a_text_like_one_before_is_read_like_itself(texts: list[str]) -> None:
    reader = Reader(MEASURED)
    for text in texts:
        assert reader.read(text, "s") == Reader(MEASURED).read(text, "s")
        assert reader.read(text, "s") == Reader(MEASURED).read(text, "s")


def test_filters_that_differ_in_constants_share_their_form() -> None:
    reader = Reader(MEASURED)
    forms = {reader.read(f"s = 'S{n}' AND f > {n}.5 AND i IN ({n}, {n + 1})", "s").form for n in range(50)}
    forms |= {reader.read(f"s LIKE 'S{n}%'", "s").form for n in range(50)}
    assert len(forms) == 2


def test_the_test_that_leaves_fewest_is_looked_up() -> None:
    """Equality of what hardly differs is not the key where another one does."""
    subscriptions = cedr.Subscriptions("TYPE T (side STRING, symbol STRING)")
    subscriptions.add_all({f"{n}": f"side = 'buy' AND symbol = 'S{n}'" for n in range(200)})
    (template,) = subscriptions.book.indexes["T"].templates
    rows = [{"side": "buy", "symbol": f"S{n}"} for n in range(50)]
    assert len(subscriptions.match(rows)) == 50
    (segment,) = template._segments
    ((_, chosen),) = segment._chosen.values()
    assert chosen == (1, -1)


def test_a_lookup_does_not_look_at_every_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is verified follows what matches, not how many filters there are."""
    looked_at = []
    looked_up = Segment._looked_up

    def counted(*arguments: object) -> object:
        for rows, filters_ in looked_up(*arguments):  # type: ignore[arg-type]
            looked_at.append(len(rows))
            yield rows, filters_

    monkeypatch.setattr(Segment, "_looked_up", counted)
    subscriptions = cedr.Subscriptions("TYPE T (f FLOAT, s STRING)")
    subscriptions.add_all({f"r{n}": f"f BETWEEN {n} AND {n}.5" for n in range(3_000)})
    subscriptions.add_all({f"e{n}": f"s = 'x' AND f > {n}" for n in range(3_000)})
    found = subscriptions.match([{"f": 1000.25, "s": "y"}, {"f": 2.25, "s": "x"}])
    assert sorted(found.subscriptions.to_pylist()) == ["e0", "e1", "e2", "r1000", "r2"]
    assert sum(looked_at) == 5


def test_more_filters_than_fit_into_one_chunk() -> None:
    """One event that very many match, by tests and by the rest."""
    subscriptions = cedr.Subscriptions("TYPE T (f FLOAT, s STRING)")
    subscriptions.add_all({f"a{n}": f"f > {n}" for n in range(5_000)})
    subscriptions.add_all({f"b{n}": f"f + 0 > {n}" for n in range(2_500)})
    found = subscriptions.match([{"f": 4000.5, "s": "x"}, {"f": -1.0, "s": "x"}, {"f": 1.5, "s": "x"}])
    assert len(found) == 4_001 + 2_500 + 2 + 2


def test_events_of_many_forms() -> None:
    subscriptions = cedr.Subscriptions("TYPE T (n INTEGER, s STRING)")
    subscriptions.add("one", "n = 1")
    expected = {"subscription": ["one"], "event": [1]}
    rows = [{"n": 2, "s": "a"}, {"n": 1, "s": None}]
    table = pa.table({"n": [2, 1], "s": ["a", None], "more": [1, 2]})
    chunked = pa.concat_tables([table.slice(0, 1), table.slice(1)])
    for given_ in (rows, table, chunked, table.to_batches()[0]):
        assert subscriptions.match(given_).to_arrow().to_pydict() == expected


def test_a_table_tells_no_times() -> None:
    subscriptions = cedr.Subscriptions("TYPE T (n INTEGER)")
    subscriptions.add("late", "Vs > 5")
    with pytest.raises(cedr.StreamError, match="no-header"):
        subscriptions.match([{"n": 1}])
    with pytest.raises(cedr.StreamError, match="unknown-column"):
        subscriptions.match([{"m": 1}])
    found = subscriptions.match(cedr.EventBatch("T", ["a", "b"], [5, 6], payload={"n": [1, 1]}))
    assert found.events.tolist() == [1]
