"""``cedr.store``: what a query says about data, into sinks; again after a crash without a change.  Reading: R48."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import cedr

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SALES = """
EVENT Sales FROM SALE AS s WINDOW TUMBLING 1 hour GROUP BY s.shop OUTPUT s.shop AS shop, COUNT(*) AS n
"""


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("example", ["machines", "mail", "fire", "coupons"])
def test_a_view_is_the_result(example: str, tmp_path: Path) -> None:
    query, data = EXAMPLES / f"{example}.cedr", EXAMPLES / f"{example}.jsonl"
    result = cedr.evaluate(query, data, host="oracle")
    cedr.store(query, data, cedr.sink("sqlite", path=str(tmp_path / "a.db"), table="answers"))
    connection = sqlite3.connect(tmp_path / "a.db")
    found = connection.execute("SELECT id FROM answers").fetchall()
    connection.close()
    assert sorted(id_ for (id_,) in found) == sorted(row.id for row in result if row.occurrence_end == cedr.FOREVER)


def test_rows_of_a_file_with_timestamps_and_bad_rows(tmp_path: Path) -> None:
    path = tmp_path / "sales.csv"
    rows = [
        f"2026-01-31T{hour:02}:{minute:02}:00Z,shop {minute % 2}" for hour in range(5) for minute in range(0, 60, 10)
    ]
    path.write_text("\n".join(["at,shop", *rows, "yesterday,shop 1"]))
    words = {"type": "'SALE'", "time": "at", "bad_rows": 1.0}
    view = cedr.sink("sqlite", path=str(tmp_path / "a.db"))
    letters = cedr.sink("jsonl", path=str(tmp_path / "letters.jsonl"))
    changes = cedr.sink("jsonl", path=str(tmp_path / "changes.jsonl"))
    cedr.store(SALES, path, [view, changes], dead_letters=letters, batch=7, **words)
    (letter,) = lines(tmp_path / "letters.jsonl")
    assert (letter["code"], letter["offset"]) == ("bad-time", 32)
    assert letter["source"].endswith("sales.csv")
    connection = sqlite3.connect(tmp_path / "a.db")
    shown = connection.execute('SELECT "Vs", n FROM Sales ORDER BY "Vs", shop').fetchall()
    connection.close()
    wanted = (
        cedr.evaluate(SALES, path, host="oracle", **words)
        .to_arrow(["Vs", "n", "shop"])
        .sort_by([("Vs", "ascending"), ("shop", "ascending")])
    )
    times = wanted.column("Vs").cast("string").to_pylist()
    assert shown == [*zip(times, wanted.column("n").to_pylist(), strict=True)]
    assert len(shown) == 1, "hours of equal counts are one row (R30)"
    before = (tmp_path / "changes.jsonl").read_bytes()
    cedr.store(SALES, path, [view, changes], dead_letters=letters, batch=7, **words)
    assert (tmp_path / "changes.jsonl").read_bytes() == before


def test_messages_that_cannot_be_used_are_letters(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text(
        '{"insert": {"type": "A", "id": "a", "vs": 1}}\n{oops\n{"retract": {"k": "nothing"}}\n{"guarantee": 9}\n'
    )
    letters = cedr.sink("sqlite", path=str(tmp_path / "l.db"), table="letters", append=True)
    cedr.store("EVENT B FROM A", path, cedr.sink("jsonl", path=str(tmp_path / "c.jsonl")), dead_letters=letters)
    connection = sqlite3.connect(tmp_path / "l.db")
    found = connection.execute('SELECT code, "offset", "row" FROM letters ORDER BY "offset"').fetchall()
    connection.close()
    assert found[0][:2] == ("bad-json", 2)
    assert "{oops" in found[0][2]
    assert found[1][:2] == ("retraction-without-insert", 3)
