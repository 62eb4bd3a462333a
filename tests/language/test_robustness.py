"""No text ends in anything but a tree or a message with a place: not the long, the deep, the broken, the binary."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cedr.diagnostics.codes import all_codes
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import LanguageError
from cedr.language.check import check, check_text
from cedr.language.parse import LONGEST, MOST_TOKENS, parse
from cedr.model.schema import EventTypes
from tests.language.queries import ALL
from tests.language.strategies import files

KNOWN = {code.code for code in all_codes()}
PATTERN = "EVENT Q WHEN ANY(A AS x) WHERE "


def refused(text: str) -> list[str]:
    """The codes of the errors in a text; every one must have a place and be documented."""
    found: tuple[Diagnostic, ...] = ()
    try:
        check_text(text, catalog=EventTypes(open=True))
    except LanguageError as error:
        found = error.diagnostics
    assert all(diagnostic.render() and diagnostic.span is not None for diagnostic in found)
    codes = [diagnostic.code for diagnostic in found]
    assert set(codes) <= KNOWN
    return codes


words = st.sampled_from(
    [*ALL.replace("(", " ( ").replace(",", " , ").replace(".", " . ").split(), "'", '"', "\n", "ſ", "-5"]
)


@given(st.text())
@example("\udc80")
@example("ſequence(ı")
def test_any_text(text: str) -> None:
    refused(text)


@given(st.binary())
def test_any_bytes(data: bytes) -> None:
    refused(data.decode("utf-8", errors="replace"))
    refused(data.decode("latin-1"))


@given(st.lists(words, max_size=30).map(" ".join))
def test_any_words(text: str) -> None:
    refused(text)
    refused(PATTERN + text)
    refused(f"EVENT Q WHEN SEQUENCE({text}, 5)")
    refused(f"EVENT Q FROM {text}")


@given(st.integers(0, len(ALL)), st.integers(0, 40), st.text(max_size=3))
def test_any_damage(start: int, length: int, inserted: str) -> None:
    refused(ALL[:start] + inserted + ALL[start + length :])


@given(files())
def test_any_tree_is_checked_without_failing(file: object) -> None:
    with suppress(LanguageError):
        check(file, EventTypes(open=True))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("", ["empty-file"]),
        (" ;; -- nothing", ["empty-file"]),
        ("x" * (LONGEST + 1), ["too-long"]),
        pytest.param(PATTERN + " AND ".join(["x.a = 1"] * (MOST_TOKENS // 5)), ["too-long"], marks=pytest.mark.slow),
        (PATTERN + "(" * 10_000 + "TRUE" + ")" * 10_000, ["too-deep"]),
        ("EVENT Q WHEN " + "ANY(" * 10_000 + "A" + ")" * 10_000, ["too-deep"]),
        ("EVENT Q FROM " + "(FROM " * 10_000 + "A", ["too-deep"]),
        (PATTERN + "NOT " * 5_000 + "TRUE", ["too-deep"]),
        (PATTERN + "- " * 5_000 + "1 > 0", ["too-deep"]),
        (PATTERN + "CASE WHEN " * 5_000, ["syntax"]),
        (PATTERN + "1" + "+1" * 5_000 + " > 0", ["too-deep"]),
        ("EVENT Q FROM A" + " UNION A" * 5_000, ["too-deep"]),
        (PATTERN + "x.a = " + "1" * 5_000, ["invalid-literal"]),
        (PATTERN + "x.a = 1e" + "9" * 5_000, ["invalid-literal"]),
        ("EVENT Q WHEN SEQUENCE(A, B, " + "9" * 5_000 + " weeks)", ["invalid-literal"]),
        ("EVENT Q WHEN SEQUENCE(A, B, 0." + "3" * 30 + " weeks)", ["invalid-literal"]),
        ("\x00\x01\x02" * 1_000, ["unexpected-character"]),
        ("'" * 9_999, ["unterminated-string"]),
        ('EVENT "' + "x" * 9_999, ["unterminated-string"]),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, list) else None,
)
def test_hostile_text(text: str, codes: list[str]) -> None:
    assert refused(text) == codes


@pytest.mark.slow
@pytest.mark.parametrize("operator", ["AND", "OR"])
@pytest.mark.parametrize("braces", ["", "{}"])
def test_a_chain_of_ten_thousand_terms(operator: str, braces: str) -> None:
    chain = f" {operator} ".join(["x.a = 1"] * 10_000)
    text = PATTERN + (f"{{{chain}}}" if braces else chain)
    checked = check_text(f"TYPE A (a INTEGER); {text}")
    assert len(checked.queries[0].query.body.where) == (10_000 if (operator, braces) == ("AND", "") else 1)  # type: ignore[union-attr]


def test_a_long_chain_in_a_relation() -> None:
    check_text("TYPE A (a INTEGER); EVENT Q FROM A WHERE " + " AND ".join(["a > 1"] * 10_000))


@pytest.mark.slow
def test_a_text_of_a_million_characters_is_read_in_seconds() -> None:
    one = f"EVENT {{}} WHEN SEQUENCE(A AS a, B AS b, 12 hours) WHERE {{{{a.x = 1}}}} -- {'x' * 80}\n"
    texts = [one.format(f"Q{i}") for i in range(6_000)]
    text = ";".join(texts)[: LONGEST - 20]
    text = text[: text.rindex(";")]
    begin = time.process_time()
    assert len(parse(text).statements) > 5_000
    assert time.process_time() - begin < 20


@pytest.mark.slow
@pytest.mark.parametrize("words", ["NOT ", "CASE WHEN "])
def test_words_that_nest_without_brackets_are_read_in_seconds(words: str) -> None:
    """Telling keywords from names looks a few tokens ahead; that must not cost more the deeper the text nests."""
    begin = time.process_time()
    with pytest.raises(LanguageError):
        parse("EVENT Q FROM A WHERE " + words * 50_000)
    assert time.process_time() - begin < 20


def test_at_most_so_many_errors_are_reported() -> None:
    assert len(refused("EVENT;" * 1_000)) == 20
