"""What UNLESS emits and retracts at each level, and what waiting for its deadline takes (R15, R16, R33, R34).

``cedr.plan.notes`` and docs/explanation/negation.md say the same in words.
"""

from __future__ import annotations

from itertools import combinations, product

import pytest

import cedr

TYPES = "TYPE A (); TYPE B (); TYPE C (); TYPE D (); "
UNLESS = TYPES + "EVENT Q WHEN UNLESS(A, B, 10)"
COUNTED = TYPES + "EVENT Q WHEN UNLESS(A, B, 1, 10)"

ANSWERED = ["A100", "C103", "B105", "C109", "C110", "C115", "C120", "C130"]
UNANSWERED = ["A100", "C103", "C109", "C110", "C120"]
LATE = ["A100", "C109", "C112", "B105", "C130"]
CLOSE = ["A100", 100, "C103", 103, "B105", 105, "C110", 110, "C115", 115]
BEHIND = ["A100", 96, "B108", 104, "C109", 105, "C110", 106, "C112", 108, "C114", 110, "C125", 121]
BEHIND_UNANSWERED = ["A100", 96, "C109", 105, "C110", 106, "C112", 108, "C114", 110, "C125", 121]


def said(query: str, arrivals: list[str | int], level: str, host: str) -> list[str]:
    """What leaves, each with the message that made it leave; ``C109`` is an event of C at 109, 96 a guarantee."""
    messages: list[dict[str, object]] = [
        {"guarantee": each} if isinstance(each, int) else {"insert": {"type": each[0], "id": each, "vs": int(each[1:])}}
        for each in arrivals
    ]
    changes = cedr.evaluate(query, messages, consistency=level, host=host).changes_to_dicts()
    steps = [(change["change"], int(str(change["cs"]))) for change in changes]
    return [f"{kind} at {arrivals[step - 1]}" for kind, step in steps if kind != "guarantee"]


@pytest.mark.parametrize("host", ["oracle", "local"])
@pytest.mark.parametrize(
    ("query", "level", "arrivals", "expected"),
    [
        # At once, and retracted.
        (UNLESS, "MIDDLE", ANSWERED, ["insert at A100", "retract at B105"]),
        (UNLESS, "MIDDLE", UNANSWERED, ["insert at A100"]),
        (UNLESS, "MIDDLE", LATE, ["insert at A100", "retract at B105"]),
        (UNLESS, "WEAK", ANSWERED, ["insert at A100", "retract at B105"]),
        (UNLESS, "WEAK", LATE, ["insert at A100"]),  # a wrong row stays
        (UNLESS, "BLOCKING 3 MEMORY FOREVER", ANSWERED, ["insert at C103", "retract at C109"]),
        # BLOCKING of the scope: without guarantees it only shifts what MIDDLE does.
        (UNLESS, "BLOCKING 10 MEMORY FOREVER", UNANSWERED, ["insert at C110"]),
        (UNLESS, "BLOCKING 10 MEMORY FOREVER", ANSWERED, ["insert at C110", "retract at C115"]),
        (UNLESS, "BLOCKING 20 MEMORY FOREVER", ANSWERED, ["insert at C120", "retract at C130"]),
        # With guarantees close to the newest event it waits for the deadline and is right.
        (UNLESS, "BLOCKING 10 MEMORY FOREVER", CLOSE, []),
        # With guarantees 4 behind, a second event of the last 4 ticks retracts, unless B is 4 more.
        (UNLESS, "BLOCKING 10 MEMORY FOREVER", BEHIND, ["insert at C110", "retract at 108"]),
        (UNLESS, "BLOCKING 14 MEMORY FOREVER", BEHIND, []),
        (UNLESS, "BLOCKING 14 MEMORY FOREVER", BEHIND_UNANSWERED, ["insert at C114"]),
        # STRONG waits for the guarantee, and emits nothing without.
        (UNLESS, "STRONG", BEHIND, []),
        (UNLESS, "STRONG", BEHIND_UNANSWERED, ["insert at 110"]),
        (UNLESS, "STRONG", UNANSWERED, []),
        # UNLESS(…, 1, w) waits for the deadline by the newest event; only a late second event retracts.
        (COUNTED, "MIDDLE", ANSWERED, []),
        (COUNTED, "MIDDLE", UNANSWERED, ["insert at C110"]),
        (COUNTED, "MIDDLE", LATE, ["insert at C112", "retract at B105"]),
        (COUNTED, "WEAK", ANSWERED, []),
        (COUNTED, "WEAK", UNANSWERED, ["insert at C110"]),
        (COUNTED, "MIDDLE", BEHIND, []),
        (COUNTED, "MIDDLE", BEHIND_UNANSWERED, ["insert at C110"]),
    ],
)
def test_what_is_emitted_and_retracted(
    query: str, level: str, arrivals: list[str | int], expected: list[str], host: str
) -> None:
    assert said(query, arrivals, level, host) == expected


FORMS = [
    ("A", 1),
    *(
        pytest.param(*form, marks=pytest.mark.slow)
        for form in (("SEQUENCE(A, C, 3)", 2), ("ALL(A, C, 3)", 2), ("ATLEAST(2, A, C, D, 3)", 2), ("ANY(A, C)", 1))
    ),
]


@pytest.mark.parametrize(("first", "number"), FORMS)
def test_counted_from_its_last_contributor_unless_finds_the_same(first: str, number: int) -> None:
    """And its rows hold from the deadline on, for as long as the scope."""
    plain = TYPES + f"EVENT Q WHEN UNLESS({first}, B, 3)"
    counted = TYPES + f"EVENT Q WHEN UNLESS({first}, B, {number}, 3)"
    times = list(product("ABCD", (1, 2, 3, 4)))
    for chosen in combinations(times, 3):
        messages = [{"insert": {"type": t, "id": f"{t}{vs}", "vs": vs}} for t, vs in chosen]
        rows, later = (cedr.evaluate(q, messages, host="oracle").to_dicts() for q in (plain, counted))
        moved = sorted((str(row["contributors"]), int(str(row["vs"])) + 3, int(str(row["ve"])) + 3) for row in rows)
        assert moved == sorted((str(row["contributors"]), row["vs"], row["ve"]) for row in later)
