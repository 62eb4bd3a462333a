"""The paper is wholly in the code and under test: every number is cited by a docstring and by a test."""

from __future__ import annotations

import pytest

import citations
from citations import DEFINITION, FIGURE, READING, Item, cited_in_name, cited_in_text, every_item

EVERY = pytest.mark.parametrize("item", list(every_item()), ids=str)


@pytest.fixture(scope="module")
def by_source() -> citations.Index:
    return citations.by_source()


@pytest.fixture(scope="module")
def by_test() -> citations.Index:
    return citations.by_test()


@EVERY
def test_is_cited_by_a_docstring(item: Item, by_source: citations.Index) -> None:
    assert by_source.get(item), f'no docstring in src cites {item}: write "Paper: Definition 9." or "Reading: R21."'


@EVERY
def test_is_cited_by_a_test(item: Item, by_test: citations.Index) -> None:
    assert by_test.get(item), f"no test cites {item} in its docstring, a comment or its name"


def numbered(kind: str, *numbers: int) -> set[Item]:
    return {Item(kind, number) for number in numbers}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Paper: Definition 9, Section 6.", numbered(DEFINITION, 9)),
        ("Paper: Definitions 7 to 9 and Figure 10.", numbered(DEFINITION, 7, 8, 9) | numbered(FIGURE, 10)),
        ("Paper: Definitions 1, 2 and 6.", numbered(DEFINITION, 1, 2, 6)),
        ("Figures 3–5", numbered(FIGURE, 3, 4, 5)),
        ("Readings: R33 (blocking B), R34 (memory M).", numbered(READING, 33, 34)),
        ("Readings: R1 to R3, R9; and R25-R27", numbered(READING, 1, 2, 3, 9, 25, 26, 27)),
        ("Definition 2 (of 12) and R40 (see R41)", numbered(DEFINITION, 2) | numbered(READING, 40)),
        ("Definition 13, Figure 0, R43, R2D2, Section 9", set()),
    ],
)
def test_citations_in_prose(text: str, expected: set[Item]) -> None:
    assert cited_in_text(text) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("test_definition_09", numbered(DEFINITION, 9)),
        ("test_figure_1_and_figure_02", numbered(FIGURE, 1, 2)),
        ("test_r21_injection", numbered(READING, 21)),
        ("TestR4", set()),
        ("test_for3", set()),
    ],
)
def test_citations_in_names(name: str, expected: set[Item]) -> None:
    assert cited_in_name(name) == expected
