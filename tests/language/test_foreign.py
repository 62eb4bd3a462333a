"""Words of SQL and of other event languages: each gets a hint in ours, with its golden message."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cedr.language import foreign
from cedr.language.error_page import diagnostics
from cedr.language.parse import parse

HERE = Path(__file__).parent / "foreign"
TYPES = "TYPE A (x INTEGER, name STRING);\nTYPE B (x INTEGER, name STRING);\n"

TEXTS = {
    "order-by": "EVENT Q FROM A AS a OUTPUT a.x ORDER BY a.x",
    "order-by-after-a-type": "EVENT Q FROM A ORDER BY x",
    "limit": "EVENT Q FROM A AS a OUTPUT a.x LIMIT 10",
    "limit-after-a-type": "EVENT Q FROM A LIMIT 10",
    "select": "SELECT * FROM A",
    "insert": "INSERT INTO A VALUES (1)",
    "create": "CREATE STREAM A (x INTEGER)",
    "with": "WITH c AS (SELECT x FROM A) SELECT x FROM c",
    "seq": "EVENT Q WHEN SEQ(A, B, 5 minutes)",
    "within": "EVENT Q WHEN SEQUENCE(A, B) WITHIN 5 minutes",
    "followed-by": "EVENT Q WHEN A FOLLOWED BY B WITHIN 5 minutes",
    "arrow": "EVENT Q WHEN A -> B",
    "every": "EVENT Q WHEN EVERY A",
    "every-as-a-type": "EVENT Q WHEN SEQUENCE(EVERY A, B, 5 minutes)",
    "match-recognize": "EVENT Q FROM A MATCH_RECOGNIZE (PARTITION BY x ORDER BY Vs)",
    "pattern": "EVENT Q WHEN PATTERN (A B)",
    "define": "EVENT Q WHEN SEQUENCE(A, B, 5 minutes) DEFINE B AS B.x > 1",
    "measures": "EVENT Q WHEN SEQUENCE(A, B, 5 minutes) MEASURES A.x AS x",
    "after-match": "EVENT Q WHEN SEQUENCE(A, B, 5 minutes) AFTER MATCH SKIP PAST LAST ROW",
    "partition-by": "EVENT Q WHEN SEQUENCE(A, B, 5 minutes) PARTITION BY x",
    "group-by-in-a-pattern": "EVENT Q WHEN SEQUENCE(A AS a, B AS b, 5 minutes) GROUP BY a.x",
    "having-in-a-pattern": "EVENT Q WHEN SEQUENCE(A AS a, B AS b, 5 minutes) HAVING a.x > 1",
    "window-in-a-pattern": "EVENT Q WHEN SEQUENCE(A AS a, B AS b, 5 minutes) WINDOW TUMBLING 5 minutes",
    "next": "EVENT Q WHEN A NEXT B",
    "not-next": "EVENT Q WHEN A notNext B",
    "not-followed-by": "EVENT Q WHEN A notFollowedBy B",
    "and-not": "EVENT Q WHEN A AND NOT B",
    "and": "EVENT Q WHEN A AND B",
    "or": "EVENT Q WHEN A OR B",
    "repetition": "EVENT Q WHEN SEQUENCE(A+, B, 5 minutes)",
    "double-equals": "EVENT Q FROM A WHERE x == 1",
    "ampersands": "EVENT Q FROM A WHERE x = 1 && name = 'a'",
    "exclamation-mark": "EVENT Q FROM A WHERE !(x = 1)",
    "double-quotes": 'EVENT Q FROM A WHERE name = "abc"',
    "over": "EVENT Q FROM A OUTPUT SUM(x) OVER (PARTITION BY name) AS s",
    "tumble-window": "EVENT Q FROM A WINDOW TUMBLE 5 minutes",
    "tumble-group": "EVENT Q FROM A GROUP BY TUMBLE(Vs, 5 minutes)",
    "tumble-source": "EVENT Q FROM TUMBLE(A, 5 minutes)",
    "hop": "EVENT Q FROM A WINDOW HOP 5 minutes",
    "rows": "EVENT Q FROM A WINDOW ROWS 5",
    "using": "EVENT Q FROM A JOIN B USING (x)",
    "inner-join": "EVENT Q FROM A a INNER JOIN B b ON a.x = b.x",
    "outer-join": "EVENT Q FROM A a LEFT OUTER JOIN B b ON a.x = b.x",
    "rlike": "EVENT Q FROM A WHERE name RLIKE '^a'",
    "tilde": "EVENT Q FROM A WHERE name ~ '^a'",
    "ilike": "EVENT Q FROM A WHERE name ILIKE 'a%'",
    "like-regular": "EVENT Q FROM A WHERE name LIKE '^a.*'",
    "interval": "EVENT Q FROM A WHERE Vs > Oe - INTERVAL '5' MINUTE",
    "prev": "EVENT Q WHEN SEQUENCE(A AS a, B AS b, 5 minutes) WHERE a.x > PREV(b.x)",
    "exists": "EVENT Q FROM A WHERE NOT EXISTS(x)",
    "now": "EVENT Q FROM A WHERE Vs > NOW()",
    "emit": "EVENT Q FROM A GROUP BY x EMIT CHANGES",
    "late-clause": "EVENT Q FROM A OUTPUT x WHERE x = 1",
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_word_from_elsewhere_gets_a_hint(name: str, golden: Callable[[Path, str], None]) -> None:
    found = diagnostics(TYPES + TEXTS[name])
    assert len(found) == 1
    assert found[0].hint
    golden(HERE / f"{name}.txt", found[0].render() + "\n")


def test_no_golden_file_is_left_over() -> None:
    assert {path.stem for path in HERE.iterdir()} == set(TEXTS)


def test_unequal_is_written_either_way() -> None:
    assert parse("EVENT Q FROM A WHERE x != 1") == parse("EVENT Q FROM A WHERE x <> 1")


@pytest.mark.parametrize("word", sorted({words[0] for words in foreign.ANYWHERE if words[0].isalpha()}))
def test_none_of_these_words_is_reserved(word: str) -> None:
    text = f"TYPE {word} ({word} INTEGER); EVENT Q WHEN SEQUENCE({word} AS {word}, {word} AS b, 5)"
    assert not diagnostics(f"{text} WHERE {word}.{word} = 1 OUTPUT {word}.{word} AS {word}")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("EVENT Q FROM A WINDOW HOPPING 1 hour EVERY x", ""),
        ("EVENT Q FROM A WHERE a.limit 5", ""),
    ],
)
def test_a_name_is_not_taken_for_a_word_from_elsewhere(text: str, hint: str) -> None:
    (error,) = diagnostics(text)
    assert error.hint in (hint, "is a comma missing in front of this?")


def test_a_text_in_double_quotes_is_noticed_where_attributes_are_not_known() -> None:
    warned = diagnostics(
        "TYPE A FROM 'a.csv'; EVENT Q WHEN ANY(A AS a) WHERE a.state = \"open\" AND a.\"my state\" = 'x'"
    )
    assert [(d.code, d.span.text) for d in warned if d.span] == [("quoted-text", '"open"')]
    both = "TYPE A FROM 'a.csv'; TYPE B FROM 'b.csv'; EVENT Q WHEN SEQUENCE(A AS a, B AS b, 5) WHERE a.state = \"open\""
    (error,) = diagnostics(both)
    assert (error.code, "single quotes: 'open'" in error.hint) == ("ambiguous-name", True)


@pytest.mark.parametrize("pattern", ["A%", "_b", "a.b", "100$", "A-1", "a[1]%"])
def test_an_ordinary_pattern_is_not_called_a_regular_expression(pattern: str) -> None:
    warned = diagnostics(f"{TYPES}EVENT Q FROM A WHERE name LIKE '{pattern}'")
    assert bool(warned) == (pattern == "100$")
