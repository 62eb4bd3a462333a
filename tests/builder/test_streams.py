"""The algebra from Python is the algebra of the language."""

from __future__ import annotations

import pytest

import cedr
from tests.builder.test_patterns import same

TRADE = cedr.stream("TRADE").as_("t")


def test_the_moving_average() -> None:
    """R30, R31."""
    query = (
        TRADE.where(cedr.col("t.price") > 0)
        .window(cedr.moving("10 minutes"))
        .group_by("t.symbol")
        .agg(symbol="t.symbol", price="AVG(t.price)")
        .named("MovingAverage")
    )
    assert same(
        query,
        """EVENT MovingAverage FROM TRADE AS t WHERE t.price > 0 WINDOW MOVING 10 minutes
           GROUP BY t.symbol OUTPUT t.symbol AS symbol, AVG(t.price) AS price""",
    )


@pytest.mark.parametrize(
    ("built", "body"),
    [
        (TRADE.where("t.a > 1", "t.b < 2"), "TRADE AS t WHERE t.a > 1 AND t.b < 2"),
        (TRADE.where("t.a > 1").where("t.b < 2"), "TRADE AS t WHERE t.a > 1 AND t.b < 2"),
        (TRADE.window(cedr.hopping("1 hour", "5 minutes")), "TRADE AS t WINDOW HOPPING 1 hour EVERY 5 minutes"),
        (TRADE.window(cedr.tumbling(10)), "TRADE AS t WINDOW TUMBLING 10"),
        (TRADE.window(cedr.session(10)), "TRADE AS t WINDOW SESSION 10"),
        (TRADE.window(cedr.lifetime("t.Ve", "1")), "TRADE AS t WINDOW LIFETIME t.Ve, 1"),
        (TRADE.window(cedr.inserts()), "TRADE AS t WINDOW INSERTS"),
        (TRADE.window(cedr.deletes()), "TRADE AS t WINDOW DELETES"),
        (TRADE.window(cedr.coalesced()), "TRADE AS t WINDOW COALESCED"),
        (TRADE.top(3, "t.a", descending=True), "TRADE AS t TOP 3 BY t.a DESC"),
        (TRADE.group_by("t.a").top(1, "t.b"), "TRADE AS t GROUP BY t.a TOP 1 BY t.b"),
        (
            TRADE.group_by(s="t.symbol").having("COUNT(*) > 1").output(s="s"),
            "TRADE AS t GROUP BY t.symbol AS s HAVING COUNT(*) > 1 OUTPUT s AS s",
        ),
        (TRADE.output(a="t.a").distinct(), "TRADE AS t OUTPUT DISTINCT t.a AS a"),
        (TRADE.join(cedr.stream("BID").as_("b"), on="t.a = b.a"), "TRADE AS t JOIN BID AS b ON t.a = b.a"),
        (TRADE.left_join(cedr.stream("BID").as_("b"), on="t.a = b.a"), "TRADE AS t LEFT JOIN BID AS b ON t.a = b.a"),
        (TRADE.anti_join(cedr.stream("BID").as_("b"), on="t.a = b.a"), "TRADE AS t ANTI JOIN BID AS b ON t.a = b.a"),
        (TRADE.union(cedr.stream("BID").as_("b")), "TRADE AS t UNION BID AS b"),
        (TRADE.except_(cedr.stream("BID").as_("b")), "TRADE AS t EXCEPT BID AS b"),
        (
            TRADE.where("t.a > 1").output(a="t.a").as_("u").union(cedr.stream("BID")),
            "(FROM TRADE AS t WHERE t.a > 1 OUTPUT t.a AS a) AS u UNION BID",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_clause(built: cedr.Stream, body: str) -> None:
    """R29 to R31 have their words in Python."""
    assert same(built, f"EVENT Query FROM {body}")


def test_streams_over_queries() -> None:
    """R32: an aggregate over a pattern."""
    pairs = cedr.sequence("A a", "B b", within=5).named("Pairs")
    count = cedr.stream(pairs).agg(n="COUNT(*)").named("HowMany")
    assert [s.name for s in count.to_file().statements] == ["Pairs", "HowMany"]  # type: ignore[union-attr]
    messages = [
        {"insert": {"type": "A", "id": "a1", "vs": 1}},
        {"insert": {"type": "B", "id": "b1", "vs": 2}},
    ]
    assert [row["payload"] for row in cedr.evaluate(count, messages).to_dicts()] == [{"n": 1}]


def test_where_does_not_slip_behind_a_window() -> None:
    """The language reads WHERE before WINDOW; written after it, one would mean something else."""
    with pytest.raises(TypeError, match="WHERE comes before"):
        TRADE.window(cedr.moving(5)).where("t.a > 1")


def test_a_stream_with_clauses_needs_a_variable_as_a_source() -> None:
    """The language wants one too: ( body ) AS variable."""
    plain = cedr.stream("TRADE").where("price > 1")
    with pytest.raises(TypeError, match="needs a variable"):
        plain.union(TRADE)
