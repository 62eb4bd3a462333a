"""Words of SQL and of other event languages, and what to write here instead.

People bring words that they know: ORDER BY, WITHIN, FOLLOWED BY, ``->``.  None of them is reserved: each may be a name.
A hint is given only where the grammar has rejected a token, or where there is no event type of that name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cedr.language.tokens import QUOTED, WORD, Token

_A_QUERY = "a query is EVENT name FROM … WHERE … OUTPUT …"
_A_PATTERN = "a pattern is EVENT name WHEN SEQUENCE(A AS a, B AS b, 5 minutes) WHERE {a.x = b.x} OUTPUT …"
_FOLLOWS = "A followed by B is SEQUENCE(A, B, 5 minutes)"
_ABSENT = "A without a B after it is UNLESS(A, B, 5 minutes), without a B before C: NOT(B, SEQUENCE(A, C, 5 minutes))"
_BOTH = "both in any order is ALL(A, B, 5 minutes)"
_EITHER = "one or the other is ANY(A, B)"
_SCOPE = "the longest time stands at the end of its operator: SEQUENCE(A, B, 5 minutes)"
_EVERY = "leave EVERY out: each instance is taken by default; EACH, FIRST and LAST choose"
_JOINS = "joins are A AS a JOIN B AS b ON a.x = b.x, LEFT JOIN and ANTI JOIN"
_TUMBLING = "write WINDOW TUMBLING 5 minutes"
_HOPPING = "write WINDOW HOPPING 1 hour EVERY 5 minutes"
_MOVING = "windows are lengths of time: WINDOW MOVING 10 minutes"
_REGULAR = "a regular expression is a function: REGEXP_LIKE(a.name, '^x.*')"

ANYWHERE: Mapping[tuple[str, ...], str] = {
    (
        "ORDER",
        "BY",
    ): "there is no ORDER BY: results leave in the order of time; TOP 10 BY x takes the first at each instant",
    ("LIMIT",): "there is no LIMIT: a stream has no end; TOP 10 BY x takes the first at each instant",
    ("FETCH", "FIRST"): "there is no FETCH FIRST: TOP 10 BY x takes the first at each instant",
    ("SELECT",): _A_QUERY,
    ("MATCH_RECOGNIZE",): _A_PATTERN,
    ("PATTERN", "("): _A_PATTERN,
    ("PATTERN",): _A_PATTERN,
    ("DEFINE",): "conditions stand in WHERE: EVENT name WHEN SEQUENCE(A AS a, B AS b, 5 minutes) WHERE {a.x < b.x}",
    ("MEASURES",): "what a match gives stands in OUTPUT: OUTPUT a.x AS x, b.y AS y",
    (
        "AFTER",
        "MATCH",
    ): "AFTER MATCH SKIP PAST LAST ROW is DISJOINT behind the operator: SEQUENCE(A, B, 5 minutes) DISJOINT",
    (
        "PARTITION",
        "BY",
    ): "to keep values apart write WHERE CorrelationKey(x, EQUAL) in a pattern, GROUP BY x after FROM",
    ("SEQ", "("): "write SEQUENCE(A, B, 5 minutes)",
    ("PERMUTE", "("): _BOTH,
    ("AND", "("): _BOTH,
    ("OR", "("): _EITHER,
    ("WITHIN",): _SCOPE,
    ("FOLLOWED", "BY"): _FOLLOWS,
    ("FOLLOWEDBY",): _FOLLOWS,
    ("FOLLOWS",): _FOLLOWS,
    ("-", ">"): _FOLLOWS,
    ("NEXT",): "the next B after each A is SEQUENCE(A, FIRST B, 5 minutes)",
    ("NOTNEXT",): _ABSENT,
    ("NOTFOLLOWEDBY",): _ABSENT,
    ("OVER", "("): "a window stands once, before GROUP BY: WINDOW MOVING 10 minutes GROUP BY x OUTPUT SUM(y) AS y",
    ("TUMBLE", "("): _TUMBLING,
    ("TUMBLE",): _TUMBLING,
    ("HOP", "("): _HOPPING,
    ("HOP",): _HOPPING,
    ("SLIDING",): _MOVING,
    ("RANGE",): _MOVING,
    ("ROWS",): _MOVING,
    ("USING",): "write the condition: A AS a JOIN B AS b ON a.x = b.x",
    ("INNER",): _JOINS,
    ("OUTER",): _JOINS,
    ("RIGHT",): _JOINS,
    ("FULL",): _JOINS,
    ("CROSS",): _JOINS,
    ("RLIKE",): _REGULAR,
    ("REGEXP",): _REGULAR,
    ("SIMILAR",): _REGULAR,
    ("ILIKE",): "to ignore case write UPPER(a.name) LIKE 'X%'",
    ("EMIT",): "when results leave is a matter of the level: CONSISTENCY STRONG, MIDDLE, WEAK",
    ("INTERVAL", "STRING"): "a duration is a number and a unit: 5 minutes",
    ("=", "="): 'equality is a single "="',
}
"""Anywhere: phrases, their words in upper case, and the hint."""

_IN_PATTERNS: Mapping[tuple[str, ...], str] = {
    ("AND", "NOT"): _ABSENT,
    ("AND",): _BOTH,
    ("OR",): _EITHER,
    ("EVERY",): _EVERY,
    ("GROUP", "BY"): "to keep values apart in a pattern write WHERE CorrelationKey(x, EQUAL); GROUP BY belongs to FROM",
    ("HAVING",): "the conditions of a pattern stand in WHERE; HAVING belongs to FROM",
    ("WINDOW",): "the scope of a pattern stands in its operator: SEQUENCE(A, B, 5 minutes); WINDOW belongs to FROM",
    ("JOIN",): "events of a pattern stand together in an operator: ALL(A, B, 5 minutes); JOIN belongs to FROM",
    **dict.fromkeys(
        (("+",), ("*",), ("{",)),
        "a repetition names each event: SEQUENCE(A AS a, A AS b, A AS c, 5 minutes); FROM … HAVING COUNT(*) > 2 counts",
    ),
}
_AT_THE_START: Mapping[str, str] = {
    "SELECT": _A_QUERY,
    "FROM": _A_QUERY,
    "INSERT": "events come from files, tables and streams; a text declares types and queries: TYPE …; EVENT …",
    "CREATE": "an event type is declared by TYPE name (attribute STRING), a query by EVENT name …",
    "WITH": "name the inner query: EVENT Inner FROM …; others use it by that name: EVENT Outer FROM Inner …",
    **dict.fromkeys(("PATTERN", "MATCH_RECOGNIZE", "EVERY", "WHEN", "SEQUENCE", "SEQ"), _A_PATTERN),
}
_START = "a statement begins with TYPE or EVENT: EVENT name WHEN SEQUENCE(A, B, 12 hours)"
_TYPE_NAMES: Mapping[str, str] = {"EVERY": _EVERY}
_WHEN_ENDS = frozenset({"WHERE", "OUTPUT", "CONSISTENCY"})


class Found(NamedTuple):
    """A phrase from elsewhere: its first token and the one after it, and what to write instead."""

    start: int
    end: int
    hint: str


def foreign(tokens: Sequence[Token], position: int) -> Found | None:
    """The phrase from elsewhere at a token that was rejected; an alias may have swallowed its beginning."""
    if position == 0:
        return Found(0, 1, _AT_THE_START.get(tokens[0].word, _START))
    in_pattern = _in_pattern(tokens, position)
    for phrases in (_IN_PATTERNS, ANYWHERE) if in_pattern else (ANYWHERE,):
        for start in (position, position - 1):
            for size in (2, 1):
                words = _phrase(tokens, start, size)
                hint = phrases.get(words) if len(words) == size else None
                if hint is not None and start > 1 and tokens[start - 1].word != ".":
                    return Found(start, start + size, hint)
    return None


def _phrase(tokens: Sequence[Token], start: int, size: int) -> tuple[str, ...]:
    return tuple(_written(token) for token in tokens[start : start + size])


def _written(token: Token) -> str:
    return token.kind if token.kind == "STRING" else token.word


def _in_pattern(tokens: Sequence[Token], position: int) -> bool:
    """Whether the place is in the WHEN of a query, or right behind it."""
    before = {token.word for token in tokens[3:position]}
    return len(tokens) > 2 and tokens[2].word == "WHEN" and not before & _WHEN_ENDS


def in_place_of_a_type(name: str) -> str | None:
    """What to write instead of a word that was read as an event type, and is none."""
    return _TYPE_NAMES.get(name.upper())


_CLAUSES = {
    "WHEN": ("WHEN", "VALID", "WHERE", "OUTPUT", "CONSISTENCY"),
    "FROM": ("FROM", "WHERE", "WINDOW", "GROUP", "HAVING", "OUTPUT", "CONSISTENCY"),
}


def order_of_clauses(tokens: Sequence[Token], position: int) -> str:
    """The order of the clauses, where one comes too late."""
    kind = tokens[2].word if len(tokens) > 2 and tokens[0].word == "EVENT" else ""
    order = _CLAUSES.get(kind, ())
    token = tokens[position]
    if position < 3 or token.word not in order or token.kind == QUOTED:
        return ""
    later = order[order.index(token.word) :]
    if not any(before.kind == WORD and before.word in later for before in tokens[2:position]):
        return ""
    return f"the clauses come in this order: {', '.join('GROUP BY' if word == 'GROUP' else word for word in order)}"
