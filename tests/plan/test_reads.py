"""What a plan reads of its sources.  Reading: R20."""

from __future__ import annotations

import pytest

from cedr.plan.analyses.reads import reads_of
from cedr.plan.compile import compile_text

TYPES = "TYPE A (k INTEGER, v INTEGER, s STRING); TYPE B (k INTEGER, v INTEGER); TYPE C (k INTEGER); "


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("WHEN SEQUENCE(A x, B y, 5) WHERE {x.k = y.k} OUTPUT x.v AS v", {"A": {"k", "v"}, "B": {"k", "v"}}),
        ("WHEN UNLESS(A x, B y, 5) WHERE {x.k = y.k} OUTPUT x.s AS s", {"A": {"k", "s"}, "B": {"k", "s"}}),
        (
            "WHEN SEQUENCE(A x, B y, 5) DISJOINT WHERE CorrelationKey(k, EQUAL) OUTPUT x.Vs AS t",
            {"A": {"k"}, "B": {"k"}},
        ),
        ("WHEN ANY(C x)", {"C": {"k"}}),
    ],
)
def test_only_what_is_named_is_read(query: str, expected: dict[str, set[str]]) -> None:
    assert reads_of(compile_text(f"{TYPES}EVENT Q {query}").queries["Q"].plan) == expected


def test_payloads_that_are_compared_are_read_as_a_whole() -> None:
    """Reading: R10: where versions that look the same become one row."""
    plan = compile_text(f"{TYPES}EVENT Q WHEN SEQUENCE(A x, C y, 5) VALID FOREVER OUTPUT x.v AS v").queries["Q"].plan
    assert reads_of(plan) == {"A": None, "C": None}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("FROM A EXCEPT B OUTPUT A.k AS k", {"A": None, "B": None}),
        ("FROM A WINDOW COALESCED OUTPUT A.k AS k", {"A": None}),
        ("FROM A UNION B OUTPUT A.k AS k", {"A": {"k"}, "B": {"k"}}),
        ("FROM A OUTPUT DISTINCT A.k AS k", {"A": {"k"}}),
    ],
)
def test_r29_rows_that_are_compared_are_read_as_a_whole(query: str, expected: dict[str, set[str] | None]) -> None:
    types = "TYPE A (k INTEGER, v INTEGER); TYPE B (k INTEGER, v INTEGER); "
    assert reads_of(compile_text(f"{types}EVENT Q {query}").queries["Q"].plan) == expected
