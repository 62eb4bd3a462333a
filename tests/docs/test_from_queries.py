"""The FROM queries of the docs give what the oracle gives, on the local host.  Readings: R29 to R33, R45."""

from __future__ import annotations

from collections import Counter

import pytest

import cedr
from tests.docs.from_queries import FromQuery, from_queries, messages

QUERIES = from_queries()


def test_there_are_from_queries() -> None:
    """The reference of the language has one for each construct."""
    assert len([query for query in QUERIES if query.page == "docs/reference/language.md"]) >= 15


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: f"{query.page} {query.name}")
def test_local(query: FromQuery) -> None:
    """Random events, with ends and NULLs; all rows are compared."""
    given = messages(query)
    found, meant = (
        _rows(cedr.evaluate(query.text, given, event=query.name, host=host)) for host in ("local", "oracle")
    )
    assert found == meant


def _rows(result: cedr.Result) -> Counter[tuple[object, ...]]:
    return Counter((row.id, row.valid_start, row.valid_end, repr(row.payload)) for row in result.rows)
